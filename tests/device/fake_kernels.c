/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake driver's libraries and kernels, which are the host's: an image that is a shared object
 * of this machine is a user's module (tfrun/host_kernel.h), any other stands for the test kernels
 * and the host bodies of the collectives.
 *
 * Invariant: a kernel lives as long as its library, as with the real driver.
 */
#include "tests/device/fake_driver.h"

#include <elf.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "runtime/collective/collective.h"
#include "runtime/device/host/host_module.h"
#include "runtime/device/host/host_node.h"
#include "tests/device/device_kernels.h"

/* A kernel, and its function. */
struct kernel {
	struct kernel *next;
	const struct tf_kernel_handle *handle;
	uint32_t param_count;
	struct tf_exec_param params[TFRUN_HOST_PARAMS_MAX];
};

struct library {
	struct tf_module_handle *module;
	struct kernel *kernels;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct kernel *kernel_of(const void *handle)
{
	return handle;
}

static void register_kernels(void)
{
	test_kernels_register();
	tf_collective_register_host();
}

static enum tf_status load_built_in(struct tf_module_handle **out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint8_t digest[TF_DIGEST_BYTES];

	pthread_once(&once, register_kernels);
	tf_host_module_digest(digest);
	return tf_host_module_load(NULL, NULL, 0, digest, out, NULL);
}

/* A driver is told no size; a linked ELF file ends with its section headers. */
static enum tf_status load_object(const Elf64_Ehdr *header, struct tf_module_handle **out)
{
	size_t bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	uint8_t digest[TF_DIGEST_BYTES];

	crypto_hash_sha256(digest, (const uint8_t *)header, bytes);
	return tf_host_module_load(NULL, header, bytes, digest, out, NULL);
}

/* Images of kernels for devices are ELF files too. */
static int is_host_object(const void *image)
{
	return strncmp(image, ELFMAG, SELFMAG) == 0 &&
		((const Elf64_Ehdr *)image)->e_machine != EM_CUDA;
}

CUresult fake_cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *options,
	void **values, unsigned count, CUlibraryOption *library_options, void **library_values,
	unsigned library_count)
{
	struct library *library;
	enum tf_status status;

	(void)options, (void)values, (void)library_options, (void)library_values;
	FAKE_MAY_FAIL("cuLibraryLoadData");
	if (!code || count || library_count)
		return CUDA_ERROR_INVALID_VALUE;
	library = calloc(1, sizeof(*library));
	if (!library)
		return CUDA_ERROR_OUT_OF_MEMORY;
	status = is_host_object(code) ? load_object(code, &library->module)
								  : load_built_in(&library->module);
	if (status != TF_OK) {
		free(library);
		return CUDA_ERROR_INVALID_IMAGE;
	}
	*out = (CUlibrary)(uintptr_t)library;
	return CUDA_SUCCESS;
}

CUresult fake_cuLibraryUnload(CUlibrary handle)
{
	struct library *library = (struct library *)(uintptr_t)handle;

	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	while (library->kernels) {
		struct kernel *kernel = library->kernels;

		library->kernels = kernel->next;
		free(kernel);
	}
	tf_host_module_unload(library->module);
	free(library);
	return CUDA_SUCCESS;
}

/* The argument struct ends with the last parameter. */
static enum tf_status look_up(
	struct tf_module_handle *module, const char *name, struct kernel *kernel)
{
	const struct tf_exec_param *last;

	TF_TRY(tf_host_kernel_params(
		module, name, kernel->params, TFRUN_HOST_PARAMS_MAX, &kernel->param_count, NULL));
	last = &kernel->params[kernel->param_count - 1];
	return tf_host_kernel_find(module, name, last->off + last->bytes, &kernel->handle, NULL);
}

static CUresult find(struct library *library, const char *name, struct kernel **out)
{
	struct kernel *kernel = library->kernels;

	while (kernel && strcmp(kernel->handle->name, name) != 0)
		kernel = kernel->next;
	if (!kernel) {
		kernel = calloc(1, sizeof(*kernel));
		if (!kernel)
			return CUDA_ERROR_OUT_OF_MEMORY;
		if (look_up(library->module, name, kernel) != TF_OK) {
			free(kernel);
			return CUDA_ERROR_NOT_FOUND;
		}
		kernel->next = library->kernels;
		library->kernels = kernel;
	}
	*out = kernel;
	return CUDA_SUCCESS;
}

CUresult fake_cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
	struct kernel *kernel = NULL;
	CUresult result;

	FAKE_MAY_FAIL("cuLibraryGetKernel");
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	result = find((struct library *)(uintptr_t)library, name, &kernel);
	pthread_mutex_unlock(&lock);
	*out = (CUkernel)(uintptr_t)kernel;
	return result;
}

CUresult fake_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	FAKE_MAY_FAIL("cuKernelGetFunction");
	*function = (CUfunction)(uintptr_t)kernel;
	return CUDA_SUCCESS;
}

CUresult fake_cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *off, size_t *size)
{
	const struct kernel *kernel = kernel_of(handle);

	FAKE_MAY_FAIL("cuKernelGetParamInfo");
	if (index >= kernel->param_count)
		return CUDA_ERROR_INVALID_VALUE;
	*off = kernel->params[index].off;
	*size = kernel->params[index].bytes;
	return CUDA_SUCCESS;
}

CUresult fake_cuKernelGetAttribute(
	int *out, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
	(void)kernel, (void)device;
	if (attribute != CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
		return CUDA_ERROR_INVALID_VALUE;
	*out = 1024;
	return CUDA_SUCCESS;
}

CUresult fake_cuKernelSetAttribute(
	CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
	(void)kernel, (void)device;
	return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value <= 232448 - 1024
		? CUDA_SUCCESS
		: CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuFuncLoad(CUfunction function)
{
	FAKE_MAY_FAIL("cuFuncLoad");
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void fake_take_params(CUfunction function, void **params, uint8_t args[TF_EXEC_ARGS_BYTES_MAX],
	struct tf_launch_call *launch)
{
	const struct kernel *kernel = kernel_of(function);

	launch->kernel = kernel->handle;
	launch->args = args;
	launch->args_bytes = kernel->handle->args_bytes;
	memset(args, 0, launch->args_bytes);
	for (uint32_t i = 0; i < kernel->param_count; i++)
		memcpy(args + kernel->params[i].off, params[i], kernel->params[i].bytes);
}
