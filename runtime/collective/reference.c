/* SPDX-License-Identifier: Apache-2.0 */
/* The reference: what every candidate must give, in plain loops. */
#include <string.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/numeric.h"

static float element(enum tf_dtype dtype, const void *from, uint64_t i)
{
	uint16_t half;
	float value;

	if (dtype == TF_DTYPE_F32) {
		memcpy(&value, (const char *)from + 4 * i, 4);
		return value;
	}
	memcpy(&half, (const char *)from + 2 * i, 2);
	return dtype == TF_DTYPE_F16 ? tf_f32_of_f16(half) : tf_f32_of_bf16(half);
}

static void store(enum tf_dtype dtype, void *out, uint64_t i, float value)
{
	uint32_t bits = tf_f32_round(value);
	uint16_t half;

	if (dtype == TF_DTYPE_F32) {
		memcpy((char *)out + 4 * i, &bits, 4);
		return;
	}
	half = dtype == TF_DTYPE_F16 ? tf_f16_round(value) : tf_bf16_round(value);
	memcpy((char *)out + 2 * i, &half, 2);
}

/* Elements [begin, end) of the sums, stored from out[0] on. */
static void sums(enum tf_dtype dtype, uint32_t world, uint64_t begin, uint64_t end,
	const void *const *inputs, void *output)
{
	for (uint64_t i = begin; i < end; i++) {
		float acc = element(dtype, inputs[0], i);

		for (uint32_t r = 1; r < world; r++)
			acc += element(dtype, inputs[r], i);
		store(dtype, output, i - begin, acc);
	}
}

void tf_reference(enum tf_op op, enum tf_dtype dtype, uint32_t world, uint32_t rank, uint64_t count,
	const void *const *inputs, void *output)
{
	uint64_t bytes = count * tf_dtype_bytes(dtype), each = (count + world - 1) / world;
	uint64_t begin = rank * each < count ? rank * each : count;
	uint64_t end = begin + each < count ? begin + each : count;
	unsigned mode = tf_numeric_begin();

	if (op == TF_OP_ALL_GATHER) {
		for (uint32_t r = 0; r < world; r++)
			memcpy((char *)output + r * bytes, inputs[r], bytes);
	} else if (op == TF_OP_REDUCE_SCATTER) {
		sums(dtype, world, begin, end, inputs, output);
	} else {
		sums(dtype, world, 0, count, inputs, output);
	}
	tf_numeric_end(mode);
}
