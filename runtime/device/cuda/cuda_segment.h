/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of a CUDA device: physical memory behind a file descriptor. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_SEGMENT_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_SEGMENT_H

#include "runtime/device/cuda/cuda_context.h"

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How segments of the device are allocated. */
CUmemAllocationProp tf_cuda_segment_prop(const struct tf_cuda_context *context);

/* Reading and writing for the context's device. */
CUmemAccessDesc tf_cuda_segment_access(const struct tf_cuda_context *context);

/* Operations of the table. */
enum tf_status tf_cuda_segment_create(
	struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err);
enum tf_status tf_cuda_host_segment_create(
	struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
