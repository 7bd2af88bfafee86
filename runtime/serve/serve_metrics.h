/* SPDX-License-Identifier: Apache-2.0 */
/* What /metrics tells, as plain data, and its text in the Prometheus exposition format 0.0.4. */
#ifndef TF_RUNTIME_SERVE_SERVE_METRICS_H
#define TF_RUNTIME_SERVE_SERVE_METRICS_H

#include "runtime/serve/command.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_capacity_metrics {
	uint32_t capacity;
	uint64_t steps;
	int64_t total_ns;
	uint64_t buckets[TF_STEP_BUCKETS + 1]; /* not cumulative */
};

struct tf_serve_metrics {
	const char *version;
	const char *package_sha256;
	uint32_t world;
	int ready;
	uint32_t ranks_up;                /* bits */
	int64_t load_ns;                  /* from process start to ready; 0 before */
	int64_t phase_ns[TF_PHASE_COUNT]; /* maxima over ranks */
	uint32_t relocated;
	uint64_t requests_done, requests_refused, requests_failed;
	uint32_t requests_waiting;
	struct tf_rank_counters counters[TF_WORLD_MAX];
	struct tf_capacity_metrics *capacities; /* (capacity_count); owned by whoever made it */
	uint32_t capacity_count;
};

/* Adds one order's steps, as rank 0 timed them. */
void tf_serve_metrics_add(struct tf_serve_metrics *metrics, const struct tf_step_report *report);

/* Appends the text. TF_E_NO_MEMORY, TF_E_LIMIT as tf_bytes_append. */
TF_WARN_UNUSED enum tf_status tf_serve_metrics_write(
	const struct tf_serve_metrics *metrics, struct tf_bytes *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
