/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep bench`: what tuned collectives cost in the form in which they are served, a captured
 * graph that is launched again and again, beside Open MPI (host) or NCCL (GPUs) on the same machine
 * in the same minute.
 */
#ifndef TF_PREPARE_BENCH_BENCH_H
#define TF_PREPARE_BENCH_BENCH_H

#include "catalog/program.h"
#include "prepare/bench/nccl_side.h"
#include "prepare/bench/order_interval.h"
#include "prepare/tune/bench_rank.h"
#include "prepare/workload/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_BENCH_SIZES_MAX      32
#define TF_BENCH_CASES_MAX      (TF_OP_COUNT * TF_BENCH_SIZES_MAX)
#define TF_BENCH_ROUNDS         5  /* both sides take turns, so a drift of the machine meets both */
#define TF_BENCH_LAUNCHES       21 /* of each chain in each round */
#define TF_BENCH_CALLS_MAX      86 /* in a chain: a decode window */
#define TF_BENCH_CALLS_MIN      4
#define TF_BENCH_OPERANDS_BYTES (UINT64_C(4) << 20) /* inputs of a chain: some MiB a rank in all */
#define TF_BENCH_WARM           3 /* launches of each chain before those that count */
#define TF_BENCH_MPI_BYTES      128
#define TF_BENCH_JOB_TIMEOUTS   30 /* that a job of the ranks may take in all */

/* Whose collectives are timed. On GPUs NCCL's are, on plain memory and in symmetric windows. */
enum tf_bench_side {
	TF_SIDE_OURS = 0,
	TF_SIDE_MPI,
	TF_SIDE_NCCL,
	TF_SIDE_NCCL_SYMMETRIC,
	TF_SIDE_COUNT
};

/* AUTO: NCCL on GPUs, as far as it is there; nobody on the host. */
enum tf_bench_against { TF_AGAINST_AUTO = 0, TF_AGAINST_NONE, TF_AGAINST_MPI, TF_AGAINST_NCCL };

/*
 * One operation at one size, or a step of a workload at one capacity. Every call of a chain has
 * operands of its own as far as TF_BENCH_OPERANDS_BYTES goes. On the host their inputs are written
 * by their rank just before a launch: as in serving, no call finds the others' data in its cache.
 */
struct tf_bench_case {
	enum tf_op op;        /* of a chain */
	uint64_t bytes;       /* of one rank's input; 0 in a step of several groups */
	uint32_t capacity;    /* of a step; 0 in a chain */
	uint32_t first_group; /* of the program */
	uint32_t group_count; /* 1 in a chain */
	uint32_t calls;       /* in a chain or step; chosen after tuning */
};

/* One chain's durations, the maximum over ranks. */
struct tf_bench_times {
	int64_t chain_ns[TF_BENCH_ROUNDS][TF_BENCH_LAUNCHES];
};

/* Outputs of a side's timed launches, over all ranks, beside the reference. */
struct tf_bench_check {
	uint64_t outputs;
	uint64_t equal; /* in every byte; the rest differ by rounding alone */
};

struct tf_bench_options {
	uint32_t world;
	enum tf_dtype dtype;
	enum tf_bench_against against;
	const char *device;                 /* "host" or "cuda" */
	uint32_t device_count;              /* rank r takes device r modulo this */
	const char *topology;               /* class whose ladder is climbed */
	const struct tf_workload *workload; /* its steps, on GPUs; or NULL: the cases below */
	struct tf_bench_case cases[TF_BENCH_CASES_MAX]; /* op and bytes are set */
	uint32_t case_count;
	int64_t timeout_ns; /* of any rank's wait for another; a job may take TF_BENCH_JOB_TIMEOUTS */
	int64_t budget_ns;  /* host: aim for the whole run; the shortest chains may take longer */
	tf_progress_fn progress; /* or NULL */
	void *progress_user;
	const volatile int *interrupted; /* or NULL */
};

struct tf_bench_result {
	struct tf_program program; /* tuned */
	const char *device;        /* static */
	struct tf_bench_case cases[TF_BENCH_CASES_MAX];
	uint32_t case_count;
	struct tf_bench_times *times[TF_SIDE_COUNT];  /* (case_count); NULL where not measured */
	struct tf_bench_check *checks[TF_SIDE_COUNT]; /* (case_count), GPUs only */
	char mpi_library[TF_BENCH_MPI_BYTES];
	struct tf_nccl_found nccl;      /* all empty where it was not asked for */
	double load_before, load_after; /* runnable tasks, the system's average of a minute */
	int64_t total_ns;
};

/*
 * Tunes, then measures round by round. `result` is {0} before and finied in any case.
 * TF_E_UNAVAILABLE: MPI was asked for and 'mpirun' or 'tfprep-mpi-bench' is missing (told before
 * anything runs), or NCCL by name and it is not there. TF_E_MISMATCH: a timed launch gave wrong
 * results. TF_E_TIMEOUT: a rank hangs; it says where. TF_E_ABORTED: interrupted. Others as tf_tune.
 */
TF_WARN_UNUSED enum tf_status tf_bench(
	const struct tf_bench_options *options, struct tf_bench_result *result, struct tf_error *err);
void tf_bench_result_fini(struct tf_bench_result *result);

/* The most calls that a chain of this size has: TF_BENCH_CALLS_MIN to TF_BENCH_CALLS_MAX. */
uint32_t tf_bench_calls_max(uint64_t bytes);

/* A call's time over all rounds, ns. */
struct tf_interval tf_bench_call(const struct tf_bench_times *times, uint32_t calls);

/*
 * Ours over the other's: the quotient of the medians of each round. out_low and out_high are the
 * least and the greatest of the rounds; returns their median.
 */
double tf_bench_ratio(const struct tf_bench_times *ours, const struct tf_bench_times *other,
	double *out_low, double *out_high);

#ifdef __cplusplus
}
#endif
#endif
