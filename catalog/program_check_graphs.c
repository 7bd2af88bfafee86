/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_program_check: graphs. Invariants afterwards: step graphs rise in capacity and the startup
 * graph, if any, is the last; edges join nodes of their graph, none twice, and form no cycle;
 * fields that a node's kind does not use are zero.
 */
#include "catalog/program_check.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

static int is_memory_free(const struct tf_node *node)
{
	return !node->to_peer && !node->from_peer && !node->to_off && !node->from_off && !node->bytes;
}

static enum tf_status check_kernel_node(
	const struct tf_program *program, const struct tf_node *node, struct tf_error *err)
{
	if (node->launch >= program->launch_count)
		return TF_FAIL(err, TF_E_INVALID, "launch is %" PRIu32 ", there are %" PRIu32, node->launch,
			program->launch_count);
	if (!is_memory_free(node) || node->value)
		return TF_FAIL(err, TF_E_INVALID, "a kernel node has the fields of a copy or set");
	return TF_OK;
}

static enum tf_status check_side(const struct tf_check *check, const char *side, uint32_t peer,
	uint64_t off, uint64_t bytes, struct tf_error *err)
{
	enum tf_status status = tf_check_place(check, peer, off, bytes, err);

	if (status != TF_OK)
		tf_error_prefix(err, "%s", side);
	return status;
}

static enum tf_status check_memory_node(
	const struct tf_check *check, const struct tf_node *node, struct tf_error *err)
{
	uint64_t bytes = node->bytes;

	if (node->bytes == 0)
		return TF_FAIL(err, TF_E_INVALID, "bytes is 0");
	if (node->kind == TF_NODE_COPY && node->value &&
		__builtin_mul_overflow(bytes, check->program->world, &bytes))
		return TF_FAIL(
			err, TF_E_INVALID, "a row a rank of %" PRIu64 " bytes passes 64 bits", node->bytes);
	TF_TRY(check_side(check, "to", node->to_peer, node->to_off, bytes, err));
	if (node->kind != TF_NODE_SET) {
		TF_TRY(check_side(check, "from", node->from_peer, node->from_off, node->bytes, err));
		return TF_OK;
	}
	if (node->from_peer || node->from_off)
		return TF_FAIL(err, TF_E_INVALID, "a set node has a source");
	if (node->value > UINT8_MAX)
		return TF_FAIL(err, TF_E_INVALID, "value is %" PRIu32 ", not 0..255", node->value);
	return TF_OK;
}

/*
 * A call of the communication library: value is the group, from its input, to its output, both of
 * this rank.
 */
static enum tf_status check_comm_node(
	const struct tf_check *check, const struct tf_node *node, struct tf_error *err)
{
	const struct tf_program *program = check->program;
	const struct tf_group *group;

	if (node->value >= program->group_count)
		return TF_FAIL(err, TF_E_INVALID, "group is %" PRIu32 ", there are %" PRIu32, node->value,
			program->group_count);
	group = &program->groups[node->value];
	if (node->to_peer || node->from_peer)
		return TF_FAIL(err, TF_E_INVALID, "an operand of the group's call lies with a peer");
	if (node->bytes != tf_group_input_bytes(group))
		return TF_FAIL(err, TF_E_INVALID, "bytes is %" PRIu64 ", group '%s' has %" PRIu64,
			node->bytes, group->name, tf_group_input_bytes(group));
	TF_TRY(check_side(
		check, "to", 0, node->to_off, tf_group_output_bytes(group, program->world), err));
	return check_side(check, "from", 0, node->from_off, node->bytes, err);
}

static enum tf_status check_node(
	const struct tf_check *check, const struct tf_node *node, struct tf_error *err)
{
	switch (node->kind) {
	case TF_NODE_KERNEL:
		return check_kernel_node(check->program, node, err);
	case TF_NODE_COPY:
		if (node->value > 1)
			return TF_FAIL(
				err, TF_E_INVALID, "a copy node has value %" PRIu32 ", not 0 or 1", node->value);
		return check_memory_node(check, node, err);
	case TF_NODE_SET:
		return check_memory_node(check, node, err);
	case TF_NODE_EMPTY:
		if (!is_memory_free(node) || node->value)
			return TF_FAIL(err, TF_E_INVALID, "an empty node has the fields of a copy or set");
		return TF_OK;
	case TF_NODE_COMM:
		return check_comm_node(check, node, err);
	}
	return TF_FAIL(err, TF_E_INVALID, "kind %d is unknown", (int)node->kind);
}

static enum tf_status check_nodes(
	const struct tf_check *check, const struct tf_graph *graph, struct tf_error *err)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		enum tf_status status = check_node(check, &graph->nodes[i], err);

		if (status != TF_OK) {
			const char *kind = tf_node_kind_name(graph->nodes[i].kind);

			tf_error_prefix(err, "node %" PRIu32 " (%s)", i, kind ? kind : "?");
			return status;
		}
	}
	return TF_OK;
}

static enum tf_status check_edge(
	const struct tf_graph *graph, const struct tf_edge *edge, struct tf_error *err)
{
	if (edge->from >= graph->node_count || edge->to >= graph->node_count)
		return TF_FAIL(err, TF_E_INVALID, "%" PRIu32 " to %" PRIu32 ", there are %" PRIu32 " nodes",
			edge->from, edge->to, graph->node_count);
	if (edge->type > 1)
		return TF_FAIL(
			err, TF_E_INVALID, "type is %u, not 0 (full) or 1 (programmatic)", edge->type);
	if (edge->type == 1 &&
		(graph->nodes[edge->from].kind != TF_NODE_KERNEL ||
			graph->nodes[edge->to].kind != TF_NODE_KERNEL))
		return TF_FAIL(err, TF_E_INVALID, "a programmatic edge does not join two kernels");
	return TF_OK;
}

/* Successors of every node, and the room to walk them. */
struct walk {
	uint32_t *first; /* (nodes + 1): where a node's successors start in `next` */
	uint32_t *next;  /* (edges) */
	uint32_t *wait;  /* (nodes): edges into a node that are not done */
	uint32_t *ready; /* (nodes): nodes in an order that the edges allow */
	uint32_t *seen;  /* (nodes): 1 + the last node that has it as a successor */
};

static void walk_fini(struct walk *walk)
{
	tf_free(walk->first);
	tf_free(walk->next);
	tf_free(walk->wait);
	tf_free(walk->ready);
	tf_free(walk->seen);
}

static enum tf_status walk_init(
	struct walk *walk, const struct tf_graph *graph, struct tf_error *err)
{
	walk->first = tf_calloc((size_t)graph->node_count + 1, sizeof(*walk->first));
	walk->next = tf_calloc(graph->edge_count, sizeof(*walk->next));
	walk->wait = tf_calloc(graph->node_count, sizeof(*walk->wait));
	walk->ready = tf_calloc(graph->node_count, sizeof(*walk->ready));
	walk->seen = tf_calloc(graph->node_count, sizeof(*walk->seen));
	if (!walk->first || !walk->next || !walk->wait || !walk->ready || !walk->seen)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to walk a graph of %" PRIu32 " nodes",
			graph->node_count);
	return TF_OK;
}

/* Sorts the edges by source. */
static void walk_fill(struct walk *walk, const struct tf_graph *graph)
{
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		walk->first[graph->edges[i].from]++;
		walk->wait[graph->edges[i].to]++;
	}
	for (uint32_t i = 0; i < graph->node_count; i++)
		walk->first[i + 1] += walk->first[i];
	/* first[i] is the end of i's successors now; filling backwards turns it into their start */
	for (uint32_t i = graph->edge_count; i-- > 0;)
		walk->next[--walk->first[graph->edges[i].from]] = graph->edges[i].to;
}

static enum tf_status walk_run(
	struct walk *walk, const struct tf_graph *graph, struct tf_error *err)
{
	uint32_t done = 0, known = 0;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (walk->wait[i] == 0)
			walk->ready[known++] = i;
	}
	for (; done < known; done++) {
		uint32_t from = walk->ready[done];

		for (uint32_t k = walk->first[from]; k < walk->first[from + 1]; k++) {
			uint32_t to = walk->next[k];

			if (walk->seen[to] == from + 1)
				return TF_FAIL(err, TF_E_INVALID,
					"two edges lead from node %" PRIu32 " to node %" PRIu32, from, to);
			walk->seen[to] = from + 1;
			if (--walk->wait[to] == 0)
				walk->ready[known++] = to;
		}
	}
	for (uint32_t i = 0; known < graph->node_count && i < graph->node_count; i++) {
		if (walk->wait[i])
			return TF_FAIL(
				err, TF_E_INVALID, "edges form a cycle: node %" PRIu32 " can never run", i);
	}
	return TF_OK;
}

static enum tf_status check_edges(const struct tf_graph *graph, struct tf_error *err)
{
	struct walk walk = {0};
	enum tf_status status;

	for (uint32_t i = 0; i < graph->edge_count; i++) {
		status = check_edge(graph, &graph->edges[i], err);
		if (status != TF_OK) {
			tf_error_prefix(err, "edge %" PRIu32, i);
			return status;
		}
	}
	status = walk_init(&walk, graph, err);
	if (status == TF_OK) {
		walk_fill(&walk, graph);
		status = walk_run(&walk, graph, err);
	}
	walk_fini(&walk);
	return status;
}

static enum tf_status check_kind(
	const struct tf_program *program, const struct tf_graph *graph, struct tf_error *err)
{
	int is_first = graph == program->graphs,
		is_last = graph == program->graphs + program->graph_count - 1;

	if (!tf_graph_kind_name(graph->kind))
		return TF_FAIL(err, TF_E_INVALID, "kind %d is unknown", (int)graph->kind);
	if (graph->kind == TF_GRAPH_STARTUP) {
		if (!is_last || graph->capacity)
			return TF_FAIL(
				err, TF_E_INVALID, "the startup graph is not the last, or has a capacity");
		return TF_OK;
	}
	if (graph->capacity == 0 || graph->capacity > TF_ROWS_MAX)
		return TF_FAIL(
			err, TF_E_INVALID, "capacity is %" PRIu32 ", not 1..%d", graph->capacity, TF_ROWS_MAX);
	if (!is_first && graph[-1].capacity >= graph->capacity)
		return TF_FAIL(err, TF_E_INVALID, "capacity %" PRIu32 " comes after %" PRIu32,
			graph->capacity, graph[-1].capacity);
	return TF_OK;
}

enum tf_status tf_check_graphs(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;
	uint64_t nodes = 0, edges = 0;

	for (uint32_t i = 0; i < program->graph_count; i++) {
		const struct tf_graph *graph = &program->graphs[i];
		enum tf_status status = check_kind(program, graph, err);

		nodes += graph->node_count;
		edges += graph->edge_count;
		if (status == TF_OK)
			status = tf_check_count("nodes", graph->nodes, graph->node_count, TF_NODES_MAX, err);
		if (status == TF_OK)
			status = tf_check_count("edges", graph->edges, graph->edge_count, TF_EDGES_MAX, err);
		if (status == TF_OK)
			status = check_nodes(check, graph, err);
		if (status == TF_OK)
			status = check_edges(graph, err);
		if (status != TF_OK) {
			tf_error_prefix(err, "graph %" PRIu32, i);
			return status;
		}
	}
	if (nodes > TF_NODES_MAX || edges > TF_EDGES_MAX)
		return TF_FAIL(err, TF_E_LIMIT,
			"%" PRIu64 " nodes and %" PRIu64 " edges in all graphs, at most %u and %u are allowed",
			nodes, edges, TF_NODES_MAX, TF_EDGES_MAX);
	return TF_OK;
}
