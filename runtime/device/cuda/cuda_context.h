/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The primary context of a device, shared by everything of this process that uses the device:
 * opened devices and windows hold references.
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

/* Constant while it is referenced; shared by threads. */
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
	uint32_t references; /* under the lock of cuda_context.c */
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
/* Another reference to a context that the caller has one to. */
void tf_cuda_context_again(struct tf_cuda_context *context);
void tf_cuda_context_unref(struct tf_cuda_context *context); /* takes NULL */

/* Makes the context current on this thread: every operation begins with it. */
TF_WARN_UNUSED enum tf_status tf_cuda_context_enter(
	const struct tf_cuda_context *context, struct tf_error *err);

/*
 * Waits until the stream is through: spins at first, because a step is shorter than a sleep.
 * TF_E_TIMEOUT: it is not by the deadline, and runs on; else what the work failed with.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_context_wait(const struct tf_cuda_context *context,
	CUstream stream, int64_t deadline_ns, struct tf_error *err);

/* Waits at most TF_CUDA_TRANSFER_NS for the transfer stream. */
TF_WARN_UNUSED enum tf_status tf_cuda_context_settle(
	const struct tf_cuda_context *context, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
