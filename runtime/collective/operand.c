/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deterministic operands. An element is a hash of (seed, rank, index) alone, in 32-bit arithmetic
 * that vectorises.
 *
 * RANDOM: in a quarter of the elements, ranks 2k and 2k + 1 hold the same large value with
 * opposite signs. They cancel, and what then is left of the small ones depends on the order of
 * the sum and on where it is rounded.
 */
#include <string.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/operand_random.h"
#include "runtime/collective/host_simd.h"

static uint32_t key_of(uint64_t seed, uint32_t salt)
{
	return mix(mix((uint32_t)seed ^ mix(salt + 1)) + (uint32_t)(seed >> 32));
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
			((uint16_t *)out)[i] = dtype == TF_DTYPE_F16 ? specials_f16[pick] : specials_bf16[pick];
	}
}

void tf_operand_random_portable(enum tf_dtype dtype, uint32_t own_key, uint32_t shared_key,
	uint32_t rank, uint64_t count, void *out)
{
	fill_random(dtype, own_key, shared_key, rank, count, out);
}

void tf_operand_fill(
	enum tf_fill fill, enum tf_dtype dtype, uint64_t seed, uint32_t rank, uint64_t count, void *out)
{
	uint32_t own_key = key_of(seed, rank), shared_key = key_of(seed, TF_WORLD_MAX);

	if (fill == TF_FILL_SPECIAL)
		fill_special(dtype, own_key, count, out);
	else
		tf_host_simd()->operand_random(dtype, own_key, shared_key, rank, count, out);
}
