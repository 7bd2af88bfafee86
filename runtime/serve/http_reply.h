/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to HTTP requests. Who answers takes the request: it is not touched afterwards. */
#ifndef TF_RUNTIME_SERVE_HTTP_REPLY_H
#define TF_RUNTIME_SERVE_HTTP_REPLY_H

#include <event2/buffer.h>
#include <event2/http.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_http;

/* What answers share: how many are on their way out, and whether the server ends after them. */
struct tf_http_replies {
	struct event_base *base;
	uint32_t leaving;
	int ending;
};

/* `buffer` is emptied into the answer; NULL for none. `type` is a content type. */
void tf_http_reply(struct tf_http_replies *replies, struct evhttp_request *request, int code,
	const char *type, struct evbuffer *buffer);
/* `body` is freed. */
void tf_http_reply_bytes(struct tf_http_replies *replies, struct evhttp_request *request, int code,
	const char *type, struct tf_bytes *body);
/* Finishes `json` over `body`, frees it, and answers 500 where it failed. */
void tf_http_reply_json(struct tf_http_replies *replies, struct evhttp_request *request, int code,
	struct tf_json *json, struct tf_bytes *body);

/* {"version":1,"error":{"status":...,"message":...}} */
void tf_http_reply_error(struct tf_http_replies *replies, struct evhttp_request *request, int code,
	const struct tf_error *err);

/*
 * Whether the client closed its end, or the connection broke, behind a request that is held. One
 * that only ends its sending cannot be told from one that left.
 */
int tf_http_client_left(struct evhttp_request *request);

/*
 * 400 for what the client said, 429 for too many, 503 for a group that is gone or not there yet,
 * else 500.
 */
int tf_http_code_of(enum tf_status status);

#ifdef __cplusplus
}
#endif
#endif
