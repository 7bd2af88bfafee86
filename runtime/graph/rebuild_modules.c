/* SPDX-License-Identifier: Apache-2.0 */
/* Every module and every kernel, or none: a program that lacks one cannot run as it was tuned. */
#include "runtime/graph/rebuild_modules.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

static enum tf_status check_module(const struct tf_module *module,
	const struct tf_device_properties *properties, const struct tf_module_image *image,
	struct tf_error *err)
{
	int device_is_host = strcmp(properties->kind, "host") == 0;

	if (module->kind == TF_MODULE_HOST && device_is_host && module->member == TF_PROGRAM_NONE)
		return TF_OK;
	if (module->kind == TF_MODULE_HOST && !device_is_host)
		return TF_FAIL(
			err, TF_E_MISFIT, "it is for the device 'host', this is '%s'", properties->kind);
	if (module->kind != TF_MODULE_CUBIN && module->kind != TF_MODULE_HOST)
		return TF_FAIL(err, TF_E_INVALID, "kind %d is unknown", (int)module->kind);
	if (module->kind == TF_MODULE_CUBIN &&
		(device_is_host || module->compute_capability != properties->compute_capability))
		return TF_FAIL(err, TF_E_MISFIT,
			"it is for the device 'cuda', compute capability %" PRIu32
			", this is '%s', compute capability %" PRIu32,
			module->compute_capability, properties->kind, properties->compute_capability);
	if (!image || !image->bytes)
		return TF_FAIL(err, TF_E_INVALID, "its image is missing");
	return TF_OK;
}

static enum tf_status load_modules(const struct tf_program *program, struct tf_device *device,
	const struct tf_module_image *images, struct tf_rebuild_modules *out, struct tf_error *err)
{
	struct tf_device_properties properties;

	out->ops->properties(device, &properties);
	for (uint32_t i = 0; i < program->module_count; i++) {
		const struct tf_module *module = &program->modules[i];
		struct tf_module_image image = images ? images[i] : (struct tf_module_image){0};
		enum tf_status status = check_module(module, &properties, &image, err);

		if (status == TF_OK)
			status = out->ops->module_load(
				device, image.bytes, image.size, module->digest, &out->modules[i], err);
		if (status != TF_OK) {
			tf_error_prefix(err, "module '%.*s'", TF_NAME_BYTES - 1, module->name);
			return status;
		}
	}
	return TF_OK;
}

static enum tf_status find_kernels(
	const struct tf_program *program, struct tf_rebuild_modules *out, struct tf_error *err)
{
	for (uint32_t i = 0; i < program->kernel_count; i++) {
		const struct tf_kernel *kernel = &program->kernels[i];

		if (kernel->module >= program->module_count)
			return TF_FAIL(err, TF_E_INVALID, "kernel %" PRIu32 ": module %" PRIu32 ", of %" PRIu32,
				i, kernel->module, program->module_count);
		TF_TRY(out->ops->kernel_find(
			out->modules[kernel->module], kernel->name, kernel->args_bytes, &out->kernels[i], err));
	}
	return TF_OK;
}

enum tf_status tf_rebuild_modules_load(const struct tf_program *program,
	const struct tf_device_ops *ops, struct tf_device *device, const struct tf_module_image *images,
	struct tf_rebuild_modules *out, struct tf_error *err)
{
	struct tf_rebuild_modules loaded = {.ops = ops};
	enum tf_status status;

	loaded.modules = tf_calloc(program->module_count, sizeof(*loaded.modules));
	loaded.kernels = tf_calloc(program->kernel_count, sizeof(*loaded.kernels));
	if (!loaded.modules || !loaded.kernels) {
		status = TF_FAIL(err, TF_E_NO_MEMORY,
			"no memory for %" PRIu32 " modules and %" PRIu32 " kernels", program->module_count,
			program->kernel_count);
		goto fail;
	}
	loaded.module_count = program->module_count;
	loaded.kernel_count = program->kernel_count;
	status = load_modules(program, device, images, &loaded, err);
	if (status == TF_OK)
		status = find_kernels(program, &loaded, err);
	if (status != TF_OK)
		goto fail;
	*out = loaded;
	return TF_OK;
fail:
	tf_rebuild_modules_unload(&loaded);
	return status;
}

void tf_rebuild_modules_unload(struct tf_rebuild_modules *modules)
{
	for (uint32_t i = 0; i < modules->module_count; i++)
		modules->ops->module_unload(modules->modules[i]);
	tf_free(modules->modules);
	tf_free((void *)modules->kernels);
	*modules = (struct tf_rebuild_modules){0};
}
