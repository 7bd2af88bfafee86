/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module is a library of the driver, loaded from memory; its digest is SHA-256 of the image. A
 * kernel is looked up and loaded once, when it is found: the driver would otherwise load it in
 * its first launch, which can wait for kernels that run.
 *
 * Invariant: a kernel's argument struct is the driver's parameter buffer, byte for byte; a launch
 * points into it at `param_offs`.
 */
#include "runtime/device/cuda/cuda_module.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/cuda/cuda_images.h"
#include "runtime/device/module_digest.h"

struct tf_module_handle {
	struct tf_cuda_context *context; /* a reference */
	uint32_t shared_bytes_max;
	CUlibrary library;
	struct tf_kernel_handle *kernels;
};

/* A build may hold several images for a device: the digest says which; the first names a misfit. */
static enum tf_status choose_image(uint32_t compute_capability, const uint8_t digest[32],
	const void **image, size_t *bytes, struct tf_error *err)
{
	const struct tf_cuda_image *first = tf_cuda_image_for(compute_capability);
	uint8_t found[TF_DIGEST_BYTES];

	if (!first)
		return tf_cuda_module_digest(compute_capability, found, err);
	*image = first->bytes;
	*bytes = first->size;
	for (const struct tf_cuda_image *other = first; other->bytes; other++) {
		if (other->compute_capability != first->compute_capability)
			continue;
		crypto_hash_sha256(found, other->bytes, other->size);
		if (memcmp(found, digest, sizeof(found)) == 0) {
			*image = other->bytes;
			*bytes = other->size;
		}
	}
	return TF_OK;
}

enum tf_status tf_cuda_module_load(struct tf_device *device, const void *image, size_t bytes,
	const uint8_t digest[32], struct tf_module_handle **out, struct tf_error *err)
{
	const struct tf_cuda_api *api = device->context->api;
	struct tf_module_handle *module;
	enum tf_status status;

	if (!image)
		TF_TRY(choose_image(device->properties.compute_capability, digest, &image, &bytes, err));
	TF_TRY(tf_module_digest_check("CUDA module", image, bytes, digest, err));
	TF_TRY(tf_cuda_context_enter(device->context, err));
	module = tf_calloc(1, sizeof(*module));
	if (!module)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a CUDA module");
	status =
		TF_CU(api, err, cuLibraryLoadData(&module->library, image, NULL, NULL, 0, NULL, NULL, 0));
	if (status != TF_OK) {
		tf_free(module);
		tf_error_prefix(err, "CUDA module of %zu bytes", bytes);
		return status;
	}
	tf_cuda_context_again(device->context);
	module->context = device->context;
	module->shared_bytes_max = device->shared_bytes_max;
	*out = module;
	return TF_OK;
}

static void free_kernel(struct tf_kernel_handle *kernel)
{
	tf_free(kernel->name);
	tf_free(kernel);
}

void tf_cuda_module_unload(struct tf_module_handle *module)
{
	if (!module)
		return;
	while (module->kernels) {
		struct tf_kernel_handle *kernel = module->kernels;

		module->kernels = kernel->next;
		free_kernel(kernel);
	}
	if (tf_cuda_context_enter(module->context, NULL) == TF_OK)
		(void)module->context->api->cuLibraryUnload(module->library);
	tf_cuda_context_unref(module->context);
	tf_free(module);
}

/* The driver refuses the index behind the last parameter, which is how their number is known. */
static enum tf_status read_params(const struct tf_cuda_api *api, CUkernel kernel,
	struct tf_kernel_handle *handle, struct tf_error *err)
{
	for (uint32_t i = 0;; i++) {
		size_t off = 0, size = 0;
		CUresult code = api->cuKernelGetParamInfo(kernel, i, &off, &size);

		if (code == CUDA_ERROR_INVALID_VALUE)
			return TF_OK;
		TF_TRY(tf_cuda_check(api, code, "cuKernelGetParamInfo(kernel, index, &off, &size)", err,
			__FILE__, __LINE__));
		if (i == TF_CUDA_PARAMS_MAX || off > TF_EXEC_ARGS_BYTES_MAX ||
			size > TF_EXEC_ARGS_BYTES_MAX - off)
			return TF_FAIL(err, TF_E_LIMIT,
				"parameter %u has %zu bytes at %zu, at most are %d parameters of %d bytes in all",
				i, size, off, TF_CUDA_PARAMS_MAX, TF_EXEC_ARGS_BYTES_MAX);
		handle->param_offs[i] = (uint32_t)off;
		handle->param_bytes[i] = (uint32_t)size;
		handle->param_count = i + 1;
		if (off + size > handle->args_bytes)
			handle->args_bytes = (uint32_t)(off + size);
	}
}

/* Lets launches ask for all the shared memory of the device; the others pay nothing for it. */
static enum tf_status allow_shared(const struct tf_module_handle *module, CUkernel kernel,
	struct tf_kernel_handle *handle, struct tf_error *err)
{
	const struct tf_cuda_context *context = module->context;
	int fixed = 0;

	TF_TRY(TF_CU(context->api, err,
		cuKernelGetAttribute(
			&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, context->device)));
	if (fixed < 0 || (uint32_t)fixed >= module->shared_bytes_max)
		return TF_OK;
	handle->shared_bytes_max = module->shared_bytes_max - (uint32_t)fixed;
	return TF_CU(context->api, err,
		cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			(int)handle->shared_bytes_max, kernel, context->device));
}

static enum tf_status look_at_kernel(
	const struct tf_module_handle *module, struct tf_kernel_handle *handle, struct tf_error *err)
{
	const struct tf_cuda_api *api = module->context->api;
	CUkernel kernel = NULL;
	CUresult code = api->cuLibraryGetKernel(&kernel, module->library, handle->name);

	if (code == CUDA_ERROR_NOT_FOUND)
		return TF_FAIL(err, TF_E_NOT_FOUND, "it is not in its CUDA module");
	TF_TRY(tf_cuda_check(
		api, code, "cuLibraryGetKernel(&kernel, library, name)", err, __FILE__, __LINE__));
	TF_TRY(read_params(api, kernel, handle, err));
	TF_TRY(allow_shared(module, kernel, handle, err));
	TF_TRY(TF_CU(api, err, cuKernelGetFunction(&handle->function, kernel)));
	return TF_CU(api, err, cuFuncLoad(handle->function));
}

static enum tf_status add_kernel(struct tf_module_handle *module, const char *name,
	struct tf_kernel_handle **out, struct tf_error *err)
{
	struct tf_kernel_handle *handle = tf_calloc(1, sizeof(*handle));
	enum tf_status status;

	if (handle)
		handle->name = tf_strdup(name);
	if (!handle || !handle->name) {
		status = TF_FAIL(err, TF_E_NO_MEMORY, "no memory for it");
		goto fail;
	}
	status = tf_cuda_context_enter(module->context, err);
	if (status == TF_OK)
		status = look_at_kernel(module, handle, err);
	if (status != TF_OK)
		goto fail;
	handle->next = module->kernels;
	module->kernels = handle;
	*out = handle;
	return TF_OK;
fail:
	if (handle)
		free_kernel(handle);
	return status;
}

/* The kernel of that name, looked at once. */
static enum tf_status find(struct tf_module_handle *module, const char *name,
	struct tf_kernel_handle **out, struct tf_error *err)
{
	struct tf_kernel_handle *handle = module->kernels;
	enum tf_status status = TF_OK;

	while (handle && strcmp(handle->name, name) != 0)
		handle = handle->next;
	if (!handle)
		status = add_kernel(module, name, &handle, err);
	if (status != TF_OK) {
		tf_error_prefix(err, "kernel '%s'", name);
		return status;
	}
	*out = handle;
	return TF_OK;
}

enum tf_status tf_cuda_kernel_find(struct tf_module_handle *module, const char *name,
	uint32_t args_bytes, const struct tf_kernel_handle **out, struct tf_error *err)
{
	struct tf_kernel_handle *handle = NULL;

	TF_TRY(find(module, name, &handle, err));
	if (handle->args_bytes != args_bytes)
		return TF_FAIL(err, TF_E_MISFIT,
			"kernel '%s': an argument struct of %u bytes is asked for, this build's has %u", name,
			args_bytes, handle->args_bytes);
	*out = handle;
	return TF_OK;
}

enum tf_status tf_cuda_kernel_params(struct tf_module_handle *module, const char *name,
	struct tf_exec_param *out, uint32_t max, uint32_t *out_count, struct tf_error *err)
{
	struct tf_kernel_handle *handle = NULL;

	TF_TRY(find(module, name, &handle, err));
	if (handle->param_count > max)
		return TF_FAIL(err, TF_E_LIMIT, "kernel '%s': %u parameters, at most %u", name,
			handle->param_count, max);
	for (uint32_t i = 0; i < handle->param_count; i++)
		out[i] = (struct tf_exec_param){handle->param_offs[i], handle->param_bytes[i]};
	*out_count = handle->param_count;
	return TF_OK;
}
