/* SPDX-License-Identifier: Apache-2.0 */
/* The modules and kernels of a program, loaded into a device. */
#ifndef TF_RUNTIME_GRAPH_REBUILD_MODULES_H
#define TF_RUNTIME_GRAPH_REBUILD_MODULES_H

#include "catalog/program.h"
#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of a module's member, borrowed for the call of tf_rebuild_modules_load. */
struct tf_module_image {
	const void *bytes;
	size_t size;
};

/* {0} is empty. Graphs rebuilt with these kernels end before it does. */
struct tf_rebuild_modules {
	const struct tf_device_ops *ops;
	struct tf_module_handle **modules; /* (module_count) */
	uint32_t module_count;
	const struct tf_kernel_handle **kernels; /* (kernel_count): by the program's kernel index */
	uint32_t kernel_count;
};

/*
 * Loads every module and finds every kernel. `images` is (program->module_count), {0} for the
 * host's built-in module; NULL where there is no other.
 * TF_E_MISFIT: a module is for another kind of device or compute capability, or has another
 * digest than this build's or its image's; a kernel has another argument size.
 * TF_E_NOT_FOUND: a kernel is not in its module. TF_E_INVALID: a kernel's module index, or an
 * image that is missing. TF_E_NO_MEMORY. The text names module and kernel.
 */
TF_WARN_UNUSED enum tf_status tf_rebuild_modules_load(const struct tf_program *program,
	const struct tf_device_ops *ops, struct tf_device *device, const struct tf_module_image *images,
	struct tf_rebuild_modules *out, struct tf_error *err);
void tf_rebuild_modules_unload(struct tf_rebuild_modules *modules);

#ifdef __cplusplus
}
#endif
#endif
