/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round is one order of steps in a row for each capacity: the first warms up, proves the bytes
 * and sets the length, TF_PASSES more are passes. A pass's rate is its steps over their total time
 * on the slowest rank. A capacity's passes lie over the whole of the bench, so that what disturbs
 * the machine for a while falls on few of the passes of each, not on all of one.
 */
#include "runtime/serve/bench_job.h"

#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/collective/startup.h"
#include "runtime/serve/ready_report.h"
#include "runtime/serve/serve_version.h"
#include "runtime/serve/step_reports.h"
#include "runtime/serve/supervisor.h"

#define WARM_STEPS     5
#define PASS_NS        (20 * TF_NS_PER_MS)
#define PASS_STEPS_MAX 2000

struct bench_row {
	uint64_t steps;                      /* of a pass */
	uint64_t pass_ps[TF_PASSES];         /* of a step; picoseconds: short ones keep their digits */
	uint64_t median_ps, low_ps, high_ps; /* of a step, averaged over a pass */
};

struct bench_job {
	struct tf_job job;
	struct bench_row *rows; /* (capacity_count) */
	uint32_t capacity;      /* index into view.capacities */
	uint32_t pass;          /* 0: the round that warms up */
	struct tf_step_report reports[TF_WORLD_MAX];
};

#define PS_PER_NS 1000

static void order_pass(struct bench_job *bench)
{
	struct tf_supervisor *supervisor = bench->job.supervisor;
	struct tf_step_order order = {
		.rows = supervisor->view.capacities[bench->capacity],
		.count = bench->pass ? bench->rows[bench->capacity].steps : WARM_STEPS,
		.seed = 1,
		.check = bench->pass ? TF_STEP_CHECK_NONE : TF_STEP_CHECK_LAST,
		.kept = bench->pass != 0,
	};

	bench->job.heard = 0;
	tf_crew_order_all(&supervisor->crew, TF_COMMAND_STEP, &order, sizeof(order));
}

static void begin(struct tf_job *job)
{
	order_pass((struct bench_job *)job);
}

static void draw_medians(struct bench_job *bench)
{
	for (uint32_t i = 0; i < bench->job.supervisor->view.capacity_count; i++) {
		struct bench_row *row = &bench->rows[i];

		tf_order_statistics(row->pass_ps, &row->median_ps, &row->low_ps, &row->high_ps);
	}
}

/* Nonzero once every round is through. */
static int take_pass(struct bench_job *bench)
{
	struct bench_row *row = &bench->rows[bench->capacity];
	struct tf_step_report joined;

	tf_step_reports_join(bench->reports, bench->job.supervisor->crew.world, &joined);
	if (!bench->pass) {
		row->steps = (uint64_t)(PASS_NS / (joined.median_ns > 0 ? joined.median_ns : 1));
		row->steps = row->steps < 1 ? 1 : row->steps > PASS_STEPS_MAX ? PASS_STEPS_MAX : row->steps;
	} else {
		row->pass_ps[bench->pass - 1] = (uint64_t)joined.total_ns * PS_PER_NS / joined.count;
	}
	if (++bench->capacity < bench->job.supervisor->view.capacity_count)
		return 0;
	bench->capacity = 0;
	if (bench->pass++ < TF_PASSES)
		return 0;
	draw_medians(bench);
	return 1;
}

static int hear(struct tf_job *job, uint32_t rank, uint16_t type, const void *data, size_t bytes)
{
	struct bench_job *bench = (struct bench_job *)job;

	if (type != TF_COMMAND_STEPPED || bytes != sizeof(bench->reports[rank]))
		return 0;
	memcpy(&bench->reports[rank], data, bytes);
	if (!tf_job_heard_all(job, rank))
		return 0;
	if (take_pass(bench))
		return 1;
	order_pass(bench);
	return 0;
}

static double rate(uint64_t step_ps)
{
	return step_ps ? 1e12 / (double)step_ps : 0;
}

static enum tf_status print_json(const struct bench_job *bench, struct tf_error *err)
{
	const struct tf_supervisor *supervisor = bench->job.supervisor;
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};

	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_text(&json, "package", supervisor->options->path);
	tf_json_text(&json, "sha256", supervisor->digest_hex);
	tf_json_uint(&json, "world", supervisor->view.loaded.program.world);
	tf_json_array_begin(&json, "capacities");
	for (uint32_t i = 0; i < supervisor->view.capacity_count; i++) {
		tf_json_object_begin(&json, NULL);
		tf_json_uint(&json, "capacity", supervisor->view.capacities[i]);
		tf_json_real(&json, "steps_per_second", rate(bench->rows[i].median_ps));
		tf_json_real(&json, "low", rate(bench->rows[i].high_ps));
		tf_json_real(&json, "high", rate(bench->rows[i].low_ps));
		tf_json_uint(&json, "steps", bench->rows[i].steps * TF_PASSES);
		tf_json_object_end(&json);
	}
	tf_json_array_end(&json);
	tf_json_object_end(&json);
	return tf_report_flush_json(stdout, &json, &body, err);
}

static enum tf_status print(const struct bench_job *bench, struct tf_error *err)
{
	const struct tf_supervisor *supervisor = bench->job.supervisor;

	if (supervisor->options->json)
		return print_json(bench, err);
	printf("%8s  %12s  %12s  %12s  %10s\n", "capacity", "steps/s", "low", "high", "us a step");
	for (uint32_t i = 0; i < supervisor->view.capacity_count; i++) {
		const struct bench_row *row = &bench->rows[i];

		printf("%8u  %12.1f  %12.1f  %12.1f  %10.1f\n", supervisor->view.capacities[i],
			rate(row->median_ps), rate(row->high_ps), rate(row->low_ps),
			(double)row->median_ps / 1e6);
	}
	return tf_report_flush(stdout, err);
}

static void end(struct tf_job *job, const struct tf_error *cause)
{
	struct bench_job *bench = (struct bench_job *)job;
	struct tf_supervisor *supervisor = job->supervisor;
	struct tf_error err = {0};
	enum tf_status status = TF_OK;

	if (!cause)
		status = print(bench, &err);
	tf_free(bench->rows);
	tf_free(bench);
	if (status != TF_OK)
		tf_supervisor_fail(supervisor, &err);
	else if (!cause)
		tf_supervisor_drain(supervisor, TF_EXIT_DONE);
}

static const struct tf_job_ops bench_ops = {
	.doing = "during the bench", .begin = begin, .hear = hear, .end = end};

enum tf_status tf_bench_job_add(struct tf_supervisor *supervisor, struct tf_error *err)
{
	struct bench_job *bench = tf_calloc(1, sizeof(*bench));
	enum tf_status status;

	if (bench)
		bench->rows = tf_calloc(supervisor->view.capacity_count, sizeof(bench->rows[0]));
	if (!bench || !bench->rows) {
		tf_free(bench);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a bench");
	}
	bench->job.ops = &bench_ops;
	status = tf_jobs_add(supervisor, &bench->job, err);
	if (status != TF_OK) {
		tf_free(bench->rows);
		tf_free(bench);
	}
	return status;
}
