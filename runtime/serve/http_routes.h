/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handlers behind the routes. Each takes the request: it answers now, or makes it a job that
 * will.
 */
#ifndef TF_RUNTIME_SERVE_HTTP_ROUTES_H
#define TF_RUNTIME_SERVE_HTTP_ROUTES_H

#include "runtime/serve/http_server.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_job;

/* `name` is what follows the route's path, decoded; "" where nothing may follow. */
typedef void (*tf_http_route_fn)(
	struct tf_http *http, struct evhttp_request *request, const char *name);

void tf_route_live(struct tf_http *http, struct evhttp_request *request, const char *name);
void tf_route_ready(struct tf_http *http, struct evhttp_request *request, const char *name);
void tf_route_metrics(struct tf_http *http, struct evhttp_request *request, const char *name);
void tf_route_package(struct tf_http *http, struct evhttp_request *request, const char *name);
void tf_route_steps(struct tf_http *http, struct evhttp_request *request, const char *name);
void tf_route_tensors(struct tf_http *http, struct evhttp_request *request, const char *name);
void tf_route_tensor_get(struct tf_http *http, struct evhttp_request *request, const char *name);
void tf_route_tensor_put(struct tf_http *http, struct evhttp_request *request, const char *name);

/* Answers 503 and returns 0 unless jobs are taken. */
int tf_route_may_ask_ranks(struct tf_http *http, struct evhttp_request *request);

/* Counts a job that ends without its outcome: failed, or refused where it never began. */
void tf_route_count_cut(const struct tf_job *job);

/* Answers a refused job and counts it. */
void tf_route_refuse(
	struct tf_http *http, struct evhttp_request *request, const struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
