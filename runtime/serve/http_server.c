/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A request is answered once, by its handler or by the job that the handler made of it.
 * 2. While a job holds a request libevent reads nothing from its connection, so neither a departed
 *    client nor an idle time-out can free it.
 */
#include "runtime/serve/http_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/serve/http_routes.h"
#include "runtime/serve/supervisor.h"

#define HEADERS_BYTES_MAX 16384 /* no header means anything here but lengths */
#define BODY_BYTES_MIN    65536
#define IDLE_SECONDS      60 /* of a connection between and inside requests */

struct route {
	const char *path; /* ends in '/' where a name follows */
	enum evhttp_cmd_type method;
	tf_http_route_fn run;
};

static const struct route routes[] = {
	{"/health/live", EVHTTP_REQ_GET, tf_route_live},
	{"/health/ready", EVHTTP_REQ_GET, tf_route_ready},
	{"/metrics", EVHTTP_REQ_GET, tf_route_metrics},
	{"/v1/package", EVHTTP_REQ_GET, tf_route_package},
	{"/v1/steps", EVHTTP_REQ_POST, tf_route_steps},
	{"/v1/tensors", EVHTTP_REQ_GET, tf_route_tensors},
	{"/v1/tensors/", EVHTTP_REQ_GET, tf_route_tensor_get},
	{"/v1/tensors/", EVHTTP_REQ_PUT, tf_route_tensor_put},
};

static int matches(const struct route *route, const char *path)
{
	size_t length = strlen(route->path);

	if (route->path[length - 1] != '/')
		return !strcmp(path, route->path);
	return !strncmp(path, route->path, length) && path[length];
}

static void refuse_method(
	struct tf_http *http, struct evhttp_request *request, const char *path, const char *allowed)
{
	struct tf_error err = {0};

	evhttp_add_header(evhttp_request_get_output_headers(request), "Allow", allowed);
	(void)!TF_FAIL(&err, TF_E_USAGE, "'%.128s' allows %s only", path, allowed);
	tf_http_reply_error(&http->replies, request, HTTP_BADMETHOD, &err);
}

/* HEAD is GET whose body libevent leaves out. */
static int method_fits(const struct route *route, enum evhttp_cmd_type method)
{
	return route->method == method ||
		(route->method == EVHTTP_REQ_GET && method == EVHTTP_REQ_HEAD);
}

static void dispatch(struct tf_http *http, struct evhttp_request *request, const char *path)
{
	const struct route *last = NULL;
	unsigned methods = 0;
	struct tf_error err = {0};

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		const struct route *route = &routes[i];

		if (!matches(route, path))
			continue;
		last = route;
		methods |= (unsigned)route->method;
		if (method_fits(route, evhttp_request_get_command(request))) {
			size_t length = strlen(route->path);

			route->run(http, request, route->path[length - 1] == '/' ? path + length : "");
			return;
		}
	}
	if (last) {
		refuse_method(http, request, path,
			methods & EVHTTP_REQ_POST      ? "POST"
				: methods & EVHTTP_REQ_PUT ? "GET, HEAD, PUT"
										   : "GET, HEAD");
		return;
	}
	(void)!TF_FAIL(&err, TF_E_NOT_FOUND,
		"no such path; there are /health/live, /health/ready, /metrics, /v1/package, /v1/steps "
		"and /v1/tensors");
	tf_http_reply_error(&http->replies, request, HTTP_NOTFOUND, &err);
}

static void on_request(struct evhttp_request *request, void *user)
{
	struct tf_http *http = user;
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *raw = uri ? evhttp_uri_get_path(uri) : NULL;
	size_t bytes = 0;
	char *path = raw ? evhttp_uridecode(raw, 0, &bytes) : NULL;

	if (path && strlen(path) == bytes) {
		dispatch(http, request, path);
	} else {
		struct tf_error err = {0};

		(void)!TF_FAIL(&err, TF_E_USAGE, "the request's path cannot be read");
		tf_http_reply_error(&http->replies, request, HTTP_BADREQUEST, &err);
	}
	free(path); /* libevent's */
}

/* The largest thing that may be sent here is an input. */
static ev_ssize_t body_limit(const struct tf_program *program)
{
	uint64_t limit = BODY_BYTES_MIN;

	for (uint32_t i = 0; i < program->buffer_count; i++) {
		if (program->buffers[i].role == TF_BUFFER_INPUT && program->buffers[i].bytes > limit)
			limit = program->buffers[i].bytes;
	}
	return (ev_ssize_t)limit;
}

static void configure(struct tf_http *http)
{
	evhttp_set_gencb(http->server, on_request, http);
	evhttp_set_max_headers_size(http->server, HEADERS_BYTES_MAX);
	evhttp_set_max_body_size(http->server, body_limit(&http->supervisor->view.loaded.program));
	evhttp_set_timeout(http->server, IDLE_SECONDS);
	evhttp_set_default_content_type(http->server, NULL);
	/* All of them, so that the answer to a wrong one is 405 and says which is right. */
	evhttp_set_allowed_methods(http->server,
		EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
			EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE | EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH);
}

enum tf_status tf_http_create(
	struct tf_supervisor *supervisor, int listen_fd, struct tf_http **out, struct tf_error *err)
{
	struct tf_http *http = tf_calloc(1, sizeof(*http));
	enum tf_status status;

	if (!http)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the HTTP server");
	http->supervisor = supervisor;
	http->replies.base = supervisor->base;
	status = tf_step_reader_create(&http->reader, err);
	if (status == TF_OK) {
		http->server = evhttp_new(supervisor->base);
		if (!http->server)
			status = TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the HTTP server");
	}
	if (status == TF_OK) {
		configure(http);
		if (evhttp_accept_socket(http->server, listen_fd))
			status = TF_FAIL(err, TF_E_SYSTEM, "libevent cannot accept connections");
	}
	if (status != TF_OK) {
		tf_http_destroy(http);
		return status;
	}
	*out = http;
	return TF_OK;
}

void tf_http_destroy(struct tf_http *http)
{
	if (!http)
		return;
	if (http->server)
		evhttp_free(http->server);
	tf_step_reader_destroy(http->reader);
	tf_free(http);
}

void tf_http_begin_end(struct tf_http *http)
{
	if (http)
		http->replies.ending = 1;
}

uint32_t tf_http_leaving(const struct tf_http *http)
{
	return http ? http->replies.leaving : 0;
}
