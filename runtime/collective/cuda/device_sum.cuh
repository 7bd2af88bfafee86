/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of the numerics class (runtime/collective/numeric.h): FP32, ranks 0..world-1 in order,
 * one rounding to nearest even, every NaN the one quiet NaN. Additions only, so nothing can be
 * contracted; subnormals are kept, the code must not be built with -ftz=true.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_DEVICE_SUM_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_DEVICE_SUM_CUH

#include "base/dtype.h"
#include "runtime/collective/cuda/device_words.cuh"

template <int DTYPE> TF_FN float tf_low_of(uint32_t word)
{
	float value;

	if (DTYPE == TF_DTYPE_BF16)
		return __uint_as_float(word << 16);
	asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((uint16_t)word));
	return value;
}

template <int DTYPE> TF_FN float tf_high_of(uint32_t word)
{
	if (DTYPE == TF_DTYPE_BF16)
		return __uint_as_float(word & 0xffff0000u);
	return tf_low_of<DTYPE>(word >> 16);
}

template <int DTYPE> TF_FN uint32_t tf_round_pair(float low, float high)
{
	const uint32_t nan = DTYPE == TF_DTYPE_BF16 ? 0x7fc0 : 0x7e00;
	uint32_t word;

	if (DTYPE == TF_DTYPE_BF16)
		asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
	else
		asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
	if (low != low)
		word = (word & 0xffff0000u) | nan;
	if (high != high)
		word = (word & 0xffff) | nan << 16;
	return word;
}

/* One word of the sum of v[0..world-1]. */
template <int DTYPE, int W, int N, bool UNROLLED>
TF_FN uint32_t tf_sum_word(const tf_vec<N> (&v)[W], int i, uint32_t world)
{
	float low, high;

	if (DTYPE == TF_DTYPE_F32) {
		low = __uint_as_float(v[0].w[i]);
		tf_each<UNROLLED, 1, W>([&](uint32_t s) {
			if (s < world)
				low += __uint_as_float(v[s].w[i]);
		});
		return low != low ? 0x7fc00000u : __float_as_uint(low);
	}
	low = tf_low_of<DTYPE>(v[0].w[i]);
	high = tf_high_of<DTYPE>(v[0].w[i]);
	tf_each<UNROLLED, 1, W>([&](uint32_t s) {
		if (s < world) {
			low += tf_low_of<DTYPE>(v[s].w[i]);
			high += tf_high_of<DTYPE>(v[s].w[i]);
		}
	});
	return tf_round_pair<DTYPE>(low, high);
}

/* The sum of v[0..world-1], world <= W; the branch on dtype is the same for the whole grid.
 * UNROLLED: tf_each. */
template <int W, int N, bool UNROLLED>
TF_FN tf_vec<N> tf_sum(uint32_t dtype, const tf_vec<N> (&v)[W], uint32_t world)
{
	tf_vec<N> out;

	if (dtype == TF_DTYPE_BF16) {
#pragma unroll
		for (int i = 0; i < N; i++)
			out.w[i] = tf_sum_word<TF_DTYPE_BF16, W, N, UNROLLED>(v, i, world);
	} else if (dtype == TF_DTYPE_F16) {
#pragma unroll
		for (int i = 0; i < N; i++)
			out.w[i] = tf_sum_word<TF_DTYPE_F16, W, N, UNROLLED>(v, i, world);
	} else {
#pragma unroll
		for (int i = 0; i < N; i++)
			out.w[i] = tf_sum_word<TF_DTYPE_F32, W, N, UNROLLED>(v, i, world);
	}
	return out;
}

#endif
