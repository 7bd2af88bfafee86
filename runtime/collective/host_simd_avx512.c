/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops with AVX-512F, sixteen FP32 lanes at a time; what is left goes through the
 * portable ones.
 */
#include "runtime/collective/host_simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "runtime/collective/numeric.h"
#include "runtime/collective/operand_random.h"

#define LANES  16
#define INLINE static inline __attribute__((always_inline))

INLINE __m512 canonical(__m512 value)
{
	__m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32((int)TF_NAN_F32));

	return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), nan);
}

INLINE __m512 load(enum tf_dtype dtype, const void *from, size_t i)
{
	const char *at = (const char *)from + i * (dtype == TF_DTYPE_F32 ? 4 : 2);

	if (dtype == TF_DTYPE_F32)
		return _mm512_loadu_ps(at);
	if (dtype == TF_DTYPE_F16)
		return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)at));
	return _mm512_castsi512_ps(_mm512_slli_epi32(
		_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)at)), 16));
}

INLINE void store_bf16(void *at, __m512 value)
{
	__m512i bits = _mm512_castps_si512(value);
	__m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));

	bits = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
	_mm256_storeu_si256((__m256i *)at, _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
}

INLINE void store(enum tf_dtype dtype, void *out, size_t i, __m512 value)
{
	char *at = (char *)out + i * (dtype == TF_DTYPE_F32 ? 4 : 2);

	value = canonical(value);
	if (dtype == TF_DTYPE_F32)
		_mm512_storeu_ps(at, value);
	else if (dtype == TF_DTYPE_F16)
		_mm256_storeu_si256(
			(__m256i *)(void *)at, _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
	else
		store_bf16(at, value);
}

INLINE void sum_lanes(
	enum tf_dtype dtype, void *out, const void *const *from, uint32_t world, size_t count)
{
	for (size_t i = 0; i < count; i += LANES) {
		__m512 acc = load(dtype, from[0], i);

		for (uint32_t r = 1; r < world; r++)
			acc = _mm512_add_ps(acc, load(dtype, from[r], i));
		store(dtype, out, i, acc);
	}
}

INLINE void sum(
	enum tf_dtype dtype, void *out, const void *const *from, uint32_t world, size_t count)
{
	size_t whole = count / LANES * LANES, done = whole * (dtype == TF_DTYPE_F32 ? 4 : 2);
	const void *rest[TF_WORLD_MAX];

	if (world == 2)
		sum_lanes(dtype, out, from, 2, whole);
	else
		sum_lanes(dtype, out, from, world, whole);
	if (whole == count)
		return;
	for (uint32_t r = 0; r < world; r++)
		rest[r] = (const char *)from[r] + done;
	tf_host_simd_portable.sum[dtype]((char *)out + done, rest, world, count - whole);
}

static void sum_bf16(void *out, const void *const *from, uint32_t world, size_t count)
{
	sum(TF_DTYPE_BF16, out, from, world, count);
}

static void sum_f16(void *out, const void *const *from, uint32_t world, size_t count)
{
	sum(TF_DTYPE_F16, out, from, world, count);
}

static void sum_f32(void *out, const void *const *from, uint32_t world, size_t count)
{
	sum(TF_DTYPE_F32, out, from, world, count);
}

static void ll_pack(uint64_t *to, const void *from, size_t words, uint32_t epoch)
{
	const __m512i tag = _mm512_set1_epi64((long long)((uint64_t)epoch << 32));
	size_t i = 0;

	for (; i + 8 <= words; i += 8) {
		__m256i data =
			_mm256_loadu_si256((const __m256i *)(const void *)((const char *)from + 4 * i));

		_mm512_storeu_si512(&to[i], _mm512_or_si512(_mm512_cvtepu32_epi64(data), tag));
	}
	tf_host_simd_portable.ll_pack(to + i, (const char *)from + 4 * i, words - i, epoch);
}

static size_t ll_unpack(void *to, const uint64_t *from, size_t words, uint32_t epoch)
{
	const __m512i tag = _mm512_set1_epi32((int)epoch);
	size_t i = 0;

	for (; i + 8 <= words; i += 8) {
		__m512i both = _mm512_loadu_si512(&from[i]);

		if (_mm512_mask_cmpneq_epi32_mask(0xaaaa, both, tag))
			break;
		_mm256_storeu_si256((__m256i *)(void *)((char *)to + 4 * i), _mm512_cvtepi64_epi32(both));
	}
	return i + tf_host_simd_portable.ll_unpack((char *)to + 4 * i, from + i, words - i, epoch);
}

static int sentinel_pack(uint32_t *to, const void *from, size_t words, int keep)
{
	const __m512i mark = _mm512_set1_epi32((int)TF_SENTINEL_WORD);
	const __m512i other = _mm512_set1_epi32((int)(keep ? TF_SENTINEL_WORD : TF_SENTINEL_OTHER));
	unsigned found = 0;
	size_t i = 0;

	for (; i + LANES <= words; i += LANES) {
		__m512i data = _mm512_loadu_si512((const char *)from + 4 * i);
		__mmask16 same = _mm512_cmpeq_epi32_mask(data, mark);

		found |= same;
		_mm512_storeu_si512(&to[i], _mm512_mask_mov_epi32(data, same, other));
	}
	return tf_host_simd_portable.sentinel_pack(
			   to + i, (const char *)from + 4 * i, words - i, keep) |
		(found != 0);
}

static size_t sentinel_scan(const uint32_t *from, size_t words)
{
	const __m512i mark = _mm512_set1_epi32((int)TF_SENTINEL_WORD);
	size_t i = 0;

	for (; i + LANES <= words; i += LANES) {
		if (_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(&from[i]), mark))
			break;
	}
	return i + tf_host_simd_portable.sentinel_scan(from + i, words - i);
}

static void sentinel_fill(uint32_t *to, size_t words)
{
	const __m512i mark = _mm512_set1_epi32((int)TF_SENTINEL_WORD);
	size_t i = 0;

	for (; i + LANES <= words; i += LANES)
		_mm512_storeu_si512(&to[i], mark);
	tf_host_simd_portable.sentinel_fill(to + i, words - i);
}

const struct tf_host_simd tf_host_simd_avx512 = {
	.name = "avx512",
	.sum = {[TF_DTYPE_BF16] = sum_bf16, [TF_DTYPE_F16] = sum_f16, [TF_DTYPE_F32] = sum_f32},
	.ll_pack = ll_pack,
	.ll_unpack = ll_unpack,
	.sentinel_pack = sentinel_pack,
	.sentinel_scan = sentinel_scan,
	.sentinel_fill = sentinel_fill,
	.operand_random = tf_operand_random_avx512,
};
#endif
