/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A module of the workload is one module of the program: the image for this device, by digest.
 * 2. Members stay sorted by name; whoever refers to one by index is moved along.
 * 3. A kernel's parameters are what the device says. The workload's arguments must agree with them,
 *    or nothing is planned.
 */
#include "prepare/tune/plan_foreign.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static enum tf_status add_member(struct tf_program *program, const char *name,
	const struct tf_bytes *bytes, const uint8_t digest[TF_DIGEST_BYTES], uint32_t *out,
	struct tf_error *err)
{
	struct tf_member *members =
		tf_reallocarray(program->members, program->member_count + 1, sizeof(members[0]));
	uint32_t at = 0;

	if (!members)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for member '%s'", name);
	program->members = members;
	while (at < program->member_count && strcmp(members[at].name, name) < 0)
		at++;
	memmove(members + at + 1, members + at, (program->member_count - at) * sizeof(members[0]));
	program->member_count++;
	members[at] = (struct tf_member){.bytes = bytes->size};
	snprintf(members[at].name, sizeof(members[at].name), "%s", name);
	memcpy(members[at].digest, digest, TF_DIGEST_BYTES);
	for (uint32_t i = 0; i < program->module_count; i++) {
		if (program->modules[i].member != TF_PROGRAM_NONE && program->modules[i].member >= at)
			program->modules[i].member++;
	}
	for (uint32_t i = 0; i < program->constant_count; i++)
		program->constants[i].member += program->constants[i].member >= at;
	*out = at;
	return TF_OK;
}

static enum tf_status add_module(struct tf_program *program, const struct tf_foreign_module *from,
	const struct tf_foreign_image *image, const struct tf_device_properties *properties,
	struct tf_error *err)
{
	int on_host = !strcmp(properties->kind, "host");
	char name[sizeof(program->members[0].name)];
	struct tf_module *modules, *module;
	uint32_t member;

	snprintf(name, sizeof(name), "modules/%s-%s.%s", from->name, image->device,
		on_host                             ? "so"
			: strcmp(image->device, "cuda") ? "cubin"
											: "fatbin");
	TF_TRY(add_member(program, name, &image->bytes, image->digest, &member, err));
	modules =
		tf_reallocarray(program->modules, program->module_count + 1, sizeof(program->modules[0]));
	if (!modules)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for module '%s'", from->name);
	program->modules = modules;
	module = &modules[program->module_count++];
	*module = (struct tf_module){
		.kind = on_host ? TF_MODULE_HOST : TF_MODULE_CUBIN,
		.compute_capability = properties->compute_capability,
		.member = member,
	};
	memcpy(module->name, from->name, sizeof(module->name));
	memcpy(module->digest, image->digest, sizeof(module->digest));
	return TF_OK;
}

static enum tf_status choose_image(const struct tf_foreign_module *module,
	const struct tf_device_properties *properties, const struct tf_foreign_image **out,
	struct tf_error *err)
{
	char have[TF_FOREIGN_IMAGES_MAX * (TF_FOREIGN_DEVICE_BYTES + 2)] = "";
	size_t used = 0;

	*out = tf_foreign_image_for(module, properties->kind, properties->compute_capability);
	if (*out)
		return TF_OK;
	for (uint32_t i = 0; i < module->image_count && used < sizeof(have); i++)
		used += (size_t)snprintf(
			have + used, sizeof(have) - used, "%s%s", used ? ", " : "", module->images[i].device);
	return TF_FAIL(err, TF_E_NOT_FOUND,
		"module '%s' has no image for device '%s', compute capability %u; it has: %s", module->name,
		properties->kind, properties->compute_capability, have);
}

uint32_t tf_plan_argument_bytes(const struct tf_foreign_argument *argument)
{
	return argument->kind == TF_FOREIGN_BUFFER || argument->kind == TF_FOREIGN_WIDE ? 8 : 4;
}

static enum tf_status check_arguments(const struct tf_foreign_kernel *kernel,
	const struct tf_exec_param *params, uint32_t count, struct tf_error *err)
{
	uint32_t off = 0;

	if (count != kernel->argument_count)
		return TF_FAIL(err, TF_E_INVALID, "%u arguments, its function '%s' takes %u",
			kernel->argument_count, kernel->function, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bytes = tf_plan_argument_bytes(&kernel->arguments[i]);

		off = (uint32_t)tf_align_up(off, bytes);
		if (params[i].off != off || params[i].bytes != bytes)
			return TF_FAIL(err, TF_E_INVALID,
				"argument %u has %u bytes at %u, its function '%s' takes %u bytes at %u", i, bytes,
				off, kernel->function, params[i].bytes, params[i].off);
		off += bytes;
	}
	return TF_OK;
}

static enum tf_status append_params(struct tf_program *program, const struct tf_exec_param *params,
	uint32_t count, struct tf_error *err)
{
	struct tf_kernel_param *grown = tf_reallocarray(
		program->kernel_params, program->kernel_param_count + count, sizeof(grown[0]));

	if (!grown)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u parameters", count);
	program->kernel_params = grown;
	for (uint32_t i = 0; i < count; i++)
		grown[program->kernel_param_count++] =
			(struct tf_kernel_param){params[i].off, params[i].bytes};
	return TF_OK;
}

static enum tf_status add_kernel(struct tf_program *program, const struct tf_foreign_kernel *from,
	uint32_t module, const struct tf_exec_param *params, uint32_t count, struct tf_error *err)
{
	struct tf_kernel *grown =
		tf_reallocarray(program->kernels, program->kernel_count + 1, sizeof(grown[0]));
	struct tf_kernel *kernel;

	if (!grown)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for kernel '%s'", from->name);
	program->kernels = grown;
	kernel = &grown[program->kernel_count];
	*kernel = (struct tf_kernel){
		.module = module,
		.args_bytes = params[count - 1].off + params[count - 1].bytes,
		.words_first = program->kernel_word_count,
		.params_first = program->kernel_param_count,
		.params_count = count,
	};
	memcpy(kernel->name, from->function, sizeof(kernel->name));
	TF_TRY(append_params(program, params, count, err));
	program->kernel_count++;
	return TF_OK;
}

/* Two kernels of a workload may be the same function with other arguments. */
static uint32_t find_kernel(const struct tf_program *program, uint32_t module, const char *function)
{
	uint32_t i = 0;

	while (i < program->kernel_count &&
		(program->kernels[i].module != module || strcmp(program->kernels[i].name, function) != 0))
		i++;
	return i < program->kernel_count ? i : TF_PROGRAM_NONE;
}

static enum tf_status plan_kernel(const struct tf_foreign_kernel *kernel,
	const struct tf_device_ops *ops, struct tf_module_handle *handle, uint32_t module,
	struct tf_program *program, struct tf_error *err)
{
	struct tf_exec_param params[TF_FOREIGN_ARGUMENTS_MAX];
	uint32_t count = 0;
	enum tf_status status =
		ops->kernel_params(handle, kernel->function, params, TF_FOREIGN_ARGUMENTS_MAX, &count, err);

	if (status == TF_OK)
		status = check_arguments(kernel, params, count, err);
	if (status == TF_OK && find_kernel(program, module, kernel->function) == TF_PROGRAM_NONE)
		status = add_kernel(program, kernel, module, params, count, err);
	if (status != TF_OK)
		tf_error_prefix(err, "kernel '%s'", kernel->name);
	return status;
}

static enum tf_status plan_module(const struct tf_foreign *foreign, uint32_t index,
	const struct tf_device_ops *ops, struct tf_device *device, struct tf_program *program,
	struct tf_error *err)
{
	const struct tf_foreign_module *module = &foreign->modules[index];
	const struct tf_foreign_image *image = NULL;
	struct tf_module_handle *handle = NULL;
	struct tf_device_properties properties;
	enum tf_status status;

	ops->properties(device, &properties);
	TF_TRY(choose_image(module, &properties, &image, err));
	status =
		ops->module_load(device, image->bytes.data, image->bytes.size, image->digest, &handle, err);
	if (status != TF_OK) {
		tf_error_prefix(err, "module '%s' for %s, '%s'", module->name, image->device, image->path);
		return status;
	}
	status = add_module(program, module, image, &properties, err);
	for (uint32_t i = 0; status == TF_OK && i < foreign->kernel_count; i++) {
		if (foreign->kernels[i].module == index)
			status = plan_kernel(
				&foreign->kernels[i], ops, handle, program->module_count - 1, program, err);
	}
	ops->module_unload(handle);
	return status;
}

static enum tf_status plan_constants(
	const struct tf_foreign *foreign, struct tf_program *program, struct tf_error *err)
{
	for (uint32_t i = 0; i < foreign->buffer_count; i++) {
		const struct tf_foreign_buffer *from = &foreign->buffers[i];
		char name[sizeof(program->members[0].name)];
		struct tf_constant *grown;
		uint32_t member, buffer = 0;

		if (from->role != TF_BUFFER_CONSTANT)
			continue;
		while (strcmp(program->buffers[buffer].name, from->name) != 0)
			buffer++;
		snprintf(name, sizeof(name), "constants/%s", from->name);
		TF_TRY(add_member(program, name, &from->bytes, from->digest, &member, err));
		grown = tf_reallocarray(program->constants, program->constant_count + 1, sizeof(grown[0]));
		if (!grown)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for constant '%s'", from->name);
		program->constants = grown;
		grown[program->constant_count++] =
			(struct tf_constant){.buffer = buffer, .rank = -1, .member = member};
	}
	return TF_OK;
}

/* Whether a kernel of the workload comes from the module: others are not carried. */
static int is_used(const struct tf_foreign *foreign, uint32_t module)
{
	for (uint32_t i = 0; i < foreign->kernel_count; i++) {
		if (foreign->kernels[i].module == module)
			return 1;
	}
	return 0;
}

enum tf_status tf_plan_foreign(const struct tf_foreign *foreign, const struct tf_device_ops *ops,
	struct tf_device *device, struct tf_program *program, struct tf_error *err)
{
	for (uint32_t i = 0; i < foreign->module_count; i++) {
		if (is_used(foreign, i))
			TF_TRY(plan_module(foreign, i, ops, device, program, err));
	}
	return plan_constants(foreign, program, err);
}

const struct tf_bytes *tf_plan_foreign_member(
	const struct tf_foreign *foreign, const uint8_t digest[TF_DIGEST_BYTES])
{
	for (uint32_t i = 0; foreign && i < foreign->module_count; i++) {
		const struct tf_foreign_module *module = &foreign->modules[i];

		for (uint32_t k = 0; k < module->image_count; k++) {
			if (module->images[k].bytes.size &&
				!memcmp(module->images[k].digest, digest, TF_DIGEST_BYTES))
				return &module->images[k].bytes;
		}
	}
	for (uint32_t i = 0; foreign && i < foreign->buffer_count; i++) {
		if (foreign->buffers[i].bytes.size &&
			!memcmp(foreign->buffers[i].digest, digest, TF_DIGEST_BYTES))
			return &foreign->buffers[i].bytes;
	}
	return NULL;
}

struct tf_module_image tf_plan_foreign_image(
	const struct tf_foreign *foreign, const uint8_t digest[TF_DIGEST_BYTES])
{
	const struct tf_bytes *bytes = tf_plan_foreign_member(foreign, digest);

	return bytes ? (struct tf_module_image){bytes->data, bytes->size}
				 : (struct tf_module_image){NULL, 0};
}

/* Modules stand in the workload's order behind the built-in one, those without kernels left out. */
uint32_t tf_plan_foreign_kernel(
	const struct tf_program *program, const struct tf_foreign *foreign, uint32_t kernel)
{
	uint32_t module = 1;

	for (uint32_t i = 0; i < foreign->kernels[kernel].module; i++)
		module += (uint32_t)is_used(foreign, i);
	return find_kernel(program, module, foreign->kernels[kernel].function);
}
