/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA device, by the driver API alone. Every operation makes its device's context current on
 * the calling thread and leaves it so; public calls put back what was there (caller_context.h).
 *
 * What differs from the host device:
 * 1. Work runs from the moment it is launched; a wait that timed out leaves it running.
 * 2. The CPU cannot touch the window (no TF_DEVICE_ADDRESSABLE): read and write do.
 * 3. The driver does not survive a fork: a child opens devices only if its parent has opened none.
 * 4. A graph's copies and sets are checked by the driver when it is built: the window is mapped
 * by then.
 * 5. Several ranks of one process on one device need a hardware queue each, or one that waits in
 * a kernel keeps another from starting: CUDA_DEVICE_MAX_CONNECTIONS=32 in the environment.
 */
#include "runtime/device/cuda/cuda_device.h"

#include "base/alloc.h"
#include "runtime/device/cuda/cuda_graph.h"
#include "runtime/device/cuda/cuda_module.h"
#include "runtime/device/cuda/cuda_segment.h"
#include "runtime/device/cuda/cuda_stream.h"
#include "runtime/device/cuda/cuda_window.h"

static void cuda_close(struct tf_device *device)
{
	if (!device)
		return;
	tf_cuda_context_unref(device->context);
	tf_free(device);
}

/* Takes the reference over, also on failure. */
static enum tf_status open_in(
	struct tf_cuda_context *context, struct tf_device **out, struct tf_error *err)
{
	struct tf_device *device = tf_calloc(1, sizeof(*device));
	enum tf_status status;

	if (!device) {
		tf_cuda_context_unref(context);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a CUDA device");
	}
	device->context = context;
	status = tf_cuda_device_look(device, err);
	if (status != TF_OK) {
		tf_error_prefix(err, "device %u", context->ordinal);
		cuda_close(device);
		return status;
	}
	device->properties.ordinal = context->ordinal;
	device->properties.context = (uintptr_t)context->handle;
	*out = device;
	return TF_OK;
}

static enum tf_status cuda_open(uint32_t ordinal, struct tf_device **out, struct tf_error *err)
{
	struct tf_cuda_context *context;

	TF_TRY(tf_cuda_context_ref(ordinal, &context, err));
	return open_in(context, out, err);
}

static enum tf_status cuda_guest_open(
	const char *which, struct tf_device **out, struct tf_error *err)
{
	struct tf_cuda_context *context;

	TF_TRY(tf_cuda_context_guest(which, &context, err));
	return open_in(context, out, err);
}

static void cuda_properties(const struct tf_device *device, struct tf_device_properties *out)
{
	*out = device->properties;
}

/*
 * An address outside every mapping would take the context with it, so it is refused before the
 * driver sees it.
 */
static enum tf_status check_move(
	const void *to, const void *from, const void *window, size_t bytes, struct tf_error *err)
{
	if (!to || !from)
		return TF_FAIL(
			err, TF_E_USAGE, "moving %zu bytes without a %s", bytes, to ? "source" : "destination");
	if (!tf_cuda_window_covers((uintptr_t)window, bytes))
		return TF_FAIL(err, TF_E_USAGE,
			"moving %zu bytes at %p, which no mapped segment of this process holds", bytes, window);
	return TF_OK;
}

static enum tf_status cuda_read(
	struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err)
{
	const struct tf_cuda_context *context = device->context;

	if (!bytes)
		return TF_OK;
	TF_TRY(check_move(to, from, from, bytes, err));
	TF_TRY(tf_cuda_context_enter(context, err));
	TF_TRY(TF_CU(context->api, err,
		cuMemcpyDtoHAsync(to, (CUdeviceptr)(uintptr_t)from, bytes, context->transfer)));
	return tf_cuda_context_settle(context, err);
}

static enum tf_status cuda_enter(struct tf_device *device, struct tf_error *err)
{
	return tf_cuda_context_enter(device->context, err);
}

static enum tf_status cuda_write(
	struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err)
{
	const struct tf_cuda_context *context = device->context;

	if (!bytes)
		return TF_OK;
	TF_TRY(check_move(to, from, to, bytes, err));
	TF_TRY(tf_cuda_context_enter(context, err));
	TF_TRY(TF_CU(context->api, err,
		cuMemcpyHtoDAsync((CUdeviceptr)(uintptr_t)to, from, bytes, context->transfer)));
	return tf_cuda_context_settle(context, err);
}

const struct tf_device_ops tf_cuda_device_ops = {
	.name = "cuda",
	.open = cuda_open,
	.guest_open = cuda_guest_open,
	.close = cuda_close,
	.properties = cuda_properties,
	.enter = cuda_enter,
	.segment_create = tf_cuda_segment_create,
	.host_segment_create = tf_cuda_host_segment_create,
	.window_open = tf_cuda_window_open,
	.window_base = tf_cuda_window_base,
	.window_map = tf_cuda_window_map,
	.window_map_own = tf_cuda_window_map_own,
	.window_close = tf_cuda_window_close,
	.read = cuda_read,
	.write = cuda_write,
	.module_load = tf_cuda_module_load,
	.module_unload = tf_cuda_module_unload,
	.kernel_find = tf_cuda_kernel_find,
	.kernel_params = tf_cuda_kernel_params,
	.stream_create = tf_cuda_stream_create,
	.stream_destroy = tf_cuda_stream_destroy,
	.stream_launch = tf_cuda_stream_launch,
	.stream_copy = tf_cuda_stream_copy,
	.stream_set = tf_cuda_stream_set,
	.stream_comm = tf_cuda_stream_comm,
	.stream_graph = tf_cuda_stream_graph,
	.stream_wait = tf_cuda_stream_wait,
	.stream_note = tf_cuda_stream_note,
	.stream_tap = tf_cuda_stream_tap,
	.graph_build = tf_cuda_graph_build,
	.graph_destroy = tf_cuda_graph_destroy,
	.graph_enqueue = tf_cuda_graph_enqueue,
};
