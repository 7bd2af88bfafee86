/* SPDX-License-Identifier: Apache-2.0 */
/* What both devices do alike with calls of a communication library (TF_NODE_COMM). */
#ifndef TF_RUNTIME_DEVICE_COMM_NODE_H
#define TF_RUNTIME_DEVICE_COMM_NODE_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fails with `status` where the call lacks its caller, one of its functions or an operand. */
TF_WARN_UNUSED enum tf_status tf_comm_node_check(
	const struct tf_exec_node *node, enum tf_status status, struct tf_error *err);

/* The node of a call. TF_E_USAGE: NULL. */
TF_WARN_UNUSED enum tf_status tf_comm_node_of_call(
	const struct tf_comm_call *call, struct tf_exec_node *out, struct tf_error *err);

#define TF_COMM_NODE_TEXT_BYTES 64

/* "comm 'nccl' of group 3"; returns `out`. */
const char *tf_comm_node_text(const struct tf_exec_node *node, char out[TF_COMM_NODE_TEXT_BYTES]);

/* Makes the call of a checked node; a failure is named. `stream` is as the caller wants it. */
TF_WARN_UNUSED enum tf_status tf_comm_node_enqueue(
	const struct tf_exec_node *node, void *stream, struct tf_error *err);

#define TF_COMM_CALLERS_MAX 8 /* of one graph: a process opens one communication library */

/* The callers that a graph holds a reference to; {0} is none. */
struct tf_comm_callers {
	struct tf_comm_caller *list[TF_COMM_CALLERS_MAX];
	uint32_t count;
};

/* References every caller of checked nodes once, or none: TF_E_LIMIT. */
TF_WARN_UNUSED enum tf_status tf_comm_callers_ref(struct tf_comm_callers *callers,
	const struct tf_exec_node *nodes, uint32_t node_count, struct tf_error *err);
void tf_comm_callers_unref(struct tf_comm_callers *callers);

#ifdef __cplusplus
}
#endif
#endif
