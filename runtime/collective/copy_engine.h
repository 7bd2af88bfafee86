/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer copy_engine is more than one node: a kernel that opens the call, copies, and a kernel
 * that closes it. Both kernels take the call's struct tf_collective_args; the closing one has the
 * candidate's own name (tf_collective_kernel_name). They are enqueued in this order on one stream,
 * with nothing between.
 */
#ifndef TF_RUNTIME_COLLECTIVE_COPY_ENGINE_H
#define TF_RUNTIME_COLLECTIVE_COPY_ENGINE_H

#include "runtime/collective/collective.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_COPY_ENGINE_OPEN "copy_engine_open"

struct tf_copy_engine_copy {
	void *to;         /* in any segment of the group */
	const void *from; /* the own input */
	uint64_t bytes;
};

/* The copies of a call: one a peer, beginning behind the own rank, then the own. Returns world. */
uint32_t tf_copy_engine_copies(
	const struct tf_collective_args *args, struct tf_copy_engine_copy out[TF_WORLD_MAX]);

/* Host bodies of the two kernels; a failure is in the rank's fault. */
void tf_copy_engine_host_open(const struct tf_collective_args *args);
void tf_copy_engine_host_close(const struct tf_collective_args *args);

#ifdef __cplusplus
}
#endif
#endif
