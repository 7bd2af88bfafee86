/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine calls beside the runtime, by the names under which the real library shows it.
 */
#include "tests/device/fake_driver.h"

#include <unistd.h>

/* name, as the library shows it; parameters; arguments */
#define ENGINE_SYMBOLS(X)                                                                          \
	X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * a, CUdevice b), (a, b))     \
	X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice a), (a))                  \
	X(cuCtxCreate, cuCtxCreate_v2, (CUcontext * a, unsigned b, CUdevice c), (a, b, c))             \
	X(cuCtxDestroy, cuCtxDestroy_v2, (CUcontext a), (a))                                           \
	X(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext * a), (a))                                      \
	X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext a), (a))                                        \
	X(cuStreamCreate, cuStreamCreate, (CUstream * a, unsigned b), (a, b))                          \
	X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream a), (a))                                      \
	X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream a, CUstreamCaptureMode b), (a, b))  \
	X(cuStreamEndCapture, cuStreamEndCapture, (CUstream a, CUgraph * b), (a, b))                   \
	X(cuGraphDestroy, cuGraphDestroy, (CUgraph a), (a))                                            \
	X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec a), (a))                                \
	X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec a, CUstream b), (a, b))                           \
	X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                     \
		(CUdeviceptr a, const void *b, size_t c, CUstream d), (a, b, c, d))                        \
	X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *a, CUdeviceptr b, size_t c, CUstream d),     \
		(a, b, c, d))                                                                              \
	X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                     \
		(CUdeviceptr a, CUdeviceptr b, size_t c, CUstream d), (a, b, c, d))                        \
	X(cuMemAddressReserve, cuMemAddressReserve,                                                    \
		(CUdeviceptr * a, size_t b, size_t c, CUdeviceptr d, unsigned long long e),                \
		(a, b, c, d, e))                                                                           \
	X(cuMemAddressFree, cuMemAddressFree, (CUdeviceptr a, size_t b), (a, b))

/* The header's own declarations are macros for some of the names, so theirs are put aside. */
#undef cuDevicePrimaryCtxRelease
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuStreamDestroy
#undef cuStreamBeginCapture
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemcpyDtoDAsync

#define DEFINE_ENTRY(name, shown, parameters, arguments)                                           \
	__attribute__((visibility("default"))) CUresult shown parameters;                              \
	CUresult shown parameters                                                                      \
	{                                                                                              \
		return fake_##name arguments;                                                              \
	}
ENGINE_SYMBOLS(DEFINE_ENTRY)

__attribute__((visibility("default"))) CUresult cuGraphInstantiateWithFlags(
	CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};

	(void)flags;
	return fake_cuGraphInstantiateWithParams(exec, graph, &params);
}

__attribute__((visibility("default"))) CUresult cuStreamSynchronize(CUstream stream)
{
	CUresult result;

	while ((result = fake_cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
		(void)usleep(100);
	return result;
}
