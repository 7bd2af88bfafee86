/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device that does nothing. Its table is positional, so that an operation added to struct
 * tf_device_ops and forgotten here breaks the build; callers never test an operation for NULL.
 */
#include "runtime/device/device.h"

#include <string.h>

#define UNSUPPORTED(err, op)                                                                       \
	TF_FAIL((err), TF_E_UNSUPPORTED, "this device lacks the operation '%s'", (op))

static enum tf_status stub_open(uint32_t ordinal, struct tf_device **out, struct tf_error *err)
{
	(void)ordinal, (void)out;
	return UNSUPPORTED(err, "open");
}

static enum tf_status stub_guest_open(
	const char *which, struct tf_device **out, struct tf_error *err)
{
	(void)which, (void)out;
	return UNSUPPORTED(err, "guest_open");
}

static void stub_close(struct tf_device *device)
{
	(void)device;
}

static void stub_properties(const struct tf_device *device, struct tf_device_properties *out)
{
	(void)device;
	memset(out, 0, sizeof(*out));
}

static enum tf_status stub_enter(struct tf_device *device, struct tf_error *err)
{
	(void)device;
	return UNSUPPORTED(err, "enter");
}

static enum tf_status stub_segment_create(
	struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err)
{
	(void)device, (void)bytes, (void)out_fd;
	return UNSUPPORTED(err, "segment_create");
}

static enum tf_status stub_host_segment_create(
	struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err)
{
	(void)device, (void)bytes, (void)out_fd;
	return UNSUPPORTED(err, "host_segment_create");
}

static enum tf_status stub_window_open(struct tf_device *device,
	const uint8_t token[TF_WINDOW_TOKEN_BYTES], uint64_t base, uint64_t stride, uint32_t world,
	struct tf_window **out, struct tf_error *err)
{
	(void)device, (void)token, (void)base, (void)stride, (void)world, (void)out;
	return UNSUPPORTED(err, "window_open");
}

static uint64_t stub_window_base(const struct tf_window *window)
{
	(void)window;
	return 0;
}

static enum tf_status stub_window_map(
	struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err)
{
	(void)window, (void)rank, (void)fd, (void)bytes;
	return UNSUPPORTED(err, "window_map");
}

static enum tf_status stub_window_map_own(struct tf_window *window, struct tf_device *device,
	uint32_t rank, uint64_t off, int fd, uint64_t bytes, struct tf_error *err)
{
	(void)window, (void)device, (void)rank, (void)off, (void)fd, (void)bytes;
	return UNSUPPORTED(err, "window_map_own");
}

static void stub_window_close(struct tf_window *window)
{
	(void)window;
}

static enum tf_status stub_read(
	struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err)
{
	(void)device, (void)to, (void)from, (void)bytes;
	return UNSUPPORTED(err, "read");
}

static enum tf_status stub_write(
	struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err)
{
	(void)device, (void)to, (void)from, (void)bytes;
	return UNSUPPORTED(err, "write");
}

static enum tf_status stub_module_load(struct tf_device *device, const void *image, size_t bytes,
	const uint8_t digest[32], struct tf_module_handle **out, struct tf_error *err)
{
	(void)device, (void)image, (void)bytes, (void)digest, (void)out;
	return UNSUPPORTED(err, "module_load");
}

static void stub_module_unload(struct tf_module_handle *module)
{
	(void)module;
}

static enum tf_status stub_kernel_find(struct tf_module_handle *module, const char *name,
	uint32_t args_bytes, const struct tf_kernel_handle **out, struct tf_error *err)
{
	(void)module, (void)name, (void)args_bytes, (void)out;
	return UNSUPPORTED(err, "kernel_find");
}

static enum tf_status stub_kernel_params(struct tf_module_handle *module, const char *name,
	struct tf_exec_param *out, uint32_t max, uint32_t *out_count, struct tf_error *err)
{
	(void)module, (void)name, (void)out, (void)max, (void)out_count;
	return UNSUPPORTED(err, "kernel_params");
}

static enum tf_status stub_stream_create(
	struct tf_device *device, struct tf_stream **out, struct tf_error *err)
{
	(void)device, (void)out;
	return UNSUPPORTED(err, "stream_create");
}

static void stub_stream_destroy(struct tf_stream *stream)
{
	(void)stream;
}

static enum tf_status stub_stream_launch(
	struct tf_stream *stream, const struct tf_launch_call *call, struct tf_error *err)
{
	(void)stream, (void)call;
	return UNSUPPORTED(err, "stream_launch");
}

static enum tf_status stub_stream_copy(
	struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	(void)stream, (void)to, (void)from, (void)bytes;
	return UNSUPPORTED(err, "stream_copy");
}

static enum tf_status stub_stream_set(
	struct tf_stream *stream, void *to, uint8_t value, uint64_t bytes, struct tf_error *err)
{
	(void)stream, (void)to, (void)value, (void)bytes;
	return UNSUPPORTED(err, "stream_set");
}

static enum tf_status stub_stream_comm(
	struct tf_stream *stream, const struct tf_comm_call *call, struct tf_error *err)
{
	(void)stream, (void)call;
	return UNSUPPORTED(err, "stream_comm");
}

static enum tf_status stub_stream_graph(
	struct tf_stream *stream, struct tf_exec *exec, struct tf_error *err)
{
	(void)stream, (void)exec;
	return UNSUPPORTED(err, "stream_graph");
}

static enum tf_status stub_stream_wait(
	struct tf_stream *stream, int64_t deadline_ns, struct tf_error *err)
{
	(void)stream, (void)deadline_ns;
	return UNSUPPORTED(err, "stream_wait");
}

static enum tf_status stub_stream_note(struct tf_stream *stream, const void *from, uint32_t bytes,
	const void **out_note, struct tf_error *err)
{
	(void)stream, (void)from, (void)bytes, (void)out_note;
	return UNSUPPORTED(err, "stream_note");
}

static void stub_stream_tap(struct tf_stream *stream, tf_stream_tap_fn fn, void *user)
{
	(void)stream, (void)fn, (void)user;
}

static enum tf_status stub_graph_build(struct tf_device *device, const struct tf_exec_node *nodes,
	uint32_t node_count, const struct tf_exec_edge *edges, uint32_t edge_count,
	struct tf_exec **out, struct tf_error *err)
{
	(void)device, (void)nodes, (void)node_count, (void)edges, (void)edge_count, (void)out;
	return UNSUPPORTED(err, "graph_build");
}

static void stub_graph_destroy(struct tf_exec *exec)
{
	(void)exec;
}

static enum tf_status stub_graph_enqueue(struct tf_exec *exec, void *stream, struct tf_error *err)
{
	(void)exec, (void)stream;
	return UNSUPPORTED(err, "graph_enqueue");
}

const struct tf_device_ops tf_stub_device_ops = {
	"stub",
	stub_open,
	stub_guest_open,
	stub_close,
	stub_properties,
	stub_enter,
	stub_segment_create,
	stub_host_segment_create,
	stub_window_open,
	stub_window_base,
	stub_window_map,
	stub_window_map_own,
	stub_window_close,
	stub_read,
	stub_write,
	stub_module_load,
	stub_module_unload,
	stub_kernel_find,
	stub_kernel_params,
	stub_stream_create,
	stub_stream_destroy,
	stub_stream_launch,
	stub_stream_copy,
	stub_stream_set,
	stub_stream_comm,
	stub_stream_graph,
	stub_stream_wait,
	stub_stream_note,
	stub_stream_tap,
	stub_graph_build,
	stub_graph_destroy,
	stub_graph_enqueue,
};
