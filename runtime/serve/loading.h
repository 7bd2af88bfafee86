/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the first process to ready: every rank has said so, and the machine, which is looked at
 * beside them, may serve. Where it may not, that is the cause that is told, whatever a rank met
 * before the answer came.
 */
#ifndef TF_RUNTIME_SERVE_LOADING_H
#define TF_RUNTIME_SERVE_LOADING_H

#include "runtime/serve/supervisor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rank's READY. */
void tf_loading_take_ready(
	struct tf_supervisor *supervisor, uint32_t rank, const void *data, size_t bytes);

/* A tf_machine_answer_fn; `user` is the supervisor. */
void tf_loading_take_machine(
	void *user, const struct tf_served_machine *found, const struct tf_error *why);

/* A rank's fault: fails the group, or is held while the machine is still looked at. */
void tf_loading_fault(struct tf_supervisor *supervisor, const struct tf_error *cause);

/* What was not there within the bound. */
void tf_loading_late(
	const struct tf_supervisor *supervisor, int64_t bound_ns, struct tf_error *out_cause);

#ifdef __cplusplus
}
#endif
#endif
