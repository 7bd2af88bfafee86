/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that this build brings for a device: what preparation puts into a program. */
#ifndef TF_RUNTIME_DEVICE_BUILTIN_MODULE_H
#define TF_RUNTIME_DEVICE_BUILTIN_MODULE_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_builtin_module {
	char name[TF_NAME_BYTES];    /* "host", "collectives-sm_90" */
	uint32_t compute_capability; /* 0 on the host */
	const void *bytes;           /* the image, static; NULL on the host: functions of this binary */
	size_t size;
	uint8_t digest[32];
};

/*
 * TF_E_NOT_FOUND: this build has no kernels for that device, with those that it has.
 * TF_E_UNAVAILABLE: built without CUDA.
 */
TF_WARN_UNUSED enum tf_status tf_builtin_module_for(const struct tf_device_properties *properties,
	struct tf_builtin_module *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
