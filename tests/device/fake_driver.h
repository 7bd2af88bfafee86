/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver for tests: libcuda.so.1 whose device memory is shared memory of this machine and whose
 * kernels are the host's: the test kernels, the collectives, and those of a shared object that is
 * given as an image. What it shows and where it fails is in the environment:
 *
 * FAKE_CUDA_VERSION, FAKE_CUDA_DEVICES, FAKE_CUDA_NAME, FAKE_CUDA_PEERS (0: no peer access),
 * FAKE_CUDA_INIT (code of cuInit), FAKE_CUDA_DIES (cuInit kills the process), FAKE_CUDA_MISSING (a
 * function that it lacks),
 * FAKE_CUDA_FAIL (NAME:CODE, a function that fails).
 *
 * Beside the table it has what an engine around the runtime calls, by the names of the real library
 * (fake_engine.c), and answers for tests: fake_primary_retains, fake_stale_uses,
 * fake_graph_launches, fake_graph_stream, fake_calls_held.
 *
 * Launches run at once, on the caller's thread; a stream is only then busy for a while when
 * test_until says so.
 */
#ifndef TF_TESTS_DEVICE_FAKE_DRIVER_H
#define TF_TESTS_DEVICE_FAKE_DRIVER_H

#include "runtime/device/cuda/cuda_api.h"
#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number in the environment, or `otherwise`. */
int fake_number(const char *name, int otherwise);

/* The code with which a function is to fail now, CUDA_SUCCESS for none. */
CUresult fake_failure(const char *name);
#define FAKE_MAY_FAIL(name)                                                                        \
	do {                                                                                           \
		CUresult failure_ = fake_failure(name);                                                    \
		if (failure_ != CUDA_SUCCESS)                                                              \
			return failure_;                                                                       \
	} while (0)

/* fake_context.c */
CUcontext fake_current(void); /* NULL: none */
CUresult fake_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult fake_cuDevicePrimaryCtxRelease(CUdevice device);
CUresult fake_cuCtxCreate(CUcontext *out, unsigned flags, CUdevice device);
CUresult fake_cuCtxDestroy(CUcontext context);
CUresult fake_cuCtxGetCurrent(CUcontext *out);
CUresult fake_cuCtxGetDevice(CUdevice *out);
CUresult fake_cuCtxSetCurrent(CUcontext context);

/* fake_memory.c */
CUresult fake_cuMemHostAlloc(void **out, size_t bytes, unsigned flags);
CUresult fake_cuMemFreeHost(void *memory);
CUresult fake_cuMemGetAllocationGranularity(
	size_t *granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option);
CUresult fake_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
	const CUmemAllocationProp *prop, unsigned long long flags);
CUresult fake_cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult fake_cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
	CUmemAllocationHandleType type, unsigned long long flags);
CUresult fake_cuMemImportFromShareableHandle(
	CUmemGenericAllocationHandle *handle, void *shareable, CUmemAllocationHandleType type);
CUresult fake_cuMemAddressReserve(
	CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr hint, unsigned long long flags);
CUresult fake_cuMemAddressFree(CUdeviceptr address, size_t size);
CUresult fake_cuMemMap(CUdeviceptr address, size_t size, size_t offset,
	CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult fake_cuMemUnmap(CUdeviceptr address, size_t size);
CUresult fake_cuMemSetAccess(
	CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count);
CUresult fake_cuMemAlloc(CUdeviceptr *out, size_t bytes);
CUresult fake_cuMemFree(CUdeviceptr address);
CUresult fake_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
CUresult fake_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult fake_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult fake_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream);

/* fake_kernels.c */
CUresult fake_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
	void **values, unsigned count, CUlibraryOption *library_options, void **library_values,
	unsigned library_count);
CUresult fake_cuLibraryUnload(CUlibrary library);
CUresult fake_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name);
CUresult fake_cuKernelGetFunction(CUfunction *function, CUkernel kernel);
CUresult fake_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *off, size_t *size);
CUresult fake_cuKernelGetAttribute(
	int *out, CUfunction_attribute attribute, CUkernel kernel, CUdevice device);
CUresult fake_cuKernelSetAttribute(
	CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device);
CUresult fake_cuFuncLoad(CUfunction function);
/*
 * The kernel and the arguments of a launch: what `params` point at is gathered in `args`, which the
 * launch borrows. Its other members stay.
 */
void fake_take_params(CUfunction function, void **params, uint8_t args[TF_EXEC_ARGS_BYTES_MAX],
	struct tf_launch_call *launch);

/* fake_work.c */
CUresult fake_cuStreamCreate(CUstream *stream, unsigned flags);
CUresult fake_cuStreamDestroy(CUstream stream);
CUresult fake_cuStreamQuery(CUstream stream);
CUresult fake_cuStreamGetCtx(CUstream stream, CUcontext *out);
CUresult fake_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out);
CUresult fake_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
	CUgraph *graph, const CUgraphNode **after, size_t *after_count);
CUresult fake_cuStreamUpdateCaptureDependencies(
	CUstream stream, CUgraphNode *after, size_t after_count, unsigned flags);
/*
 * What is launched, enqueued, copied within the device or set in between becomes a node; other
 * operations are not captured.
 */
CUresult fake_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode);
CUresult fake_cuStreamEndCapture(CUstream stream, CUgraph *out);
CUresult fake_cuLaunchKernelEx(
	const CUlaunchConfig *config, CUfunction function, void **params, void **extra);
/* Whether the stream is being captured: then a copy (`from` 0: a set) has become a node. */
int fake_capture_memory(
	CUstream stream, CUdeviceptr to, CUdeviceptr from, unsigned char value, size_t bytes);
/* Runs a kernel. Waits until the stream is free first. */
CUresult fake_run(const struct tf_launch_call *launch, CUstream stream);

/* Another fake library's work, exported: `fn` runs with a copy of `bytes` of `user`. */
#define FAKE_ENQUEUE_NAME "fake_enqueue"
typedef void (*fake_call_fn)(void *user);
CUresult fake_enqueue(CUstream stream, fake_call_fn fn, const void *user, size_t bytes);

/* fake_graph.c */
CUresult fake_cuGraphCreate(CUgraph *graph, unsigned flags);
CUresult fake_cuGraphDestroy(CUgraph graph);
CUresult fake_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
	size_t after_count, const CUDA_KERNEL_NODE_PARAMS_v2 *params);
CUresult fake_cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
	size_t after_count, const CUDA_MEMCPY3D *params, CUcontext context);
CUresult fake_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
	size_t after_count, const CUDA_MEMSET_NODE_PARAMS_v1 *params, CUcontext context);
CUresult fake_cuGraphAddEmptyNode(
	CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t after_count);
CUresult fake_cuGraphAddChildGraphNode(
	CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t after_count, CUgraph child);
CUresult fake_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
	const CUgraphEdgeData *data, size_t count);
CUresult fake_cuGraphInstantiateWithParams(
	CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult fake_cuGraphExecDestroy(CUgraphExec exec);
/*
 * Nodes behind `last` (or at the beginning): a kernel, whose arguments are copied, a call, a copy
 * or a set (`from` 0).
 */
CUgraphNode fake_graph_append_kernel(
	CUgraph graph, CUgraphNode last, const struct tf_launch_call *launch);
CUgraphNode fake_graph_append_call(
	CUgraph graph, CUgraphNode last, fake_call_fn fn, const void *user, size_t bytes);
CUgraphNode fake_graph_append_memory(CUgraph graph, CUgraphNode last, CUdeviceptr to,
	CUdeviceptr from, unsigned char value, size_t bytes);
CUresult fake_cuGraphUpload(CUgraphExec exec, CUstream stream);
CUresult fake_cuGraphLaunch(CUgraphExec exec, CUstream stream);

#ifdef __cplusplus
}
#endif
#endif
