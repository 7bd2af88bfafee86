/* SPDX-License-Identifier: Apache-2.0 */
/* What both devices ask of an operation before they take it. */
#ifndef TF_RUNTIME_DEVICE_NODE_CHECK_H
#define TF_RUNTIME_DEVICE_NODE_CHECK_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a device knows of a kernel. */
struct tf_kernel_needs {
	const char *name;
	uint32_t args_bytes, shared_bytes_max;
};

/*
 * Fails with `status` where the node cannot run, and says why. `needs` are its kernel's, NULL where
 * it has none; `device` as in "the host device".
 */
TF_WARN_UNUSED enum tf_status tf_node_check(const struct tf_exec_node *node,
	const struct tf_kernel_needs *needs, const char *device, enum tf_status status,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
