/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream hands each operation to the driver at once and remembers how many it has not waited
 * for. It is a non-blocking stream: the legacy stream of an engine in this process does not hold
 * it up.
 *
 * Invariant: `pending` is zero only if nothing of this stream runs. A wait that timed out leaves
 * it as it was, so that the next wait, or the end of the stream, waits for the same work.
 */
#include "runtime/device/cuda/cuda_stream.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/program.h"
#include "runtime/device/comm_node.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/cuda/cuda_graph.h"
#include "runtime/device/cuda/cuda_node.h"

#define PENDING_MAX (UINT32_C(1) << 20) /* a caller that never waits, not a long capture */
#define DRAIN_NS    (10 * TF_NS_PER_S)  /* at the end of a stream; kernels bound their own waits */

struct tf_stream {
	struct tf_cuda_context *context; /* a reference */
	CUstream handle;
	uint32_t number; /* of this process, for messages */
	uint32_t pending;
	void *note; /* TF_STREAM_NOTE_BYTES of pinned memory: a copy to it never blocks the caller */
	tf_stream_tap_fn tap;
	void *tap_user;
};

static atomic_uint streams_made;

enum tf_status tf_cuda_stream_create(
	struct tf_device *device, struct tf_stream **out, struct tf_error *err)
{
	const struct tf_cuda_api *api = device->context->api;
	struct tf_stream *stream = tf_calloc(1, sizeof(*stream));
	enum tf_status status;

	if (!stream)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a stream");
	status = tf_cuda_context_enter(device->context, err);
	if (status == TF_OK)
		status = TF_CU(api, err, cuMemHostAlloc(&stream->note, TF_STREAM_NOTE_BYTES, 0));
	if (status == TF_OK)
		status = TF_CU(api, err, cuStreamCreate(&stream->handle, CU_STREAM_NON_BLOCKING));
	if (status != TF_OK) {
		if (stream->note)
			(void)api->cuMemFreeHost(stream->note);
		tf_free(stream);
		return status;
	}
	tf_cuda_context_again(device->context);
	stream->context = device->context;
	stream->number = ++streams_made;
	*out = stream;
	return TF_OK;
}

/* What runs cannot be dropped: it is waited for, so that its memory may be unmapped behind it. */
void tf_cuda_stream_destroy(struct tf_stream *stream)
{
	if (!stream)
		return;
	if (tf_cuda_context_enter(stream->context, NULL) == TF_OK) {
		if (stream->pending)
			(void)!tf_cuda_context_wait(
				stream->context, stream->handle, tf_deadline_after(DRAIN_NS), NULL);
		(void)stream->context->api->cuStreamDestroy(stream->handle);
		(void)stream->context->api->cuMemFreeHost(stream->note);
	}
	tf_cuda_context_unref(stream->context);
	tf_free(stream);
}

static enum tf_status check_room(const struct tf_stream *stream, struct tf_error *err)
{
	if (stream->pending >= PENDING_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "stream: %u operations are queued, wait for them first",
			stream->pending);
	return tf_cuda_context_enter(stream->context, err);
}

static enum tf_status push_node(
	struct tf_stream *stream, const struct tf_exec_node *node, struct tf_error *err)
{
	enum tf_status status = tf_cuda_node_check(node, TF_E_USAGE, err);

	if (status == TF_OK && stream->tap)
		return stream->tap(stream->tap_user, node, err);
	if (status == TF_OK)
		status = check_room(stream, err);
	if (status == TF_OK) {
		status = tf_cuda_node_launch(stream->context, node, stream->handle, err);
		/* a library's call that failed may have begun its work */
		stream->pending += status == TF_OK || node->kind == TF_NODE_COMM;
	}
	if (status != TF_OK)
		tf_error_prefix(err, "stream");
	return status;
}

enum tf_status tf_cuda_stream_launch(
	struct tf_stream *stream, const struct tf_launch_call *call, struct tf_error *err)
{
	struct tf_exec_node node = {.kind = TF_NODE_KERNEL, .launch = *call};

	return push_node(stream, &node, err);
}

enum tf_status tf_cuda_stream_copy(
	struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	struct tf_exec_node node = {.kind = TF_NODE_COPY, .to = to, .from = from, .bytes = bytes};

	return push_node(stream, &node, err);
}

enum tf_status tf_cuda_stream_set(
	struct tf_stream *stream, void *to, uint8_t value, uint64_t bytes, struct tf_error *err)
{
	struct tf_exec_node node = {.kind = TF_NODE_SET, .to = to, .bytes = bytes, .value = value};

	return push_node(stream, &node, err);
}

enum tf_status tf_cuda_stream_comm(
	struct tf_stream *stream, const struct tf_comm_call *call, struct tf_error *err)
{
	struct tf_exec_node node;

	TF_TRY(tf_comm_node_of_call(call, &node, err));
	return push_node(stream, &node, err);
}

enum tf_status tf_cuda_stream_graph(
	struct tf_stream *stream, struct tf_exec *exec, struct tf_error *err)
{
	enum tf_status status;

	if (!exec)
		return TF_FAIL(err, TF_E_USAGE, "stream: a launch without a graph");
	if (stream->tap)
		return tf_cuda_exec_tap(exec, stream->tap, stream->tap_user, err);
	status = check_room(stream, err);
	if (status == TF_OK)
		status = tf_cuda_exec_launch(exec, stream->handle, err);
	if (status != TF_OK) {
		tf_error_prefix(err, "stream");
		return status;
	}
	stream->pending++;
	return TF_OK;
}

enum tf_status tf_cuda_stream_note(struct tf_stream *stream, const void *from, uint32_t bytes,
	const void **out_note, struct tf_error *err)
{
	if (!from || bytes > TF_STREAM_NOTE_BYTES)
		return TF_FAIL(err, TF_E_USAGE, "stream: a note of %u bytes at %p, at most %d are taken",
			bytes, from, TF_STREAM_NOTE_BYTES);
	TF_TRY(check_room(stream, err));
	TF_TRY(TF_CU(stream->context->api, err,
		cuMemcpyDtoHAsync(stream->note, (CUdeviceptr)(uintptr_t)from, bytes, stream->handle)));
	stream->pending++;
	*out_note = stream->note;
	return TF_OK;
}

enum tf_status tf_cuda_stream_wait(
	struct tf_stream *stream, int64_t deadline_ns, struct tf_error *err)
{
	enum tf_status status;

	if (!stream->pending)
		return TF_OK;
	status = tf_cuda_context_enter(stream->context, err);
	if (status == TF_OK)
		status = tf_cuda_context_wait(stream->context, stream->handle, deadline_ns, err);
	if (status != TF_OK)
		tf_error_prefix(err, "stream %u of device %u: %u operations", stream->number,
			stream->context->ordinal, stream->pending);
	if (status != TF_E_TIMEOUT)
		stream->pending = 0;
	return status;
}

void tf_cuda_stream_tap(struct tf_stream *stream, tf_stream_tap_fn fn, void *user)
{
	stream->tap = fn;
	stream->tap_user = user;
}

struct tf_cuda_context *tf_cuda_stream_context(const struct tf_stream *stream)
{
	return stream->context;
}

void *tf_cuda_stream_native(const struct tf_stream *stream)
{
	return stream->handle;
}
