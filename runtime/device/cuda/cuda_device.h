/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA device: devices and their table of operations. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H

#include "runtime/device/cuda/cuda_context.h"

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Segments are multiples of this even where the driver would take less, so that a layout fits. */
#define TF_CUDA_GRANULARITY_MIN (UINT64_C(2) << 20)

struct tf_device {
	struct tf_cuda_context *context; /* a reference */
	struct tf_device_properties properties;
	uint32_t shared_bytes_max; /* that a CTA may ask for */
};

/* Everything that is asked of the driver once, when a device is opened. `context` is set. */
TF_WARN_UNUSED enum tf_status tf_cuda_device_look(struct tf_device *device, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
