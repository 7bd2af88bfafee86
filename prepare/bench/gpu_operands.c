/* SPDX-License-Identifier: Apache-2.0 */
/* One pair of operands at a time is held in host memory. */
#include "prepare/bench/gpu_operands.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/output_check.h"
#include "prepare/tune/plan.h"
#include "runtime/collective/collective.h"

#define SEED        UINT64_C(0x7466707265700006)
#define SEED_STRIDE 4096 /* more than a group has pairs */
#define POISON_BYTE 0xa5

/* Of one pair. */
struct pair {
	const struct tf_group *group;
	const struct tf_buffer *input, *output;
	uint64_t seed;
	uint8_t *inputs;   /* (world, input bytes) */
	uint8_t *expected; /* (output bytes) */
	uint8_t *found;    /* (output bytes) */
};

int tf_gpu_side_is_on(const struct tf_gpu_sides *sides, int index)
{
	return !index || tf_nccl_side_has(sides->nccl, (enum tf_nccl_memory)(index - 1));
}

const char *tf_gpu_side_name(int index)
{
	static const char *const names[TF_GPU_SIDES] = {"ours", "NCCL", "NCCL in a symmetric window"};

	return names[index];
}

static void *operand_at(const struct tf_gpu_sides *sides, int index, const struct tf_buffer *buffer)
{
	if (!index)
		return tf_rank_window_at(&sides->rank->window, 0, buffer->segment_off);
	return tf_nccl_side_at(sides->nccl, (enum tf_nccl_memory)(index - 1), buffer);
}

static enum tf_status write_operand(const struct tf_gpu_sides *sides, int index,
	const struct tf_buffer *buffer, const void *from, struct tf_error *err)
{
	void *to = operand_at(sides, index, buffer);

	if (!index)
		return sides->rank->ops->write(sides->rank->device, to, from, buffer->bytes, err);
	return tf_nccl_side_write(sides->nccl, to, from, buffer->bytes, err);
}

static enum tf_status read_operand(const struct tf_gpu_sides *sides, int index,
	const struct tf_buffer *buffer, void *to, struct tf_error *err)
{
	const void *from = operand_at(sides, index, buffer);

	if (!index)
		return sides->rank->ops->read(sides->rank->device, to, from, buffer->bytes, err);
	return tf_nccl_side_read(sides->nccl, to, from, buffer->bytes, err);
}

static void pair_fini(struct pair *pair)
{
	tf_free(pair->inputs);
	tf_free(pair->expected);
	tf_free(pair->found);
}

/* Memory, and this rank's input or all ranks'. */
static enum tf_status pair_init(struct pair *pair, const struct tf_bench_rank *rank,
	uint32_t group_index, uint32_t index, int all, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	uint32_t world = rank->window.world;

	pair->group = &program->groups[group_index];
	pair->input = &program->buffers[tf_plan_buffer(program, group_index, index, TF_BUFFER_INPUT)];
	pair->output = &program->buffers[tf_plan_buffer(program, group_index, index, TF_BUFFER_OUTPUT)];
	pair->seed = SEED + (uint64_t)group_index * SEED_STRIDE + index;
	pair->inputs = tf_calloc(world, pair->input->bytes);
	pair->expected = tf_calloc(1, pair->output->bytes);
	pair->found = tf_calloc(1, pair->output->bytes);
	if (!pair->inputs || !pair->expected || !pair->found)
		return TF_FAIL(
			err, TF_E_NO_MEMORY, "no memory for the operands of group '%s'", pair->group->name);
	for (uint32_t r = 0; r < world; r++) {
		if (all || r == rank->window.rank)
			tf_operand_fill(TF_FILL_RANDOM, pair->group->dtype, pair->seed, r,
				tf_group_input_count(pair->group), pair->inputs + r * pair->input->bytes);
	}
	return TF_OK;
}

static enum tf_status write_pair(const struct tf_gpu_sides *sides, struct pair *pair,
	struct tf_bench_check *unused, struct tf_error *err)
{
	const uint8_t *mine = pair->inputs + sides->rank->window.rank * pair->input->bytes;

	(void)unused;
	memset(pair->found, POISON_BYTE, pair->output->bytes);
	for (int i = 0; i < TF_GPU_SIDES; i++) {
		if (!tf_gpu_side_is_on(sides, i))
			continue;
		TF_TRY(write_operand(sides, i, pair->input, mine, err));
		TF_TRY(write_operand(sides, i, pair->output, pair->found, err));
	}
	return TF_OK;
}

static enum tf_status fail_output(
	const struct pair *pair, uint32_t rank, int side, uint64_t element, struct tf_error *err)
{
	enum tf_dtype dtype = pair->group->dtype;

	return TF_FAIL(err, TF_E_MISMATCH,
		"%s, group '%s', rank %u: element %" PRIu64 " is %g, the reference is %g",
		tf_gpu_side_name(side), pair->group->name, rank, element,
		tf_output_element(dtype, pair->found, element),
		tf_output_element(dtype, pair->expected, element));
}

static enum tf_status check_pair(const struct tf_gpu_sides *sides, struct pair *pair,
	struct tf_bench_check *checks, struct tf_error *err)
{
	uint32_t world = sides->rank->window.world, rank = sides->rank->window.rank;
	const void *inputs[TF_WORLD_MAX];

	for (uint32_t r = 0; r < world; r++)
		inputs[r] = pair->inputs + r * pair->input->bytes;
	tf_expected_output(pair->group, world, rank, inputs, pair->expected);
	for (int i = 0; i < TF_GPU_SIDES; i++) {
		enum tf_output_verdict verdict;
		uint64_t element = 0;

		if (!tf_gpu_side_is_on(sides, i))
			continue;
		TF_TRY(read_operand(sides, i, pair->output, pair->found, err));
		verdict = tf_output_check(
			pair->group, world, rank, inputs, pair->expected, pair->found, &element);
		if (verdict == TF_OUTPUT_WRONG)
			return fail_output(pair, rank, i, element, err);
		if (!i && verdict != TF_OUTPUT_EQUAL)
			return TF_FAIL(err, TF_E_MISMATCH,
				"ours, group '%s', rank %u: the bytes are not the reference's", pair->group->name,
				rank);
		checks[i].outputs++;
		checks[i].equal += verdict == TF_OUTPUT_EQUAL;
	}
	return TF_OK;
}

typedef enum tf_status (*pair_fn)(const struct tf_gpu_sides *sides, struct pair *pair,
	struct tf_bench_check *checks, struct tf_error *err);

static enum tf_status for_each_pair(const struct tf_gpu_sides *sides,
	const struct tf_bench_case *what, int all, pair_fn fn, struct tf_bench_check *checks,
	struct tf_error *err)
{
	for (uint32_t g = what->first_group; g < what->first_group + what->group_count; g++) {
		for (uint32_t i = 0; i < sides->rank->program->groups[g].buffer_pairs; i++) {
			struct pair pair = {0};
			enum tf_status status = pair_init(&pair, sides->rank, g, i, all, err);

			if (status == TF_OK)
				status = fn(sides, &pair, checks, err);
			pair_fini(&pair);
			if (status != TF_OK)
				return status;
		}
	}
	return TF_OK;
}

enum tf_status tf_gpu_operands_write(
	const struct tf_gpu_sides *sides, const struct tf_bench_case *what, struct tf_error *err)
{
	return for_each_pair(sides, what, 0, write_pair, NULL, err);
}

enum tf_status tf_gpu_operands_check(const struct tf_gpu_sides *sides,
	const struct tf_bench_case *what, struct tf_bench_check *checks, struct tf_error *err)
{
	return for_each_pair(sides, what, 1, check_pair, checks, err);
}
