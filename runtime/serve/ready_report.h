/* SPDX-License-Identifier: Apache-2.0 */
/* What tfrun prints once the group is ready: what was loaded, and where the time went. */
#ifndef TF_RUNTIME_SERVE_READY_REPORT_H
#define TF_RUNTIME_SERVE_READY_REPORT_H

#include <stdio.h>

#include "base/json.h"
#include "runtime/serve/supervisor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The slowest rank's time in a phase. */
int64_t tf_ready_phase_ns(const struct tf_supervisor *supervisor, enum tf_session_phase phase);

/* A block for people, or one JSON object (options.json). TF_E_SYSTEM: `to` cannot be written. */
TF_WARN_UNUSED enum tf_status tf_ready_report_print(
	FILE *to, const struct tf_supervisor *supervisor, struct tf_error *err);

/* --check: one line, or the same JSON object. */
TF_WARN_UNUSED enum tf_status tf_check_report_print(
	FILE *to, const struct tf_supervisor *supervisor, struct tf_error *err);

/* Writes and flushes a finished document and its line end; frees `body`. */
TF_WARN_UNUSED enum tf_status tf_report_flush_json(
	FILE *to, struct tf_json *json, struct tf_bytes *body, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_report_flush(FILE *to, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
