/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Primary contexts by ordinal.
 *
 * Invariants:
 * 1. contexts[n] is set exactly while it has references; one retain of the primary context each.
 * 2. The driver is initialised once, by the process `initialised_by`. It does not survive a fork:
 * a child is refused here instead of failing in its first call.
 */
#include "runtime/device/cuda/cuda_context.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"

#define SPIN_NS  (2 * TF_NS_PER_MS) /* above a step of any model, below what a core is worth */
#define SLEEP_NS 50000

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tf_cuda_context *contexts[TF_CUDA_DEVICES_MAX];
static pid_t initialised_by; /* 0: nobody yet */

/* Under the lock. */
static enum tf_status initialise(const struct tf_cuda_api *api, struct tf_error *err)
{
	if (initialised_by == getpid())
		return TF_OK;
	if (initialised_by)
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"process %d initialised the driver and then forked this one, which cannot use it",
			(int)initialised_by);
	TF_TRY(TF_CU(api, err, cuInit(0)));
	initialised_by = getpid();
	return TF_OK;
}

static enum tf_status count_devices(
	const struct tf_cuda_api *api, uint32_t *out, struct tf_error *err)
{
	int count = 0;

	TF_TRY(initialise(api, err));
	TF_TRY(TF_CU(api, err, cuDeviceGetCount(&count)));
	*out = count > 0 ? (uint32_t)count : 0;
	if (*out > TF_CUDA_DEVICES_MAX)
		*out = TF_CUDA_DEVICES_MAX;
	return TF_OK;
}

enum tf_status tf_cuda_device_count(
	const struct tf_cuda_api *api, uint32_t *out, struct tf_error *err)
{
	enum tf_status status;

	pthread_mutex_lock(&contexts_lock);
	status = count_devices(api, out, err);
	pthread_mutex_unlock(&contexts_lock);
	if (status != TF_OK && status != TF_E_UNAVAILABLE) {
		if (err)
			err->status = TF_E_UNAVAILABLE;
		status = TF_E_UNAVAILABLE;
	}
	return status;
}

static enum tf_status check_ordinal(
	const struct tf_cuda_api *api, uint32_t ordinal, struct tf_error *err)
{
	uint32_t count = 0;

	TF_TRY(count_devices(api, &count, err));
	if (ordinal >= count)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "there is no CUDA device %u, the driver shows %u",
			ordinal, count);
	return TF_OK;
}

static void release(struct tf_cuda_context *context)
{
	const struct tf_cuda_api *api = context->api;

	if (context->handle && initialised_by == getpid()) {
		if (context->transfer && api->cuCtxSetCurrent(context->handle) == CUDA_SUCCESS)
			(void)api->cuStreamDestroy(context->transfer);
		(void)api->cuDevicePrimaryCtxRelease(context->device);
	}
	tf_free(context);
}

static enum tf_status create(uint32_t ordinal, struct tf_cuda_context **out, struct tf_error *err)
{
	struct tf_cuda_context *context;
	const struct tf_cuda_api *api;
	enum tf_status status;

	TF_TRY(tf_cuda_api_open(&api, err));
	TF_TRY(check_ordinal(api, ordinal, err));
	context = tf_calloc(1, sizeof(*context));
	if (!context)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the context of device %u", ordinal);
	context->api = api;
	context->ordinal = ordinal;
	context->references = 1;
	status = TF_CU(api, err, cuDeviceGet(&context->device, (int)ordinal));
	if (status == TF_OK)
		status = TF_CU(api, err, cuDevicePrimaryCtxRetain(&context->handle, context->device));
	if (status == TF_OK)
		status = TF_CU(api, err, cuCtxSetCurrent(context->handle));
	if (status == TF_OK)
		status = TF_CU(api, err, cuStreamCreate(&context->transfer, CU_STREAM_NON_BLOCKING));
	if (status != TF_OK) {
		release(context);
		tf_error_prefix(err, "device %u", ordinal);
		return status;
	}
	*out = context;
	return TF_OK;
}

/* Under the lock. */
static enum tf_status ref(uint32_t ordinal, struct tf_cuda_context **out, struct tf_error *err)
{
	struct tf_cuda_context *context = contexts[ordinal];

	if (!context) {
		TF_TRY(create(ordinal, &context, err));
		contexts[ordinal] = context;
	} else {
		TF_TRY(initialise(context->api, err));
		TF_TRY(tf_cuda_context_enter(context, err));
		context->references++;
	}
	*out = context;
	return TF_OK;
}

enum tf_status tf_cuda_context_ref(
	uint32_t ordinal, struct tf_cuda_context **out, struct tf_error *err)
{
	enum tf_status status;

	if (ordinal >= TF_CUDA_DEVICES_MAX)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "there is no CUDA device %u, %d is the highest",
			ordinal, TF_CUDA_DEVICES_MAX - 1);
	pthread_mutex_lock(&contexts_lock);
	status = ref(ordinal, out, err);
	pthread_mutex_unlock(&contexts_lock);
	return status;
}

void tf_cuda_context_again(struct tf_cuda_context *context)
{
	pthread_mutex_lock(&contexts_lock);
	context->references++;
	pthread_mutex_unlock(&contexts_lock);
}

void tf_cuda_context_unref(struct tf_cuda_context *context)
{
	if (!context)
		return;
	pthread_mutex_lock(&contexts_lock);
	if (--context->references == 0) {
		contexts[context->ordinal] = NULL;
		release(context);
	}
	pthread_mutex_unlock(&contexts_lock);
}

enum tf_status tf_cuda_context_enter(const struct tf_cuda_context *context, struct tf_error *err)
{
	return TF_CU(context->api, err, cuCtxSetCurrent(context->handle));
}

enum tf_status tf_cuda_context_wait(const struct tf_cuda_context *context, CUstream stream,
	int64_t deadline_ns, struct tf_error *err)
{
	const struct timespec nap = {.tv_nsec = SLEEP_NS};
	int64_t spin_until_ns = tf_deadline_after(SPIN_NS);

	for (;;) {
		CUresult code = context->api->cuStreamQuery(stream);
		int64_t now_ns;

		if (code != CUDA_ERROR_NOT_READY)
			return tf_cuda_check(
				context->api, code, "cuStreamQuery(stream)", err, __FILE__, __LINE__);
		now_ns = tf_now_ns();
		if (now_ns >= deadline_ns)
			return TF_FAIL(err, TF_E_TIMEOUT, "not done at the deadline, and it runs on");
		if (now_ns >= spin_until_ns)
			(void)nanosleep(&nap, NULL);
	}
}

enum tf_status tf_cuda_context_settle(const struct tf_cuda_context *context, struct tf_error *err)
{
	return tf_cuda_context_wait(
		context, context->transfer, tf_deadline_after(TF_CUDA_TRANSFER_NS), err);
}
