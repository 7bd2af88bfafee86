/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET and PUT /v1/tensors/NAME?rank=R: raw bytes of one rank's operand, moved in pieces.
 *
 * 1. One piece is on its way at a time, so neither end ever waits for room in the socket.
 * 2. A tensor does not change between its pieces: no step runs while its job does.
 */
#include <string.h>

#include "base/alloc.h"
#include "runtime/serve/http_routes.h"
#include "runtime/serve/serve_version.h"
#include "runtime/serve/supervisor.h"

struct tensor_job {
	struct tf_job job;
	struct tf_http *http;
	struct evhttp_request *request;
	const struct tf_buffer *buffer;
	uint32_t index, rank;
	int is_put;
	uint64_t done_bytes;
	struct evbuffer *got; /* GET */
};

static void order_next(struct tensor_job *tensor)
{
	struct tf_crew *crew = &tensor->job.supervisor->crew;
	uint8_t word[sizeof(struct tf_tensor_order) + TF_TENSOR_PUT_BYTES];
	struct tf_tensor_order order = {.buffer = tensor->index, .off = tensor->done_bytes};
	uint64_t left = tensor->buffer->bytes - tensor->done_bytes;
	uint64_t most = tensor->is_put ? TF_TENSOR_PUT_BYTES : TF_TENSOR_GET_BYTES;

	order.bytes = left < most ? left : most;
	memcpy(word, &order, sizeof(order));
	if (!tensor->is_put) {
		tf_crew_order(crew, tensor->rank, TF_COMMAND_TENSOR_GET, word, sizeof(order));
		return;
	}
	(void)evbuffer_remove(evhttp_request_get_input_buffer(tensor->request), word + sizeof(order),
		(size_t)order.bytes);
	tensor->done_bytes += order.bytes;
	tf_crew_order(
		crew, tensor->rank, TF_COMMAND_TENSOR_PUT, word, sizeof(order) + (size_t)order.bytes);
}

static void begin(struct tf_job *job)
{
	order_next((struct tensor_job *)job);
}

static int hear(struct tf_job *job, uint32_t rank, uint16_t type, const void *data, size_t bytes)
{
	struct tensor_job *tensor = (struct tensor_job *)job;

	if (type != TF_COMMAND_TENSOR || rank != tensor->rank)
		return 0;
	if (!tensor->is_put) {
		tensor->done_bytes += bytes;
		if (evbuffer_add(tensor->got, data, bytes))
			return 1; /* what is missing tells `end` */
	}
	if (tensor->done_bytes >= tensor->buffer->bytes)
		return 1;
	order_next(tensor);
	return 0;
}

static void answer_get(struct tensor_job *tensor)
{
	struct tf_error err = {0};

	if (evbuffer_get_length(tensor->got) == tensor->buffer->bytes) {
		tf_http_reply(&tensor->http->replies, tensor->request, HTTP_OK, "application/octet-stream",
			tensor->got);
		return;
	}
	(void)!TF_FAIL(&err, TF_E_NO_MEMORY, "no memory for the bytes of '%s'", tensor->buffer->name);
	tf_http_reply_error(&tensor->http->replies, tensor->request, HTTP_INTERNAL, &err);
}

static void answer_put(struct tensor_job *tensor)
{
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};

	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_text(&json, "name", tensor->buffer->name);
	tf_json_uint(&json, "rank", tensor->rank);
	tf_json_uint(&json, "bytes", tensor->buffer->bytes);
	tf_json_object_end(&json);
	tf_http_reply_json(&tensor->http->replies, tensor->request, HTTP_OK, &json, &body);
}

static void end(struct tf_job *job, const struct tf_error *cause)
{
	struct tensor_job *tensor = (struct tensor_job *)job;

	if (cause) {
		tf_route_count_cut(job);
		tf_http_reply_error(&tensor->http->replies, tensor->request, HTTP_SERVUNAVAIL, cause);
	} else {
		job->supervisor->metrics.requests_done++;
		if (tensor->is_put)
			answer_put(tensor);
		else
			answer_get(tensor);
	}
	if (tensor->got)
		evbuffer_free(tensor->got);
	tf_free(tensor);
}

static int is_wanted(const struct tf_job *job)
{
	return !tf_http_client_left(((const struct tensor_job *)job)->request);
}

static const struct tf_job_ops tensor_ops = {.doing = "while a tensor moved",
	.begin = begin,
	.hear = hear,
	.is_wanted = is_wanted,
	.end = end};

/* "rank=R" is the whole query. */
static enum tf_status read_rank(
	struct evhttp_request *request, uint32_t world, uint32_t *out, struct tf_error *err)
{
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));

	if (query && !strncmp(query, "rank=", 5) && query[5] >= '0' && !query[6] &&
		(uint32_t)(query[5] - '0') < world) {
		*out = (uint32_t)(query[5] - '0');
		return TF_OK;
	}
	return TF_FAIL(err, TF_E_USAGE,
		"the query is '%.64s'; a tensor is one rank's: ?rank=0 to ?rank=%u", query ? query : "",
		world - 1);
}

static enum tf_status check_put(const struct tf_buffer *buffer, size_t bytes, struct tf_error *err)
{
	if (buffer->role != TF_BUFFER_INPUT)
		return TF_FAIL(err, TF_E_USAGE, "'%s' is an output; only inputs can be put", buffer->name);
	if (bytes != buffer->bytes)
		return TF_FAIL(err, TF_E_USAGE, "the body has %zu bytes, '%s' has exactly %llu", bytes,
			buffer->name, (unsigned long long)buffer->bytes);
	return TF_OK;
}

static enum tf_status read_request(
	struct tensor_job *tensor, const char *name, struct tf_error *err)
{
	const struct tf_served_package *view = &tensor->http->supervisor->view;

	tensor->index = tf_served_package_tensor(view, name);
	if (tensor->index == TF_PROGRAM_NONE)
		return TF_FAIL(
			err, TF_E_NOT_FOUND, "no tensor is named '%.64s'; GET /v1/tensors lists them", name);
	tensor->buffer = &view->loaded.program.buffers[tensor->index];
	TF_TRY(read_rank(tensor->request, view->loaded.program.world, &tensor->rank, err));
	if (tensor->is_put)
		return check_put(tensor->buffer,
			evbuffer_get_length(evhttp_request_get_input_buffer(tensor->request)), err);
	tensor->got = evbuffer_new();
	return tensor->got ? TF_OK : TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a tensor");
}

static void start(
	struct tf_http *http, struct evhttp_request *request, const char *name, int is_put)
{
	struct tensor_job *tensor;
	struct tf_error err = {0};
	enum tf_status status;

	if (!tf_route_may_ask_ranks(http, request))
		return;
	tensor = tf_calloc(1, sizeof(*tensor));
	if (!tensor) {
		(void)!TF_FAIL(&err, TF_E_NO_MEMORY, "no memory for a request");
		tf_route_refuse(http, request, &err);
		return;
	}
	tensor->job.ops = &tensor_ops;
	tensor->http = http;
	tensor->request = request;
	tensor->is_put = is_put;
	status = read_request(tensor, name, &err);
	if (status == TF_OK)
		status = tf_jobs_add(http->supervisor, &tensor->job, &err);
	if (status == TF_OK)
		return;
	if (tensor->got)
		evbuffer_free(tensor->got);
	tf_free(tensor);
	tf_route_refuse(http, request, &err);
}

void tf_route_tensor_get(struct tf_http *http, struct evhttp_request *request, const char *name)
{
	start(http, request, name, 0);
}

void tf_route_tensor_put(struct tf_http *http, struct evhttp_request *request, const char *name)
{
	start(http, request, name, 1);
}
