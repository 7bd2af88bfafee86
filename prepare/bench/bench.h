/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep bench`: what tuned collectives cost in the form in which they are served, a captured
 * graph that is launched again and again, beside Open MPI on the same machine in the same minute.
 */
#ifndef TF_PREPARE_BENCH_BENCH_H
#define TF_PREPARE_BENCH_BENCH_H

#include "catalog/program.h"
#include "prepare/bench/order_interval.h"
#include "prepare/tune/bench_rank.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_BENCH_SIZES_MAX      32
#define TF_BENCH_CASES_MAX      (2 * TF_BENCH_SIZES_MAX) /* two operations */
#define TF_BENCH_ROUNDS         5  /* both sides take turns, so a drift of the machine meets both */
#define TF_BENCH_LAUNCHES       21 /* of each chain in each round */
#define TF_BENCH_CALLS_MAX      86 /* in a chain: a decode window */
#define TF_BENCH_CALLS_MIN      4
#define TF_BENCH_OPERANDS_BYTES (UINT64_C(4) << 20) /* inputs of a chain: some MiB a rank in all */
#define TF_BENCH_WARM           3 /* launches of each chain before those that count */
#define TF_BENCH_MPI_BYTES      128

/*
 * One operation at one size. Every call of a chain has operands of its own, whose inputs their rank
 * writes just before a launch: as in serving, no call finds the others' data in its cache.
 */
struct tf_bench_case {
	enum tf_op op;
	uint64_t bytes; /* of one rank's input */
	uint32_t calls; /* in a chain; chosen after tuning */
};

/* One chain's durations, the maximum over ranks. */
struct tf_bench_times {
	int64_t chain_ns[TF_BENCH_ROUNDS][TF_BENCH_LAUNCHES];
};

struct tf_bench_options {
	uint32_t world;
	enum tf_dtype dtype;
	int against_mpi;
	struct tf_bench_case cases[TF_BENCH_CASES_MAX]; /* calls unset */
	uint32_t case_count;
	int64_t budget_ns;       /* aim for the whole run; the shortest chains may take longer */
	tf_progress_fn progress; /* or NULL */
	void *progress_user;
	const volatile int *interrupted; /* or NULL */
};

struct tf_bench_result {
	struct tf_program program; /* tuned: group i is case i */
	struct tf_bench_case cases[TF_BENCH_CASES_MAX];
	uint32_t case_count;
	struct tf_bench_times *ours, *mpi; /* (case_count); mpi NULL without it */
	char mpi_library[TF_BENCH_MPI_BYTES];
	double load_before, load_after; /* runnable tasks, the system's average of a minute */
	int64_t total_ns;
};

/*
 * Tunes, then measures round by round. `result` is {0} before and finied in any case.
 * TF_E_UNAVAILABLE: MPI was asked for and 'mpirun' or 'tfprep-mpi-bench' is missing (told before
 * anything runs). TF_E_ABORTED: interrupted. Others as tf_tune.
 */
TF_WARN_UNUSED enum tf_status tf_bench(
	const struct tf_bench_options *options, struct tf_bench_result *result, struct tf_error *err);
void tf_bench_result_fini(struct tf_bench_result *result);

/* The most calls that a chain of this size has: TF_BENCH_CALLS_MIN to TF_BENCH_CALLS_MAX. */
uint32_t tf_bench_calls_max(uint64_t bytes);

/* A call's time over all rounds, ns. */
struct tf_interval tf_bench_call(const struct tf_bench_times *times, uint32_t calls);

/*
 * Ours over MPI's: the quotient of the medians of each round. out_low and out_high are the least
 * and the greatest of the rounds; returns their median.
 */
double tf_bench_ratio(const struct tf_bench_times *ours, const struct tf_bench_times *mpi,
	double *out_low, double *out_high);

#ifdef __cplusplus
}
#endif
#endif
