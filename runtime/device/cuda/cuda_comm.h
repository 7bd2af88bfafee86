/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a communication library in a graph that is built: each different call (caller, group,
 * operands) is captured once and stands as a child graph wherever it is made.
 */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_COMM_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_COMM_H

#include "runtime/device/cuda/cuda_context.h"

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_cuda_comm_call {
	const struct tf_exec_node *node; /* one that makes it */
	CUgraph captured;                /* NULL before the first node that makes it is added */
};

/* What the building of one graph needs; {0} is for a graph without calls. */
struct tf_cuda_comm {
	const struct tf_cuda_context *context; /* borrowed, current */
	CUstream stream;
	struct tf_cuda_comm_call *calls; /* (call_count), sorted, each different */
	uint32_t call_count;
};

/*
 * Makes ready for the calls among checked nodes, which are borrowed until the end; nothing for
 * none. TF_E_NO_MEMORY, TF_E_SYSTEM.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_comm_init(struct tf_cuda_comm *comm,
	const struct tf_cuda_context *context, const struct tf_exec_node *nodes, uint32_t node_count,
	struct tf_error *err);

/*
 * Adds the node of a call, without edges, to `graph`. The first node of a call captures it: nodes
 * that are added in the same order on all ranks make their calls in the same order. What the
 * caller's enqueue fails with is returned, the call named, and nothing of it stays captured.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_comm_add(struct tf_cuda_comm *comm,
	const struct tf_exec_node *node, CUgraph graph, CUgraphNode *out, struct tf_error *err);

/* What was added keeps what it needs: the driver has copied it. */
void tf_cuda_comm_fini(struct tf_cuda_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
