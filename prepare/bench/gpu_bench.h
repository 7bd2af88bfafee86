/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmark on GPUs: ours, NCCL's on plain memory and NCCL's in symmetric windows, in the same
 * processes, in the same graph form, in turn.
 *
 * A graph is "sample_begin" (the ranks meet, stamp), the calls, "sample_end" (stamp). The device
 * stamps, so no host's overhead is in a time, and a launch counts with its slowest rank.
 */
#ifndef TF_PREPARE_BENCH_GPU_BENCH_H
#define TF_PREPARE_BENCH_GPU_BENCH_H

#include "prepare/bench/bench.h"
#include "runtime/link/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sides that are timed here, in the order of their turns. */
#define TF_GPU_SIDES 3

/* What the ranks leave for the parent, in memory that they share; rank 0 alone writes. */
struct tf_gpu_board {
	struct tf_nccl_found found;
	struct tf_gpu_case {
		struct tf_bench_times times[TF_GPU_SIDES];
		struct tf_bench_check checks[TF_GPU_SIDES];
	} cases[TF_BENCH_CASES_MAX];
};

/* What the ranks tell the parent before each case. */
#define TF_GPU_MEASURE "measure"

struct tf_gpu_job {
	struct tf_program *program; /* tuned; every rank works on its own copy */
	const struct tf_bench_options *options;
	const struct tf_bench_case *cases; /* complete */
	uint32_t case_count;
	struct tf_gpu_board *board;
};

/* A rank's process: a tf_rank_fn; `user` is a struct tf_gpu_job *. */
int tf_gpu_rank_run(void *user, uint32_t rank, struct tf_link *link, int command_fd);

/*
 * Measures all of result->cases on result->program's picks, beside NCCL as options->against wants
 * it, and fills result's times, checks and nccl. Errors as tf_bench.
 */
TF_WARN_UNUSED enum tf_status tf_gpu_bench(
	const struct tf_bench_options *options, struct tf_bench_result *result, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
