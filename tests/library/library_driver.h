/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver as an engine around libtfrun calls it, opened by name: tests need no toolkit. On a
 * machine without one, the fake driver of tests/device takes its place (LD_LIBRARY_PATH).
 */
#ifndef TF_TESTS_LIBRARY_LIBRARY_DRIVER_H
#define TF_TESTS_LIBRARY_LIBRARY_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* member, name in the library, parameters; 0 is success */
#define LIBRARY_DRIVER_SYMBOLS(X)                                                                  \
	X(init, cuInit, (unsigned flags))                                                              \
	X(primary_retain, cuDevicePrimaryCtxRetain, (void **out, int device))                          \
	X(primary_release, cuDevicePrimaryCtxRelease_v2, (int device))                                 \
	X(context_create, cuCtxCreate_v2, (void **out, unsigned flags, int device))                    \
	X(context_destroy, cuCtxDestroy_v2, (void *context))                                           \
	X(context_get, cuCtxGetCurrent, (void **out))                                                  \
	X(context_set, cuCtxSetCurrent, (void *context))                                               \
	X(stream_create, cuStreamCreate, (void **out, unsigned flags))                                 \
	X(stream_destroy, cuStreamDestroy_v2, (void *stream))                                          \
	X(stream_wait, cuStreamSynchronize, (void *stream))                                            \
	X(capture_begin, cuStreamBeginCapture_v2, (void *stream, int mode))                            \
	X(capture_end, cuStreamEndCapture, (void *stream, void **out_graph))                           \
	X(graph_destroy, cuGraphDestroy, (void *graph))                                                \
	X(graph_instantiate, cuGraphInstantiateWithFlags,                                              \
		(void **out, void *graph, unsigned long long flags))                                       \
	X(graph_launch, cuGraphLaunch, (void *exec, void *stream))                                     \
	X(exec_destroy, cuGraphExecDestroy, (void *exec))                                              \
	X(copy_in, cuMemcpyHtoDAsync_v2,                                                               \
		(unsigned long long to, const void *from, size_t bytes, void *stream))                     \
	X(copy_out, cuMemcpyDtoHAsync_v2,                                                              \
		(void *to, unsigned long long from, size_t bytes, void *stream))                           \
	X(reserve, cuMemAddressReserve,                                                                \
		(unsigned long long *out, size_t bytes, size_t alignment, unsigned long long at,           \
			unsigned long long flags))                                                             \
	X(reserve_end, cuMemAddressFree, (unsigned long long at, size_t bytes))

#define LIBRARY_STREAM_NON_BLOCKING 1
#define LIBRARY_STREAM_LEGACY       ((void *)1)
#define LIBRARY_STREAM_PER_THREAD   ((void *)2)
#define LIBRARY_CAPTURE_RELAXED     2

struct library_driver {
#define LIBRARY_MEMBER(member, name, parameters) int(*member) parameters;
	LIBRARY_DRIVER_SYMBOLS(LIBRARY_MEMBER)
#undef LIBRARY_MEMBER
	/* of the fake driver alone, else NULL */
	int (*fake_primary_retains)(int device);
	int (*fake_stale_uses)(void);
	int (*fake_graph_launches)(void);
	void *(*fake_graph_stream)(void);
};

/* Whether there is a driver with a device; it is initialised then. Stays open. */
int library_driver_open(struct library_driver *out);

#endif
