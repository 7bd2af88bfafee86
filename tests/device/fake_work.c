/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver's streams and launches. */
#include "tests/device/fake_driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "catalog/program.h"
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

/* The capture ends in any case. */
CUresult fake_cuStreamEndCapture(CUstream stream, CUgraph *out)
{
	CUresult failure = fake_failure("cuStreamEndCapture");
	CUgraph capture = stream_of(stream)->capture;

	*out = NULL;
	if (!capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	stream_of(stream)->capture = NULL;
	if (failure == CUDA_SUCCESS)
		*out = capture;
	else
		(void)fake_cuGraphDestroy(capture);
	return failure;
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

/* For another fake library: whether a stream is being captured. */
__attribute__((visibility("default"))) int fake_is_captured(CUstream stream);

int fake_is_captured(CUstream stream)
{
	return stream_of(stream)->capture != NULL;
}

int fake_capture_memory(
	CUstream stream, CUdeviceptr to, CUdeviceptr from, unsigned char value, size_t bytes)
{
	struct stream *at = stream_of(stream);

	if (!at->capture)
		return 0;
	at->last = fake_graph_append_memory(at->capture, at->last, to, from, value, bytes);
	return 1;
}

CUresult fake_run(const struct tf_launch_call *launch, CUstream stream)
{
	struct tf_exec_node node = {.kind = TF_NODE_KERNEL, .launch = *launch};

	while (fake_cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
		usleep(100);
	if (strcmp(launch->kernel->name, "test_until") == 0)
		__atomic_store_n(&stream_of(stream)->busy_until_ns,
			tf_now_ns() + ((const struct test_until_args *)launch->args)->lasts_ns,
			__ATOMIC_SEQ_CST);
	else if (tf_host_node_run(&node, NULL) != TF_OK)
		return CUDA_ERROR_UNKNOWN;
	return CUDA_SUCCESS;
}

CUresult fake_cuLaunchKernelEx(
	const CUlaunchConfig *config, CUfunction function, void **params, void **extra)
{
	struct tf_launch_call launch = {
		.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
		.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
		.shared_bytes = config->sharedMemBytes,
	};
	struct stream *to = stream_of(config->hStream);
	_Alignas(16) uint8_t args[TF_EXEC_ARGS_BYTES_MAX];

	FAKE_MAY_FAIL("cuLaunchKernelEx");
	if (extra || !config->gridDimX || !config->blockDimX || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	fake_take_params(function, params, args, &launch);
	if (to->capture) {
		to->last = fake_graph_append_kernel(to->capture, to->last, &launch);
		return CUDA_SUCCESS;
	}
	return fake_run(&launch, config->hStream);
}
