/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host device: this machine's processes, threads and memory. Nothing to open, so a handle
 * holds nothing but its ordinal; what lasts (windows, the built-in module) belongs to the
 * process.
 */
#include "runtime/device/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "runtime/device/host/host_graph.h"
#include "runtime/device/host/host_module.h"
#include "runtime/device/host/host_stream.h"
#include "runtime/device/host/host_window.h"

struct tf_device {
	uint32_t ordinal;
};

static enum tf_status host_open(uint32_t ordinal, struct tf_device **out, struct tf_error *err)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	struct tf_device *device;

	if (ordinal != 0)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "there is no host device %u, only 0", ordinal);
	if (page_bytes <= 0 || TF_HOST_GRANULARITY % (uint64_t)page_bytes)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "pages of %ld bytes do not divide segments of %llu",
			page_bytes, (unsigned long long)TF_HOST_GRANULARITY);
	device = tf_calloc(1, sizeof(*device));
	if (!device)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a host device");
	device->ordinal = ordinal;
	*out = device;
	return TF_OK;
}

static enum tf_status host_guest_open(
	const char *which, struct tf_device **out, struct tf_error *err)
{
	if (which && strcmp(which, "0") != 0)
		return TF_FAIL(err, TF_E_USAGE, "'%.64s' names no host device, there is '0' only", which);
	return host_open(0, out, err);
}

static void host_close(struct tf_device *device)
{
	tf_free(device);
}

static void host_properties(const struct tf_device *device, struct tf_device_properties *out)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long page_bytes = sysconf(_SC_PAGESIZE);

	(void)device;
	*out = (struct tf_device_properties){
		.kind = "host",
		.model = "host",
		.memory_bytes = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0,
		.granularity_bytes = TF_HOST_GRANULARITY,
		.capabilities = TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC |
			TF_DEVICE_ADDRESSABLE,
	};
}

static enum tf_status host_enter(struct tf_device *device, struct tf_error *err)
{
	(void)device, (void)err;
	return TF_OK;
}

static enum tf_status host_move(
	struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err)
{
	(void)device;
	if (!bytes)
		return TF_OK;
	if (!to || !from)
		return TF_FAIL(
			err, TF_E_USAGE, "moving %zu bytes without a %s", bytes, to ? "source" : "destination");
	memcpy(to, from, bytes);
	return TF_OK;
}

const struct tf_device_ops tf_host_device_ops = {
	.name = "host",
	.open = host_open,
	.guest_open = host_guest_open,
	.close = host_close,
	.properties = host_properties,
	.enter = host_enter,
	.segment_create = tf_host_segment_create,
	.host_segment_create = tf_host_segment_create,
	.window_open = tf_host_window_open,
	.window_base = tf_host_window_base,
	.window_map = tf_host_window_map,
	.window_map_own = tf_host_window_map_own,
	.window_close = tf_host_window_close,
	.read = host_move,
	.write = host_move,
	.module_load = tf_host_module_load,
	.module_unload = tf_host_module_unload,
	.kernel_find = tf_host_kernel_find,
	.kernel_params = tf_host_kernel_params,
	.stream_create = tf_host_stream_create,
	.stream_destroy = tf_host_stream_destroy,
	.stream_launch = tf_host_stream_launch,
	.stream_copy = tf_host_stream_copy,
	.stream_set = tf_host_stream_set,
	.stream_comm = tf_host_stream_comm,
	.stream_graph = tf_host_stream_graph,
	.stream_wait = tf_host_stream_wait,
	.stream_note = tf_host_stream_note,
	.stream_tap = tf_host_stream_tap,
	.graph_build = tf_host_graph_build,
	.graph_destroy = tf_host_graph_destroy,
	.graph_enqueue = tf_host_graph_enqueue,
};
