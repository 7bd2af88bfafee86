/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank of the benchmark on GPUs.
 *
 *   open - NCCL - for each case: operands, graphs of all sides, rounds, check - close
 *
 * 1. In a round every side has its turn, so what drifts meets them all; a turn begins with launches
 *    that do not count.
 * 2. After a failure nothing is closed: a kernel or a call may hang, and its end is the process's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "prepare/bench/gpu_operands.h"
#include "prepare/bench/step_calls.h"
#include "prepare/capture/capture.h"
#include "prepare/export/rank_job.h"
#include "prepare/tune/plan.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"
#include "runtime/link/channel.h"
#include "runtime/session/session.h"

#define WORD_NS (2 * TF_NS_PER_S)

struct gpu_rank {
	const struct tf_gpu_job *job;
	struct tf_link *link;
	int command_fd;
	struct tf_bench_rank rank;
	struct tf_gpu_sides sides;
	struct tf_nccl_found found;
};

/* One case on this rank, or, after the exchange, of the slowest rank and of all outputs. */
struct measured {
	struct tf_bench_times times[TF_GPU_SIDES];
	struct tf_bench_check checks[TF_GPU_SIDES];
};

static enum tf_status agree(
	const struct gpu_rank *gpu, const struct tf_error *local, struct tf_error *err)
{
	/* A peer may be about to find out that a launch of its own is late. */
	return tf_link_agree_ok(gpu->link, local, tf_deadline_after(2 * gpu->rank.timeout_ns), err);
}

/* A courtesy, and what the parent tells if nothing follows. */
static void tell(const struct gpu_rank *gpu, const char *what, uint64_t done, uint64_t total)
{
	struct tf_job_progress progress = {.done = done, .total = total};

	if (tf_link_rank(gpu->link))
		return;
	snprintf(progress.what, sizeof(progress.what), "%s", what);
	(void)!tf_channel_send(gpu->command_fd, TF_JOB_PROGRESS, 0, &progress, sizeof(progress),
		tf_deadline_after(WORD_NS), NULL);
}

static enum tf_status open_device(struct gpu_rank *gpu, struct tf_error *err)
{
	const struct tf_bench_options *options = gpu->job->options;

	TF_TRY(tf_device_ops_find(options->device, &gpu->rank.ops, err));
	return gpu->rank.ops->open(
		tf_link_rank(gpu->link) % options->device_count, &gpu->rank.device, err);
}

static enum tf_status open_rank(struct gpu_rank *gpu, struct tf_error *err)
{
	struct tf_bench_rank *rank = &gpu->rank;
	struct tf_error local = {0};

	rank->link = gpu->link;
	rank->timeout_ns = gpu->job->options->timeout_ns;
	rank->program = gpu->job->program;
	(void)!open_device(gpu, &local);
	TF_TRY(tf_link_agree_ok(
		gpu->link, &local, tf_deadline_after(rank->timeout_ns + TF_DEVICE_OPEN_NS), err));
	TF_TRY(tf_bench_rank_open(rank, err));
	gpu->sides.rank = rank;
	(void)!tf_rank_memory_prepare_startup(&rank->memory, rank->program, &local);
	return agree(gpu, &local, err);
}

static enum tf_status open_nccl(struct gpu_rank *gpu, struct tf_error *err)
{
	enum tf_bench_against against = gpu->job->options->against;

	if (against == TF_AGAINST_NONE)
		return TF_OK;
	tell(gpu, "opening NCCL", 0, 1);
	TF_TRY(tf_nccl_side_open(&gpu->rank, &gpu->sides.nccl, &gpu->found, err));
	if (against == TF_AGAINST_NCCL && !gpu->sides.nccl)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "NCCL is missing: %s", gpu->found.missing);
	return TF_OK;
}

static enum tf_status record_call(void *user, uint32_t group, uint32_t pair, struct tf_error *err)
{
	struct tf_bench_rank *rank = user;

	return tf_bench_rank_launch(rank, rank->program->selectors[group], pair, NULL, err);
}

static enum tf_status record_ours(
	struct tf_bench_rank *rank, const struct tf_bench_case *what, struct tf_error *err)
{
	enum tf_status status;

	TF_TRY(tf_bench_rank_launch_startup(rank, "sample_begin", 0, 0, TF_PROGRAM_NONE, err));
	/* As step graphs are served: each call's start overlaps the end of the one before. */
	rank->launch_flags = TF_LAUNCH_PROGRAMMATIC;
	status =
		tf_step_calls(rank->program, what->first_group, what->group_count, record_call, rank, err);
	rank->launch_flags = 0;
	TF_TRY(status);
	return tf_bench_rank_launch_startup(rank, "sample_end", 0, 0, TF_PROGRAM_NONE, err);
}

static enum tf_status build_ours(struct tf_bench_rank *rank, const struct tf_bench_case *what,
	struct tf_exec **out, struct tf_error *err)
{
	struct tf_program *program = rank->program;
	struct tf_capture *capture = NULL;
	enum tf_status status;

	TF_TRY(tf_capture_begin(program, &rank->target, rank->stream, TF_GRAPH_STEP,
		program->groups[what->first_group].capacity, &capture, err));
	status = record_ours(rank, what, err);
	if (status != TF_OK) {
		tf_capture_cancel(capture);
		return status;
	}
	TF_TRY(tf_capture_end(capture, err));
	return tf_graph_rebuild(program, program->graph_count - 1, &rank->target, out, err);
}

static enum tf_status build_side(struct gpu_rank *gpu, const struct tf_bench_case *what, int side,
	struct tf_exec **out, struct tf_error *err)
{
	struct tf_error local = {0};

	if (side)
		return tf_nccl_side_build(gpu->sides.nccl, (enum tf_nccl_memory)(side - 1),
			what->first_group, what->group_count, out, err);
	(void)!build_ours(&gpu->rank, what, out, &local);
	return agree(gpu, &local, err);
}

/* The duration that "sample_end" stored: stage 1, slot 0, pass 0 of the rank's own storage. */
static enum tf_status read_stamp(
	const struct tf_bench_rank *rank, int64_t *out_ns, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	uint64_t ns = 0, off;

	tf_startup_places(program->group_count, program->candidate_count, NULL, &off, NULL, NULL, NULL);
	TF_TRY(rank->ops->read(rank->device, &ns,
		tf_rank_window_at(&rank->window, 0, program->layout.startup_off + off), sizeof(ns), err));
	if (!ns || ns > INT64_MAX)
		return TF_FAIL(err, TF_E_INTERNAL, "a launch left no time behind");
	*out_ns = (int64_t)ns;
	return TF_OK;
}

static enum tf_status launch(
	struct tf_bench_rank *rank, struct tf_exec *exec, int64_t *out_ns, struct tf_error *err)
{
	TF_TRY(rank->ops->stream_graph(rank->stream, exec, err));
	TF_TRY(rank->ops->stream_wait(rank->stream, tf_deadline_after(rank->timeout_ns), err));
	return read_stamp(rank, out_ns, err);
}

/* A side's turn in a round. A fault stays until the next reset, so it is looked for once. */
static enum tf_status take_turn(
	struct tf_bench_rank *rank, struct tf_exec *exec, int64_t *out_ns, struct tf_error *err)
{
	int64_t unused;

	for (int i = -TF_BENCH_WARM; i < TF_BENCH_LAUNCHES; i++)
		TF_TRY(launch(rank, exec, i < 0 ? &unused : &out_ns[i], err));
	return tf_bench_rank_fault(rank, err);
}

static enum tf_status take_rounds(
	struct gpu_rank *gpu, struct tf_exec *const *execs, struct measured *out, struct tf_error *err)
{
	for (int round = 0; round < TF_BENCH_ROUNDS; round++) {
		for (int side = 0; side < TF_GPU_SIDES; side++) {
			if (!execs[side])
				continue;
			if (take_turn(&gpu->rank, execs[side], out->times[side].chain_ns[round], err) == TF_OK)
				continue;
			tf_error_prefix(err, "%s", tf_gpu_side_name(side));
			return err->status;
		}
	}
	return TF_OK;
}

static void merge(struct measured *all, const struct measured *one)
{
	for (int side = 0; side < TF_GPU_SIDES; side++) {
		for (int round = 0; round < TF_BENCH_ROUNDS; round++) {
			for (int i = 0; i < TF_BENCH_LAUNCHES; i++) {
				int64_t ns = one->times[side].chain_ns[round][i];
				int64_t *most = &all->times[side].chain_ns[round][i];

				*most = ns > *most ? ns : *most;
			}
		}
		all->checks[side].outputs += one->checks[side].outputs;
		all->checks[side].equal += one->checks[side].equal;
	}
}

/* Rank 0 leaves the slowest rank's times and all ranks' counts on the board. */
static enum tf_status report(
	struct gpu_rank *gpu, uint32_t index, const struct measured *mine, struct tf_error *err)
{
	struct tf_gpu_case *to = &gpu->job->board->cases[index];
	struct measured all[TF_WORLD_MAX], sum = {0};

	TF_TRY(tf_link_exchange_fixed(
		gpu->link, mine, sizeof(*mine), all, tf_deadline_after(gpu->rank.timeout_ns), err));
	if (tf_link_rank(gpu->link))
		return TF_OK;
	for (uint32_t r = 0; r < tf_link_world(gpu->link); r++)
		merge(&sum, &all[r]);
	memcpy(to->times, sum.times, sizeof(to->times));
	memcpy(to->checks, sum.checks, sizeof(to->checks));
	return TF_OK;
}

static enum tf_status build_sides(struct gpu_rank *gpu, const struct tf_bench_case *what,
	struct tf_exec **execs, struct tf_error *err)
{
	for (int side = 0; side < TF_GPU_SIDES; side++) {
		enum tf_status status;

		if (!tf_gpu_side_is_on(&gpu->sides, side))
			continue;
		status = build_side(gpu, what, side, &execs[side], err);
		if (status != TF_OK) {
			tf_error_prefix(err, "%s", tf_gpu_side_name(side));
			return status;
		}
	}
	return TF_OK;
}

static enum tf_status run_case(struct gpu_rank *gpu, uint32_t index, struct tf_error *err)
{
	const struct tf_bench_case *what = &gpu->job->cases[index];
	struct tf_exec *execs[TF_GPU_SIDES] = {NULL};
	struct measured mine = {0};
	struct tf_error local = {0};

	(void)!tf_gpu_operands_write(&gpu->sides, what, &local);
	TF_TRY(agree(gpu, &local, err));
	TF_TRY(build_sides(gpu, what, execs, err));
	if (take_rounds(gpu, execs, &mine, &local) != TF_OK)
		tf_rank_memory_abort(&gpu->rank.memory);
	TF_TRY(agree(gpu, &local, err));
	(void)!tf_gpu_operands_check(&gpu->sides, what, mine.checks, &local);
	TF_TRY(agree(gpu, &local, err));
	for (int side = 0; side < TF_GPU_SIDES; side++) {
		if (execs[side])
			gpu->rank.ops->graph_destroy(execs[side]);
	}
	return report(gpu, index, &mine, err);
}

/* What is being done, for messages: "all_reduce of 8192 bytes". */
static void name_case(const struct tf_bench_case *what, struct tf_error *err)
{
	if (what->capacity)
		tf_error_prefix(err, "step of capacity %u", what->capacity);
	else
		tf_error_prefix(err, "%s of %" PRIu64 " bytes", tf_op_name(what->op), what->bytes);
}

static enum tf_status run(struct gpu_rank *gpu, struct tf_error *err)
{
	TF_TRY(open_rank(gpu, err));
	TF_TRY(open_nccl(gpu, err));
	for (uint32_t i = 0; i < gpu->job->case_count; i++) {
		enum tf_status status;

		tell(gpu, TF_GPU_MEASURE, i, gpu->job->case_count);
		status = run_case(gpu, i, err);
		if (status != TF_OK) {
			name_case(&gpu->job->cases[i], err);
			return status;
		}
	}
	if (!tf_link_rank(gpu->link))
		gpu->job->board->found = gpu->found;
	tell(gpu, "closing NCCL", 0, 1);
	TF_TRY(tf_nccl_side_close(gpu->sides.nccl, err));
	tf_bench_rank_close(&gpu->rank);
	return TF_OK;
}

int tf_gpu_rank_run(void *user, uint32_t index, struct tf_link *link, int command_fd)
{
	struct gpu_rank gpu = {.job = user, .link = link, .command_fd = command_fd};
	struct tf_error err = {0};
	enum tf_status status = run(&gpu, &err);
	uint8_t done = 0;

	(void)index;
	if (status == TF_OK)
		status = tf_channel_send(
			command_fd, TF_JOB_DONE, 0, &done, sizeof(done), tf_deadline_after(WORD_NS), &err);
	else
		(void)!tf_channel_send(
			command_fd, TF_JOB_FAILED, 0, &err, sizeof(err), tf_deadline_after(WORD_NS), NULL);
	return tf_status_exit(status);
}
