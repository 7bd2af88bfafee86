/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An early start needs both sides: a launch may begin before the one before it ends only if both
 * know how to wait for their predecessor. Collectives do; a foreign kernel does if its workload
 * says so.
 */
#include "prepare/capture/foreign_launch.h"

#include <assert.h>
#include <string.h>

#include "prepare/tune/plan.h"
#include "prepare/tune/plan_foreign.h"
#include "runtime/graph/locate.h"

/* Each argument at the next multiple of its size, as compilers lay out a kernel's parameters. */
static enum tf_status pack(const struct tf_program *program, const struct tf_foreign_kernel *kernel,
	const struct tf_window_view *window, uint32_t capacity, uint8_t *args, struct tf_error *err)
{
	uint32_t off = 0;

	for (uint32_t i = 0; i < kernel->argument_count; i++) {
		const struct tf_foreign_argument *argument = &kernel->arguments[i];
		uint32_t bytes = tf_plan_argument_bytes(argument);
		uint64_t value = argument->kind == TF_FOREIGN_ROWS ? capacity : argument->value;

		if (argument->kind == TF_FOREIGN_BUFFER) {
			uint32_t buffer = tf_plan_named_buffer(program, argument->buffer, capacity);

			if (buffer == TF_PROGRAM_NONE)
				return TF_FAIL(err, TF_E_INTERNAL, "kernel '%s': the plan lacks buffer '%s'",
					kernel->name, argument->buffer);
			value += tf_window_address(window, 0, program->buffers[buffer].segment_off);
		}
		off = (uint32_t)tf_align_up(off, bytes);
		memcpy(args + off, &value, bytes);
		off += bytes;
	}
	return TF_OK;
}

static enum tf_status size_launch(const struct tf_foreign_kernel *kernel, uint32_t capacity,
	struct tf_launch_call *call, struct tf_error *err)
{
	uint64_t largest = tf_foreign_size_at(&kernel->shared, capacity);

	call->shared_bytes = (uint32_t)largest;
	for (int axis = 0; axis < 3; axis++) {
		uint64_t grid = tf_foreign_size_at(&kernel->grid[axis], capacity);
		uint64_t block = tf_foreign_size_at(&kernel->block[axis], capacity);

		call->grid[axis] = (uint32_t)grid;
		call->block[axis] = (uint32_t)block;
		largest = grid > largest ? grid : largest;
		largest = block > largest ? block : largest;
	}
	if (largest > UINT32_MAX)
		return TF_FAIL(err, TF_E_LIMIT,
			"kernel '%s': grid, block or shared memory come to %llu at %u rows", kernel->name,
			(unsigned long long)largest, capacity);
	return TF_OK;
}

static enum tf_status issue(struct tf_bench_rank *rank, const struct tf_window_view *window,
	uint32_t index, uint32_t capacity, uint32_t flags, struct tf_error *err)
{
	const struct tf_foreign_kernel *kernel = &rank->foreign->kernels[index];
	uint32_t in_program = tf_plan_foreign_kernel(rank->program, rank->foreign, index);
	uint8_t args[8 * TF_FOREIGN_ARGUMENTS_MAX] = {0};
	struct tf_launch_call call = {.args = args, .flags = flags};

	if (in_program == TF_PROGRAM_NONE)
		return TF_FAIL(err, TF_E_INTERNAL, "the plan lacks the kernel '%s'", kernel->name);
	TF_TRY(pack(rank->program, kernel, window, capacity, args, err));
	TF_TRY(size_launch(kernel, capacity, &call, err));
	call.kernel = rank->target.kernels[in_program];
	call.args_bytes = rank->program->kernels[in_program].args_bytes;
	return rank->ops->stream_launch(rank->stream, &call, err);
}

static uint32_t group_of(const struct tf_program *program, const char *name, uint32_t capacity)
{
	uint32_t g = 0;

	while (g < program->group_count &&
		(program->groups[g].capacity != capacity || strcmp(program->groups[g].name, name) != 0))
		g++;
	return g;
}

static enum tf_status record_collective(struct tf_bench_rank *rank, const char *name,
	uint32_t capacity, uint32_t turn, uint32_t flags, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	uint32_t group = group_of(program, name, capacity), kept = rank->launch_flags;
	enum tf_status status;

	if (group == program->group_count)
		return TF_FAIL(
			err, TF_E_INTERNAL, "the plan lacks group '%s' at capacity %u", name, capacity);
	rank->launch_flags = flags;
	status = tf_bench_rank_launch(
		rank, program->selectors[group], turn % program->groups[group].buffer_pairs, NULL, err);
	rank->launch_flags = kept;
	return status;
}

enum tf_status tf_foreign_record(struct tf_bench_rank *rank, const struct tf_window_view *window,
	uint32_t capacity, struct tf_error *err)
{
	const struct tf_foreign *foreign = rank->foreign;
	uint32_t early = rank->launch_flags;
	int last_is_early = 1;

	for (uint32_t turn = 0; turn < foreign->repeat; turn++) {
		for (uint32_t i = 0; i < foreign->call_count; i++) {
			const struct tf_foreign_call *call = &foreign->calls[i];
			int is_early = !call->is_kernel || foreign->kernels[call->kernel].programmatic;
			uint32_t flags = is_early && last_is_early ? early : 0;

			if (call->is_kernel)
				TF_TRY(issue(rank, window, call->kernel, capacity, flags, err));
			else
				TF_TRY(record_collective(rank, call->group, capacity, turn, flags, err));
			last_is_early = is_early;
		}
	}
	return TF_OK;
}

uint32_t tf_foreign_nth_kernel(const struct tf_foreign *foreign, uint32_t nth)
{
	uint32_t a_turn = 0;

	for (uint32_t i = 0; i < foreign->call_count; i++)
		a_turn += (uint32_t)foreign->calls[i].is_kernel;
	assert(a_turn); /* a workload without kernels has no nodes of them */
	nth %= a_turn;
	for (uint32_t i = 0;; i++) {
		if (foreign->calls[i].is_kernel && !nth--)
			return foreign->calls[i].kernel;
	}
}
