/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   cases -> one workload, tuned in rank processes -> chains as long as the time allows
 *         -> rounds: ours, MPI, ours, MPI, ...
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
#include "prepare/bench/mpi_round.h"
#include "prepare/export/job_watch.h"

#define LADDER  "local"
#define WAIT_NS (10 * TF_NS_PER_S) /* of any rank for another: ranks may outnumber cores */
#define TUNE_NS (300 * TF_NS_PER_S)
#define SHARE   0.6 /* of the time that chains may take; the rest is tuning and starting */

uint32_t tf_bench_calls_max(uint64_t bytes)
{
	uint64_t calls = TF_BENCH_OPERANDS_BYTES / bytes;

	return calls < TF_BENCH_CALLS_MIN ? TF_BENCH_CALLS_MIN
		: calls > TF_BENCH_CALLS_MAX  ? TF_BENCH_CALLS_MAX
									  : (uint32_t)calls;
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

		*group = (struct tf_group){
			.op = options->cases[i].op,
			.dtype = options->dtype,
			.row_elements = options->cases[i].bytes / tf_dtype_bytes(options->dtype),
			.capacity = 1,
			.times = tf_bench_calls_max(options->cases[i].bytes),
			.buffer_pairs = tf_bench_calls_max(options->cases[i].bytes),
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
		.device = "host",
		.timeout_ns = WAIT_NS,
		.catalog_fd = memfd_create("catalog", MFD_CLOEXEC),
	};
	struct tf_job_done done;
	enum tf_status status;

	memset(&done, 0, sizeof(done));
	if (job.catalog_fd < 0)
		return TF_FAIL_ERRNO(err, "cannot create a memory file for the catalog");
	status = tf_job_run(options->world, tf_rank_job_run, &job, tf_deadline_after(TUNE_NS),
		options->progress, options->progress_user, options->interrupted, &done, sizeof(done), err);
	if (status == TF_OK)
		status = read_program(job.catalog_fd, done.catalog_bytes, &result->program, err);
	close(job.catalog_fd);
	return status;
}

static enum tf_status tune(
	const struct tf_bench_options *options, struct tf_bench_result *result, struct tf_error *err)
{
	struct tf_workload workload = {0};
	struct tf_ladder ladder = {0};
	enum tf_status status = make_workload(options, &workload, err);

	if (status == TF_OK)
		status = tf_ladder_builtin(LADDER, &ladder, err);
	if (status == TF_OK)
		status = run_tuning(options, &workload, &ladder, result, err);
	tf_workload_fini(&workload);
	tf_ladder_fini(&ladder);
	return status;
}

/* Chains get equal shares of the time that is left, and are never cut below a few calls. */
static void choose_calls(const struct tf_bench_options *options, struct tf_bench_result *result)
{
	double chains = (double)result->case_count * TF_BENCH_ROUNDS *
		(TF_BENCH_LAUNCHES + TF_BENCH_WARM) * (options->against_mpi ? 2 : 1);

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

static enum tf_status run_rounds(const struct tf_bench_options *options,
	const struct tf_mpi_tools *tools, struct tf_bench_result *result, struct tf_error *err)
{
	result->ours = tf_calloc(result->case_count, sizeof(result->ours[0]));
	result->mpi =
		options->against_mpi ? tf_calloc(result->case_count, sizeof(result->mpi[0])) : NULL;
	if (!result->ours || (options->against_mpi && !result->mpi))
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the times");
	for (uint32_t round = 0; round < TF_BENCH_ROUNDS; round++) {
		if (options->progress)
			options->progress(options->progress_user, "round", round, TF_BENCH_ROUNDS);
		TF_TRY(tf_bench_round(options, result, round, err));
		if (options->against_mpi)
			TF_TRY(tf_mpi_round(tools, options, result, round, err));
	}
	return TF_OK;
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
	result->load_before = load_now();
	if (options->against_mpi)
		status = tf_mpi_tools_find(&tools, err);
	if (status == TF_OK)
		status = tune(options, result, err);
	if (status == TF_OK) {
		choose_calls(options, result);
		status = run_rounds(options, &tools, result, err);
	}
	tf_mpi_tools_fini(&tools);
	result->load_after = load_now();
	result->total_ns = tf_now_ns() - begin;
	return status;
}

void tf_bench_result_fini(struct tf_bench_result *result)
{
	tf_program_fini(&result->program);
	tf_free(result->ours);
	tf_free(result->mpi);
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

double tf_bench_ratio(const struct tf_bench_times *ours, const struct tf_bench_times *mpi,
	double *out_low, double *out_high)
{
	double values[TF_BENCH_ROUNDS], median;

	for (int round = 0; round < TF_BENCH_ROUNDS; round++)
		values[round] = round_median(ours, round) / round_median(mpi, round);
	median = tf_order_interval(values, TF_BENCH_ROUNDS).median; /* sorts */
	*out_low = values[0];
	*out_high = values[TF_BENCH_ROUNDS - 1];
	return median;
}
