/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A stored argument block holds no address and no rank: those words are zero there and stand
 *    in launch_words.
 * 2. Nor does a copy to the rank's own row of a gather's output (tf_node.value).
 * 3. Nothing is allocated on the device between begin and end: a tap only copies bytes into the
 *    program.
 */
#include "prepare/capture/capture.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "prepare/capture/launch_store.h"
#include "runtime/graph/locate.h"

struct tf_capture {
	struct tf_program *program;
	const struct tf_rebuild_target *target;
	struct tf_stream *stream;
	struct tf_graph graph;
	uint32_t node_capacity;
	uint8_t
		*programmatic; /* (node_capacity): the launch may begin before the node before it ends */
	struct tf_launch_store store;
	struct tf_error failed;
};

static uint32_t kernel_index(
	const struct tf_capture *capture, const struct tf_kernel_handle *handle)
{
	for (uint32_t i = 0; i < capture->program->kernel_count; i++) {
		if (capture->target->kernels[i] == handle)
			return i;
	}
	return TF_PROGRAM_NONE;
}

static enum tf_status locate(const struct tf_capture *capture, uint64_t address, uint32_t *out_peer,
	uint64_t *out_off, struct tf_error *err)
{
	return tf_window_locate(&capture->target->window, address, out_peer, out_off, err);
}

/* Takes one word out of the argument bytes. */
static enum tf_status draft_word(const struct tf_capture *capture,
	const struct tf_kernel_word *word, struct tf_launch_draft *draft, struct tf_error *err)
{
	struct tf_launch_word *out = &draft->words[draft->launch.words_count];
	uint64_t address = 0;

	*out = (struct tf_launch_word){.arg_off = word->arg_off, .kind = word->kind};
	if (word->kind == TF_WORD_RANK) {
		memset(draft->args + word->arg_off, 0, 4);
		draft->launch.words_count++;
		return TF_OK;
	}
	memcpy(&address, draft->args + word->arg_off, sizeof(address));
	if (!address && word->nullable)
		return TF_OK;
	if (locate(capture, address, &out->peer, &out->segment_off, err) != TF_OK) {
		tf_error_prefix(
			err, "%s: %s", capture->program->kernels[draft->launch.kernel].name, word->name);
		return TF_E_INVALID;
	}
	memset(draft->args + word->arg_off, 0, sizeof(address));
	draft->launch.words_count++;
	return TF_OK;
}

static enum tf_status draft_launch(const struct tf_capture *capture,
	const struct tf_launch_call *call, struct tf_launch_draft *draft, struct tf_error *err)
{
	const struct tf_program *program = capture->program;
	const struct tf_kernel *kernel;

	memset(draft, 0, sizeof(*draft));
	draft->launch.kernel = kernel_index(capture, call->kernel);
	if (draft->launch.kernel == TF_PROGRAM_NONE)
		return TF_FAIL(err, TF_E_INVALID, "a kernel that the program does not declare");
	kernel = &program->kernels[draft->launch.kernel];
	if (call->args_bytes != kernel->args_bytes || call->args_bytes > TF_LAUNCH_ARGS_MAX ||
		kernel->words_count > TF_LAUNCH_WORDS_MAX)
		return TF_FAIL(err, TF_E_INVALID,
			"%s: %u bytes of arguments with %u words, declared are %u bytes", kernel->name,
			call->args_bytes, kernel->words_count, kernel->args_bytes);
	memcpy(draft->launch.grid, call->grid, sizeof(call->grid));
	memcpy(draft->launch.block, call->block, sizeof(call->block));
	draft->launch.shared_bytes = call->shared_bytes;
	memcpy(draft->args, call->args, call->args_bytes);
	for (uint32_t i = 0; i < kernel->words_count; i++)
		TF_TRY(draft_word(capture, &program->kernel_words[kernel->words_first + i], draft, err));
	return TF_OK;
}

/*
 * A copy to the own rank's row of a gather's output stands at another offset on every rank. It is
 * stored as the row of whichever rank runs it. A copy that only looks so on this rank looks
 * otherwise on another one, and the programs' digests tell.
 */
static void draft_row(const struct tf_capture *capture, struct tf_node *node)
{
	const struct tf_program *program = capture->program;

	for (uint32_t i = 0; i < program->buffer_count; i++) {
		const struct tf_buffer *buffer = &program->buffers[i];
		uint64_t row = capture->target->window.rank * node->bytes;

		if (buffer->role != TF_BUFFER_OUTPUT || buffer->group >= program->group_count ||
			program->groups[buffer->group].op != TF_OP_ALL_GATHER)
			continue;
		if (node->bytes * program->world != buffer->bytes ||
			node->to_off != buffer->segment_off + row)
			continue;
		node->to_off = buffer->segment_off;
		node->value = 1;
		return;
	}
}

/* A library's call: its group's, on operands of the rank's own segment. */
static enum tf_status convert_comm(const struct tf_capture *capture,
	const struct tf_exec_node *from, struct tf_node *to, struct tf_error *err)
{
	TF_TRY(locate(capture, (uint64_t)(uintptr_t)from->from, &to->from_peer, &to->from_off, err));
	TF_TRY(locate(capture, (uint64_t)(uintptr_t)from->to, &to->to_peer, &to->to_off, err));
	if (to->from_peer || to->to_peer)
		return TF_FAIL(err, TF_E_INVALID,
			"comm '%.32s' of group %u: its %s, 0x%llx, lies in another rank's segment",
			from->caller->name, from->value, to->from_peer ? "input" : "output",
			(unsigned long long)(uintptr_t)(to->from_peer ? from->from : from->to));
	to->bytes = from->bytes;
	to->value = from->value;
	return TF_OK;
}

static enum tf_status convert(struct tf_capture *capture, const struct tf_exec_node *from,
	struct tf_node *to, struct tf_error *err)
{
	struct tf_launch_draft draft;

	*to = (struct tf_node){.kind = (enum tf_node_kind)from->kind, .launch = TF_PROGRAM_NONE};
	switch (from->kind) {
	case TF_NODE_KERNEL:
		TF_TRY(draft_launch(capture, &from->launch, &draft, err));
		return tf_launch_store_put(&capture->store, capture->program, &draft, &to->launch, err);
	case TF_NODE_COPY:
		TF_TRY(
			locate(capture, (uint64_t)(uintptr_t)from->from, &to->from_peer, &to->from_off, err));
		to->bytes = from->bytes;
		TF_TRY(locate(capture, (uint64_t)(uintptr_t)from->to, &to->to_peer, &to->to_off, err));
		draft_row(capture, to);
		return TF_OK;
	case TF_NODE_SET:
		to->bytes = from->bytes;
		to->value = from->value;
		return locate(capture, (uint64_t)(uintptr_t)from->to, &to->to_peer, &to->to_off, err);
	case TF_NODE_COMM:
		return convert_comm(capture, from, to, err);
	case TF_NODE_EMPTY:
		return TF_OK;
	default:
		return TF_FAIL(err, TF_E_INVALID, "an operation of kind %d cannot be carried in a package",
			from->kind);
	}
}

static enum tf_status append_node(
	struct tf_capture *capture, const struct tf_node *node, int programmatic, struct tf_error *err)
{
	struct tf_graph *graph = &capture->graph;

	if (graph->node_count == capture->node_capacity) {
		uint32_t capacity = capture->node_capacity ? 2 * capture->node_capacity : 256;
		struct tf_node *grown = tf_reallocarray(graph->nodes, capacity, sizeof(graph->nodes[0]));
		uint8_t *marks;

		if (!grown)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u nodes", capacity);
		graph->nodes = grown;
		marks = tf_reallocarray(capture->programmatic, capacity, 1);
		if (!marks)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u nodes", capacity);
		capture->programmatic = marks;
		capture->node_capacity = capacity;
	}
	capture->programmatic[graph->node_count] = (uint8_t)programmatic;
	graph->nodes[graph->node_count++] = *node;
	return TF_OK;
}

static enum tf_status tap(void *user, const struct tf_exec_node *from, struct tf_error *err)
{
	struct tf_capture *capture = user;
	struct tf_node node;
	struct tf_error local = {0};
	enum tf_status status = convert(capture, from, &node, &local);

	if (status == TF_OK)
		status = append_node(capture, &node,
			from->kind == TF_NODE_KERNEL && from->launch.flags & TF_LAUNCH_PROGRAMMATIC, &local);
	if (status == TF_OK)
		return TF_OK;
	tf_error_prefix(&local, "node %u", capture->graph.node_count);
	if (capture->failed.status == TF_OK)
		capture->failed = local;
	if (err)
		*err = local;
	return status;
}

enum tf_status tf_capture_begin(struct tf_program *program, const struct tf_rebuild_target *target,
	struct tf_stream *stream, enum tf_graph_kind kind, uint32_t capacity, struct tf_capture **out,
	struct tf_error *err)
{
	struct tf_capture *capture;

	if (!program)
		return TF_FAIL(err, TF_E_USAGE,
			"a capture needs package storage: without it nothing could be shipped");
	capture = tf_calloc(1, sizeof(*capture));
	if (!capture)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a capture");
	capture->program = program;
	capture->target = target;
	capture->stream = stream;
	capture->graph.kind = kind;
	capture->graph.capacity = capacity;
	target->ops->stream_tap(stream, tap, capture);
	*out = capture;
	return TF_OK;
}

/* A stream's order as edges; a programmatic launch behind a kernel becomes a programmatic edge. */
static enum tf_status chain(struct tf_capture *capture, struct tf_error *err)
{
	struct tf_graph *graph = &capture->graph;

	graph->edge_count = graph->node_count ? graph->node_count - 1 : 0;
	graph->edges = tf_calloc(graph->edge_count, sizeof(graph->edges[0]));
	if (!graph->edges)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u edges", graph->edge_count);
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		int early = capture->programmatic[i + 1] && graph->nodes[i].kind == TF_NODE_KERNEL;

		graph->edges[i] = (struct tf_edge){
			.from = i, .to = i + 1, .type = (uint8_t)early, .from_port = (uint8_t)early};
	}
	return TF_OK;
}

static enum tf_status append_graph(struct tf_capture *capture, struct tf_error *err)
{
	struct tf_program *program = capture->program;
	struct tf_graph *grown;

	if (capture->failed.status != TF_OK) {
		if (err)
			*err = capture->failed;
		return capture->failed.status;
	}
	if (!capture->graph.node_count)
		return TF_FAIL(err, TF_E_INVALID, "nothing was captured");
	TF_TRY(chain(capture, err));
	grown = tf_reallocarray(program->graphs, program->graph_count + 1, sizeof(program->graphs[0]));
	if (!grown)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a graph");
	program->graphs = grown;
	grown[program->graph_count++] = capture->graph;
	memset(&capture->graph, 0, sizeof(capture->graph));
	return TF_OK;
}

enum tf_status tf_capture_end(struct tf_capture *capture, struct tf_error *err)
{
	enum tf_status status = append_graph(capture, err);

	tf_capture_cancel(capture);
	return status;
}

void tf_capture_cancel(struct tf_capture *capture)
{
	if (!capture)
		return;
	capture->target->ops->stream_tap(capture->stream, NULL, NULL);
	tf_free(capture->graph.nodes);
	tf_free(capture->graph.edges);
	tf_free(capture->programmatic);
	tf_launch_store_fini(&capture->store);
	tf_free(capture);
}
