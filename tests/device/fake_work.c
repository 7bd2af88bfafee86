/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver's kernels and streams. */
#include "tests/device/fake_driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "runtime/device/host/host_node.h"
#include "tests/device/device_kernels.h"

struct stream {
	CUcontext context;
	int64_t busy_until_ns;
	/* while it is captured */
	CUgraph capture;
	CUgraphNode last;
};

/* The default streams are one for all here, since launches run at once. */
static struct stream default_stream;

static int is_default(CUstream stream)
{
	return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

static struct stream *stream_of(CUstream stream)
{
	return is_default(stream) ? &default_stream : (struct stream *)(uintptr_t)stream;
}

/* A kernel and its function are what fake_kernel_find gives. */
static const struct tf_host_kernel *kernel_of(const void *handle)
{
	return handle;
}

CUresult fake_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
	void **values, unsigned count, CUlibraryOption *library_options, void **library_values,
	unsigned library_count)
{
	(void)options, (void)values, (void)library_options, (void)library_values;
	FAKE_MAY_FAIL("cuLibraryLoadData");
	if (!code || count || library_count)
		return CUDA_ERROR_INVALID_VALUE;
	*library = (CUlibrary)(uintptr_t)0x2000;
	return CUDA_SUCCESS;
}

CUresult fake_cuLibraryUnload(CUlibrary library)
{
	return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult fake_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	const struct tf_host_kernel *found;

	FAKE_MAY_FAIL("cuLibraryGetKernel");
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	found = fake_kernel_find(name);
	*kernel = (CUkernel)(uintptr_t)found;
	return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult fake_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	FAKE_MAY_FAIL("cuKernelGetFunction");
	*function = (CUfunction)(uintptr_t)kernel;
	return CUDA_SUCCESS;
}

CUresult fake_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *off, size_t *size)
{
	FAKE_MAY_FAIL("cuKernelGetParamInfo");
	if (index)
		return CUDA_ERROR_INVALID_VALUE;
	*off = 0;
	*size = kernel_of(kernel)->args_bytes;
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

size_t fake_args_bytes(CUfunction function)
{
	return kernel_of(function)->args_bytes;
}

CUresult fake_cuStreamCreate(CUstream *stream, unsigned flags)
{
	CUcontext context = fake_current();

	FAKE_MAY_FAIL("cuStreamCreate");
	if (flags != CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	*stream = (CUstream)calloc(1, sizeof(struct stream));
	if (!*stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream_of(*stream)->context = context;
	return CUDA_SUCCESS;
}

CUresult fake_cuStreamGetCtx(CUstream stream, CUcontext *out)
{
	FAKE_MAY_FAIL("cuStreamGetCtx");
	if (!is_default(stream)) {
		*out = stream_of(stream)->context;
		return CUDA_SUCCESS;
	}
	*out = fake_current();
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult fake_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out)
{
	FAKE_MAY_FAIL("cuStreamIsCapturing");
	*out = stream_of(stream)->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE
									  : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult fake_cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
	CUgraph *graph, const CUgraphNode **after, size_t *after_count)
{
	struct stream *stream = stream_of(handle);

	FAKE_MAY_FAIL("cuStreamGetCaptureInfo");
	(void)fake_cuStreamIsCapturing(handle, status);
	*id = 1;
	*graph = stream->capture;
	*after = &stream->last;
	*after_count = stream->last != NULL;
	return CUDA_SUCCESS;
}

CUresult fake_cuStreamUpdateCaptureDependencies(
	CUstream stream, CUgraphNode *after, size_t after_count, unsigned flags)
{
	FAKE_MAY_FAIL("cuStreamUpdateCaptureDependencies");
	if (after_count != 1 || flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES ||
		!stream_of(stream)->capture)
		return CUDA_ERROR_INVALID_VALUE;
	stream_of(stream)->last = *after;
	return CUDA_SUCCESS;
}

CUresult fake_cuStreamDestroy(CUstream stream)
{
	free(stream_of(stream));
	return CUDA_SUCCESS;
}

CUresult fake_cuStreamQuery(CUstream stream)
{
	FAKE_MAY_FAIL("cuStreamQuery");
	if (stream_of(stream)->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return tf_now_ns() < __atomic_load_n(&stream_of(stream)->busy_until_ns, __ATOMIC_SEQ_CST)
		? CUDA_ERROR_NOT_READY
		: CUDA_SUCCESS;
}

CUresult fake_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	FAKE_MAY_FAIL("cuStreamBeginCapture");
	(void)mode;
	if (is_default(stream) || stream_of(stream)->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	stream_of(stream)->last = NULL;
	return fake_cuGraphCreate(&stream_of(stream)->capture, 0);
}

CUresult fake_cuStreamEndCapture(CUstream stream, CUgraph *out)
{
	*out = NULL;
	FAKE_MAY_FAIL("cuStreamEndCapture");
	if (!stream_of(stream)->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	*out = stream_of(stream)->capture;
	stream_of(stream)->capture = NULL;
	return CUDA_SUCCESS;
}

__attribute__((visibility("default"))) CUresult fake_enqueue(
	CUstream stream, fake_call_fn fn, const void *user, size_t bytes)
{
	struct stream *to = stream_of(stream);
	void *copy;

	if (to->capture) {
		to->last = fake_graph_append_call(to->capture, to->last, fn, user, bytes);
		return CUDA_SUCCESS;
	}
	copy = malloc(bytes);
	memcpy(copy, user, bytes);
	fn(copy);
	free(copy);
	return CUDA_SUCCESS;
}

CUresult fake_run(CUfunction function, const void *args, CUstream stream)
{
	const struct tf_host_kernel *kernel = kernel_of(function);
	struct tf_launch_call call = {
		.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .args_bytes = kernel->args_bytes};

	while (fake_cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
		usleep(100);
	if (strcmp(kernel->name, "test_until") == 0)
		__atomic_store_n(&stream_of(stream)->busy_until_ns,
			tf_now_ns() + ((const struct test_until_args *)args)->lasts_ns, __ATOMIC_SEQ_CST);
	else
		kernel->fn(&call);
	return CUDA_SUCCESS;
}

CUresult fake_cuLaunchKernelEx(
	const CUlaunchConfig *config, CUfunction function, void **params, void **extra)
{
	FAKE_MAY_FAIL("cuLaunchKernelEx");
	if (extra || !config->gridDimX || !config->blockDimX || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream_of(config->hStream)->capture) {
		struct stream *to = stream_of(config->hStream);

		to->last = fake_graph_append_kernel(to->capture, to->last, function, params[0]);
		return CUDA_SUCCESS;
	}
	return fake_run(function, params[0], config->hStream);
}
