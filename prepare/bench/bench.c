/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   cases -> one workload, tuned in rank processes
 *         -> host: chains as long as the time allows -> rounds: ours, MPI, ours, MPI, ...
 *         -> GPUs: chains of TF_BENCH_CALLS_MAX calls, or steps -> gpu_bench.c
 */
#include "prepare/bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "prepare/bench/bench_round.h"
#include "prepare/bench/gpu_bench.h"
#include "prepare/bench/mpi_round.h"
#include "prepare/bench/step_calls.h"
#include "prepare/export/job_watch.h"

#define SHARE 0.6 /* of the time that chains may take; the rest is tuning and starting */

uint32_t tf_bench_calls_max(uint64_t bytes)
{
	uint64_t calls = TF_BENCH_OPERANDS_BYTES / bytes;

	return calls < TF_BENCH_CALLS_MIN ? TF_BENCH_CALLS_MIN
		: calls > TF_BENCH_CALLS_MAX  ? TF_BENCH_CALLS_MAX
									  : (uint32_t)calls;
}

static int is_host(const struct tf_bench_options *options)
{
	return !strcmp(options->device, "host");
}

static enum tf_status make_workload(
	const struct tf_bench_options *options, struct tf_workload *workload, struct tf_error *err)
{
	workload->groups = tf_calloc(options->case_count, sizeof(workload->groups[0]));
	if (!workload->groups)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u groups", options->case_count);
	snprintf(workload->name, sizeof(workload->name), "bench");
	workload->capacities[0] = 1;
	workload->capacity_count = 1;
	for (uint32_t i = 0; i < options->case_count; i++) {
		struct tf_group *group = &workload->groups[workload->group_count++];
		uint32_t most = tf_bench_calls_max(options->cases[i].bytes);

		*group = (struct tf_group){
			.op = options->cases[i].op,
			.dtype = options->dtype,
			.row_elements = options->cases[i].bytes / tf_dtype_bytes(options->dtype),
			.capacity = 1,
			.times = is_host(options) ? most : TF_BENCH_CALLS_MAX,
			.buffer_pairs = most,
		};
		snprintf(group->name, sizeof(group->name), "%s-%" PRIu64, tf_op_name(group->op),
			options->cases[i].bytes);
	}
	return TF_OK;
}

static enum tf_status read_program(
	int fd, uint64_t bytes, struct tf_program *program, struct tf_error *err)
{
	void *catalog = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	enum tf_status status;

	if (catalog == MAP_FAILED)
		return TF_FAIL_ERRNO(err, "cannot take the catalog over");
	status = tf_catalog_read(catalog, bytes, TF_CATALOG_STEP, program, err);
	munmap(catalog, bytes);
	return status;
}

static enum tf_status run_tuning(const struct tf_bench_options *options,
	const struct tf_workload *workload, const struct tf_ladder *ladder,
	struct tf_bench_result *result, struct tf_error *err)
{
	struct tf_rank_job job = {
		.workload = workload,
		.ladder = ladder,
		.device = options->device,
		.device_count = options->device_count,
		.timeout_ns = options->timeout_ns,
		.catalog_fd = memfd_create("catalog", MFD_CLOEXEC),
	};
	struct tf_job_done done;
	enum tf_status status;

	memset(&done, 0, sizeof(done));
	if (job.catalog_fd < 0)
		return TF_FAIL_ERRNO(err, "cannot create a memory file for the catalog");
	status = tf_job_run(options->world, tf_rank_job_run, &job,
		tf_deadline_after(TF_BENCH_JOB_TIMEOUTS * options->timeout_ns), options->progress,
		options->progress_user, options->interrupted, &done, sizeof(done), err);
	if (status == TF_OK)
		status = read_program(job.catalog_fd, done.catalog_bytes, &result->program, err);
	close(job.catalog_fd);
	return status;
}

static enum tf_status tune(
	const struct tf_bench_options *options, struct tf_bench_result *result, struct tf_error *err)
{
	const struct tf_workload *asked = options->workload;
	struct tf_workload workload = {0};
	struct tf_ladder ladder = {0};
	enum tf_status status = TF_OK;

	if (!asked)
		status = make_workload(options, &workload, err);
	if (status == TF_OK)
		status = tf_ladder_builtin(options->topology, &ladder, err);
	if (status == TF_OK)
		status = run_tuning(options, asked ? asked : &workload, &ladder, result, err);
	tf_workload_fini(&workload);
	tf_ladder_fini(&ladder);
	return status;
}

/* Chains get equal shares of the time that is left, and are never cut below a few calls. */
static void choose_calls(const struct tf_bench_options *options, struct tf_bench_result *result)
{
	double chains = (double)result->case_count * TF_BENCH_ROUNDS *
		(TF_BENCH_LAUNCHES + TF_BENCH_WARM) * (options->against == TF_AGAINST_MPI ? 2 : 1);

	for (uint32_t i = 0; i < result->case_count; i++) {
		const struct tf_group_candidate *pick =
			&result->program.candidates[result->program.selectors[i]];
		int64_t call_ns = pick->stage_median_ns[1] > 0 ? pick->stage_median_ns[1] : 1;
		double calls = SHARE * (double)options->budget_ns / chains / (double)call_ns;
		uint32_t most = tf_bench_calls_max(result->cases[i].bytes);

		result->cases[i].calls = calls < TF_BENCH_CALLS_MIN ? TF_BENCH_CALLS_MIN
			: calls > most                                  ? most
															: (uint32_t)calls;
	}
}

static enum tf_status add_side(
	struct tf_bench_result *result, enum tf_bench_side side, struct tf_error *err)
{
	result->times[side] = tf_calloc(result->case_count, sizeof(*result->times[side]));
	if (!result->times[side])
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the times");
	return TF_OK;
}

static enum tf_status run_rounds(const struct tf_bench_options *options,
	const struct tf_mpi_tools *tools, struct tf_bench_result *result, struct tf_error *err)
{
	TF_TRY(add_side(result, TF_SIDE_OURS, err));
	if (options->against == TF_AGAINST_MPI)
		TF_TRY(add_side(result, TF_SIDE_MPI, err));
	for (uint32_t round = 0; round < TF_BENCH_ROUNDS; round++) {
		if (options->progress)
			options->progress(options->progress_user, "round", round, TF_BENCH_ROUNDS);
		TF_TRY(tf_bench_round(options, result, round, err));
		if (options->against == TF_AGAINST_MPI)
			TF_TRY(tf_mpi_round(tools, options, result, round, err));
	}
	return TF_OK;
}

/* A step is all groups of a capacity, which stand together. */
static enum tf_status add_steps(struct tf_bench_result *result, struct tf_error *err)
{
	const struct tf_program *program = &result->program;
	struct tf_bench_case *what = NULL;

	result->case_count = 0;
	for (uint32_t g = 0; g < program->group_count; g++) {
		const struct tf_group *group = &program->groups[g];

		if (what && group->capacity == what->capacity) {
			what->group_count++;
			what->bytes = 0;
			continue;
		}
		if (result->case_count == TF_BENCH_CASES_MAX)
			return TF_FAIL(err, TF_E_LIMIT, "more than %d capacities", TF_BENCH_CASES_MAX);
		what = &result->cases[result->case_count++];
		*what = (struct tf_bench_case){
			.op = group->op,
			.bytes = tf_group_input_bytes(group),
			.capacity = group->capacity,
			.first_group = g,
			.group_count = 1,
		};
	}
	return TF_OK;
}

static enum tf_status measure(const struct tf_bench_options *options,
	const struct tf_mpi_tools *tools, struct tf_bench_result *result, struct tf_error *err)
{
	for (uint32_t i = 0; i < result->case_count; i++) {
		result->cases[i].first_group = i;
		result->cases[i].group_count = 1;
	}
	if (is_host(options)) {
		choose_calls(options, result);
		return run_rounds(options, tools, result, err);
	}
	if (options->workload)
		TF_TRY(add_steps(result, err));
	for (uint32_t i = 0; i < result->case_count; i++) {
		struct tf_bench_case *what = &result->cases[i];

		what->calls = tf_step_calls_count(&result->program, what->first_group, what->group_count);
	}
	return tf_gpu_bench(options, result, err);
}

static double load_now(void)
{
	double load = 0;

	return getloadavg(&load, 1) == 1 ? load : 0;
}

enum tf_status tf_bench(
	const struct tf_bench_options *options, struct tf_bench_result *result, struct tf_error *err)
{
	struct tf_mpi_tools tools = {0};
	int64_t begin = tf_now_ns();
	enum tf_status status = TF_OK;

	memcpy(result->cases, options->cases, sizeof(result->cases));
	result->case_count = options->case_count;
	result->device = is_host(options) ? "host" : "cuda";
	result->load_before = load_now();
	if (options->against == TF_AGAINST_MPI)
		status = tf_mpi_tools_find(&tools, err);
	if (status == TF_OK)
		status = tune(options, result, err);
	if (status == TF_OK)
		status = measure(options, &tools, result, err);
	tf_mpi_tools_fini(&tools);
	result->load_after = load_now();
	result->total_ns = tf_now_ns() - begin;
	return status;
}

void tf_bench_result_fini(struct tf_bench_result *result)
{
	tf_program_fini(&result->program);
	for (int side = 0; side < TF_SIDE_COUNT; side++) {
		tf_free(result->times[side]);
		tf_free(result->checks[side]);
	}
	memset(result, 0, sizeof(*result));
}

struct tf_interval tf_bench_call(const struct tf_bench_times *times, uint32_t calls)
{
	double values[TF_BENCH_ROUNDS * TF_BENCH_LAUNCHES];

	for (int i = 0; i < TF_BENCH_ROUNDS * TF_BENCH_LAUNCHES; i++)
		values[i] = (double)times->chain_ns[i / TF_BENCH_LAUNCHES][i % TF_BENCH_LAUNCHES] / calls;
	return tf_order_interval(values, TF_BENCH_ROUNDS * TF_BENCH_LAUNCHES);
}

static double round_median(const struct tf_bench_times *times, int round)
{
	double values[TF_BENCH_LAUNCHES];

	for (int i = 0; i < TF_BENCH_LAUNCHES; i++)
		values[i] = (double)times->chain_ns[round][i];
	return tf_order_interval(values, TF_BENCH_LAUNCHES).median;
}

double tf_bench_ratio(const struct tf_bench_times *ours, const struct tf_bench_times *other,
	double *out_low, double *out_high)
{
	double values[TF_BENCH_ROUNDS], median;

	for (int round = 0; round < TF_BENCH_ROUNDS; round++)
		values[round] = round_median(ours, round) / round_median(other, round);
	median = tf_order_interval(values, TF_BENCH_ROUNDS).median; /* sorts */
	*out_low = values[0];
	*out_high = values[TF_BENCH_ROUNDS - 1];
	return median;
}
