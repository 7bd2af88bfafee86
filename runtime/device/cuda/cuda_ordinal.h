/* SPDX-License-Identifier: Apache-2.0 */
/* Which device is meant: by ordinal, by UUID, or by the driver's own handle. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_ORDINAL_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_ORDINAL_H

#include "runtime/device/cuda/cuda_api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The ordinal that `which` names among `count` devices: digits, or a UUID in its usual form, with
 * or without "GPU-". Digits are not held against `count`. TF_E_USAGE: neither of them;
 * TF_E_UNAVAILABLE: no device has that UUID.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_ordinal_find(const struct tf_cuda_api *api, uint32_t count,
	const char *which, uint32_t *out, struct tf_error *err);

/* The ordinal of a device of the driver. TF_E_UNAVAILABLE: it is none of the `count` first. */
TF_WARN_UNUSED enum tf_status tf_cuda_ordinal_of(const struct tf_cuda_api *api, uint32_t count,
	CUdevice device, uint32_t *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
