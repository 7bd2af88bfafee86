/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs of CUDA devices. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_H

#include "runtime/device/cuda/cuda_context.h"

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Three operations of the table. */
enum tf_status tf_cuda_graph_build(struct tf_device *device, const struct tf_exec_node *nodes,
	uint32_t node_count, const struct tf_exec_edge *edges, uint32_t edge_count,
	struct tf_exec **out, struct tf_error *err);
void tf_cuda_graph_destroy(struct tf_exec *exec);
enum tf_status tf_cuda_graph_enqueue(struct tf_exec *exec, void *stream, struct tf_error *err);

/*
 * Instantiates and uploads a captured graph, whose nodes are the driver's alone: such a graph can
 * be launched, and shows a tap nothing (TF_E_UNSUPPORTED). `graph` stays the caller's.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_exec_of_capture(
	struct tf_cuda_context *context, CUgraph graph, struct tf_exec **out, struct tf_error *err);

/* Starts the graph on a stream of the current context. */
TF_WARN_UNUSED enum tf_status tf_cuda_exec_launch(
	const struct tf_exec *exec, CUstream stream, struct tf_error *err);

/* Shows all nodes to a tap, in an order in which they could run one by one. */
TF_WARN_UNUSED enum tf_status tf_cuda_exec_tap(
	const struct tf_exec *exec, tf_stream_tap_fn fn, void *user, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
