/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of the host device: the stream_ operations of the table. */
#ifndef TF_RUNTIME_DEVICE_HOST_HOST_STREAM_H
#define TF_RUNTIME_DEVICE_HOST_HOST_STREAM_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tf_status tf_host_stream_create(
	struct tf_device *device, struct tf_stream **out, struct tf_error *err);
void tf_host_stream_destroy(struct tf_stream *stream);
enum tf_status tf_host_stream_launch(
	struct tf_stream *stream, const struct tf_launch_call *call, struct tf_error *err);
enum tf_status tf_host_stream_copy(
	struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err);
enum tf_status tf_host_stream_set(
	struct tf_stream *stream, void *to, uint8_t value, uint64_t bytes, struct tf_error *err);
enum tf_status tf_host_stream_comm(
	struct tf_stream *stream, const struct tf_comm_call *call, struct tf_error *err);
enum tf_status tf_host_stream_graph(
	struct tf_stream *stream, struct tf_exec *exec, struct tf_error *err);
enum tf_status tf_host_stream_wait(
	struct tf_stream *stream, int64_t deadline_ns, struct tf_error *err);
enum tf_status tf_host_stream_note(struct tf_stream *stream, const void *from, uint32_t bytes,
	const void **out_note, struct tf_error *err);
void tf_host_stream_tap(struct tf_stream *stream, tf_stream_tap_fn fn, void *user);

#ifdef __cplusplus
}
#endif
#endif
