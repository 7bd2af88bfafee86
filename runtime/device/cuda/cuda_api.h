/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's functions, resolved at run time. Only cuGetProcAddress_v2 is looked up by name;
 * every other one comes from it at the version that the table's type states, so a newer header
 * never asks for a newer driver.
 */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_API_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_API_H

#include <cuda.h>
#include <cudaTypedefs.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA 12.4: cuKernelGetParamInfo and cuFuncLoad. */
#define TF_CUDA_DRIVER_MIN 12040

/* name, version of its type. */
#define TF_CUDA_SYMBOLS(X)                                                                         \
	X(cuGetErrorName, 6000)                                                                        \
	X(cuGetErrorString, 6000)                                                                      \
	X(cuInit, 2000)                                                                                \
	X(cuDeviceGet, 2000)                                                                           \
	X(cuDeviceGetCount, 2000)                                                                      \
	X(cuDeviceGetName, 2000)                                                                       \
	X(cuDeviceGetUuid, 11040)                                                                      \
	X(cuDeviceTotalMem, 3020)                                                                      \
	X(cuDeviceGetAttribute, 2000)                                                                  \
	X(cuDeviceCanAccessPeer, 4000)                                                                 \
	X(cuDeviceGetP2PAttribute, 8000)                                                               \
	X(cuDevicePrimaryCtxRetain, 7000)                                                              \
	X(cuDevicePrimaryCtxRelease, 11000)                                                            \
	X(cuCtxGetCurrent, 4000)                                                                       \
	X(cuCtxGetDevice, 2000)                                                                        \
	X(cuCtxSetCurrent, 4000)                                                                       \
	X(cuMemGetAllocationGranularity, 10020)                                                        \
	X(cuMemCreate, 10020)                                                                          \
	X(cuMemRelease, 10020)                                                                         \
	X(cuMemExportToShareableHandle, 10020)                                                         \
	X(cuMemImportFromShareableHandle, 10020)                                                       \
	X(cuMemAddressReserve, 10020)                                                                  \
	X(cuMemAddressFree, 10020)                                                                     \
	X(cuMemMap, 10020)                                                                             \
	X(cuMemUnmap, 10020)                                                                           \
	X(cuMemSetAccess, 10020)                                                                       \
	X(cuMemAlloc, 3020)                                                                            \
	X(cuMemFree, 3020)                                                                             \
	X(cuMemHostAlloc, 2020)                                                                        \
	X(cuMemFreeHost, 2000)                                                                         \
	X(cuMemcpyHtoDAsync, 3020)                                                                     \
	X(cuMemcpyDtoHAsync, 3020)                                                                     \
	X(cuMemcpyDtoDAsync, 3020)                                                                     \
	X(cuMemsetD8Async, 3020)                                                                       \
	X(cuLibraryLoadData, 12000)                                                                    \
	X(cuLibraryUnload, 12000)                                                                      \
	X(cuLibraryGetKernel, 12000)                                                                   \
	X(cuKernelGetFunction, 12000)                                                                  \
	X(cuKernelGetParamInfo, 12040)                                                                 \
	X(cuKernelGetAttribute, 12000)                                                                 \
	X(cuKernelSetAttribute, 12000)                                                                 \
	X(cuFuncLoad, 12040)                                                                           \
	X(cuStreamCreate, 2000)                                                                        \
	X(cuStreamDestroy, 4000)                                                                       \
	X(cuStreamQuery, 2000)                                                                         \
	X(cuStreamBeginCapture, 10010)                                                                 \
	X(cuStreamEndCapture, 10000)                                                                   \
	X(cuStreamGetCtx, 9020)                                                                        \
	X(cuStreamIsCapturing, 10000)                                                                  \
	X(cuStreamGetCaptureInfo, 11030)                                                               \
	X(cuStreamUpdateCaptureDependencies, 11030)                                                    \
	X(cuLaunchKernelEx, 11060)                                                                     \
	X(cuGraphCreate, 10000)                                                                        \
	X(cuGraphDestroy, 10000)                                                                       \
	X(cuGraphAddKernelNode, 12000)                                                                 \
	X(cuGraphAddMemcpyNode, 10000)                                                                 \
	X(cuGraphAddMemsetNode, 10000)                                                                 \
	X(cuGraphAddEmptyNode, 10000)                                                                  \
	X(cuGraphAddChildGraphNode, 10000)                                                             \
	X(cuGraphAddDependencies, 12030)                                                               \
	X(cuGraphInstantiateWithParams, 12000)                                                         \
	X(cuGraphExecDestroy, 10000)                                                                   \
	X(cuGraphUpload, 11010)                                                                        \
	X(cuGraphLaunch, 10000)

/*
 * Some names are macros of cuda.h: a member is then called as the macro says, here and at every
 * use alike.
 */
struct tf_cuda_api {
#define TF_MEMBER(name, version) PFN_##name##_v##version name;
	TF_CUDA_SYMBOLS(TF_MEMBER)
#undef TF_MEMBER
};

/*
 * The table, filled once a process; it and the library stay for the process's life. Does not
 * initialise the driver: a process that only asks may still fork ranks. Any thread.
 * TF_E_UNAVAILABLE: no library, a driver older than TF_CUDA_DRIVER_MIN, or a function is missing,
 * by name. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_api_open(
	const struct tf_cuda_api **out, struct tf_error *err);

/* The table if it is filled, else NULL: no lock, no loading. Any thread. */
const struct tf_cuda_api *tf_cuda_api_peek(void);

/*
 * TF_OK for CUDA_SUCCESS; else the error holds the call's text, the driver's name and words for
 * the code, and the code in `native`.
 */
enum tf_status tf_cuda_check(const struct tf_cuda_api *api, CUresult code, const char *call,
	struct tf_error *err, const char *file, int line);

/* TF_CU(api, err, cuGraphLaunch(exec, stream)): calls through the table and checks. */
#define TF_CU(api, err, call) tf_cuda_check((api), (api)->call, #call, (err), __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif
#endif
