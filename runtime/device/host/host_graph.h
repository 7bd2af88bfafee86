/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs of the host device. */
#ifndef TF_RUNTIME_DEVICE_HOST_HOST_GRAPH_H
#define TF_RUNTIME_DEVICE_HOST_HOST_GRAPH_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two operations of the table. */
enum tf_status tf_host_graph_build(struct tf_device *device, const struct tf_exec_node *nodes,
	uint32_t node_count, const struct tf_exec_edge *edges, uint32_t edge_count,
	struct tf_exec **out, struct tf_error *err);
void tf_host_graph_destroy(struct tf_exec *exec);
enum tf_status tf_host_graph_enqueue(struct tf_exec *exec, void *stream, struct tf_error *err);

/*
 * Runs all nodes on the calling thread. TF_E_TIMEOUT names the node that could not start; what a
 * library's call fails with ends the run, and names the node.
 */
TF_WARN_UNUSED enum tf_status tf_host_exec_run(
	const struct tf_exec *exec, int64_t deadline_ns, struct tf_error *err);

/* Shows all nodes to a tap, in the order in which they would run; the first failure ends it. */
TF_WARN_UNUSED enum tf_status tf_host_exec_tap(
	const struct tf_exec *exec, tf_stream_tap_fn fn, void *user, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
