/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts, shared by everything of this process that uses them: opened devices and windows hold
 * references. A device opened by its number has its primary context; a guest in an engine's process
 * has the context that the engine's thread has current.
 */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H

#include "runtime/device/cuda/cuda_api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TF_CUDA_DEVICES_MAX 64 /* of one machine; the largest in sale have 16 */

/* How long a copy, a fill or an upload of our own may take; far above what the slowest needs. */
#define TF_CUDA_TRANSFER_NS (30 * TF_NS_PER_S)

/* Constant while it is referenced, but for what is said to change; shared by threads. */
struct tf_cuda_context {
	const struct tf_cuda_api *api;
	uint32_t ordinal;
	CUdevice device;
	CUcontext handle;
	/*
	 * For our own copies: not the legacy stream, which waits for other people's, and one for all
	 * ranks of the device, because hardware queues are few.
	 */
	CUstream transfer;
	uint32_t references; /* under the lock of cuda_context.c, as the next two */
	int is_retained;     /* we hold a retain of it as its device's primary context */
	struct tf_cuda_context *next;
};

/* How many devices the driver shows; initialises it. TF_E_UNAVAILABLE. Any thread. */
TF_WARN_UNUSED enum tf_status tf_cuda_device_count(
	const struct tf_cuda_api *api, uint32_t *out, struct tf_error *err);

/*
 * A reference to the context of device `ordinal`, current on this thread. Any thread.
 * TF_E_UNAVAILABLE: no such device, or the driver was initialised before this process was forked.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_context_ref(
	uint32_t ordinal, struct tf_cuda_context **out, struct tf_error *err);
/*
 * A reference for a guest in the process of an engine, current on this thread. `which`: an ordinal
 * or a UUID ("GPU-..."); NULL: the device of the thread's current context, else device 0. If the
 * thread's current context is of that device, it is that one, borrowed: its owner keeps it until
 * the last reference has gone. Else the primary context. Any thread. TF_E_USAGE: `which` is
 * neither; TF_E_UNAVAILABLE as above; TF_E_SYSTEM: the current context is not usable.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_context_guest(
	const char *which, struct tf_cuda_context **out, struct tf_error *err);
/* Another reference to a context that the caller has one to. */
void tf_cuda_context_again(struct tf_cuda_context *context);
/* The same for a context that we retained; NULL for a caller's own, which must not outlast it. */
struct tf_cuda_context *tf_cuda_context_hold(struct tf_cuda_context *context);
void tf_cuda_context_unref(struct tf_cuda_context *context); /* takes NULL */

/* Makes the context current on this thread: every operation begins with it. */
TF_WARN_UNUSED enum tf_status tf_cuda_context_enter(
	const struct tf_cuda_context *context, struct tf_error *err);

/*
 * What is current on this thread, NULL for none or without a driver, and making it so again. No
 * lock.
 */
void *tf_cuda_context_current(void);
void tf_cuda_context_put_back(void *handle);

/*
 * Waits until the stream is through: spins at first, because a step is shorter than a sleep.
 * TF_E_TIMEOUT: it is not by the deadline, and runs on; else what the work failed with.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_context_wait(const struct tf_cuda_context *context,
	CUstream stream, int64_t deadline_ns, struct tf_error *err);

/* Waits at most TF_CUDA_TRANSFER_NS for the transfer stream. */
TF_WARN_UNUSED enum tf_status tf_cuda_context_settle(
	const struct tf_cuda_context *context, struct tf_error *err);

/*
 * Ends a capture of `stream` in any case; the context is current. What it holds is the caller's, on
 * success alone. TF_E_SYSTEM: a call broke the capture.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_context_end_capture(
	const struct tf_cuda_context *context, CUstream stream, CUgraph *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
