/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream is a queue that fills between two waits and empties in the wait, on the waiting
 * thread. So it is two growing blocks, entries and their argument bytes, that start over after
 * each wait.
 *
 * Invariants:
 * 1. Blocks only grow, and only when an operation does not fit: a repeated step allocates
 * nothing.
 * 2. Every entry has passed tf_host_node_check, or is a graph.
 * 3. After stream_wait the queue is empty, whatever the wait returned.
 */
#include "runtime/device/host/host_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "catalog/program.h"
#include "runtime/device/comm_node.h"
#include "runtime/device/host/host_graph.h"
#include "runtime/device/host/host_node.h"

#define ENTRIES_START 64
#define ENTRIES_MAX   (UINT32_C(1) << 20) /* a caller that never waits, not a long capture */
#define ARGS_START    (UINT32_C(16) << 10)
#define ARGS_ALIGN    16 /* no argument struct needs more */

struct entry {
	struct tf_exec *exec; /* a graph, or NULL: then `node` */
	struct tf_exec_node node;
	size_t args_off; /* of a kernel, in stream.args */
};

struct tf_stream {
	struct entry *entries; /* (capacity), `count` in use */
	uint32_t count, capacity;
	uint8_t *args;
	size_t args_used, args_capacity;
	tf_stream_tap_fn tap;
	void *tap_user;
};

enum tf_status tf_host_stream_create(
	struct tf_device *device, struct tf_stream **out, struct tf_error *err)
{
	struct tf_stream *stream = tf_calloc(1, sizeof(*stream));

	(void)device;
	if (!stream)
		goto fail;
	stream->entries = tf_calloc(ENTRIES_START, sizeof(*stream->entries));
	stream->args = tf_calloc(ARGS_START, 1);
	if (!stream->entries || !stream->args)
		goto fail;
	stream->capacity = ENTRIES_START;
	stream->args_capacity = ARGS_START;
	*out = stream;
	return TF_OK;
fail:
	tf_host_stream_destroy(stream);
	return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a stream");
}

void tf_host_stream_destroy(struct tf_stream *stream)
{
	if (!stream)
		return;
	tf_free(stream->entries);
	tf_free(stream->args);
	tf_free(stream);
}

static enum tf_status grow_entries(struct tf_stream *stream, struct tf_error *err)
{
	struct entry *entries;

	if (stream->capacity >= ENTRIES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "stream: %u operations are queued, wait for them first",
			stream->count);
	entries = tf_reallocarray(stream->entries, 2 * (size_t)stream->capacity, sizeof(*entries));
	if (!entries)
		return TF_FAIL(
			err, TF_E_NO_MEMORY, "stream: no memory for %u operations", 2 * stream->capacity);
	stream->entries = entries;
	stream->capacity *= 2;
	return TF_OK;
}

static enum tf_status grow_args(struct tf_stream *stream, size_t need, struct tf_error *err)
{
	size_t capacity = stream->args_capacity;
	uint8_t *args;

	while (capacity < need)
		capacity *= 2;
	args = tf_reallocarray(stream->args, capacity, 1);
	if (!args)
		return TF_FAIL(err, TF_E_NO_MEMORY, "stream: no memory for %zu argument bytes", capacity);
	stream->args = args;
	stream->args_capacity = capacity;
	return TF_OK;
}

/* Room for one more entry with `args_bytes`; the queue is unchanged on failure. */
static enum tf_status reserve(struct tf_stream *stream, uint32_t args_bytes, struct tf_error *err)
{
	size_t need = stream->args_used + tf_align_up(args_bytes, ARGS_ALIGN);

	if (stream->count == stream->capacity)
		TF_TRY(grow_entries(stream, err));
	if (need > stream->args_capacity)
		TF_TRY(grow_args(stream, need, err));
	return TF_OK;
}

static enum tf_status push_node(
	struct tf_stream *stream, const struct tf_exec_node *node, struct tf_error *err)
{
	uint32_t args_bytes = node->kind == TF_NODE_KERNEL ? node->launch.args_bytes : 0;
	enum tf_status status = tf_host_node_check(node, TF_E_USAGE, err);
	struct entry *entry;

	if (status != TF_OK) {
		tf_error_prefix(err, "stream");
		return status;
	}
	if (stream->tap)
		return stream->tap(stream->tap_user, node, err);
	TF_TRY(reserve(stream, args_bytes, err));
	entry = &stream->entries[stream->count++];
	*entry = (struct entry){.node = *node, .args_off = stream->args_used};
	if (args_bytes)
		memcpy(stream->args + stream->args_used, node->launch.args, args_bytes);
	stream->args_used += tf_align_up(args_bytes, ARGS_ALIGN);
	return TF_OK;
}

enum tf_status tf_host_stream_launch(
	struct tf_stream *stream, const struct tf_launch_call *call, struct tf_error *err)
{
	struct tf_exec_node node = {.kind = TF_NODE_KERNEL, .launch = *call};

	return push_node(stream, &node, err);
}

enum tf_status tf_host_stream_copy(
	struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	struct tf_exec_node node = {.kind = TF_NODE_COPY, .to = to, .from = from, .bytes = bytes};

	return push_node(stream, &node, err);
}

enum tf_status tf_host_stream_set(
	struct tf_stream *stream, void *to, uint8_t value, uint64_t bytes, struct tf_error *err)
{
	struct tf_exec_node node = {.kind = TF_NODE_SET, .to = to, .bytes = bytes, .value = value};

	return push_node(stream, &node, err);
}

enum tf_status tf_host_stream_comm(
	struct tf_stream *stream, const struct tf_comm_call *call, struct tf_error *err)
{
	struct tf_exec_node node;

	TF_TRY(tf_comm_node_of_call(call, &node, err));
	return push_node(stream, &node, err);
}

enum tf_status tf_host_stream_graph(
	struct tf_stream *stream, struct tf_exec *exec, struct tf_error *err)
{
	if (!exec)
		return TF_FAIL(err, TF_E_USAGE, "stream: a launch without a graph");
	if (stream->tap)
		return tf_host_exec_tap(exec, stream->tap, stream->tap_user, err);
	TF_TRY(reserve(stream, 0, err));
	stream->entries[stream->count++] = (struct entry){.exec = exec};
	return TF_OK;
}

static enum tf_status run_entry(
	struct tf_stream *stream, struct entry *entry, int64_t deadline_ns, struct tf_error *err)
{
	char text[TF_HOST_NODE_TEXT_BYTES];

	if (entry->exec)
		return tf_host_exec_run(entry->exec, deadline_ns, err);
	if (tf_host_node_late(deadline_ns))
		return TF_FAIL(err, TF_E_TIMEOUT, "%s: the deadline passed before it could start",
			tf_host_node_text(&entry->node, text));
	if (entry->node.kind == TF_NODE_KERNEL)
		entry->node.launch.args = stream->args + entry->args_off;
	return tf_host_node_run(&entry->node, err);
}

enum tf_status tf_host_stream_wait(
	struct tf_stream *stream, int64_t deadline_ns, struct tf_error *err)
{
	enum tf_status status = TF_OK;
	uint32_t i;

	for (i = 0; i < stream->count && status == TF_OK; i++)
		status = run_entry(stream, &stream->entries[i], deadline_ns, err);
	if (status != TF_OK)
		tf_error_prefix(err, "stream: operation %u of %u", i, stream->count);
	stream->count = 0;
	stream->args_used = 0;
	return status;
}

/* The wait runs everything on this thread: what is there after it is what the note would say. */
enum tf_status tf_host_stream_note(struct tf_stream *stream, const void *from, uint32_t bytes,
	const void **out_note, struct tf_error *err)
{
	(void)stream;
	if (!from || bytes > TF_STREAM_NOTE_BYTES)
		return TF_FAIL(err, TF_E_USAGE, "stream: a note of %u bytes at %p, at most %d are taken",
			bytes, from, TF_STREAM_NOTE_BYTES);
	*out_note = from;
	return TF_OK;
}

void tf_host_stream_tap(struct tf_stream *stream, tf_stream_tap_fn fn, void *user)
{
	stream->tap = fn;
	stream->tap_user = user;
}
