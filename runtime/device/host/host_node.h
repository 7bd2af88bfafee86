/* SPDX-License-Identifier: Apache-2.0 */
/* One operation of the host device: a kernel, a copy, a set, a library's call, or nothing. */
#ifndef TF_RUNTIME_DEVICE_HOST_HOST_NODE_H
#define TF_RUNTIME_DEVICE_HOST_HOST_NODE_H

#include "runtime/device/device.h"
#include "runtime/include/tfrun/host_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel found in a module; lives as long as the module handle. */
struct tf_kernel_handle {
	const char *name;
	tf_host_kernel_fn fn; /* built in; NULL: of a user, and then */
	uint32_t args_bytes;
	tfrun_host_kernel_fn user_fn;
};

/* Fails with `status` where the node cannot run, and says why. */
TF_WARN_UNUSED enum tf_status tf_host_node_check(
	const struct tf_exec_node *node, enum tf_status status, struct tf_error *err);

/*
 * Runs a checked node to its end on the calling thread. Only a call of a communication library can
 * fail; the text names it.
 */
TF_WARN_UNUSED enum tf_status tf_host_node_run(
	const struct tf_exec_node *node, struct tf_error *err);

#define TF_HOST_NODE_TEXT_BYTES 96

/* "kernel 'NAME'", "comm 'NAME' of group 3", "copy", "set" or "empty"; returns `out`. */
const char *tf_host_node_text(const struct tf_exec_node *node, char out[TF_HOST_NODE_TEXT_BYTES]);

/*
 * Whether the deadline has passed by the coarse clock: some milliseconds late, but so cheap that
 * it is asked before every operation.
 */
int tf_host_node_late(int64_t deadline_ns);

#ifdef __cplusplus
}
#endif
#endif
