/* SPDX-License-Identifier: Apache-2.0 */
/* Elements are looked at one by one only where the bytes differ. */
#include "runtime/collective/output_check.h"

#include <math.h>
#include <string.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/numeric.h"

double tf_output_element(enum tf_dtype dtype, const void *array, uint64_t index)
{
	uint16_t half;
	float whole;

	if (dtype == TF_DTYPE_F32) {
		memcpy(&whole, (const uint8_t *)array + 4 * index, sizeof(whole));
		return (double)whole;
	}
	memcpy(&half, (const uint8_t *)array + 2 * index, sizeof(half));
	return (double)(dtype == TF_DTYPE_F16 ? tf_f32_of_f16(half) : tf_f32_of_bf16(half));
}

/* Half a unit in the last place of numbers from 1 to 2. */
static double half_unit(enum tf_dtype dtype)
{
	return dtype == TF_DTYPE_F32 ? 0x1p-24 : dtype == TF_DTYPE_F16 ? 0x1p-11 : 0x1p-8;
}

static int is_rounded(const struct tf_group *group, uint32_t world, const void *const *inputs,
	uint64_t input_index, double expected, double found)
{
	double magnitude = 0;

	for (uint32_t r = 0; r < world; r++)
		magnitude += fabs(tf_output_element(group->dtype, inputs[r], input_index));
	return fabs(expected - found) <= world * half_unit(group->dtype) * magnitude;
}

enum tf_output_verdict tf_output_check(const struct tf_group *group, uint32_t world, uint32_t rank,
	const void *const *inputs, const void *expected, const void *found, uint64_t *out_element)
{
	uint64_t count = tf_group_input_count(group), first = 0, owned;
	size_t bytes = tf_dtype_bytes(group->dtype);

	owned = tf_owned_count(group->op, count, rank, world);
	if (!memcmp(expected, found, owned * bytes))
		return TF_OUTPUT_EQUAL;
	if (group->op == TF_OP_REDUCE_SCATTER)
		first = rank * tf_shard_count(count, world);
	for (uint64_t i = 0; i < owned; i++) {
		if (!memcmp(
				(const uint8_t *)expected + i * bytes, (const uint8_t *)found + i * bytes, bytes))
			continue;
		if (group->op != TF_OP_ALL_GATHER &&
			is_rounded(group, world, inputs, first + i,
				tf_output_element(group->dtype, expected, i),
				tf_output_element(group->dtype, found, i)))
			continue;
		*out_element = i;
		return TF_OUTPUT_WRONG;
	}
	return TF_OUTPUT_ROUNDED;
}
