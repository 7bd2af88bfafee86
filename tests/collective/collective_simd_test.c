/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops: every vector extension gives the portable bits, and these are right; operands;
 * the reference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/host_simd.h"
#include "runtime/collective/numeric.h"

#define COUNT 1031

/*
 * An independent rounding: the 16-bit value nearest to `value` among all, ties to the even one,
 * by search over the finite values in order. Values beyond the largest by half a step or more
 * become infinite.
 */
static double decode(enum tf_dtype dtype, uint16_t bits)
{
	int fraction_bits = dtype == TF_DTYPE_F16 ? 10 : 7, bias = dtype == TF_DTYPE_F16 ? 15 : 127;
	int exponent = (bits & 0x7fff) >> fraction_bits;
	int fraction = bits & ((1 << fraction_bits) - 1);
	double magnitude = exponent ? ldexp(1 + ldexp(fraction, -fraction_bits), exponent - bias)
								: ldexp(fraction, 1 - bias - fraction_bits);

	return bits & 0x8000 ? -magnitude : magnitude;
}

static uint16_t round_by_search(enum tf_dtype dtype, float value)
{
	uint16_t infinite = dtype == TF_DTYPE_F16 ? 0x7c00 : 0x7f80, low = 0, high = infinite;
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	double magnitude = fabs((double)value), below, above;

	if (isnan(value))
		return dtype == TF_DTYPE_F16 ? TF_NAN_F16 : TF_NAN_BF16;
	while (high - low >
		1) { /* decode(low) <= magnitude < decode(high), infinity as the next power of two */
		uint16_t middle = (uint16_t)((low + high) / 2);

		if (decode(dtype, middle) <= magnitude)
			low = middle;
		else
			high = middle;
	}
	below = decode(dtype, low);
	above = decode(dtype, high);
	if (magnitude - below > above - magnitude ||
		(magnitude - below == above - magnitude && (low & 1)))
		low = high;
	return low | sign;
}

static void rounding_is_right(void **state)
{
	uint32_t bits = 1;

	(void)state;
	for (int i = 0; i < 400000; i++) {
		float value = tf_f32_of_bits(bits);

		assert_int_equal(tf_bf16_round(value), round_by_search(TF_DTYPE_BF16, value));
		assert_int_equal(tf_f16_round(value), round_by_search(TF_DTYPE_F16, value));
		bits = bits * 1664525 + 1013904223;
	}
	for (uint32_t half = 0; half < 0x7f80; half++) { /* every tie, and its neighbours */
		for (int step = -1; step <= 1; step++) {
			float value = tf_f32_of_bits((half << 16 | 0x8000) + (uint32_t)step);

			assert_int_equal(tf_bf16_round(value), round_by_search(TF_DTYPE_BF16, value));
			if (half >= 0x7c00)
				continue;
			value = (float)((decode(TF_DTYPE_F16, (uint16_t)half) +
								decode(TF_DTYPE_F16, (uint16_t)(half + 1))) /
				2);
			value = tf_f32_of_bits(tf_bits_of_f32(value) + (uint32_t)step);
			assert_int_equal(tf_f16_round(value), round_by_search(TF_DTYPE_F16, value));
		}
	}
}

static void widening_is_exact(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		float wide = tf_f32_of_f16((uint16_t)bits);

		if ((bits & 0x7fff) < 0x7c00) {
			assert_true((double)wide == decode(TF_DTYPE_F16, (uint16_t)bits));
			assert_int_equal(signbit(wide) != 0, bits >> 15);
		} else {
			assert_int_equal(isnan(wide) != 0, (bits & 0x3ff) != 0);
			assert_int_equal(isinf(wide) != 0, (bits & 0x3ff) == 0);
		}
		if ((bits & 0x7f80) != 0x7f80)
			assert_true(
				(double)tf_f32_of_bf16((uint16_t)bits) == decode(TF_DTYPE_BF16, (uint16_t)bits));
	}
}

static void fill(enum tf_fill kind, enum tf_dtype dtype, uint32_t from[TF_WORLD_MAX][COUNT + 1])
{
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		tf_operand_fill(kind, dtype, 42 + dtype, r, COUNT, from[r]);
}

/*
 * The reference against sums in double that are then rounded to FP32 once per addition, which is
 * the same.
 */
static void reference_is_right(void **state)
{
	static uint32_t from[TF_WORLD_MAX][COUNT + 1];
	static uint16_t out[2 * COUNT + 2];
	const void *inputs[TF_WORLD_MAX];

	(void)state;
	for (uint32_t i = 0; i < 2 * TF_DTYPE_COUNT; i++) {
		enum tf_dtype dtype = (enum tf_dtype)(i / 2);
		enum tf_fill kind = i % 2 ? TF_FILL_SPECIAL : TF_FILL_RANDOM;

		fill(kind, dtype, from);
		for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
			inputs[r] = from[r];
		tf_reference(TF_OP_ALL_REDUCE, dtype, 5, 0, COUNT, inputs, out);
		for (uint32_t e = 0; e < COUNT; e++) {
			float acc = 0;

			for (uint32_t r = 0; r < 5; r++) {
				uint16_t half = ((uint16_t *)from[r])[e];
				double wide = dtype == TF_DTYPE_F32 ? (double)tf_f32_of_bits(from[r][e])
					: dtype == TF_DTYPE_F16         ? (double)tf_f32_of_f16(half)
													: (double)tf_f32_of_bf16(half);

				acc = r ? (float)((double)acc + wide) : (float)wide;
			}
			if (dtype == TF_DTYPE_F32)
				assert_int_equal(
					((uint32_t *)(void *)out)[e], isnan(acc) ? 0x7fc00000 : tf_bits_of_f32(acc));
			else
				assert_int_equal(out[e], round_by_search(dtype, acc));
		}
	}
}

static void reference_places_shards(void **state)
{
	const float a[7] = {1, 2, 3, 4, 5, 6, 7}, b[7] = {10, 20, 30, 40, 50, 60, 70}, c[7] = {0};
	const void *inputs[3] = {a, b, c};
	float out[21];

	(void)state;
	out[1] = -1;
	tf_reference(TF_OP_REDUCE_SCATTER, TF_DTYPE_F32, 3, 2, 7, inputs, out);
	assert_true(out[0] == 77 && out[1] == -1);
	tf_reference(TF_OP_REDUCE_SCATTER, TF_DTYPE_F32, 3, 1, 7, inputs, out);
	assert_true(out[0] == 44 && out[2] == 66);
	tf_reference(TF_OP_ALL_GATHER, TF_DTYPE_F32, 3, 1, 7, inputs, out);
	assert_memory_equal(out, a, sizeof(a));
	assert_memory_equal(out + 7, b, sizeof(b));
	assert_memory_equal(out + 14, c, sizeof(c));
}

static void all_sums_agree(void **state)
{
	static uint32_t from[TF_WORLD_MAX][COUNT + 1];
	static uint8_t expected[4 * COUNT], out[4 * COUNT];
	const struct tf_host_simd *simd;
	const void *inputs[TF_WORLD_MAX];

	(void)state;
	for (unsigned level = 0; (simd = tf_host_simd_nth(level)); level++) {
		for (uint32_t i = 0; i < 2 * TF_DTYPE_COUNT * TF_WORLD_MAX; i++) {
			enum tf_dtype dtype = (enum tf_dtype)(i % TF_DTYPE_COUNT);
			uint32_t world = 2 + i / 6 % (TF_WORLD_MAX - 1), shift = 2 * (i % 5);
			size_t count = COUNT - 8 - i, bytes = count * tf_dtype_bytes(dtype);

			fill(i / 3 % 2 ? TF_FILL_SPECIAL : TF_FILL_RANDOM, dtype, from);
			for (uint32_t r = 0; r < world; r++)
				inputs[r] = (uint8_t *)from[r] + shift;
			tf_host_simd_portable.sum[dtype](expected, inputs, world, count);
			memset(out, 0xee, sizeof(out));
			simd->sum[dtype](out, inputs, world, count);
			assert_memory_equal(out, expected, bytes);
			assert_int_equal(out[bytes], 0xee);
		}
	}
}

static void all_words_agree(void **state)
{
	static uint32_t data[COUNT + 1], back[COUNT + 1], words[COUNT + 1], portable[COUNT + 1];
	static uint64_t lines[COUNT + 1];
	const struct tf_host_simd *simd;

	(void)state;
	tf_operand_fill(TF_FILL_SPECIAL, TF_DTYPE_F32, 3, 0, COUNT, data);
	for (unsigned level = 0; (simd = tf_host_simd_nth(level)); level++) {
		for (size_t count = 0; count < 70; count++) {
			size_t missing = count * 7 / 9;

			simd->ll_pack(lines, data, count, 0x80000001);
			for (size_t i = 0; i < count; i++)
				assert_int_equal(lines[i], UINT64_C(0x80000001) << 32 | data[i]);
			memset(back, 0, sizeof(back));
			assert_int_equal(simd->ll_unpack(back, lines, count, 0x80000001), count);
			assert_memory_equal(back, data, 4 * count);
			if (count) {
				lines[missing] ^= UINT64_C(1) << 32;
				assert_int_equal(simd->ll_unpack(back, lines, count, 0x80000001), missing);
			}
			for (int keep = 0; keep <= 1; keep++) {
				assert_int_equal(simd->sentinel_pack(words, data, count, keep) != 0,
					tf_host_simd_portable.sentinel_pack(portable, data, count, keep) != 0);
				assert_memory_equal(words, portable, 4 * count);
				if (keep)
					assert_memory_equal(words, data, 4 * count);
			}
			assert_int_equal(simd->sentinel_scan(words, 0), 0);
			simd->sentinel_pack(words, data, count, 0);
			assert_int_equal(simd->sentinel_scan(words, count), count);
			words[missing] = TF_SENTINEL_WORD;
			assert_int_equal(simd->sentinel_scan(words, count), missing);
			words[count] = 7;
			simd->sentinel_fill(words, count);
			for (size_t i = 0; i < count; i++)
				assert_int_equal(words[i], TF_SENTINEL_WORD);
			assert_int_equal(words[count], 7);
		}
	}
}

static void sentinels_are_nans_in_every_lane(void **state)
{
	static const uint32_t words[] = {TF_SENTINEL_WORD, TF_SENTINEL_OTHER};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(isnan(tf_f32_of_bits(words[i])));
		for (int lane = 0; lane < 2; lane++) {
			assert_true(isnan(tf_f32_of_bf16((uint16_t)(words[i] >> 16 * lane))));
			assert_true(isnan(tf_f32_of_f16((uint16_t)(words[i] >> 16 * lane))));
		}
	}
}

/* An engine's flush-to-zero and rounding modes must not reach the sums, and must come back. */
static void modes_are_kept_out(void **state)
{
#if defined(__SSE2__)
	const uint32_t small = 0x00000001;
	const void *inputs[2] = {&small, &small};
	unsigned before = _mm_getcsr();
	uint32_t out;

	(void)state;
	_mm_setcsr(before | 0x8040 | 0x6000);
	tf_reference(TF_OP_ALL_REDUCE, TF_DTYPE_F32, 2, 0, 1, inputs, &out);
	assert_int_equal(_mm_getcsr() & 0xe040, 0xe040);
	_mm_setcsr(before);
	assert_int_equal(out, 2);
#else
	(void)state;
	skip();
#endif
}

static void operands_are_functions_of_their_place(void **state)
{
	static uint16_t a[COUNT], b[COUNT];

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		tf_operand_fill((enum tf_fill)kind, TF_DTYPE_BF16, 5, 1, COUNT, a);
		tf_operand_fill((enum tf_fill)kind, TF_DTYPE_BF16, 5, 1, 10, b);
		assert_memory_equal(a, b, 20);
		tf_operand_fill((enum tf_fill)kind, TF_DTYPE_BF16, 5, 2, COUNT, b);
		assert_memory_not_equal(a, b, sizeof(a));
		tf_operand_fill((enum tf_fill)kind, TF_DTYPE_BF16, 6, 1, COUNT, b);
		assert_memory_not_equal(a, b, sizeof(a));
		tf_operand_fill(
			(enum tf_fill)kind, TF_DTYPE_BF16, UINT64_C(5) + (UINT64_C(1) << 32), 1, COUNT, b);
		assert_memory_not_equal(a, b, sizeof(a));
	}
}

/*
 * How many elements change when the ranks are summed backwards: operands for which none do prove
 * nothing.
 */
static uint32_t order_dependent(enum tf_dtype dtype)
{
	static uint32_t from[TF_WORLD_MAX][COUNT + 1], forward[COUNT], backward[COUNT];
	const void *inputs[TF_WORLD_MAX];
	size_t bytes = tf_dtype_bytes(dtype);
	uint32_t differ = 0;

	fill(TF_FILL_RANDOM, dtype, from);
	for (uint32_t r = 0; r < 4; r++)
		inputs[r] = from[r];
	tf_host_simd_portable.sum[dtype](forward, inputs, 4, COUNT);
	for (uint32_t r = 0; r < 4; r++)
		inputs[r] = from[3 - r];
	tf_host_simd_portable.sum[dtype](backward, inputs, 4, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		float sum = dtype == TF_DTYPE_F32 ? tf_f32_of_bits(forward[i]) : 0;

		assert_true(isfinite(sum));
		differ += memcmp((char *)forward + i * bytes, (char *)backward + i * bytes, bytes) != 0;
	}
	return differ;
}

static void random_operands_tell_orders_apart(void **state)
{
	(void)state;
	assert_true(order_dependent(TF_DTYPE_F32) > COUNT / 10);
	assert_true(order_dependent(TF_DTYPE_BF16) > COUNT / 100);
	assert_true(order_dependent(TF_DTYPE_F16) > COUNT / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounding_is_right),
		cmocka_unit_test(widening_is_exact),
		cmocka_unit_test(reference_is_right),
		cmocka_unit_test(reference_places_shards),
		cmocka_unit_test(all_sums_agree),
		cmocka_unit_test(all_words_agree),
		cmocka_unit_test(sentinels_are_nans_in_every_lane),
		cmocka_unit_test(modes_are_kept_out),
		cmocka_unit_test(operands_are_functions_of_their_place),
		cmocka_unit_test(random_operands_tell_orders_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
