/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server of the supervisor: limits, routes, and nothing that waits. */
#ifndef TF_RUNTIME_SERVE_HTTP_SERVER_H
#define TF_RUNTIME_SERVE_HTTP_SERVER_H

#include "runtime/serve/http_reply.h"
#include "runtime/serve/step_request.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_supervisor;

struct tf_http {
	struct tf_supervisor *supervisor;
	struct evhttp *server;
	struct tf_http_replies replies;
	struct tf_step_reader *reader;
};

/*
 * Serves from `listen_fd` (taken on success) in the supervisor's loop. TF_E_NO_MEMORY, TF_E_SYSTEM.
 */
TF_WARN_UNUSED enum tf_status tf_http_create(
	struct tf_supervisor *supervisor, int listen_fd, struct tf_http **out, struct tf_error *err);
void tf_http_destroy(struct tf_http *http); /* takes NULL */

/* From now on every answer closes its connection, and the loop ends after the last. Takes NULL. */
void tf_http_begin_end(struct tf_http *http);
/* How many answers are on their way out; 0 for NULL. */
uint32_t tf_http_leaving(const struct tf_http *http);

#ifdef __cplusplus
}
#endif
#endif
