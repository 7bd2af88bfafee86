/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running the startup graph and reading what it decided.
 *
 * 1. The graph that samples is the graph that ships: it is rebuilt from the program, as a loading
 *    runtime does.
 * 2. What lands in the program is read from one rank's storage, but all ranks compare digests of
 *    it first.
 * 3. No number is made up: a candidate without samples keeps -1.
 */
#include "prepare/tune/tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "prepare/tune/pick_reason.h"
#include "prepare/tune/verify.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"

/* One launch may take this many timeouts: it holds tens of thousands of bounded waits. */
#define SAMPLE_TIMEOUTS 150
/* With calls of NCCL's in it, which have no bound of their own; a GPU takes under a second. */
#define LIBRARY_TIMEOUTS 10

struct startup_view {
	const struct tf_startup_header *header;
	const uint64_t *maximum; /* (2, slots, passes) */
	const uint8_t *slowest;
	const struct tf_startup_group *groups;
	uint8_t *copy; /* owned: what the others point into */
};

/* A copy of this rank's storage, taken after the last launch. */
static enum tf_status view_open(
	const struct tf_bench_rank *rank, struct startup_view *view, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	const void *storage = tf_rank_window_at(&rank->window, 0, program->layout.startup_off);
	uint64_t maximum, slowest, groups;

	view->copy = tf_calloc(1, program->layout.startup_bytes);
	if (!view->copy)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a copy of the samples");
	TF_TRY(rank->ops->read(rank->device, view->copy, storage, program->layout.startup_bytes, err));
	tf_startup_places(
		program->group_count, program->candidate_count, NULL, NULL, &maximum, &slowest, &groups);
	view->header = (const void *)view->copy;
	view->maximum = (const void *)(view->copy + maximum);
	view->slowest = view->copy + slowest;
	view->groups = (const void *)(view->copy + groups);
	return TF_OK;
}

static enum tf_status keep_one_candidate(const struct tf_program *program, struct tf_error *err)
{
	for (uint32_t g = 0; g < program->group_count; g++) {
		uint32_t alive = 0;

		for (uint32_t slot = 0; slot < program->candidate_count; slot++)
			alive += program->candidates[slot].group == g &&
				program->candidates[slot].state != TF_CANDIDATE_STRUCK;
		if (!alive)
			return TF_FAIL(err, TF_E_INVALID,
				"group '%s' at capacity %u keeps no candidate: all were struck out, the first "
				"because: %s",
				program->groups[g].name, program->groups[g].capacity,
				program->candidates[program->selectors[g]].reason);
	}
	return TF_OK;
}

/* The startup graph holds calls of NCCL's: those that were not struck out. */
static int samples_library(const struct tf_bench_rank *rank)
{
	for (uint32_t slot = 0; slot < rank->program->candidate_count; slot++) {
		const struct tf_group_candidate *entry = &rank->program->candidates[slot];

		if (tf_candidate_is_library(&entry->candidate) && entry->state != TF_CANDIDATE_STRUCK)
			return 1;
	}
	return 0;
}

/* One launch, then all ranks tell whether theirs went through: a fault anywhere is everyone's. */
static enum tf_status launch_startup(
	struct tf_bench_rank *rank, struct tf_exec *exec, int64_t *out_ns, struct tf_error *err)
{
	struct tf_error local = {0};
	int calls_library = samples_library(rank);
	int64_t begin = tf_now_ns(), bound = SAMPLE_TIMEOUTS * rank->timeout_ns;

	if (calls_library && !(rank->memory.capabilities & TF_DEVICE_ADDRESSABLE))
		bound = LIBRARY_TIMEOUTS * rank->timeout_ns;
	if (rank->ops->stream_graph(rank->stream, exec, &local) == TF_OK &&
		tf_bench_rank_wait(rank, calls_library, bound, &local) == TF_OK)
		(void)!tf_bench_rank_fault(rank, &local);
	*out_ns = tf_now_ns() - begin;
	if (local.status != TF_OK) {
		tf_rank_memory_abort(&rank->memory);
		tf_nccl_caller_abort(rank->nccl, &local);
	}
	return tf_link_agree_ok(rank->link, &local, tf_deadline_after(bound), err);
}

static const uint64_t *row_of(const struct startup_view *view, uint32_t stage, uint32_t slot)
{
	return view->maximum + ((size_t)(stage - 1) * view->header->slot_count + slot) * TF_PASSES;
}

static enum tf_status collect_samples(
	struct tf_program *program, const struct startup_view *view, struct tf_error *err)
{
	uint32_t cells = 2 * program->candidate_count * TF_PASSES;

	program->samples = tf_calloc(cells, sizeof(program->samples[0]));
	if (!program->samples)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u samples", cells);
	for (uint32_t slot = 0; slot < program->candidate_count; slot++) {
		for (uint32_t stage = 1; stage <= 2; stage++) {
			const uint64_t *row = row_of(view, stage, slot);

			for (uint32_t pass = 0; pass < TF_PASSES && row[pass] != TF_NS_NONE; pass++)
				program->samples[program->sample_count++] = (struct tf_sample){
					.group_candidate = slot,
					.stage = (uint8_t)stage,
					.pass = (uint8_t)pass,
					.slowest_rank = view->slowest[row - view->maximum + pass],
					.ns = (int64_t)row[pass],
				};
		}
	}
	return TF_OK;
}

/* Medians and intervals of the stages in which the candidate was sampled. */
static void collect_statistics(
	struct tf_group_candidate *entry, const struct startup_view *view, uint32_t slot)
{
	for (uint32_t stage = 1; stage <= 2; stage++) {
		const uint64_t *row = row_of(view, stage, slot);
		uint64_t median, low, high;
		int whole = 1;

		for (uint32_t pass = 0; pass < TF_PASSES; pass++)
			whole &= row[pass] != TF_NS_NONE;
		if (!whole)
			continue;
		tf_order_statistics(row, &median, &low, &high);
		entry->stage_median_ns[stage - 1] = (int64_t)median;
		entry->stage_low_ns[stage - 1] = (int64_t)low;
		entry->stage_high_ns[stage - 1] = (int64_t)high;
	}
}

static void explain(struct tf_program *program, const struct startup_view *view,
	const struct tf_startup_group *group)
{
	struct tf_group_candidate *entries = &program->candidates[group->first_slot];
	struct tf_group_outcome outcome = {
		.entries = entries,
		.first = row_of(view, 1, group->first_slot),
		.fresh = row_of(view, 2, group->first_slot),
		.count = group->slot_count,
		.picked = group->selector - group->first_slot,
	};

	for (uint32_t i = 0; i < outcome.count; i++) {
		if (entries[i].state == TF_CANDIDATE_STRUCK)
			continue;
		if (i == outcome.picked)
			entries[i].state = TF_CANDIDATE_PICKED;
		else if (entries[i].stage_median_ns[1] >= 0)
			entries[i].state = TF_CANDIDATE_SURVIVED;
		tf_pick_reason(&outcome, i, entries[i].reason, sizeof(entries[i].reason));
	}
}

static void collect_picks(struct tf_program *program, const struct startup_view *view)
{
	for (uint32_t slot = 0; slot < program->candidate_count; slot++)
		collect_statistics(&program->candidates[slot], view, slot);
	for (uint32_t g = 0; g < program->group_count; g++) {
		program->selectors[g] = view->groups[g].selector;
		explain(program, view, &view->groups[g]);
	}
}

/* Selectors and samples as one number, compared between ranks before anything is believed. */
static enum tf_status agree(
	struct tf_bench_rank *rank, const struct startup_view *view, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	uint64_t digest[2] = {TF_FNV_START, TF_FNV_START};
	size_t cells = 2 * (size_t)program->candidate_count * TF_PASSES;

	for (uint32_t g = 0; g < program->group_count; g++)
		digest[0] =
			tf_fnv64(digest[0], &view->groups[g].selector, sizeof(view->groups[g].selector));
	digest[1] = tf_fnv64(digest[1], view->maximum, cells * sizeof(view->maximum[0]));
	return tf_link_agree_equal(rank->link, "the digest of selectors and samples", digest,
		sizeof(digest), tf_deadline_after(rank->timeout_ns), err);
}

static enum tf_status sample(struct tf_bench_rank *rank, struct tf_exec *exec,
	struct tf_tune_times *times, struct tf_error *err)
{
	TF_TRY(tf_rank_memory_prepare_startup(&rank->memory, rank->program, err));
	TF_TRY(tf_bench_rank_reset(rank, err));
	times->sample_ns[0] = times->sample_ns[1] = 0;
	for (uint32_t launch = 0; launch < TF_LAUNCHES; launch++) {
		int64_t ns;

		TF_TRY(launch_startup(rank, exec, &ns, err));
		times->sample_ns[launch > 0] += ns;
		if (rank->progress)
			rank->progress(rank->progress_user, "sample", launch + 1, TF_LAUNCHES);
	}
	return TF_OK;
}

static enum tf_status capture_and_sample(
	struct tf_bench_rank *rank, struct tf_tune_times *times, struct tf_error *err)
{
	struct tf_exec *exec = NULL;
	struct tf_error local = {0};
	enum tf_status status;
	int64_t begin = tf_now_ns();

	if (tf_capture_startup_graph(rank, &local) == TF_OK)
		(void)!tf_graph_rebuild(
			rank->program, rank->program->graph_count - 1, &rank->target, &exec, &local);
	times->capture_ns = tf_now_ns() - begin;
	status = tf_link_agree_ok(rank->link, &local, tf_deadline_after(10 * rank->timeout_ns), err);
	if (status == TF_OK) {
		times->nodes = rank->program->graphs[rank->program->graph_count - 1].node_count;
		status = sample(rank, exec, times, err);
	}
	if (exec)
		rank->ops->graph_destroy(exec);
	return status;
}

/* A machine that runs a pick of NCCL's must have the version whose bytes were proven here. */
static enum tf_status name_library(struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_program *program = rank->program;

	for (uint32_t g = 0; g < program->group_count; g++) {
		const struct tf_candidate *pick = &program->candidates[program->selectors[g]].candidate;

		if (tf_candidate_is_library(pick))
			return tf_program_set_identity(
				program, TF_NCCL_KEY, tf_program_identity(program, TF_NCCL_SAMPLES_KEY), err);
	}
	return TF_OK;
}

/* What the last launch decided, into the program; the aggregate says how far it came. */
static enum tf_status take_decision(struct tf_bench_rank *rank, const struct startup_view *view,
	uint32_t *out_aggregate, struct tf_error *err)
{
	if (view->header->aggregate != TF_STARTUP_OK) {
		*out_aggregate = view->header->aggregate;
		return TF_FAIL(err, TF_E_INVALID, "the startup graph ended with aggregate status %u",
			view->header->aggregate);
	}
	TF_TRY(agree(rank, view, err));
	TF_TRY(collect_samples(rank->program, view, err));
	collect_picks(rank->program, view);
	TF_TRY(name_library(rank, err));
	*out_aggregate = TF_STARTUP_OK;
	return TF_OK;
}

enum tf_status tf_tune(struct tf_bench_rank *rank, uint32_t *out_aggregate,
	struct tf_tune_times *out_times, struct tf_error *err)
{
	struct startup_view view = {0};
	int64_t begin = tf_now_ns();
	enum tf_status status;

	*out_aggregate = TF_STARTUP_PENDING;
	TF_TRY(tf_verify_candidates(rank, err));
	out_times->verify_ns = tf_now_ns() - begin;
	TF_TRY(keep_one_candidate(rank->program, err));
	*out_aggregate = TF_STARTUP_FAULT;
	TF_TRY(capture_and_sample(rank, out_times, err));
	status = view_open(rank, &view, err);
	if (status == TF_OK)
		status = take_decision(rank, &view, out_aggregate, err);
	tf_free(view.copy);
	return status;
}
