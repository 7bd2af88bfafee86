/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops that make random operands, compiled once for each vector extension by the files that
 * include this page. All give the same bits, since all is integer arithmetic.
 */
#ifndef TF_RUNTIME_COLLECTIVE_OPERAND_RANDOM_H
#define TF_RUNTIME_COLLECTIVE_OPERAND_RANDOM_H

#include <stdint.h>

#include "base/dtype.h"

#define OPERAND_BLOCK 256
#define INDEX_STEP    UINT32_C(0x9e3779b9)

/* A full-avalanche mixer of 32 bits. */
static inline uint32_t mix(uint32_t h)
{
	h ^= h >> 16;
	h *= UINT32_C(0x7feb352d);
	h ^= h >> 15;
	h *= UINT32_C(0x846ca68b);
	return h ^ h >> 16;
}

/*
 * Sign, exponent and fraction for a dtype of `fraction_bits`; exponents are below `large`,
 * `spread` of them.
 */
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

/*
 * In blocks of 32-bit values that are narrowed after: compilers vectorise the two loops, not one
 * of both widths.
 */
static inline void fill_random_16(uint32_t own_key, uint32_t shared_key, uint32_t rank,
	uint64_t count, uint16_t *out, uint32_t fraction_bits, uint32_t large, uint32_t spread_mask)
{
	uint32_t block[OPERAND_BLOCK];

	for (uint64_t first = 0; first < count; first += OPERAND_BLOCK) {
		uint32_t left = count - first < OPERAND_BLOCK ? (uint32_t)(count - first) : OPERAND_BLOCK;

		for (uint32_t i = 0; i < OPERAND_BLOCK; i++) {
			uint32_t step = ((uint32_t)first + i) * INDEX_STEP;

			block[i] = random_bits(mix(step ^ own_key), mix(step ^ shared_key), rank, fraction_bits,
				large, spread_mask);
		}
		for (uint32_t i = 0; i < left; i++)
			out[first + i] = (uint16_t)block[i];
	}
}

static inline void fill_random_32(
	uint32_t own_key, uint32_t shared_key, uint32_t rank, uint64_t count, uint32_t *out)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t step = (uint32_t)i * INDEX_STEP;

		out[i] = random_bits(mix(step ^ own_key), mix(step ^ shared_key), rank, 23, 142, 31);
	}
}

/* The keys are hashes of the seed: one drawn with the rank, one shared by all ranks. */
static inline void fill_random(enum tf_dtype dtype, uint32_t own_key, uint32_t shared_key,
	uint32_t rank, uint64_t count, void *out)
{
	if (dtype == TF_DTYPE_F32)
		fill_random_32(own_key, shared_key, rank, count, (uint32_t *)out);
	else if (dtype == TF_DTYPE_F16)
		fill_random_16(own_key, shared_key, rank, count, (uint16_t *)out, 10, 27, 15);
	else
		fill_random_16(own_key, shared_key, rank, count, (uint16_t *)out, 7, 142, 31);
}

/* For the tables of host_simd.h. */
void tf_operand_random_portable(enum tf_dtype dtype, uint32_t own_key, uint32_t shared_key,
	uint32_t rank, uint64_t count, void *out);
#if defined(__x86_64__)
void tf_operand_random_avx2(enum tf_dtype dtype, uint32_t own_key, uint32_t shared_key,
	uint32_t rank, uint64_t count, void *out);
void tf_operand_random_avx512(enum tf_dtype dtype, uint32_t own_key, uint32_t shared_key,
	uint32_t rank, uint64_t count, void *out);
#endif

#endif
