/* SPDX-License-Identifier: Apache-2.0 */
/* An answer that cannot be built for want of memory is still an answer: 500 without a body. */
#include "runtime/serve/http_reply.h"

#include <errno.h>
#include <sys/socket.h>

#include <event2/bufferevent.h>
#include <event2/event.h>

#include "runtime/serve/serve_version.h"

#define CODE_TOO_MANY    429
#define CODE_UNAVAILABLE 503

static void one_left(struct tf_http_replies *replies, struct evhttp_connection *connection)
{
	evhttp_connection_set_closecb(connection, NULL, NULL);
	replies->leaving--;
	if (replies->ending && !replies->leaving)
		event_base_loopbreak(replies->base);
}

static void on_complete(struct evhttp_request *request, void *user)
{
	one_left(user, evhttp_request_get_connection(request));
}

/* The client went before its answer did: that one is not waited for. */
static void on_close(struct evhttp_connection *connection, void *user)
{
	one_left(user, connection);
}

/* Phrases that libevent does not know. */
static const char *phrase(int code)
{
	return code == CODE_TOO_MANY ? "Too Many Requests" : NULL;
}

void tf_http_reply(struct tf_http_replies *replies, struct evhttp_request *request, int code,
	const char *type, struct evbuffer *buffer)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	struct evhttp_connection *connection = evhttp_request_get_connection(request);

	evhttp_add_header(headers, "Content-Type", type);
	evhttp_add_header(headers, "Cache-Control", "no-store");
	if (code == CODE_TOO_MANY || code == CODE_UNAVAILABLE)
		evhttp_add_header(headers, "Retry-After", "1");
	if (replies->ending)
		evhttp_add_header(headers, "Connection", "close");
	if (connection) {
		replies->leaving++;
		evhttp_request_set_on_complete_cb(request, on_complete, replies);
		evhttp_connection_set_closecb(connection, on_close, replies);
	}
	evhttp_send_reply(request, code, phrase(code), buffer);
}

void tf_http_reply_bytes(struct tf_http_replies *replies, struct evhttp_request *request, int code,
	const char *type, struct tf_bytes *body)
{
	struct evbuffer *buffer = evbuffer_new();

	if (!buffer || evbuffer_add(buffer, body->data, body->size))
		code = HTTP_INTERNAL;
	tf_bytes_fini(body);
	tf_http_reply(replies, request, code, type, buffer);
	if (buffer)
		evbuffer_free(buffer);
}

void tf_http_reply_json(struct tf_http_replies *replies, struct evhttp_request *request, int code,
	struct tf_json *json, struct tf_bytes *body)
{
	struct tf_error err = {0};

	if (tf_json_finish(json, &err) == TF_OK && tf_bytes_append(body, "\n", 1, &err) == TF_OK) {
		tf_http_reply_bytes(replies, request, code, "application/json", body);
		return;
	}
	tf_bytes_fini(body);
	tf_http_reply(replies, request, HTTP_INTERNAL, "application/json", NULL);
}

void tf_http_reply_error(struct tf_http_replies *replies, struct evhttp_request *request, int code,
	const struct tf_error *err)
{
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};

	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_object_begin(&json, "error");
	tf_json_text(&json, "status", tf_status_name(err->status));
	tf_json_text(&json, "message", err->text);
	tf_json_object_end(&json);
	tf_json_object_end(&json);
	tf_http_reply_json(replies, request, code, &json, &body);
}

int tf_http_client_left(struct evhttp_request *request)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	char byte;
	ssize_t n;

	if (!connection)
		return 1;
	n = recv(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)), &byte, 1,
		MSG_PEEK | MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

int tf_http_code_of(enum tf_status status)
{
	switch (status) {
	case TF_E_USAGE:
		return HTTP_BADREQUEST;
	case TF_E_NOT_FOUND:
		return HTTP_NOTFOUND;
	case TF_E_LIMIT:
		return CODE_TOO_MANY;
	case TF_E_ABORTED:
	case TF_E_DISCONNECTED:
	case TF_E_TIMEOUT:
	case TF_E_UNAVAILABLE:
		return CODE_UNAVAILABLE;
	default:
		return HTTP_INTERNAL;
	}
}
