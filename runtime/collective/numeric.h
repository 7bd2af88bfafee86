/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numerics class of all sums, element by element: widen to FP32, add in rank order, round
 * once to nearest (ties to even), every NaN becomes the quiet NaN 0x7fc0 / 0x7e00 / 0x7fc00000.
 * Vector code must equal this bit by bit.
 */
#ifndef TF_RUNTIME_COLLECTIVE_NUMERIC_H
#define TF_RUNTIME_COLLECTIVE_NUMERIC_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TF_NAN_BF16 UINT16_C(0x7fc0)
#define TF_NAN_F16  UINT16_C(0x7e00)
#define TF_NAN_F32  UINT32_C(0x7fc00000)

static inline float tf_f32_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint32_t tf_bits_of_f32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float tf_f32_of_bf16(uint16_t bits)
{
	return tf_f32_of_bits((uint32_t)bits << 16);
}

static inline float tf_f32_of_f16(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
	uint32_t exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;

	if (exponent == 0) /* subnormal: a multiple of 2^-24, exact in FP32 */
		return tf_f32_of_bits(sign | tf_bits_of_f32((float)fraction * 0x1p-24f));
	if (exponent == 31)
		return tf_f32_of_bits(sign | 0x7f800000 | fraction << 13);
	return tf_f32_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static inline uint32_t tf_f32_round(float value)
{
	return value != value ? TF_NAN_F32 : tf_bits_of_f32(value);
}

static inline uint16_t tf_bf16_round(float value)
{
	uint32_t bits = tf_bits_of_f32(value);

	if (value != value)
		return TF_NAN_BF16;
	return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static inline uint16_t tf_f16_round(float value)
{
	uint32_t bits = tf_bits_of_f32(value);
	uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;

	if (magnitude > 0x7f800000)
		return TF_NAN_F16;
	/* 65520: halfway between the largest value and the next power of two */
	if (magnitude >= 0x477ff000)
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) { /* below 2^-14: one unit of the last place of 0.5 is 2^-24 */
		float shifted = tf_f32_of_bits(magnitude) + 0.5f;

		return (uint16_t)(sign | (tf_bits_of_f32(shifted) - 0x3f000000));
	}
	magnitude += 0xfff + ((magnitude >> 13) & 1);
	return (uint16_t)(sign | (magnitude - (UINT32_C(112) << 23)) >> 13);
}

/*
 * The thread's floating-point modes: an engine may have switched on flush-to-zero or another
 * rounding. begin returns what end must put back.
 */
static inline unsigned tf_numeric_begin(void)
{
#if defined(__SSE2__)
	unsigned mode = _mm_getcsr();

	if (mode & 0xe040) /* flush-to-zero, rounding, denormals-are-zero */
		_mm_setcsr(mode & ~0xe040u);
	return mode;
#else
	return 0;
#endif
}

static inline void tf_numeric_end(unsigned mode)
{
#if defined(__SSE2__)
	if (mode & 0xe040)
		_mm_setcsr(mode | (_mm_getcsr() & 0x3f));
#else
	(void)mode;
#endif
}

#ifdef __cplusplus
}
#endif
#endif
