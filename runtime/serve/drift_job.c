/* SPDX-License-Identifier: Apache-2.0 */
/* One order to all ranks; rank 0 sends the samples that all of them hold. */
#include "runtime/serve/drift_job.h"

#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/startup.h"
#include "runtime/collective/startup_host.h"
#include "runtime/serve/drift_compare.h"
#include "runtime/serve/ready_report.h"
#include "runtime/serve/serve_version.h"
#include "runtime/serve/supervisor.h"

#define ROW_BYTES (TF_PASSES * sizeof(uint64_t))

struct drift_job {
	struct tf_job job;
	uint64_t *samples; /* (candidate_count, TF_PASSES) */
	uint32_t came;     /* rows of it that came */
};

static void begin(struct tf_job *job)
{
	tf_crew_order_all(&job->supervisor->crew, TF_COMMAND_DRIFT, NULL, 0);
}

static void take_samples(struct drift_job *drift, const uint8_t *data, size_t bytes)
{
	uint32_t total = drift->job.supervisor->view.loaded.program.candidate_count;
	struct tf_samples_head head;

	if (bytes < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	if (head.first != drift->came || head.count > total - drift->came ||
		bytes - sizeof(head) != head.count * ROW_BYTES)
		return;
	memcpy(
		drift->samples + (size_t)head.first * TF_PASSES, data + sizeof(head), bytes - sizeof(head));
	drift->came += head.count;
}

static int hear(struct tf_job *job, uint32_t rank, uint16_t type, const void *data, size_t bytes)
{
	if (type == TF_COMMAND_SAMPLES && rank == 0)
		take_samples((struct drift_job *)job, data, bytes);
	return type == TF_COMMAND_DRIFTED && tf_job_heard_all(job, rank);
}

static void put_interval(struct tf_json *json, const char *name, int64_t low, int64_t high)
{
	tf_json_array_begin(json, name);
	tf_json_int(json, NULL, low);
	tf_json_int(json, NULL, high);
	tf_json_array_end(json);
}

static void put_row(struct tf_json *json, const struct tf_program *program, uint32_t index,
	const struct tf_drift_row *row)
{
	const struct tf_group *group = &program->groups[index];
	char name[TF_CANDIDATE_NAME_BYTES];

	tf_json_object_begin(json, NULL);
	tf_json_text(json, "group", group->name);
	tf_json_uint(json, "capacity", group->capacity);
	tf_json_text(
		json, "pick", tf_candidate_name(&program->candidates[row->picked].candidate, name));
	tf_json_int(json, "packaged_ns", row->packaged_ns);
	tf_json_int(
		json, "measured_ns", row->measured_ns == TF_NS_NONE ? -1 : (int64_t)row->measured_ns);
	tf_json_real(json, "ratio", row->ratio);
	put_interval(json, "packaged_interval_ns", row->packaged_low_ns, row->packaged_high_ns);
	put_interval(json, "measured_interval_ns",
		row->measured_ns == TF_NS_NONE ? -1 : (int64_t)row->measured_low_ns,
		row->measured_ns == TF_NS_NONE ? -1 : (int64_t)row->measured_high_ns);
	tf_json_text(json, "change", tf_drift_change_name(row->change));
	tf_json_text(json, "beaten_by",
		row->winner == TF_PROGRAM_NONE
			? NULL
			: tf_candidate_name(&program->candidates[row->winner].candidate, name));
	if (row->winner != TF_PROGRAM_NONE)
		tf_json_uint(json, "beaten_by_ns", row->winner_ns);
	tf_json_object_end(json);
}

static enum tf_status print_json(const struct drift_job *drift, struct tf_error *err)
{
	const struct tf_supervisor *supervisor = drift->job.supervisor;
	const struct tf_program *program = &supervisor->view.loaded.program;
	const char *clock = tf_host_sample_clock(program->world);
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};
	struct tf_drift_row row;

	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_text(&json, "package", supervisor->options->path);
	tf_json_text(&json, "sha256", supervisor->digest_hex);
	tf_json_array_begin(&json, "groups");
	for (uint32_t i = 0; i < program->group_count; i++) {
		tf_drift_compare(program, drift->samples, clock, i, &row);
		put_row(&json, program, i, &row);
	}
	tf_json_array_end(&json);
	tf_json_object_end(&json);
	return tf_report_flush_json(stdout, &json, &body, err);
}

static void print_row(
	const struct tf_program *program, uint32_t index, const struct tf_drift_row *row)
{
	const struct tf_group *group = &program->groups[index];
	char name[TF_CANDIDATE_NAME_BYTES], packaged[64] = "-", measured[64] = "-", ratio[32] = "-";

	if (row->packaged_ns >= 0)
		snprintf(packaged, sizeof(packaged), "%.2f [%.2f, %.2f]", (double)row->packaged_ns / 1e3,
			(double)row->packaged_low_ns / 1e3, (double)row->packaged_high_ns / 1e3);
	if (row->measured_ns != TF_NS_NONE)
		snprintf(measured, sizeof(measured), "%.2f [%.2f, %.2f]", (double)row->measured_ns / 1e3,
			(double)row->measured_low_ns / 1e3, (double)row->measured_high_ns / 1e3);
	if (row->ratio > 0)
		snprintf(ratio, sizeof(ratio), "%.3f", row->ratio);
	printf("%-24s  %8u  %-32s  %26s  %26s  %7s  ", group->name, group->capacity,
		tf_candidate_name(&program->candidates[row->picked].candidate, name), packaged, measured,
		ratio);
	if (row->measured_ns == TF_NS_NONE)
		printf("not measured\n");
	else if (row->winner != TF_PROGRAM_NONE)
		printf("beaten by %s, %.2f us\n",
			tf_candidate_name(&program->candidates[row->winner].candidate, name),
			(double)row->winner_ns / 1e3);
	else
		printf("holds%s%s\n", row->change > TF_DRIFT_ALIKE ? ", " : "",
			row->change > TF_DRIFT_ALIKE ? tf_drift_change_name(row->change) : "");
}

static enum tf_status print(const struct drift_job *drift, struct tf_error *err)
{
	const struct tf_program *program = &drift->job.supervisor->view.loaded.program;
	const char *clock = tf_host_sample_clock(program->world);
	const char *other = tf_drift_other_clock(program, clock);
	uint32_t beaten = 0, slower = 0, faster = 0;

	if (drift->came != program->candidate_count)
		return TF_FAIL(err, TF_E_INTERNAL, "samples of %u of %u candidates came", drift->came,
			program->candidate_count);
	if (drift->job.supervisor->options->json)
		return print_json(drift, err);
	printf("%-24s  %8s  %-32s  %26s  %26s  %7s  %s\n", "group", "capacity", "pick", "packaged us",
		"measured us", "ratio", "now");
	for (uint32_t i = 0; i < program->group_count; i++) {
		struct tf_drift_row row;

		tf_drift_compare(program, drift->samples, clock, i, &row);
		print_row(program, i, &row);
		beaten += row.winner != TF_PROGRAM_NONE;
		slower += row.change == TF_DRIFT_SLOWER;
		faster += row.change == TF_DRIFT_FASTER;
	}
	printf("%u of %u picks are beaten here, %u slower than packaged, %u faster; selectors stay as "
		   "packaged\n",
		beaten, program->group_count, slower, faster);
	if (other)
		printf("packaged times are of the clock '%s', these of '%s': they are not compared\n",
			other, clock);
	return tf_report_flush(stdout, err);
}

static void end(struct tf_job *job, const struct tf_error *cause)
{
	struct drift_job *drift = (struct drift_job *)job;
	struct tf_supervisor *supervisor = job->supervisor;
	struct tf_error err = {0};
	enum tf_status status = TF_OK;

	if (!cause)
		status = print(drift, &err);
	tf_free(drift->samples);
	tf_free(drift);
	if (status != TF_OK)
		tf_supervisor_fail(supervisor, &err);
	else if (!cause)
		tf_supervisor_drain(supervisor, TF_EXIT_DONE);
}

static const struct tf_job_ops drift_ops = {
	.doing = "during the replay of the startup graph",
	.begin = begin,
	.hear = hear,
	.end = end,
};

enum tf_status tf_drift_job_add(struct tf_supervisor *supervisor, struct tf_error *err)
{
	struct drift_job *drift = tf_calloc(1, sizeof(*drift));
	enum tf_status status;

	if (drift)
		drift->samples = tf_calloc(supervisor->view.loaded.program.candidate_count, ROW_BYTES);
	if (!drift || !drift->samples) {
		tf_free(drift);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for samples");
	}
	drift->job.ops = &drift_ops;
	status = tf_jobs_add(supervisor, &drift->job, err);
	if (status != TF_OK) {
		tf_free(drift->samples);
		tf_free(drift);
	}
	return status;
}
