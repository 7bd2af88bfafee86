/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communication library as a device sees it: something that enqueues a whole collective by
 * itself, and whose work cannot be described node by node. A graph holds such a call as one node
 * (TF_NODE_COMM), which is captured again wherever the graph is built.
 */
#ifndef TF_RUNTIME_DEVICE_COMM_CALLER_H
#define TF_RUNTIME_DEVICE_COMM_CALLER_H

#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Outlives every stream and graph that holds calls to it. Used by one thread at a time. */
struct tf_comm_caller {
	const char *name; /* "nccl" */
	/*
	 * Enqueues the collective of `group` (a row of the program's groups) from this rank's input to
	 * its output. CUDA: on `stream`, a CUstream of the context that is current, also while it
	 * captures. Host: `stream` is NULL, and the call returns when its work is done, bounded.
	 */
	enum tf_status (*enqueue)(struct tf_comm_caller *caller, uint32_t group, const void *from,
		void *to, void *stream, struct tf_error *err);
	/* A graph that holds calls was built; it was destroyed. Once each a graph. */
	void (*graph_ref)(struct tf_comm_caller *caller);
	void (*graph_unref)(struct tf_comm_caller *caller);
};

/* One call of it. */
struct tf_comm_call {
	struct tf_comm_caller *caller; /* borrowed */
	uint32_t group;
	const void *from;
	void *to;
	uint64_t bytes; /* of the input */
};

#ifdef __cplusplus
}
#endif
#endif
