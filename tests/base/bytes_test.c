/* SPDX-License-Identifier: Apache-2.0 */
/* Growing buffers, little-endian fields, alignment, hex and the hash. */
#include "base/bytes.h"
#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void appends_add_up(void **state)
{
	struct tf_bytes bytes = {0};

	for (int i = 0; i < 1000; i++) {
		uint8_t pair[2] = {(uint8_t)i, (uint8_t)(i >> 8)};

		assert_int_equal(tf_bytes_append(&bytes, pair, 2, NULL), TF_OK);
	}
	assert_int_equal(bytes.size, 2000);
	assert_true(bytes.capacity >= bytes.size);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(bytes.data[2 * i], i & 255);
		assert_int_equal(bytes.data[2 * i + 1], i >> 8);
	}
	tf_bytes_fini(&bytes);
	assert_null(bytes.data);
	assert_int_equal(bytes.size, 0);
	assert_int_equal(bytes.capacity, 0);
	tf_bytes_fini(&bytes);
	(void)state;
}

static void extended_bytes_are_zero(void **state)
{
	struct tf_bytes bytes = {0};
	uint8_t *added;
	void *to;

	assert_int_equal(tf_bytes_append(&bytes, "abc", 3, NULL), TF_OK);
	assert_int_equal(tf_bytes_extend(&bytes, 500, &to, NULL), TF_OK);
	added = to;
	assert_ptr_equal(added, bytes.data + 3);
	for (int i = 0; i < 500; i++)
		assert_int_equal(added[i], 0);
	assert_memory_equal(bytes.data, "abc", 3);
	tf_bytes_fini(&bytes);
	(void)state;
}

static void zero_bytes_are_fine(void **state)
{
	struct tf_bytes bytes = {0};
	void *to = NULL;

	assert_int_equal(tf_bytes_extend(&bytes, 0, &to, NULL), TF_OK);
	assert_non_null(to);
	assert_int_equal(tf_bytes_append(&bytes, NULL, 0, NULL), TF_OK);
	assert_int_equal(bytes.size, 0);
	tf_bytes_fini(&bytes);
	(void)state;
}

static void printed_text_ends_uncounted(void **state)
{
	struct tf_bytes bytes = {0};

	assert_int_equal(tf_bytes_printf(&bytes, NULL, "%s-%d", "a", 12), TF_OK);
	assert_int_equal(bytes.size, 4);
	assert_string_equal(bytes.data, "a-12");
	assert_int_equal(tf_bytes_printf(&bytes, NULL, "%s", ""), TF_OK);
	assert_int_equal(tf_bytes_printf(&bytes, NULL, "%0200d", 1), TF_OK);
	assert_int_equal(bytes.size, 204);
	assert_int_equal(strlen((const char *)bytes.data), 204);
	tf_bytes_fini(&bytes);
	(void)state;
}

static void sizes_past_the_limit_change_nothing(void **state)
{
	static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 2, SIZE_MAX - SIZE_MAX / 4, SIZE_MAX / 2};
	struct tf_bytes bytes = {0};
	struct tf_error err = {0};
	void *to = NULL;

	assert_int_equal(tf_bytes_append(&bytes, "abc", 3, NULL), TF_OK);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(tf_bytes_extend(&bytes, sizes[i], &to, &err), TF_E_LIMIT);
		assert_non_null(strstr(err.text, "3 bytes cannot grow by"));
		assert_null(to);
		assert_int_equal(bytes.size, 3);
		assert_memory_equal(bytes.data, "abc", 3);
	}
	tf_bytes_fini(&bytes);
	(void)state;
}

static void a_failed_growth_changes_nothing(void **state)
{
	struct tf_bytes bytes = {0};
	struct tf_error err = {0};
	size_t capacity;

	tf_alloc_fail_at(1);
	assert_int_equal(tf_bytes_append(&bytes, "abc", 3, &err), TF_E_NO_MEMORY);
	assert_null(bytes.data);
	assert_int_equal(bytes.size, 0);
	assert_int_equal(tf_bytes_append(&bytes, "abc", 3, NULL), TF_OK);
	capacity = bytes.capacity;
	tf_alloc_fail_at(1);
	assert_int_equal(tf_bytes_printf(&bytes, &err, "%01000d", 1), TF_E_NO_MEMORY);
	tf_alloc_fail_at(0);
	assert_int_equal(err.status, TF_E_NO_MEMORY);
	assert_int_equal(bytes.size, 3);
	assert_int_equal(bytes.capacity, capacity);
	assert_memory_equal(bytes.data, "abc", 3);
	tf_bytes_fini(&bytes);
	(void)state;
}

static void fields_are_little_endian(void **state)
{
	uint8_t at[9] = {0};

	tf_put_le32(at + 1, 0x80fe0201u);
	assert_memory_equal(at + 1, "\x01\x02\xfe\x80", 4);
	assert_int_equal(tf_get_le32(at + 1), 0x80fe0201u);
	tf_put_le64(at + 1, UINT64_C(0xf807060504030201));
	assert_memory_equal(at + 1, "\x01\x02\x03\x04\x05\x06\x07\xf8", 8);
	assert_int_equal(tf_get_le64(at + 1), UINT64_C(0xf807060504030201));
	assert_int_equal(at[0], 0);
	(void)state;
}

static void alignment_rounds_up(void **state)
{
	assert_int_equal(tf_align_up(0, 16), 0);
	assert_int_equal(tf_align_up(1, 16), 16);
	assert_int_equal(tf_align_up(16, 16), 16);
	assert_int_equal(tf_align_up(17, 1), 17);
	assert_int_equal(
		tf_align_up((UINT64_C(1) << 40) + 1, 1 << 21), (UINT64_C(1) << 40) + (1 << 21));
	(void)state;
}

static void hex_is_lower_case_and_ended(void **state)
{
	char out[9] = "xxxxxxxx";

	tf_hex("\x00\x9f\xff", 3, out);
	assert_string_equal(out, "009fff");
	tf_hex("", 0, out);
	assert_string_equal(out, "");
	(void)state;
}

static void the_hash_is_fnv1a(void **state)
{
	assert_int_equal(tf_fnv64(TF_FNV_START, "", 0), UINT64_C(0xcbf29ce484222325));
	assert_int_equal(tf_fnv64(TF_FNV_START, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
	assert_int_equal(tf_fnv64(TF_FNV_START, "foobar", 6), UINT64_C(0x85944171f73967e8));
	assert_int_equal(
		tf_fnv64(tf_fnv64(TF_FNV_START, "foo", 3), "bar", 3), UINT64_C(0x85944171f73967e8));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends_add_up),
		cmocka_unit_test(extended_bytes_are_zero),
		cmocka_unit_test(zero_bytes_are_fine),
		cmocka_unit_test(printed_text_ends_uncounted),
		cmocka_unit_test(sizes_past_the_limit_change_nothing),
		cmocka_unit_test(a_failed_growth_changes_nothing),
		cmocka_unit_test(fields_are_little_endian),
		cmocka_unit_test(alignment_rounds_up),
		cmocka_unit_test(hex_is_lower_case_and_ended),
		cmocka_unit_test(the_hash_is_fnv1a),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
