/* SPDX-License-Identifier: Apache-2.0 */
/* The allocation shim: zeroes, overflow, counting, and the n-th failure. */
#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static int failures_off(void **state)
{
	tf_alloc_fail_at(0);
	(void)state;
	return 0;
}

static void memory_is_zero(void **state)
{
	unsigned char *bytes = tf_calloc(100, 3);

	assert_non_null(bytes);
	for (int i = 0; i < 300; i++)
		assert_int_equal(bytes[i], 0);
	tf_free(bytes);
	(void)state;
}

static void nothing_is_a_pointer_of_its_own(void **state)
{
	void *a = tf_calloc(0, 8);
	void *b = tf_calloc(8, 0);
	void *c = tf_reallocarray(NULL, 0, 8);

	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(c);
	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(b, c);
	tf_free(a);
	tf_free(b);
	tf_free(c);
	tf_free(NULL);
	(void)state;
}

static void products_that_overflow_are_refused(void **state)
{
	volatile size_t half = SIZE_MAX / 2 + 1;
	char *old = tf_calloc(4, 1);

	assert_null(tf_calloc(half, 2));
	assert_null(tf_calloc(2, half));
	memcpy(old, "abc", 4);
	assert_null(tf_reallocarray(old, half, 2));
	assert_string_equal(old, "abc");
	tf_free(old);
	(void)state;
}

static void growing_keeps_the_bytes(void **state)
{
	char *text = tf_strdup("abc");

	text = tf_reallocarray(text, 1000, 2);
	assert_non_null(text);
	assert_string_equal(text, "abc");
	tf_free(text);
	(void)state;
}

static void strings_are_copied(void **state)
{
	static const char unended[3] = {'x', 'y', 'z'};
	char *whole = tf_strdup("whole");
	char *part = tf_strndup("partial", 4);
	char *longer = tf_strndup("short", 100);
	char *bare = tf_strndup(unended, sizeof(unended));

	assert_string_equal(whole, "whole");
	assert_string_equal(part, "part");
	assert_string_equal(longer, "short");
	assert_string_equal(bare, "xyz");
	assert_null(tf_strdup(NULL));
	assert_null(tf_strndup(NULL, 3));
	tf_free(whole);
	tf_free(part);
	tf_free(longer);
	tf_free(bare);
	(void)state;
}

static void printed_text_has_its_own_length(void **state)
{
	char *text = tf_asprintf("%0*d|%s", 5000, 7, "end");
	char *none = tf_asprintf("%s", "");

	assert_int_equal(strlen(text), 5004);
	assert_string_equal(text + 4999, "7|end");
	assert_string_equal(none, "");
	tf_free(text);
	tf_free(none);
	(void)state;
}

static void the_nth_request_fails_once(void **state)
{
	void *blocks[4];

	tf_alloc_fail_at(3);
	for (int i = 0; i < 4; i++)
		blocks[i] = tf_calloc(1, 1);
	assert_non_null(blocks[0]);
	assert_non_null(blocks[1]);
	assert_null(blocks[2]);
	assert_non_null(blocks[3]);
	for (int i = 0; i < 4; i++)
		tf_free(blocks[i]);
	(void)state;
}

static void every_way_in_can_fail(void **state)
{
	char *old = tf_calloc(1, 1);

	tf_alloc_fail_at(1);
	assert_null(tf_calloc(1, 1));
	tf_alloc_fail_at(1);
	assert_null(tf_reallocarray(old, 2, 1));
	tf_alloc_fail_at(1);
	assert_null(tf_strdup("x"));
	tf_alloc_fail_at(1);
	assert_null(tf_strndup("x", 1));
	tf_alloc_fail_at(1);
	assert_null(tf_asprintf("x"));
	tf_free(old);
	(void)state;
}

static void zero_calls_a_failure_off(void **state)
{
	void *block;

	tf_alloc_fail_at(1);
	tf_alloc_fail_at(0);
	block = tf_calloc(1, 1);
	assert_non_null(block);
	tf_free(block);
	(void)state;
}

static void requests_are_counted(void **state)
{
	uint64_t before = tf_alloc_count();
	char *text = tf_strdup("x");
	void *block = tf_calloc(2, 2);

	tf_free(text);
	tf_free(block);
	assert_int_equal(tf_alloc_count(), before + 2);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zero),
		cmocka_unit_test(nothing_is_a_pointer_of_its_own),
		cmocka_unit_test(products_that_overflow_are_refused),
		cmocka_unit_test(growing_keeps_the_bytes),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(printed_text_has_its_own_length),
		cmocka_unit_test_teardown(the_nth_request_fails_once, failures_off),
		cmocka_unit_test_teardown(every_way_in_can_fail, failures_off),
		cmocka_unit_test_teardown(zero_calls_a_failure_off, failures_off),
		cmocka_unit_test(requests_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
