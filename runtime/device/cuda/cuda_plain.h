/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory outside the window, as an engine's own allocator has it: what other libraries'
 * calls work on. No type of CUDA's stands here. Copies are synchronous, on the transfer stream of
 * the device; work that runs is not waited for. Addresses are the caller's word: the driver cannot
 * refuse a wrong one without losing the context.
 */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_PLAIN_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_PLAIN_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At least 256 bytes aligned, not zeroed. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_cuda_plain_alloc(
	struct tf_device *device, uint64_t bytes, void **out, struct tf_error *err);
void tf_cuda_plain_free(struct tf_device *device, void *memory); /* takes NULL memory */

TF_WARN_UNUSED enum tf_status tf_cuda_plain_write(
	struct tf_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_cuda_plain_read(
	struct tf_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
