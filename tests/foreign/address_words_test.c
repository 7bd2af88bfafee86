/* SPDX-License-Identifier: Apache-2.0 */
/* Which argument words are addresses, from captures with planted bytes; the words of refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "prepare/capture/address_words.h"

#define BYTES  40
#define STRIDE UINT64_C(0x400000)

static const uint64_t bases[TF_CAPTURE_BASES] = {0x7e9000000000, 0x7ea100000000, 0x7d0000800000};
/* An address, an address in a struct of 20 bytes at 8 of it, and a number. */
static const struct tf_kernel_param params[] = {{0, 8}, {8, 20}, {28, 4}, {32, 8}};

struct planted {
	uint8_t args[TF_CAPTURE_BASES][BYTES];
	struct tf_address_case launch;
	uint8_t is_address[BYTES / 8];
};

static void put(uint8_t *args, uint32_t byte, const void *value, size_t bytes)
{
	memcpy(args + byte, value, bytes);
}

static void put_address(struct planted *planted, uint32_t byte, uint64_t off)
{
	for (int i = 0; i < TF_CAPTURE_BASES; i++) {
		uint64_t address = bases[i] + off;

		put(planted->args[i], byte, &address, 8);
	}
}

/* Addresses at 0 and 16, numbers elsewhere: what is learnt and proven. */
static void plant(struct planted *planted)
{
	memset(planted, 0, sizeof(*planted));
	planted->launch = (struct tf_address_case){params, 4, BYTES, {{0}}, {NULL}};
	for (int i = 0; i < TF_CAPTURE_BASES; i++) {
		uint32_t rows = 7;
		uint64_t seed = UINT64_C(0x0123456789abcdef);

		planted->launch.windows[i] = (struct tf_window_view){bases[i], STRIDE, 1, 2};
		planted->launch.args[i] = planted->args[i];
		put(planted->args[i], 28, &rows, 4);
		put(planted->args[i], 32, &seed, 8);
	}
	put_address(planted, 0, STRIDE + 0x1000);
	put_address(planted, 16, STRIDE + 0x2040);
}

static void refuse(struct planted *planted, const char *words)
{
	struct tf_error err = {0};

	assert_int_equal(
		tf_address_words_find(&planted->launch, planted->is_address, &err), TF_E_INVALID);
	if (!strstr(err.text, words))
		fail_msg("wanted \"%s\", got \"%s\"", words, err.text);
}

static void test_found_and_proven(void **state)
{
	static const uint8_t wanted[BYTES / 8] = {1, 0, 1, 0, 0};
	struct planted planted;
	struct tf_error err = {0};

	(void)state;
	plant(&planted);
	assert_int_equal(tf_address_words_find(&planted.launch, planted.is_address, &err), TF_OK);
	assert_memory_equal(planted.is_address, wanted, sizeof(wanted));
	assert_int_equal(tf_address_words_prove(&planted.launch, planted.is_address, &err), TF_OK);
}

static void test_null_is_no_address(void **state)
{
	struct planted planted;
	struct tf_error err = {0};

	(void)state;
	plant(&planted);
	for (int i = 0; i < TF_CAPTURE_BASES; i++)
		memset(planted.args[i], 0, 8);
	assert_int_equal(tf_address_words_find(&planted.launch, planted.is_address, &err), TF_OK);
	assert_int_equal(planted.is_address[0], 0);
	assert_int_equal(planted.is_address[2], 1);
}

static void test_other_differences(void **state)
{
	struct planted planted;
	uint64_t far = bases[1] + STRIDE + 0x1008;

	(void)state;
	plant(&planted);
	put(planted.args[1], 0, &far, 8); /* off by 8 from where the first capture points */
	refuse(&planted,
		"argument 0 (byte 0): 0x7e9000401000 at base 0x7e9000000000 and "
		"0x7ea100401008 at base 0x7ea100000000 differ, but not by the distance");
	plant(&planted);
	planted.args[1][28] = 8; /* a number of 4 bytes */
	refuse(&planted, "argument 2 (byte 28): 0x89abcdef00000007 at base");
	plant(&planted);
	planted.args[1][24] = 1; /* the last 4 bytes of the struct hold no word */
	refuse(&planted, "argument 1 (byte 24)");
}

static void test_unaligned_and_cut(void **state)
{
	struct planted planted;

	(void)state;
	plant(&planted);
	put_address(&planted, 12, STRIDE + 0x3000);
	refuse(&planted,
		"argument 1 (byte 12): 0x7e9000403000 and 0x7ea100403000 are an address at a "
		"byte that is no multiple of 8");
	plant(&planted);
	for (int i = 0; i < TF_CAPTURE_BASES; i++) {
		uint32_t high = (uint32_t)(bases[i] >> 32);

		put(planted.args[i], 28, &high, 4);
	}
	refuse(&planted, "argument 2 (byte 28)");
}

static void test_absolute(void **state)
{
	struct planted planted;

	(void)state;
	for (int window = 0; window < TF_CAPTURE_BASES; window++) {
		uint64_t last = bases[window] + 2 * STRIDE - 1, behind = last + 1;
		struct tf_error err = {0};

		plant(&planted);
		for (int i = 0; i < TF_CAPTURE_BASES; i++)
			put(planted.args[i], 32, &last, 8);
		refuse(&planted, "argument 3 (byte 32): ");
		refuse(&planted,
			"is the same at bases 0x7e9000000000 and 0x7ea100000000, but an address "
			"in the window at");
		for (int i = 0; i < TF_CAPTURE_BASES; i++)
			put(planted.args[i], 32, &behind, 8);
		assert_int_equal(tf_address_words_find(&planted.launch, planted.is_address, &err), TF_OK);
	}
}

static void test_third_capture(void **state)
{
	struct planted planted;
	struct tf_error err = {0};

	(void)state;
	plant(&planted);
	assert_int_equal(tf_address_words_find(&planted.launch, planted.is_address, &err), TF_OK);
	planted.args[2][16] ^= 1;
	assert_int_equal(
		tf_address_words_prove(&planted.launch, planted.is_address, &err), TF_E_INVALID);
	assert_string_equal(err.text,
		"argument 1 (byte 16): 0x7e9000402040 of the first capture would be 0x7d0000c02040 at base "
		"0x7d0000800000, the third capture has 0x7d0000c02041");
	plant(&planted);
	planted.args[2][39] ^= 1; /* the same in the first two, and yet no constant */
	assert_int_equal(tf_address_words_find(&planted.launch, planted.is_address, &err), TF_OK);
	assert_int_equal(
		tf_address_words_prove(&planted.launch, planted.is_address, &err), TF_E_INVALID);
	assert_string_equal(err.text,
		"argument 3 (byte 39): 0x01 in the first capture, 0x00 in the "
		"third: no address, and no constant");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_and_proven),
		cmocka_unit_test(test_null_is_no_address),
		cmocka_unit_test(test_other_differences),
		cmocka_unit_test(test_unaligned_and_cut),
		cmocka_unit_test(test_absolute),
		cmocka_unit_test(test_third_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
