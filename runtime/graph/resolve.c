/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolving a graph. Each launch is resolved once, when the first node that uses it is met, so
 * that a refusal names a node and a graph of 60,000 nodes costs no more than its few launches.
 *
 * Invariants of a resolved graph:
 * 1. Every address in argument bytes, and every byte of a copy, a set or a library's call, has
 * passed tf_places_check.
 * 2. A word of a kernel is filled from the launch, or is a nullable address and zero. Argument
 * bytes    of the program are zero there: a stored address never gets through.
 */
#include "runtime/graph/resolve.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/graph/place.h"
#include "runtime/graph/resolve_memory.h"

#define ARGS_ALIGN 16 /* no argument struct needs more */

struct resolver {
	const struct tf_program *program;
	const struct tf_rebuild_target *target;
	const struct tf_graph *graph;
	struct tf_places places;
	uint64_t
		*launch_at; /* (launch_count): 1 + the launch's offset in args; 0 before it is resolved */
	uint64_t args_used;
	struct tf_resolved out;
};

static uint32_t word_bytes(enum tf_word_kind kind)
{
	return kind == TF_WORD_ADDRESS ? 8 : 4;
}

static enum tf_status check_target(
	const struct tf_program *program, const struct tf_rebuild_target *target, struct tf_error *err)
{
	const struct tf_window_view *window = &target->window;
	uint64_t bytes, end;

	if (window->world != program->world || window->stride != program->layout.stride_bytes)
		return TF_FAIL(err, TF_E_MISFIT,
			"the window is for %" PRIu32 " ranks with stride %" PRIu64 ", the program for %" PRIu32
			" with %" PRIu64,
			window->world, window->stride, program->world, program->layout.stride_bytes);
	if (window->rank >= window->world)
		return TF_FAIL(
			err, TF_E_USAGE, "rank %" PRIu32 " of %" PRIu32, window->rank, window->world);
	if (program->layout.segment_bytes > window->stride)
		return TF_FAIL(err, TF_E_INVALID,
			"layout: a segment of %" PRIu64 " bytes passes the stride, %" PRIu64,
			program->layout.segment_bytes, window->stride);
	if (__builtin_mul_overflow(window->world, window->stride, &bytes) ||
		__builtin_add_overflow(window->base, bytes, &end))
		return TF_FAIL(err, TF_E_MISFIT,
			"a window at 0x%" PRIx64 " for %" PRIu32 " ranks with stride %" PRIu64
			" passes 64 bits of address",
			window->base, window->world, window->stride);
	return TF_OK;
}

/* The launch's indices and its own bytes; words come later. */
static enum tf_status check_launch(
	const struct tf_program *program, const struct tf_launch *launch, struct tf_error *err)
{
	const struct tf_kernel *kernel = &program->kernels[launch->kernel];

	if (kernel->args_bytes > TF_EXEC_ARGS_BYTES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "%" PRIu32 " argument bytes, at most %d are allowed",
			kernel->args_bytes, TF_EXEC_ARGS_BYTES_MAX);
	if (launch->args_off > program->args.size ||
		kernel->args_bytes > program->args.size - launch->args_off)
		return TF_FAIL(err, TF_E_INVALID,
			"%" PRIu32 " argument bytes at %" PRIu64 " pass the %zu that are there",
			kernel->args_bytes, launch->args_off, program->args.size);
	if (kernel->words_first > program->kernel_word_count ||
		kernel->words_count > program->kernel_word_count - kernel->words_first ||
		launch->words_first > program->launch_word_count ||
		launch->words_count > program->launch_word_count - launch->words_first)
		return TF_FAIL(
			err, TF_E_INVALID, "words of the kernel or launch pass those that are there");
	return TF_OK;
}

/* Our own kernels may point into protocol memory and at peers; those of users may not. */
static enum tf_status check_place(const struct resolver *resolver, const struct tf_kernel *kernel,
	const struct tf_launch_word *word, struct tf_error *err)
{
	uint32_t buffer;

	if (kernel->params_count)
		return tf_places_find_own(&resolver->places, word->peer, word->segment_off, &buffer, err);
	return tf_places_check(&resolver->places, word->peer, word->segment_off, 1, err);
}

static enum tf_status fill_word(const struct resolver *resolver, const struct tf_kernel *kernel,
	const struct tf_kernel_word *rule, const struct tf_launch_word *word, uint8_t *args,
	struct tf_error *err)
{
	const struct tf_window_view *window = &resolver->target->window;
	uint64_t address;

	if (word->kind != rule->kind)
		return TF_FAIL(
			err, TF_E_INVALID, "kind %d of word, not %d", (int)word->kind, (int)rule->kind);
	if (word->kind == TF_WORD_RANK) {
		memcpy(args + rule->arg_off, &window->rank, sizeof(window->rank));
		return TF_OK;
	}
	TF_TRY(check_place(resolver, kernel, word, err));
	address = tf_window_address(window, word->peer, word->segment_off);
	memcpy(args + rule->arg_off, &address, sizeof(address));
	return TF_OK;
}

/* `word` is the launch's word for `rule`, or NULL where the launch has none. */
static enum tf_status resolve_word(const struct resolver *resolver, const struct tf_kernel *kernel,
	const struct tf_kernel_word *rule, const struct tf_launch_word *word, uint8_t *args,
	struct tf_error *err)
{
	static const uint8_t zero[8];
	uint32_t bytes = word_bytes(rule->kind);

	if (rule->kind != TF_WORD_ADDRESS && rule->kind != TF_WORD_RANK)
		return TF_FAIL(err, TF_E_INVALID, "kind %d of word is unknown", (int)rule->kind);
	if (bytes > kernel->args_bytes || rule->arg_off > kernel->args_bytes - bytes)
		return TF_FAIL(err, TF_E_INVALID, "byte %" PRIu32 " of a struct of %" PRIu32 " bytes",
			rule->arg_off, kernel->args_bytes);
	if (memcmp(args + rule->arg_off, zero, bytes) != 0)
		return TF_FAIL(err, TF_E_INVALID, "its argument bytes in the program are not zero");
	if (word)
		return fill_word(resolver, kernel, rule, word, args, err);
	if (!rule->nullable || rule->kind != TF_WORD_ADDRESS)
		return TF_FAIL(err, TF_E_INVALID, "the launch gives it no value, and it must not be zero");
	return TF_OK;
}

/* Walks the kernel's words and the launch's together; both rise by arg_off. */
static enum tf_status resolve_words(const struct resolver *resolver, const struct tf_launch *launch,
	uint8_t *args, struct tf_error *err)
{
	const struct tf_program *program = resolver->program;
	const struct tf_kernel *kernel = &program->kernels[launch->kernel];
	const struct tf_launch_word *words = program->launch_words + launch->words_first;
	uint32_t at = 0;

	for (uint32_t i = 0; i < kernel->words_count; i++) {
		const struct tf_kernel_word *rule = &program->kernel_words[kernel->words_first + i];
		const struct tf_launch_word *word = NULL;
		enum tf_status status;

		if (at < launch->words_count && words[at].arg_off == rule->arg_off)
			word = &words[at++];
		status = resolve_word(resolver, kernel, rule, word, args, err);
		if (status != TF_OK) {
			tf_error_prefix(err, "argument '%.*s'", TF_NAME_BYTES - 1, rule->name);
			return status;
		}
	}
	if (at < launch->words_count)
		return TF_FAIL(err, TF_E_INVALID,
			"a value for byte %" PRIu32 " of the arguments, which is no word of the kernel, or out "
			"of order",
			words[at].arg_off);
	return TF_OK;
}

/* Makes room for the arguments of every launch that the graph uses, at most once each. */
static enum tf_status reserve_args(struct resolver *resolver, struct tf_error *err)
{
	const struct tf_program *program = resolver->program;
	uint8_t *seen = tf_calloc(program->launch_count, 1);
	uint64_t bytes = 0;

	if (!seen)
		return TF_FAIL(
			err, TF_E_NO_MEMORY, "no memory for %" PRIu32 " launches", program->launch_count);
	for (uint32_t i = 0; i < resolver->graph->node_count; i++) {
		const struct tf_node *node = &resolver->graph->nodes[i];
		uint32_t kernel;

		if (node->kind != TF_NODE_KERNEL || node->launch >= program->launch_count ||
			seen[node->launch])
			continue;
		seen[node->launch] = 1;
		kernel = program->launches[node->launch].kernel;
		if (kernel < program->kernel_count)
			bytes += tf_align_up(program->kernels[kernel].args_bytes, ARGS_ALIGN);
	}
	tf_free(seen);
	resolver->out.args = tf_calloc(bytes, 1);
	if (!resolver->out.args)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %" PRIu64 " argument bytes", bytes);
	return TF_OK;
}

static enum tf_status resolve_launch(
	struct resolver *resolver, uint32_t launch_index, struct tf_error *err)
{
	const struct tf_program *program = resolver->program;
	const struct tf_launch *launch = &program->launches[launch_index];
	const struct tf_kernel *kernel = &program->kernels[launch->kernel];
	uint8_t *args = resolver->out.args + resolver->args_used;

	if (resolver->launch_at[launch_index])
		return TF_OK;
	if (!resolver->target->kernels[launch->kernel])
		return TF_FAIL(err, TF_E_NOT_FOUND, "no module that has it is loaded");
	TF_TRY(check_launch(program, launch, err));
	if (kernel->args_bytes)
		memcpy(args, program->args.data + launch->args_off, kernel->args_bytes);
	TF_TRY(resolve_words(resolver, launch, args, err));
	resolver->launch_at[launch_index] = 1 + resolver->args_used;
	resolver->args_used += tf_align_up(kernel->args_bytes, ARGS_ALIGN);
	return TF_OK;
}

static enum tf_status resolve_kernel(struct resolver *resolver, const struct tf_node *node,
	struct tf_exec_node *out, struct tf_error *err)
{
	const struct tf_program *program = resolver->program;
	const struct tf_launch *launch;
	const struct tf_kernel *kernel;
	enum tf_status status;

	if (node->launch >= program->launch_count)
		return TF_FAIL(err, TF_E_INVALID, "launch %" PRIu32 ", of %" PRIu32, node->launch,
			program->launch_count);
	launch = &program->launches[node->launch];
	if (launch->kernel >= program->kernel_count)
		return TF_FAIL(err, TF_E_INVALID, "launch %" PRIu32 ": kernel %" PRIu32 ", of %" PRIu32,
			node->launch, launch->kernel, program->kernel_count);
	kernel = &program->kernels[launch->kernel];
	status = resolve_launch(resolver, node->launch, err);
	if (status != TF_OK) {
		tf_error_prefix(err, "kernel '%.*s'", TF_NAME_BYTES - 1, kernel->name);
		return status;
	}
	out->launch = (struct tf_launch_call){
		.kernel = resolver->target->kernels[launch->kernel],
		.grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
		.block = {launch->block[0], launch->block[1], launch->block[2]},
		.shared_bytes = launch->shared_bytes,
		.args = resolver->out.args + resolver->launch_at[node->launch] - 1,
		.args_bytes = kernel->args_bytes,
	};
	return TF_OK;
}

static enum tf_status resolve_node(struct resolver *resolver, const struct tf_node *node,
	struct tf_exec_node *out, struct tf_error *err)
{
	out->kind = (int)node->kind;
	switch (node->kind) {
	case TF_NODE_KERNEL:
		return resolve_kernel(resolver, node, out, err);
	case TF_NODE_COPY:
	case TF_NODE_SET:
		return tf_resolve_memory(&resolver->places, resolver->target, node, out, err);
	case TF_NODE_EMPTY:
		return TF_OK;
	case TF_NODE_COMM:
		return tf_resolve_comm(&resolver->places, resolver->target, node, out, err);
	}
	return TF_FAIL(err, TF_E_INVALID, "kind %d is unknown", (int)node->kind);
}

static enum tf_status resolve_nodes(struct resolver *resolver, struct tf_error *err)
{
	static const char *const kinds[] = {"kernel", "copy", "set", "empty", "comm"};
	const struct tf_graph *graph = resolver->graph;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct tf_node *node = &graph->nodes[i];
		enum tf_status status = resolve_node(resolver, node, &resolver->out.nodes[i], err);

		if (status != TF_OK) {
			unsigned kind = (unsigned)node->kind;

			tf_error_prefix(
				err, "node %" PRIu32 " (%s)", i, kind <= TF_NODE_COMM ? kinds[kind] : "?");
			return status;
		}
	}
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		const struct tf_edge *edge = &graph->edges[i];

		if (edge->from >= graph->node_count || edge->to >= graph->node_count)
			return TF_FAIL(err, TF_E_INVALID,
				"edge %" PRIu32 " from node %" PRIu32 " to node %" PRIu32 ", of %" PRIu32 " nodes",
				i, edge->from, edge->to, graph->node_count);
		resolver->out.edges[i] =
			(struct tf_exec_edge){edge->from, edge->to, edge->type, edge->from_port, edge->to_port};
	}
	return TF_OK;
}

static enum tf_status allocate(struct resolver *resolver, struct tf_error *err)
{
	const struct tf_graph *graph = resolver->graph;
	struct tf_resolved *out = &resolver->out;

	if (graph->node_count > TF_EXEC_NODES_MAX || graph->edge_count > TF_EXEC_EDGES_MAX)
		return TF_FAIL(err, TF_E_LIMIT,
			"%" PRIu32 " nodes and %" PRIu32 " edges, at most %u and %u are allowed",
			graph->node_count, graph->edge_count, TF_EXEC_NODES_MAX, TF_EXEC_EDGES_MAX);
	out->node_count = graph->node_count;
	out->edge_count = graph->edge_count;
	out->nodes = tf_calloc(graph->node_count, sizeof(*out->nodes));
	out->edges = tf_calloc(graph->edge_count, sizeof(*out->edges));
	resolver->launch_at = tf_calloc(resolver->program->launch_count, sizeof(*resolver->launch_at));
	if (!out->nodes || !out->edges || !resolver->launch_at)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %" PRIu32 " nodes", graph->node_count);
	return reserve_args(resolver, err);
}

static void prefix_graph(const struct tf_graph *graph, uint32_t index, struct tf_error *err)
{
	if (graph->kind == TF_GRAPH_STARTUP)
		tf_error_prefix(err, "graph %" PRIu32 " (startup)", index);
	else
		tf_error_prefix(err, "graph %" PRIu32 " (capacity %" PRIu32 ")", index, graph->capacity);
}

enum tf_status tf_graph_resolve_nodes(const struct tf_program *program, uint32_t graph_index,
	const struct tf_rebuild_target *target, struct tf_resolved *out, struct tf_error *err)
{
	struct resolver resolver = {.program = program, .target = target};
	enum tf_status status;

	if (graph_index >= program->graph_count)
		return TF_FAIL(err, TF_E_USAGE, "there is no graph %" PRIu32 ", of %" PRIu32, graph_index,
			program->graph_count);
	resolver.graph = &program->graphs[graph_index];
	status = check_target(program, target, err);
	if (status == TF_OK)
		status = tf_places_init(&resolver.places, program, err);
	if (status == TF_OK)
		status = allocate(&resolver, err);
	if (status == TF_OK)
		status = resolve_nodes(&resolver, err);
	tf_places_fini(&resolver.places);
	tf_free(resolver.launch_at);
	if (status != TF_OK) {
		tf_resolved_fini(&resolver.out);
		prefix_graph(resolver.graph, graph_index, err);
		return status;
	}
	*out = resolver.out;
	return TF_OK;
}

void tf_resolved_fini(struct tf_resolved *resolved)
{
	tf_free(resolved->nodes);
	tf_free(resolved->edges);
	tf_free(resolved->args);
	*resolved = (struct tf_resolved){0};
}
