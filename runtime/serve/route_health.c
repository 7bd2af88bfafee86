/* SPDX-License-Identifier: Apache-2.0 */
/* /health/live: the loop turns. /health/ready: steps are taken. /metrics. */
#include "runtime/serve/http_routes.h"

#include "base/deadline.h"
#include "runtime/serve/serve_version.h"
#include "runtime/serve/supervisor.h"

static void reply_state(struct tf_http *http, struct evhttp_request *request, int code)
{
	struct tf_supervisor *supervisor = http->supervisor;
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};

	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_text(&json, "state", tf_serve_state_name(supervisor->state));
	tf_json_uint(&json, "world", supervisor->view.loaded.program.world);
	tf_json_array_begin(&json, "ranks_up");
	for (uint32_t rank = 0; rank < supervisor->view.loaded.program.world; rank++) {
		if ((tf_crew_running(&supervisor->crew) >> rank) & 1)
			tf_json_uint(&json, NULL, rank);
	}
	tf_json_array_end(&json);
	tf_json_uint(&json, "requests_waiting", supervisor->jobs.waiting);
	tf_json_object_end(&json);
	tf_http_reply_json(&http->replies, request, code, &json, &body);
}

void tf_route_live(struct tf_http *http, struct evhttp_request *request, const char *name)
{
	(void)name;
	reply_state(http, request, HTTP_OK);
}

void tf_route_ready(struct tf_http *http, struct evhttp_request *request, const char *name)
{
	(void)name;
	reply_state(
		http, request, tf_supervisor_takes_jobs(http->supervisor) ? HTTP_OK : HTTP_SERVUNAVAIL);
}

void tf_route_metrics(struct tf_http *http, struct evhttp_request *request, const char *name)
{
	struct tf_bytes body = {0};
	struct tf_error err = {0};

	(void)name;
	tf_supervisor_refresh_metrics(http->supervisor);
	if (tf_serve_metrics_write(&http->supervisor->metrics, &body, &err) != TF_OK) {
		tf_bytes_fini(&body);
		tf_http_reply_error(&http->replies, request, HTTP_INTERNAL, &err);
		return;
	}
	tf_http_reply_bytes(
		&http->replies, request, HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", &body);
}

int tf_route_may_ask_ranks(struct tf_http *http, struct evhttp_request *request)
{
	struct tf_error err = {0};

	if (tf_supervisor_takes_jobs(http->supervisor))
		return 1;
	(void)!TF_FAIL(
		&err, TF_E_UNAVAILABLE, "the server is %s", tf_serve_state_name(http->supervisor->state));
	tf_route_refuse(http, request, &err);
	return 0;
}

void tf_route_count_cut(const struct tf_job *job)
{
	struct tf_serve_metrics *metrics = &job->supervisor->metrics;

	if (job->begun)
		metrics->requests_failed++;
	else
		metrics->requests_refused++;
}

void tf_route_refuse(
	struct tf_http *http, struct evhttp_request *request, const struct tf_error *err)
{
	http->supervisor->metrics.requests_refused++;
	tf_http_reply_error(&http->replies, request, tf_http_code_of(err->status), err);
}
