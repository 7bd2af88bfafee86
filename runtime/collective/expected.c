/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rank's output must be, made from the generated operands of all ranks: tf_operand_fill and tf_reference in one, with
 * the vector loops. Tests hold it equal to the two.
 */
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

void tf_expected_fill(const struct tf_group *group, uint32_t world, uint32_t rank,
	enum tf_fill fill, uint64_t seed, void *scratch, void *out_input, void *out_output)
{
	uint64_t count = tf_group_input_count(group), bytes = tf_group_input_bytes(group);
	uint64_t owned = tf_owned_count(group->op, count, rank, world);
	uint64_t first = group->op == TF_OP_REDUCE_SCATTER ? rank * tf_shard_count(count, world) : 0;
	uint8_t *operands = group->op == TF_OP_ALL_GATHER ? out_output : scratch;
	const void *inputs[TF_WORLD_MAX];
	unsigned mode;

	for (uint32_t r = 0; r < world; r++) {
		tf_operand_fill(fill, group->dtype, seed, r, count, operands + r * bytes);
		inputs[r] = operands + r * bytes + first * tf_dtype_bytes(group->dtype);
	}
	memcpy(out_input, operands + rank * bytes, bytes);
	if (group->op == TF_OP_ALL_GATHER || !owned)
		return;
	mode = tf_numeric_begin();
	tf_host_simd()->sum[group->dtype](out_output, inputs, world, owned);
	tf_numeric_end(mode);
}
