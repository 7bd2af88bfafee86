/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side: it waits, bounded in time, and remembers what it heard last, so that a call of
 * a library that never returns can be told by where it happened.
 */
#include "prepare/bench/gpu_bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "prepare/export/job_watch.h"

static const enum tf_bench_side sides[TF_GPU_SIDES] = {
	TF_SIDE_OURS, TF_SIDE_NCCL, TF_SIDE_NCCL_SYMMETRIC};

/* The last word of rank 0, passed on as it comes. */
struct heard {
	const struct tf_bench_options *options;
	char what[16];
	uint64_t done, total;
};

static void hear(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct heard *heard = user;

	snprintf(heard->what, sizeof(heard->what), "%.15s", what);
	heard->done = done;
	heard->total = total;
	if (heard->options->progress)
		heard->options->progress(heard->options->progress_user, what, done, total);
}

/* Where the ranks are when they are given up. */
static void tell_where(
	const struct tf_gpu_job *job, const struct heard *heard, struct tf_error *err)
{
	const struct tf_bench_case *what = &job->cases[heard->done];

	if (strcmp(heard->what, TF_GPU_MEASURE) != 0 || heard->done >= job->case_count)
		tf_error_prefix(err, "%s", heard->what[0] ? heard->what : "opening the devices");
	else if (what->capacity)
		tf_error_prefix(err, "measuring the step of capacity %u", what->capacity);
	else
		tf_error_prefix(
			err, "measuring %s of %" PRIu64 " bytes", tf_op_name(what->op), what->bytes);
}

static enum tf_status run_job(
	const struct tf_bench_options *options, struct tf_gpu_job *job, struct tf_error *err)
{
	int64_t bound = TF_BENCH_JOB_TIMEOUTS * options->timeout_ns;
	struct heard heard = {.options = options};
	uint8_t done = 0; /* the results are on the board */
	enum tf_status status = tf_job_run(options->world, tf_gpu_rank_run, job,
		tf_deadline_after(bound), hear, &heard, options->interrupted, &done, sizeof(done), err);

	if (status == TF_E_TIMEOUT)
		tell_where(job, &heard, err);
	return status;
}

static enum tf_status take_side(struct tf_bench_result *result, const struct tf_gpu_board *board,
	int index, struct tf_error *err)
{
	enum tf_bench_side side = sides[index];

	result->times[side] = tf_calloc(result->case_count, sizeof(*result->times[side]));
	result->checks[side] = tf_calloc(result->case_count, sizeof(*result->checks[side]));
	if (!result->times[side] || !result->checks[side])
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the times");
	for (uint32_t i = 0; i < result->case_count; i++) {
		result->times[side][i] = board->cases[i].times[index];
		result->checks[side][i] = board->cases[i].checks[index];
	}
	return TF_OK;
}

static enum tf_status take_board(
	struct tf_bench_result *result, const struct tf_gpu_board *board, struct tf_error *err)
{
	result->nccl = board->found;
	for (int i = 0; i < TF_GPU_SIDES; i++) {
		if (board->cases[0].checks[i].outputs)
			TF_TRY(take_side(result, board, i, err));
	}
	return TF_OK;
}

enum tf_status tf_gpu_bench(
	const struct tf_bench_options *options, struct tf_bench_result *result, struct tf_error *err)
{
	struct tf_gpu_board *board =
		mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tf_gpu_job job = {
		.program = &result->program,
		.options = options,
		.cases = result->cases,
		.case_count = result->case_count,
		.board = board,
	};
	enum tf_status status;

	if (board == MAP_FAILED)
		return TF_FAIL_ERRNO(err, "cannot map the board of %zu bytes", sizeof(*board));
	status = run_job(options, &job, err);
	if (status == TF_OK)
		status = take_board(result, board, err);
	munmap(board, sizeof(*board));
	return status;
}
