/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RMSNorm of rows of bf16: out[i] = in[i] / sqrt(mean(in * in) + epsilon) * gain[i].
 *
 * input (rows, width), gain (width), output (rows, width); one block of 256 threads a row, 2-byte
 * alignment, no shared memory beyond its own 1 KiB. Moves 4 bytes an element and the gain once a
 * row.
 *
 * Sums are in FP32 in a fixed order: each thread its own elements, then a tree over the threads; no
 * operation is contracted. The host body (rmsnorm.c) does the same, so both give the same bytes.
 */
#include <stdint.h>

#define THREADS 256

static __device__ float widen(uint16_t bits)
{
	return __uint_as_float((uint32_t)bits << 16);
}

/* To the nearest, ties to even; a NaN stays one. */
static __device__ uint16_t narrow(float value)
{
	uint32_t bits = __float_as_uint(value);

	if ((bits & 0x7fffffffu) > 0x7f800000u)
		return (uint16_t)(bits >> 16 | 0x40u);
	return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

extern "C" __global__ void rmsnorm(const uint16_t *input, const uint16_t *gain, uint16_t *output,
	uint32_t rows, uint32_t width, float epsilon)
{
	__shared__ float sums[THREADS];
	const uint16_t *in = input + (size_t)blockIdx.x * width;
	uint16_t *out = output + (size_t)blockIdx.x * width;
	float sum = 0.0f, root;

	if (blockIdx.x >= rows)
		return;
	for (uint32_t i = threadIdx.x; i < width; i += THREADS) {
		float value = widen(in[i]);

		sum = __fadd_rn(sum, __fmul_rn(value, value));
	}
	sums[threadIdx.x] = sum;
	for (uint32_t half = THREADS / 2; half; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			sums[threadIdx.x] = __fadd_rn(sums[threadIdx.x], sums[threadIdx.x + half]);
	}
	__syncthreads();
	root = __fsqrt_rn(__fadd_rn(__fdiv_rn(sums[0], (float)width), epsilon));
	for (uint32_t i = threadIdx.x; i < width; i += THREADS)
		out[i] = narrow(__fmul_rn(__fdiv_rn(widen(in[i]), root), widen(gain[i])));
}
