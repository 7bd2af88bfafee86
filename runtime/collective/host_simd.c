/* SPDX-License-Identifier: Apache-2.0 */
/* The portable inner loops, and the choice among all. */
#include "runtime/collective/host_simd.h"

#include <string.h>

#include "runtime/collective/numeric.h"
#include "runtime/collective/operand_random.h"
#include "runtime/collective/order.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static void sum_f32(void *out, const void *const *from, uint32_t world, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float acc, value;
		uint32_t bits;

		memcpy(&acc, (const char *)from[0] + 4 * i, 4);
		for (uint32_t r = 1; r < world; r++) {
			memcpy(&value, (const char *)from[r] + 4 * i, 4);
			acc += value;
		}
		bits = tf_f32_round(acc);
		memcpy((char *)out + 4 * i, &bits, 4);
	}
}

static inline uint16_t half_at(const void *from, size_t i)
{
	uint16_t bits;

	memcpy(&bits, (const char *)from + 2 * i, 2);
	return bits;
}

static void sum_bf16(void *out, const void *const *from, uint32_t world, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float acc = tf_f32_of_bf16(half_at(from[0], i));
		uint16_t bits;

		for (uint32_t r = 1; r < world; r++)
			acc += tf_f32_of_bf16(half_at(from[r], i));
		bits = tf_bf16_round(acc);
		memcpy((char *)out + 2 * i, &bits, 2);
	}
}

static void sum_f16(void *out, const void *const *from, uint32_t world, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float acc = tf_f32_of_f16(half_at(from[0], i));
		uint16_t bits;

		for (uint32_t r = 1; r < world; r++)
			acc += tf_f32_of_f16(half_at(from[r], i));
		bits = tf_f16_round(acc);
		memcpy((char *)out + 2 * i, &bits, 2);
	}
}

static void ll_pack(uint64_t *to, const void *from, size_t words, uint32_t epoch)
{
	for (size_t i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, (const char *)from + 4 * i, 4);
		__atomic_store_n(&to[i], (uint64_t)epoch << 32 | word, TF_WORD_STORE);
	}
}

static size_t ll_unpack(void *to, const uint64_t *from, size_t words, uint32_t epoch)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t both = __atomic_load_n(&from[i], TF_WORD_LOAD);
		uint32_t word = (uint32_t)both;

		if (both >> 32 != epoch)
			return i;
		memcpy((char *)to + 4 * i, &word, 4);
	}
	return words;
}

static int sentinel_pack(uint32_t *to, const void *from, size_t words, int keep)
{
	int found = 0;

	for (size_t i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, (const char *)from + 4 * i, 4);
		if (word == TF_SENTINEL_WORD) {
			found = 1;
			if (!keep)
				word = TF_SENTINEL_OTHER;
		}
		__atomic_store_n(&to[i], word, TF_WORD_STORE);
	}
	return found;
}

static size_t sentinel_scan(const uint32_t *from, size_t words)
{
	size_t i = 0;

	while (i < words && __atomic_load_n(&from[i], TF_WORD_LOAD) != TF_SENTINEL_WORD)
		i++;
	return i;
}

static void sentinel_fill(uint32_t *to, size_t words)
{
	for (size_t i = 0; i < words; i++)
		__atomic_store_n(&to[i], TF_SENTINEL_WORD, TF_WORD_STORE);
}

const struct tf_host_simd tf_host_simd_portable = {
	.name = "portable",
	.sum = {[TF_DTYPE_BF16] = sum_bf16, [TF_DTYPE_F16] = sum_f16, [TF_DTYPE_F32] = sum_f32},
	.ll_pack = ll_pack,
	.ll_unpack = ll_unpack,
	.sentinel_pack = sentinel_pack,
	.sentinel_scan = sentinel_scan,
	.sentinel_fill = sentinel_fill,
	.operand_random = tf_operand_random_portable,
};

#if defined(__x86_64__) && !defined(TF_THREAD_SANITIZER)
static int has_f16c(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

/*
 * Under ThreadSanitizer only the portable loops run: it cannot see that vector accesses keep
 * words whole.
 */
const struct tf_host_simd *tf_host_simd_nth(unsigned i)
{
#if defined(__x86_64__) && !defined(TF_THREAD_SANITIZER)
	if (__builtin_cpu_supports("avx512f") && i-- == 0)
		return &tf_host_simd_avx512;
	if (__builtin_cpu_supports("avx2") && has_f16c() && i-- == 0)
		return &tf_host_simd_avx2;
#endif
	return i == 0 ? &tf_host_simd_portable : NULL;
}

const struct tf_host_simd *tf_host_simd(void)
{
	static const struct tf_host_simd *cached;
	const struct tf_host_simd *best = __atomic_load_n(&cached, __ATOMIC_RELAXED);

	if (!best) {
		best = tf_host_simd_nth(0);
		__atomic_store_n(&cached, best, __ATOMIC_RELAXED);
	}
	return best;
}
