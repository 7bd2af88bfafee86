/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of the host bodies, once portable and once for each vector extension; the best
 * that this CPU has is chosen at run time. All give the same bits.
 *
 * Vector loads and stores of protocol words rely on the CPU keeping each aligned 8 bytes whole,
 * which every CPU with AVX does.
 */
#ifndef TF_RUNTIME_COLLECTIVE_HOST_SIMD_H
#define TF_RUNTIME_COLLECTIVE_HOST_SIMD_H

#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "Not arrived": a NaN in each 16-bit lane of either kind, and as FP32. */
#define TF_SENTINEL_WORD UINT32_C(0xfff1fff1)
#define TF_SENTINEL_OTHER                                                                          \
	UINT32_C(0x7fff7fff) /* sent in its place to be summed: NaN in the same lanes */

struct tf_host_simd {
	const char *name;
	/*
	 * out[i] = round(from[0][i] + ... + from[world - 1][i]), in this order, FP32; no alignment
	 * needed.
	 */
	void (*sum[TF_DTYPE_COUNT])(void *out, const void *const *from, uint32_t world, size_t count);
	/* ll: word i of `from` becomes {word, epoch} at to[i]; `to` is 8-byte aligned. */
	void (*ll_pack)(uint64_t *to, const void *from, size_t words, uint32_t epoch);
	/* The first words that carry `epoch`, stored to `to`; returns how many. */
	size_t (*ll_unpack)(void *to, const uint64_t *from, size_t words, uint32_t epoch);
	/*
	 * Copies words; a sentinel word stays (keep) or becomes the other NaN. Returns whether there
	 * was one.
	 */
	int (*sentinel_pack)(uint32_t *to, const void *from, size_t words, int keep);
	/* How many words at the start are not the sentinel. */
	size_t (*sentinel_scan)(const uint32_t *from, size_t words);
	void (*sentinel_fill)(uint32_t *to, size_t words);
	/* Random operands (operand_random.h). */
	void (*operand_random)(enum tf_dtype dtype, uint32_t own_key, uint32_t shared_key,
		uint32_t rank, uint64_t count, void *out);
};

/* The best for this CPU; never NULL. */
const struct tf_host_simd *tf_host_simd(void);

/* Number i, best first; NULL after the last. For tests: all that this CPU can run. */
const struct tf_host_simd *tf_host_simd_nth(unsigned i);

extern const struct tf_host_simd tf_host_simd_portable;
#if defined(__x86_64__)
extern const struct tf_host_simd tf_host_simd_avx2;
extern const struct tf_host_simd tf_host_simd_avx512;
#endif

#ifdef __cplusplus
}
#endif
#endif
