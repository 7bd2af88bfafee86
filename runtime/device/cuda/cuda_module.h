/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and kernels of CUDA devices: the module_ and kernel_ operations of the table. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_MODULE_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_MODULE_H

#include "runtime/device/cuda/cuda_context.h"

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_CUDA_PARAMS_MAX 32 /* our own kernels take one struct each */

/* A kernel found in a module; lives as long as the module handle. */
struct tf_kernel_handle {
	struct tf_kernel_handle *next;
	char *name;
	CUfunction function; /* in the module's context, loaded */
	uint32_t args_bytes;
	uint32_t shared_bytes_max; /* dynamic shared memory that a launch may ask for */
	uint32_t param_count;
	uint32_t param_offs[TF_CUDA_PARAMS_MAX];
	uint32_t param_bytes[TF_CUDA_PARAMS_MAX];
};

enum tf_status tf_cuda_module_load(struct tf_device *device, const void *image, size_t bytes,
	const uint8_t digest[32], struct tf_module_handle **out, struct tf_error *err);
void tf_cuda_module_unload(struct tf_module_handle *module);
enum tf_status tf_cuda_kernel_find(struct tf_module_handle *module, const char *name,
	uint32_t args_bytes, const struct tf_kernel_handle **out, struct tf_error *err);
enum tf_status tf_cuda_kernel_params(struct tf_module_handle *module, const char *name,
	struct tf_exec_param *out, uint32_t max, uint32_t *out_count, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
