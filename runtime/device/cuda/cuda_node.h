/* SPDX-License-Identifier: Apache-2.0 */
/* One operation of a CUDA device: a kernel, a copy, a set, a library's call, or nothing. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_NODE_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_NODE_H

#include "runtime/device/cuda/cuda_module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fails with `status` where the node cannot run, and says why. */
TF_WARN_UNUSED enum tf_status tf_cuda_node_check(
	const struct tf_exec_node *node, enum tf_status status, struct tf_error *err);

/* Starts a checked node on a stream of the current context. */
TF_WARN_UNUSED enum tf_status tf_cuda_node_launch(const struct tf_cuda_context *context,
	const struct tf_exec_node *node, CUstream stream, struct tf_error *err);

/*
 * Adds a checked node, without edges, to a graph of the current context; calls of a communication
 * library are tf_cuda_comm_add's.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_node_add(const struct tf_cuda_context *context,
	const struct tf_exec_node *node, CUgraph graph, CUgraphNode *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
