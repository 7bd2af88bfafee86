/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops with AVX2 and F16C, eight FP32 lanes at a time; what is left goes through the
 * portable ones.
 */
#include "runtime/collective/host_simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "runtime/collective/numeric.h"
#include "runtime/collective/operand_random.h"

#define LANES  8
#define INLINE static inline __attribute__((always_inline))

INLINE __m256 canonical(__m256 value)
{
	__m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32((int)TF_NAN_F32));

	return _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
}

INLINE __m256 load(enum tf_dtype dtype, const void *from, size_t i)
{
	const char *at = (const char *)from + i * (dtype == TF_DTYPE_F32 ? 4 : 2);

	if (dtype == TF_DTYPE_F32)
		return _mm256_loadu_ps((const float *)(const void *)at);
	if (dtype == TF_DTYPE_F16)
		return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)at));
	return _mm256_castsi256_ps(_mm256_slli_epi32(
		_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)at)), 16));
}

INLINE void store_bf16(void *at, __m256 value)
{
	__m256i bits = _mm256_castps_si256(value);
	__m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));

	bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
	bits = _mm256_srli_epi32(bits, 16);
	bits = _mm256_permute4x64_epi64(_mm256_packus_epi32(bits, bits), 0x08);
	_mm_storeu_si128((__m128i *)at, _mm256_castsi256_si128(bits));
}

INLINE void store(enum tf_dtype dtype, void *out, size_t i, __m256 value)
{
	char *at = (char *)out + i * (dtype == TF_DTYPE_F32 ? 4 : 2);

	value = canonical(value);
	if (dtype == TF_DTYPE_F32)
		_mm256_storeu_ps((float *)(void *)at, value);
	else if (dtype == TF_DTYPE_F16)
		_mm_storeu_si128((__m128i *)(void *)at, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
	else
		store_bf16(at, value);
}

INLINE void sum_lanes(
	enum tf_dtype dtype, void *out, const void *const *from, uint32_t world, size_t count)
{
	for (size_t i = 0; i < count; i += LANES) {
		__m256 acc = load(dtype, from[0], i);

		for (uint32_t r = 1; r < world; r++)
			acc = _mm256_add_ps(acc, load(dtype, from[r], i));
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
	const __m256i tag = _mm256_set1_epi64x((long long)((uint64_t)epoch << 32));
	size_t i = 0;

	for (; i + 4 <= words; i += 4) {
		__m128i data = _mm_loadu_si128((const __m128i *)(const void *)((const char *)from + 4 * i));

		_mm256_storeu_si256(
			(__m256i *)(void *)&to[i], _mm256_or_si256(_mm256_cvtepu32_epi64(data), tag));
	}
	tf_host_simd_portable.ll_pack(to + i, (const char *)from + 4 * i, words - i, epoch);
}

static size_t ll_unpack(void *to, const uint64_t *from, size_t words, uint32_t epoch)
{
	const __m256i tag = _mm256_set1_epi32((int)epoch);
	size_t i = 0;

	for (; i + 8 <= words; i += 8) {
		__m256 a = _mm256_loadu_ps((const float *)(const void *)&from[i]);
		__m256 b = _mm256_loadu_ps((const float *)(const void *)&from[i + 4]);
		__m256i tags = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
		__m256i data = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));

		if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(tags, tag)) != -1)
			break;
		_mm256_storeu_si256(
			(__m256i *)(void *)((char *)to + 4 * i), _mm256_permute4x64_epi64(data, 0xd8));
	}
	return i + tf_host_simd_portable.ll_unpack((char *)to + 4 * i, from + i, words - i, epoch);
}

static int sentinel_pack(uint32_t *to, const void *from, size_t words, int keep)
{
	const __m256i mark = _mm256_set1_epi32((int)TF_SENTINEL_WORD);
	const __m256i other = _mm256_set1_epi32((int)(keep ? TF_SENTINEL_WORD : TF_SENTINEL_OTHER));
	__m256i found = _mm256_setzero_si256();
	size_t i = 0;

	for (; i + 8 <= words; i += 8) {
		__m256i data =
			_mm256_loadu_si256((const __m256i *)(const void *)((const char *)from + 4 * i));
		__m256i same = _mm256_cmpeq_epi32(data, mark);

		found = _mm256_or_si256(found, same);
		_mm256_storeu_si256((__m256i *)(void *)&to[i], _mm256_blendv_epi8(data, other, same));
	}
	return tf_host_simd_portable.sentinel_pack(
			   to + i, (const char *)from + 4 * i, words - i, keep) |
		(_mm256_movemask_epi8(found) != 0);
}

static size_t sentinel_scan(const uint32_t *from, size_t words)
{
	const __m256i mark = _mm256_set1_epi32((int)TF_SENTINEL_WORD);
	size_t i = 0;

	for (; i + 8 <= words; i += 8) {
		__m256i data = _mm256_loadu_si256((const __m256i *)(const void *)&from[i]);

		if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(data, mark)))
			break;
	}
	return i + tf_host_simd_portable.sentinel_scan(from + i, words - i);
}

static void sentinel_fill(uint32_t *to, size_t words)
{
	const __m256i mark = _mm256_set1_epi32((int)TF_SENTINEL_WORD);
	size_t i = 0;

	for (; i + 8 <= words; i += 8)
		_mm256_storeu_si256((__m256i *)(void *)&to[i], mark);
	tf_host_simd_portable.sentinel_fill(to + i, words - i);
}

const struct tf_host_simd tf_host_simd_avx2 = {
	.name = "avx2",
	.sum = {[TF_DTYPE_BF16] = sum_bf16, [TF_DTYPE_F16] = sum_f16, [TF_DTYPE_F32] = sum_f32},
	.ll_pack = ll_pack,
	.ll_unpack = ll_unpack,
	.sentinel_pack = sentinel_pack,
	.sentinel_scan = sentinel_scan,
	.sentinel_fill = sentinel_fill,
	.operand_random = tf_operand_random_avx2,
};
#endif
