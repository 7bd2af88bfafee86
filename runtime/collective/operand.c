/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deterministic operands. An element is a hash of (seed, rank, index) alone, in 32-bit arithmetic that vectorises.
 *
 * RANDOM: in a quarter of the elements, ranks 2k and 2k + 1 hold the same large value with opposite signs. They cancel,
 * and what then is left of the small ones depends on the order of the sum and on where it is rounded.
 */
#include <string.h>

#include "runtime/collective/collective.h"

#define INDEX_STEP UINT32_C(0x9e3779b9)

/* A full-avalanche mixer of 32 bits. */
static inline uint32_t mix(uint32_t h)
{
	h ^= h >> 16;
	h *= UINT32_C(0x7feb352d);
	h ^= h >> 15;
	h *= UINT32_C(0x846ca68b);
	return h ^ h >> 16;
}

static uint32_t key_of(uint64_t seed, uint32_t salt)
{
	return mix(mix((uint32_t)seed ^ mix(salt + 1)) + (uint32_t)(seed >> 32));
}

/* Sign, exponent and fraction for a dtype of `fraction_bits`; exponents are below `large`, `spread` of them. */
static inline uint32_t random_bits(uint32_t own, uint32_t shared, uint32_t rank,
	uint32_t fraction_bits, uint32_t large, uint32_t spread_mask)
{
	uint32_t fraction_mask = (UINT32_C(1) << fraction_bits) - 1;
	uint32_t sign_bit = UINT32_C(1) << (fraction_bits == 7 ? 15 : fraction_bits == 10 ? 15 : 31);
	uint32_t is_large = (shared >> (24 + (rank & 6)) & 3) == 0;
	uint32_t exponent = is_large ? large : large - 1 - (own >> 24 & spread_mask);
	uint32_t fraction = (is_large ? shared : own) & fraction_mask;
	uint32_t negative = is_large ? (rank ^ shared >> 23) & 1 : own >> 23 & 1;

	return (negative ? sign_bit : 0) | exponent << fraction_bits | fraction;
}

static void fill_random_16(uint32_t own_key, uint32_t shared_key, uint32_t rank, uint64_t count,
	uint16_t *out, uint32_t fraction_bits, uint32_t large, uint32_t spread_mask)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t step = (uint32_t)i * INDEX_STEP;

		out[i] = (uint16_t)random_bits(mix(step ^ own_key), mix(step ^ shared_key), rank,
			fraction_bits, large, spread_mask);
	}
}

static void fill_random_32(
	uint32_t own_key, uint32_t shared_key, uint32_t rank, uint64_t count, uint32_t *out)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t step = (uint32_t)i * INDEX_STEP;

		out[i] = random_bits(mix(step ^ own_key), mix(step ^ shared_key), rank, 23, 142, 31);
	}
}

#define SPECIALS 16

/* The last ones are TF_SENTINEL_WORD's lanes and the NaN sent in their place. */
static const uint16_t specials_bf16[SPECIALS] = {0x0000, 0x8000, 0x0001, 0x807f, 0x0080, 0x7f7f,
	0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffc1, 0x3f80, 0xbf80, 0xfff1, 0x7fff};
static const uint16_t specials_f16[SPECIALS] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x7bff,
	0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe01, 0x3c00, 0xbc00, 0xfff1, 0x7fff};
static const uint32_t specials_f32[SPECIALS] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff,
	0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00001,
	0x3f800000, 0xbf800000, 0xfff1fff1, 0x7fff7fff};

/* One pair of elements in eight, and one FP32 element in eight, is the whole sentinel word. */
static void fill_special(enum tf_dtype dtype, uint32_t key, uint64_t count, void *out)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t pick = mix((uint32_t)i * INDEX_STEP ^ key) >> 28;
		uint32_t both = mix((uint32_t)(dtype == TF_DTYPE_F32 ? i : i / 2) ^ ~key) >> 29;

		if (both == 0)
			pick = 14;
		if (dtype == TF_DTYPE_F32)
			((uint32_t *)out)[i] = specials_f32[pick];
		else
			((uint16_t *)out)[i] =
				dtype == TF_DTYPE_F16 ? specials_f16[pick] : specials_bf16[pick];
	}
}

void tf_operand_fill(enum tf_fill fill, enum tf_dtype dtype, uint64_t seed, uint32_t rank,
	uint64_t count, void *out)
{
	uint32_t own_key = key_of(seed, rank), shared_key = key_of(seed, TF_WORLD_MAX);

	if (fill == TF_FILL_SPECIAL)
		fill_special(dtype, own_key, count, out);
	else if (dtype == TF_DTYPE_F32)
		fill_random_32(own_key, shared_key, rank, count, out);
	else if (dtype == TF_DTYPE_F16)
		fill_random_16(own_key, shared_key, rank, count, out, 10, 27, 15);
	else
		fill_random_16(own_key, shared_key, rank, count, out, 7, 142, 31);
}
