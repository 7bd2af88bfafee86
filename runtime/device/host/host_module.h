/* SPDX-License-Identifier: Apache-2.0 */
/* The host's modules, built in and of users: the module_ and kernel_ operations of the table. */
#ifndef TF_RUNTIME_DEVICE_HOST_HOST_MODULE_H
#define TF_RUNTIME_DEVICE_HOST_HOST_MODULE_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tf_status tf_host_module_load(struct tf_device *device, const void *image, size_t bytes,
	const uint8_t digest[32], struct tf_module_handle **out, struct tf_error *err);
void tf_host_module_unload(struct tf_module_handle *module);
enum tf_status tf_host_kernel_find(struct tf_module_handle *module, const char *name,
	uint32_t args_bytes, const struct tf_kernel_handle **out, struct tf_error *err);
enum tf_status tf_host_kernel_params(struct tf_module_handle *module, const char *name,
	struct tf_exec_param *out, uint32_t max, uint32_t *out_count, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
