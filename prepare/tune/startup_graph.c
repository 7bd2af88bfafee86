/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording the startup graph and the step graphs.
 *
 * 1. The startup graph holds every candidate that survived verification TF_PASSES times, each
 *    between its own "sample_begin" and "sample_end"; struck ones are in it too, masked off, so
 *    its shape depends on the ladder alone (but for struck ones that no mask reaches: left out).
 * 2. Neighbours in a pass work on operands of their own, and one pass runs with the evictor
 *    between samples.
 */
#include "base/alloc.h"
#include "prepare/capture/capture.h"
#include "prepare/capture/foreign_launch.h"
#include "prepare/tune/plan.h"
#include "prepare/tune/sample_order.h"
#include "prepare/tune/tune.h"
#include "runtime/collective/startup.h"

#define EVICT_PASS 10

static uint32_t *mask_of(const struct tf_bench_rank *rank, uint32_t slot)
{
	const struct tf_program *program = rank->program;
	uint64_t off;

	tf_startup_places(program->group_count, program->candidate_count, &off, NULL, NULL, NULL, NULL);
	return (uint32_t *)tf_rank_window_at(&rank->window, 0, program->layout.startup_off + off) +
		slot;
}

static enum tf_status record_evict(struct tf_bench_rank *rank, struct tf_error *err)
{
	const struct tf_buffer *evict = &rank->program->buffers[rank->program->buffer_count - 1];

	return rank->ops->stream_set(rank->stream,
		tf_rank_window_at(&rank->window, 0, evict->segment_off), 0, evict->bytes, err);
}

/* Copies, and calls of a library. */
static int cannot_be_masked(const struct tf_candidate *candidate)
{
	return candidate->writer == TF_WRITER_COPY_ENGINE || tf_candidate_is_library(candidate);
}

static enum tf_status record_sample(
	struct tf_bench_rank *rank, uint32_t slot, uint32_t pass, struct tf_error *err)
{
	const struct tf_group_candidate *entry = &rank->program->candidates[slot];
	uint32_t pair = entry->rung % rank->program->groups[entry->group].buffer_pairs;
	uint32_t input = tf_plan_buffer(rank->program, entry->group, pair, TF_BUFFER_INPUT);

	/* It would run with the mask off. */
	if (entry->state == TF_CANDIDATE_STRUCK && cannot_be_masked(&entry->candidate))
		return TF_OK;
	if (pass == EVICT_PASS)
		TF_TRY(record_evict(rank, err));
	TF_TRY(tf_bench_rank_launch_startup(rank, "sample_begin", slot, 0, input, err));
	TF_TRY(tf_bench_rank_launch(rank, slot, pair, mask_of(rank, slot), err));
	return tf_bench_rank_launch_startup(rank, "sample_end", slot, 0, TF_PROGRAM_NONE, err);
}

static enum tf_status record_startup(
	struct tf_bench_rank *rank, uint32_t *order, struct tf_error *err)
{
	uint32_t slots = rank->program->candidate_count;

	for (uint32_t pass = 0; pass < TF_PASSES; pass++) {
		TF_TRY(tf_bench_rank_launch_startup(rank, "pass_begin", 0, pass, TF_PROGRAM_NONE, err));
		tf_sample_order(slots, pass, order);
		for (uint32_t i = 0; i < slots; i++)
			TF_TRY(record_sample(rank, order[i], pass, err));
	}
	return tf_bench_rank_launch_startup(rank, "select", 0, 0, TF_PROGRAM_NONE, err);
}

enum tf_status tf_capture_startup_graph(struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_capture *capture = NULL;
	enum tf_status status;
	uint32_t *order = tf_calloc(rank->program->candidate_count, sizeof(order[0]));

	if (!order)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the order of the samples");
	status = tf_capture_begin(
		rank->program, &rank->target, rank->stream, TF_GRAPH_STARTUP, 0, &capture, err);
	if (status == TF_OK)
		status = record_startup(rank, order, err);
	if (status == TF_OK) {
		status = tf_capture_end(capture, err);
		capture = NULL;
	}
	tf_capture_cancel(capture);
	tf_free(order);
	if (status != TF_OK)
		tf_error_prefix(err, "startup graph");
	return status;
}

/* The groups of a capacity take turns, call by call, as layers of a model do. */
static enum tf_status record_step(
	struct tf_bench_rank *rank, uint32_t capacity, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	struct tf_window_view window = tf_rank_window_view(&rank->window);
	int more = 1;

	if (rank->foreign)
		return tf_foreign_record(rank, &window, capacity, err);
	for (uint32_t turn = 0; more; turn++) {
		more = 0;
		for (uint32_t g = 0; g < program->group_count; g++) {
			const struct tf_group *group = &program->groups[g];

			if (group->capacity != capacity || turn >= group->times)
				continue;
			TF_TRY(tf_bench_rank_launch(
				rank, program->selectors[g], turn % group->buffer_pairs, NULL, err));
			more = 1;
		}
	}
	return TF_OK;
}

static enum tf_status capture_step(
	struct tf_bench_rank *rank, uint32_t capacity, struct tf_error *err)
{
	struct tf_capture *capture = NULL;
	enum tf_status status = tf_capture_begin(
		rank->program, &rank->target, rank->stream, TF_GRAPH_STEP, capacity, &capture, err);

	/*
	 * On a GPU each call's start overlaps the end of the one before; all kernels wait for it
	 * themselves.
	 */
	if (!(rank->memory.capabilities & TF_DEVICE_ADDRESSABLE))
		rank->launch_flags = TF_LAUNCH_PROGRAMMATIC;
	if (status == TF_OK)
		status = record_step(rank, capacity, err);
	rank->launch_flags = 0;
	if (status == TF_OK) {
		status = tf_capture_end(capture, err);
		capture = NULL;
	}
	tf_capture_cancel(capture);
	if (status != TF_OK)
		tf_error_prefix(err, "step graph of capacity %u", capacity);
	return status;
}

/* Step graphs stand before the startup graph in a program, by rising capacity. */
static void move_startup_last(struct tf_program *program)
{
	struct tf_graph startup = program->graphs[0];

	if (startup.kind != TF_GRAPH_STARTUP)
		return;
	for (uint32_t i = 1; i < program->graph_count; i++)
		program->graphs[i - 1] = program->graphs[i];
	program->graphs[program->graph_count - 1] = startup;
}

enum tf_status tf_capture_step_graphs(struct tf_bench_rank *rank, struct tf_error *err)
{
	const struct tf_program *program = rank->program;

	for (uint32_t g = 0; g < program->group_count; g++) {
		if (!g || program->groups[g].capacity != program->groups[g - 1].capacity)
			TF_TRY(capture_step(rank, program->groups[g].capacity, err));
	}
	move_startup_last(rank->program);
	return TF_OK;
}
