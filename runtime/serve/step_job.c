/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/steps: one order to all ranks, one answer of all their reports. */
#include <string.h>

#include "base/alloc.h"
#include "runtime/serve/http_routes.h"
#include "runtime/serve/serve_version.h"
#include "runtime/serve/step_reports.h"
#include "runtime/serve/supervisor.h"

struct step_job {
	struct tf_job job;
	struct tf_http *http;
	struct evhttp_request *request;
	struct tf_step_order order;
	struct tf_step_report reports[TF_WORLD_MAX];
};

static void begin(struct tf_job *job)
{
	struct step_job *step = (struct step_job *)job;

	tf_crew_order_all(&job->supervisor->crew, TF_COMMAND_STEP, &step->order, sizeof(step->order));
}

static int hear(struct tf_job *job, uint32_t rank, uint16_t type, const void *data, size_t bytes)
{
	struct step_job *step = (struct step_job *)job;
	struct tf_step_report *report = &step->reports[rank];

	if (type != TF_COMMAND_STEPPED || bytes != sizeof(*report))
		return 0;
	memcpy(report, data, sizeof(*report));
	job->supervisor->metrics.counters[rank] = report->counters;
	return tf_job_heard_all(job, rank);
}

static void put_times(struct tf_json *json, const struct tf_step_report *report)
{
	tf_json_object_begin(json, "steps_ns");
	tf_json_int(json, "min", report->min_ns);
	tf_json_int(json, "median", report->median_ns);
	tf_json_int(json, "max", report->max_ns);
	tf_json_int(json, "total", report->total_ns);
	tf_json_object_end(json);
	if (report->count > TF_STEP_TIMES_MAX)
		return;
	tf_json_array_begin(json, "per_step_ns");
	for (uint64_t i = 0; i < report->count; i++)
		tf_json_int(json, NULL, report->times_ns[i]);
	tf_json_array_end(json);
}

/* "rounded": a group that the workload allows it is within its roundings, all else is equal. */
static const char *outcome_of(const struct tf_program *program, uint32_t capacity)
{
	for (uint32_t g = 0; g < program->group_count; g++) {
		if (program->groups[g].capacity == capacity && tf_program_rounds(program, g))
			return "rounded";
	}
	return "equal";
}

static void put_check(
	struct tf_json *json, const struct tf_program *program, const struct tf_step_report *report)
{
	tf_json_object_begin(json, "check");
	tf_json_text(json, "outcome", report->checked ? outcome_of(program, report->capacity) : "none");
	tf_json_uint(json, "steps", report->checked);
	tf_json_object_end(json);
}

static void answer(struct step_job *step)
{
	struct tf_supervisor *supervisor = step->job.supervisor;
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};
	struct tf_step_report joined;

	tf_step_reports_join(step->reports, supervisor->crew.world, &joined);
	tf_serve_metrics_add(&supervisor->metrics, &step->reports[0]);
	supervisor->metrics.requests_done++;
	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_uint(&json, "rows", step->order.rows);
	tf_json_uint(&json, "capacity", joined.capacity);
	tf_json_uint(&json, "count", joined.count);
	put_times(&json, &joined);
	put_check(&json, &supervisor->view.loaded.program, &joined);
	tf_json_object_end(&json);
	tf_http_reply_json(&step->http->replies, step->request, HTTP_OK, &json, &body);
}

static void end(struct tf_job *job, const struct tf_error *cause)
{
	struct step_job *step = (struct step_job *)job;

	if (cause) {
		tf_route_count_cut(job);
		tf_http_reply_error(&step->http->replies, step->request,
			cause->status == TF_E_MISMATCH ? HTTP_INTERNAL : HTTP_SERVUNAVAIL, cause);
	} else {
		answer(step);
	}
	tf_free(step);
}

static int is_wanted(const struct tf_job *job)
{
	return !tf_http_client_left(((const struct step_job *)job)->request);
}

static const struct tf_job_ops step_ops = {
	.doing = "during a step", .begin = begin, .hear = hear, .is_wanted = is_wanted, .end = end};

static enum tf_status read_order(struct tf_http *http, struct evhttp_request *request,
	struct tf_step_order *out, struct tf_error *err)
{
	struct evbuffer *input = evhttp_request_get_input_buffer(request);
	size_t bytes = evbuffer_get_length(input);
	char body[TF_STEP_BODY_MAX];

	if (bytes <= sizeof(body))
		(void)evbuffer_copyout(input, body, bytes);
	return tf_step_request_read(
		http->reader, body, bytes, tf_served_package_largest(&http->supervisor->view), out, err);
}

void tf_route_steps(struct tf_http *http, struct evhttp_request *request, const char *name)
{
	struct step_job *step;
	struct tf_step_order order;
	struct tf_error err = {0};

	(void)name;
	if (!tf_route_may_ask_ranks(http, request))
		return;
	if (read_order(http, request, &order, &err) != TF_OK) {
		tf_route_refuse(http, request, &err);
		return;
	}
	step = tf_calloc(1, sizeof(*step));
	if (!step) {
		(void)!TF_FAIL(&err, TF_E_NO_MEMORY, "no memory for a request");
		tf_route_refuse(http, request, &err);
		return;
	}
	step->job.ops = &step_ops;
	step->http = http;
	step->request = request;
	step->order = order;
	if (tf_jobs_add(http->supervisor, &step->job, &err) != TF_OK) {
		tf_free(step);
		tf_route_refuse(http, request, &err);
	}
}
