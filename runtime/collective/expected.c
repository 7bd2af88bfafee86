/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank's output must be, by the vector loops; tests hold it equal to tf_reference. */
#include <string.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/host_simd.h"
#include "runtime/collective/numeric.h"

uint64_t tf_owned_count(enum tf_op op, uint64_t count, uint32_t rank, uint32_t world)
{
	uint64_t shard = tf_shard_count(count, world), first = rank * shard;

	if (op == TF_OP_ALL_GATHER)
		return count * world;
	if (op == TF_OP_ALL_REDUCE)
		return count;
	if (first >= count)
		return 0;
	return count - first < shard ? count - first : shard;
}

void tf_expected_output(const struct tf_group *group, uint32_t world, uint32_t rank,
	const void *const *inputs, void *out_output)
{
	uint64_t count = tf_group_input_count(group), bytes = tf_group_input_bytes(group);
	uint64_t owned = tf_owned_count(group->op, count, rank, world);
	uint64_t first = group->op == TF_OP_REDUCE_SCATTER ? rank * tf_shard_count(count, world) : 0;
	const void *from[TF_WORLD_MAX];
	unsigned mode;

	if (group->op == TF_OP_ALL_GATHER) {
		for (uint32_t r = 0; r < world; r++)
			memcpy((uint8_t *)out_output + r * bytes, inputs[r], bytes);
		return;
	}
	if (!owned)
		return;
	for (uint32_t r = 0; r < world; r++)
		from[r] = (const uint8_t *)inputs[r] + first * tf_dtype_bytes(group->dtype);
	mode = tf_numeric_begin();
	tf_host_simd()->sum[group->dtype](out_output, from, world, owned);
	tf_numeric_end(mode);
}
