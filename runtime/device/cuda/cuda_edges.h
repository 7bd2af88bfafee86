/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of a graph as the driver wants them. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_EDGES_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_EDGES_H

#include "runtime/device/cuda/cuda_context.h"

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * TF_E_INVALID names the edge that the driver cannot keep: a programmatic edge that is not between
 * kernels, a port of a full edge, or an unknown port. Endpoints are in range.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_edges_check(const struct tf_exec_node *nodes,
	const struct tf_exec_edge *edges, uint32_t edge_count, struct tf_error *err);

/* Adds the checked edges to a graph whose nodes are `handles`, each pair of nodes once. */
TF_WARN_UNUSED enum tf_status tf_cuda_edges_add(const struct tf_cuda_context *context,
	CUgraph graph, const CUgraphNode *handles, const struct tf_exec_edge *edges,
	uint32_t edge_count, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
