/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts in use: the primary ones that we retained, and those of an engine around us.
 *
 * Invariants:
 * 1. A context is in the list exactly while it has references, once a handle.
 * 2. is_retained: one retain of the device's primary context, which is this one; released with the
 * last reference. Without it the context is the caller's, and nothing here ever ends it.
 * 3. The driver is initialised once, by the process `initialised_by`. It does not survive a fork:
 * a child is refused here instead of failing in its first call.
 */
#include "runtime/device/cuda/cuda_context.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/device/cuda/cuda_ordinal.h"

#define SPIN_NS  (2 * TF_NS_PER_MS) /* above a step of any model, below what a core is worth */
#define SLEEP_NS 50000

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tf_cuda_context *contexts; /* under the lock, as the members of each that change */
static pid_t initialised_by;             /* 0: nobody yet */

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
		if (context->is_retained)
			(void)api->cuDevicePrimaryCtxRelease(context->device);
	}
	tf_free(context);
}

static struct tf_cuda_context *find_handle(CUcontext handle)
{
	struct tf_cuda_context *context = contexts;

	while (context && context->handle != handle)
		context = context->next;
	return context;
}

static struct tf_cuda_context *find_retained(uint32_t ordinal)
{
	struct tf_cuda_context *context = contexts;

	while (context && (!context->is_retained || context->ordinal != ordinal))
		context = context->next;
	return context;
}

/* Takes the retain over, if it is one, also on failure. */
static enum tf_status add(
	const struct tf_cuda_context *made, struct tf_cuda_context **out, struct tf_error *err)
{
	struct tf_cuda_context *context = tf_calloc(1, sizeof(*context));
	enum tf_status status;

	if (!context) {
		if (made->is_retained)
			(void)made->api->cuDevicePrimaryCtxRelease(made->device);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a context");
	}
	*context = *made;
	context->references = 1;
	status = tf_cuda_context_enter(context, err);
	if (status == TF_OK)
		status = TF_CU(made->api, err, cuStreamCreate(&context->transfer, CU_STREAM_NON_BLOCKING));
	if (status != TF_OK) {
		release(context);
		return status;
	}
	context->next = contexts;
	contexts = context;
	*out = context;
	return TF_OK;
}

/* One more reference to a context of the list, current on this thread. */
static enum tf_status share(
	struct tf_cuda_context *context, struct tf_cuda_context **out, struct tf_error *err)
{
	TF_TRY(tf_cuda_context_enter(context, err));
	context->references++;
	*out = context;
	return TF_OK;
}

/* The primary context; one that is in the list as an engine's is retained from here on. */
static enum tf_status ref_primary(const struct tf_cuda_api *api, uint32_t ordinal,
	struct tf_cuda_context **out, struct tf_error *err)
{
	struct tf_cuda_context made = {.api = api, .ordinal = ordinal, .is_retained = 1};
	struct tf_cuda_context *context = find_retained(ordinal);

	if (context)
		return share(context, out, err);
	TF_TRY(TF_CU(api, err, cuDeviceGet(&made.device, (int)ordinal)));
	TF_TRY(TF_CU(api, err, cuDevicePrimaryCtxRetain(&made.handle, made.device)));
	context = find_handle(made.handle);
	if (!context)
		return add(&made, out, err);
	context->is_retained = 1;
	return share(context, out, err);
}

/* Under the lock. */
static enum tf_status ref(uint32_t ordinal, struct tf_cuda_context **out, struct tf_error *err)
{
	const struct tf_cuda_api *api;
	enum tf_status status;

	TF_TRY(tf_cuda_api_open(&api, err));
	TF_TRY(check_ordinal(api, ordinal, err));
	status = ref_primary(api, ordinal, out, err);
	if (status != TF_OK)
		tf_error_prefix(err, "device %u", ordinal);
	return status;
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

/* The caller's own context: borrowed until the last reference goes. */
static enum tf_status ref_current(const struct tf_cuda_api *api, CUcontext current, CUdevice device,
	uint32_t ordinal, struct tf_cuda_context **out, struct tf_error *err)
{
	struct tf_cuda_context made = {
		.api = api, .ordinal = ordinal, .device = device, .handle = current};
	struct tf_cuda_context *context = find_handle(current);

	return context ? share(context, out, err) : add(&made, out, err);
}

/* Under the lock. */
static enum tf_status ref_guest(
	const char *which, struct tf_cuda_context **out, struct tf_error *err)
{
	const struct tf_cuda_api *api;
	CUcontext current = NULL;
	CUdevice device = 0, wanted = 0;
	uint32_t ordinal = 0, count = 0;
	enum tf_status status;

	TF_TRY(tf_cuda_api_open(&api, err));
	TF_TRY(count_devices(api, &count, err));
	TF_TRY(TF_CU(api, err, cuCtxGetCurrent(&current)));
	if (current)
		TF_TRY(TF_CU(api, err, cuCtxGetDevice(&device)));
	if (which)
		TF_TRY(tf_cuda_ordinal_find(api, count, which, &ordinal, err));
	else if (current)
		TF_TRY(tf_cuda_ordinal_of(api, count, device, &ordinal, err));
	TF_TRY(check_ordinal(api, ordinal, err));
	TF_TRY(TF_CU(api, err, cuDeviceGet(&wanted, (int)ordinal)));
	status = current && device == wanted ? ref_current(api, current, device, ordinal, out, err)
										 : ref_primary(api, ordinal, out, err);
	if (status != TF_OK)
		tf_error_prefix(err, "device %u", ordinal);
	return status;
}

enum tf_status tf_cuda_context_guest(
	const char *which, struct tf_cuda_context **out, struct tf_error *err)
{
	enum tf_status status;

	pthread_mutex_lock(&contexts_lock);
	status = ref_guest(which, out, err);
	pthread_mutex_unlock(&contexts_lock);
	return status;
}

void tf_cuda_context_again(struct tf_cuda_context *context)
{
	pthread_mutex_lock(&contexts_lock);
	context->references++;
	pthread_mutex_unlock(&contexts_lock);
}

struct tf_cuda_context *tf_cuda_context_hold(struct tf_cuda_context *context)
{
	struct tf_cuda_context *held = NULL;

	pthread_mutex_lock(&contexts_lock);
	if (context->is_retained) {
		context->references++;
		held = context;
	}
	pthread_mutex_unlock(&contexts_lock);
	return held;
}

void tf_cuda_context_unref(struct tf_cuda_context *context)
{
	if (!context)
		return;
	pthread_mutex_lock(&contexts_lock);
	if (--context->references == 0) {
		struct tf_cuda_context **at = &contexts;

		while (*at != context)
			at = &(*at)->next;
		*at = context->next;
		release(context);
	}
	pthread_mutex_unlock(&contexts_lock);
}

enum tf_status tf_cuda_context_enter(const struct tf_cuda_context *context, struct tf_error *err)
{
	return TF_CU(context->api, err, cuCtxSetCurrent(context->handle));
}

void *tf_cuda_context_current(void)
{
	const struct tf_cuda_api *api = tf_cuda_api_peek();
	CUcontext current = NULL;

	return api && api->cuCtxGetCurrent(&current) == CUDA_SUCCESS ? current : NULL;
}

void tf_cuda_context_put_back(void *handle)
{
	const struct tf_cuda_api *api = tf_cuda_api_peek();

	if (api && tf_cuda_context_current() != handle)
		(void)api->cuCtxSetCurrent(handle);
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

enum tf_status tf_cuda_context_end_capture(
	const struct tf_cuda_context *context, CUstream stream, CUgraph *out, struct tf_error *err)
{
	CUgraph graph = NULL;
	enum tf_status status = TF_CU(context->api, err, cuStreamEndCapture(stream, &graph));

	if (status == TF_OK && !graph)
		return TF_FAIL(err, TF_E_SYSTEM, "the capture was broken by one of its calls");
	if (status == TF_OK)
		*out = graph;
	else if (graph)
		(void)context->api->cuGraphDestroy(graph);
	return status;
}
