/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same kernel for the host device: all blocks of a launch, one after another. rmsnorm.cu says
 * what it computes; the order of the sums is that of 256 threads.
 *
 *     cc -shared -fPIC -O2 -ffp-contract=off rmsnorm.c -lm -o rmsnorm.so
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <tfrun/host_kernel.h>

#define THREADS 256
#define EXPORT  __attribute__((visibility("default")))

/* The parameters of the kernel in order; the compiler lays them out as nvcc does. */
struct arguments {
	const uint16_t *input, *gain;
	uint16_t *output;
	uint32_t rows, width;
	float epsilon;
};

EXPORT extern const struct tfrun_host_params rmsnorm_params;
const struct tfrun_host_params rmsnorm_params = {
	.version = TFRUN_HOST_KERNEL_VERSION,
	.count = 6,
	.params = {{0, 8}, {8, 8}, {16, 8}, {24, 4}, {28, 4}, {32, 4}},
};

static float widen(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof(value));
	return value;
}

/* To the nearest, ties to even; a NaN stays one. */
static uint16_t narrow(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if ((bits & 0x7fffffffu) > 0x7f800000u)
		return (uint16_t)(bits >> 16 | 0x40u);
	return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static float sum_of_squares(const uint16_t *in, uint32_t width)
{
	float sums[THREADS] = {0};

	for (uint32_t i = 0; i < width; i++) {
		float value = widen(in[i]);

		sums[i % THREADS] += value * value;
	}
	for (uint32_t half = THREADS / 2; half; half /= 2) {
		for (uint32_t i = 0; i < half; i++)
			sums[i] += sums[i + half];
	}
	return sums[0];
}

EXPORT void rmsnorm(const struct tfrun_host_launch *launch);

void rmsnorm(const struct tfrun_host_launch *launch)
{
	struct arguments args = {0};

	/* not sizeof(args): that would count what the compiler pads behind the last one */
	memcpy(&args, launch->args, launch->args_bytes);
	for (uint32_t row = 0; row < launch->grid[0] && row < args.rows; row++) {
		const uint16_t *in = args.input + (size_t)row * args.width;
		uint16_t *out = args.output + (size_t)row * args.width;
		float root = sqrtf(sum_of_squares(in, args.width) / (float)args.width + args.epsilon);

		for (uint32_t i = 0; i < args.width; i++)
			out[i] = narrow(widen(in[i]) / root * widen(args.gain[i]));
	}
}
