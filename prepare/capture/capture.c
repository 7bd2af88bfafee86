/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A stored argument block holds no address and no rank: those words are zero there and stand
 *    in launch_words.
 * 2. Launches are unique within a program by (kernel, geometry, argument bytes, words).
 * 3. Nothing is allocated on the device between begin and end: a tap only copies bytes into the
 *    program.
 */
#include "prepare/capture/capture.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/collective.h"
#include "runtime/graph/locate.h"

#define ARGS_BYTES_MAX 4096 /* the kernel parameter limit that older GPUs have */
#define WORDS_MAX      64

struct tf_capture {
	struct tf_program *program;
	const struct tf_rebuild_target *target;
	struct tf_stream *stream;
	struct tf_graph graph;
	uint32_t node_capacity;
	/* (table_size), a power of two: open-addressed by hash, launch index + 1, 0 = free */
	uint32_t *table;
	uint32_t table_size, table_used;
	struct tf_error failed;
};

/* A launch before it is known whether the program has it already. */
struct draft {
	struct tf_launch launch;
	uint8_t args[ARGS_BYTES_MAX];
	struct tf_launch_word words[WORDS_MAX];
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
	const struct tf_kernel_word *word, struct draft *draft, struct tf_error *err)
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
	const struct tf_launch_call *call, struct draft *draft, struct tf_error *err)
{
	const struct tf_program *program = capture->program;
	const struct tf_kernel *kernel;

	memset(draft, 0, sizeof(*draft));
	draft->launch.kernel = kernel_index(capture, call->kernel);
	if (draft->launch.kernel == TF_PROGRAM_NONE)
		return TF_FAIL(err, TF_E_INVALID, "a kernel that the program does not declare");
	kernel = &program->kernels[draft->launch.kernel];
	if (call->args_bytes != kernel->args_bytes || call->args_bytes > ARGS_BYTES_MAX ||
		kernel->words_count > WORDS_MAX)
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

/* Everything that makes a launch what it is, as one hash and as one comparison. */
static uint64_t hash_launch(const struct tf_launch *launch, const uint8_t *args,
	uint32_t args_bytes, const struct tf_launch_word *words)
{
	uint64_t hash = tf_fnv64(TF_FNV_START, launch->grid, sizeof(launch->grid));

	hash = tf_fnv64(hash, launch->block, sizeof(launch->block));
	hash = tf_fnv64(hash, &launch->kernel, sizeof(launch->kernel));
	hash = tf_fnv64(hash, args, args_bytes);
	for (uint32_t i = 0; i < launch->words_count; i++)
		hash = tf_fnv64(hash, &words[i].segment_off, sizeof(words[i].segment_off));
	return hash;
}

static int same_launch(
	const struct tf_program *program, const struct tf_launch *have, const struct draft *draft)
{
	const struct tf_launch *want = &draft->launch;
	uint32_t args_bytes = program->kernels[want->kernel].args_bytes;

	if (have->kernel != want->kernel || have->shared_bytes != want->shared_bytes ||
		have->words_count != want->words_count ||
		memcmp(have->grid, want->grid, sizeof(want->grid)) != 0 ||
		memcmp(have->block, want->block, sizeof(want->block)) != 0 ||
		memcmp(program->args.data + have->args_off, draft->args, args_bytes) != 0)
		return 0;
	for (uint32_t i = 0; i < want->words_count; i++) {
		const struct tf_launch_word *a = &program->launch_words[have->words_first + i];
		const struct tf_launch_word *b = &draft->words[i];

		if (a->arg_off != b->arg_off || a->kind != b->kind || a->peer != b->peer ||
			a->segment_off != b->segment_off)
			return 0;
	}
	return 1;
}

static uint64_t hash_stored(const struct tf_program *program, uint32_t index)
{
	const struct tf_launch *launch = &program->launches[index];

	return hash_launch(launch, program->args.data + launch->args_off,
		program->kernels[launch->kernel].args_bytes, program->launch_words + launch->words_first);
}

/* Doubles the table and enters every launch of the program anew. */
static enum tf_status grow_table(struct tf_capture *capture, struct tf_error *err)
{
	uint32_t size = capture->table_size ? 2 * capture->table_size : 1024;
	uint32_t *table;

	while (size < 4 * (capture->program->launch_count + 1))
		size *= 2;
	table = tf_calloc(size, sizeof(table[0]));
	if (!table)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a table of %u launches", size);
	for (uint32_t i = 0; i < capture->program->launch_count; i++) {
		uint32_t at = (uint32_t)hash_stored(capture->program, i) & (size - 1);

		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = i + 1;
	}
	tf_free(capture->table);
	capture->table = table;
	capture->table_size = size;
	capture->table_used = capture->program->launch_count;
	return TF_OK;
}

static enum tf_status store_launch(
	struct tf_capture *capture, struct draft *draft, struct tf_error *err)
{
	struct tf_program *program = capture->program;
	struct tf_launch *launches =
		tf_reallocarray(program->launches, program->launch_count + 1, sizeof(program->launches[0]));
	struct tf_launch_word *words;

	if (!launches)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a launch");
	program->launches = launches;
	words = tf_reallocarray(program->launch_words,
		program->launch_word_count + draft->launch.words_count, sizeof(program->launch_words[0]));
	if (!words)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a launch's words");
	program->launch_words = words;
	draft->launch.args_off = program->args.size;
	draft->launch.words_first = program->launch_word_count;
	TF_TRY(tf_bytes_append(
		&program->args, draft->args, program->kernels[draft->launch.kernel].args_bytes, err));
	memcpy(words + program->launch_word_count, draft->words,
		draft->launch.words_count * sizeof(draft->words[0]));
	program->launch_word_count += draft->launch.words_count;
	launches[program->launch_count++] = draft->launch;
	return TF_OK;
}

static enum tf_status find_or_store(
	struct tf_capture *capture, struct draft *draft, uint32_t *out_launch, struct tf_error *err)
{
	const struct tf_program *program = capture->program;
	uint32_t at;

	if (2 * (capture->table_used + 1) > capture->table_size)
		TF_TRY(grow_table(capture, err));
	at = (uint32_t)hash_launch(&draft->launch, draft->args,
			 program->kernels[draft->launch.kernel].args_bytes, draft->words) &
		(capture->table_size - 1);
	for (; capture->table[at]; at = (at + 1) & (capture->table_size - 1)) {
		uint32_t index = capture->table[at] - 1;

		if (same_launch(program, &program->launches[index], draft)) {
			*out_launch = index;
			return TF_OK;
		}
	}
	TF_TRY(store_launch(capture, draft, err));
	*out_launch = program->launch_count - 1;
	capture->table[at] = program->launch_count;
	capture->table_used++;
	return TF_OK;
}

static enum tf_status convert(struct tf_capture *capture, const struct tf_exec_node *from,
	struct tf_node *to, struct tf_error *err)
{
	struct draft draft;

	*to = (struct tf_node){.kind = (enum tf_node_kind)from->kind, .launch = TF_PROGRAM_NONE};
	switch (from->kind) {
	case TF_NODE_KERNEL:
		TF_TRY(draft_launch(capture, &from->launch, &draft, err));
		return find_or_store(capture, &draft, &to->launch, err);
	case TF_NODE_COPY:
		TF_TRY(
			locate(capture, (uint64_t)(uintptr_t)from->from, &to->from_peer, &to->from_off, err));
		to->bytes = from->bytes;
		return locate(capture, (uint64_t)(uintptr_t)from->to, &to->to_peer, &to->to_off, err);
	case TF_NODE_SET:
		to->bytes = from->bytes;
		to->value = from->value;
		return locate(capture, (uint64_t)(uintptr_t)from->to, &to->to_peer, &to->to_off, err);
	case TF_NODE_EMPTY:
		return TF_OK;
	default:
		return TF_FAIL(err, TF_E_INVALID, "an operation of kind %d cannot be carried in a package",
			from->kind);
	}
}

static enum tf_status append_node(
	struct tf_capture *capture, const struct tf_node *node, struct tf_error *err)
{
	struct tf_graph *graph = &capture->graph;

	if (graph->node_count == capture->node_capacity) {
		uint32_t capacity = capture->node_capacity ? 2 * capture->node_capacity : 256;
		struct tf_node *grown = tf_reallocarray(graph->nodes, capacity, sizeof(graph->nodes[0]));

		if (!grown)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u nodes", capacity);
		graph->nodes = grown;
		capture->node_capacity = capacity;
	}
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
		status = append_node(capture, &node, &local);
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

/* A stream's order as edges. */
static enum tf_status chain(struct tf_graph *graph, struct tf_error *err)
{
	graph->edge_count = graph->node_count ? graph->node_count - 1 : 0;
	graph->edges = tf_calloc(graph->edge_count, sizeof(graph->edges[0]));
	if (!graph->edges)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u edges", graph->edge_count);
	for (uint32_t i = 0; i < graph->edge_count; i++)
		graph->edges[i] = (struct tf_edge){.from = i, .to = i + 1};
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
	TF_TRY(chain(&capture->graph, err));
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
	tf_free(capture->table);
	tf_free(capture);
}
