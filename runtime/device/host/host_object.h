/* SPDX-License-Identifier: Apache-2.0 */
/* A user's shared object as a module of the host device: loaded from memory, never from a file. */
#ifndef TF_RUNTIME_DEVICE_HOST_HOST_OBJECT_H
#define TF_RUNTIME_DEVICE_HOST_HOST_OBJECT_H

#include "runtime/device/device.h"
#include "runtime/include/tfrun/host_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_host_object;

/*
 * Loads a copy of `image` (`bytes` long, borrowed). TF_E_MISFIT: its SHA-256 is not `digest`.
 * TF_E_INVALID: the loader refuses it, with the loader's words. TF_E_SYSTEM, TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_host_object_open(const void *image, size_t bytes,
	const uint8_t digest[32], struct tf_host_object **out, struct tf_error *err);
void tf_host_object_close(struct tf_host_object *object); /* takes NULL; kernels end with it */

/*
 * The function of a kernel and its parameters (borrowed from the object). TF_E_NOT_FOUND: it has no
 * such function, or no parameters for it. TF_E_VERSION, TF_E_INVALID: parameters that it could not
 * have.
 */
TF_WARN_UNUSED enum tf_status tf_host_object_kernel(const struct tf_host_object *object,
	const char *name, tfrun_host_kernel_fn *out_fn, const struct tfrun_host_params **out_params,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
