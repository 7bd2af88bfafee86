/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges keep their data: a programmatic edge that becomes a full one costs a quarter of a chain's
 * time. The driver refuses a pair of nodes that it has already, so pairs are added once; a full
 * edge wins over a programmatic one, which promises less.
 */
#include "runtime/device/cuda/cuda_edges.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "catalog/program.h"

enum tf_status tf_cuda_edges_check(const struct tf_exec_node *nodes,
	const struct tf_exec_edge *edges, uint32_t edge_count, struct tf_error *err)
{
	for (uint32_t i = 0; i < edge_count; i++) {
		const struct tf_exec_edge *edge = &edges[i];
		int is_full = edge->type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;

		if (!is_full &&
			(nodes[edge->from].kind != TF_NODE_KERNEL || nodes[edge->to].kind != TF_NODE_KERNEL))
			return TF_FAIL(err, TF_E_INVALID,
				"edge %u from node %u to node %u is programmatic, but not between kernels", i,
				edge->from, edge->to);
		if (edge->to_port ||
			edge->from_port > (is_full ? CU_GRAPH_KERNEL_NODE_PORT_DEFAULT
									   : CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER))
			return TF_FAIL(err, TF_E_INVALID,
				"edge %u from node %u to node %u has type %u and ports %u and %u, not 0 to %d and "
				"0",
				i, edge->from, edge->to, edge->type, edge->from_port, edge->to_port,
				is_full ? CU_GRAPH_KERNEL_NODE_PORT_DEFAULT
						: CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
	}
	return TF_OK;
}

static int compare_edges(const void *one, const void *other)
{
	const struct tf_exec_edge *a = one, *b = other;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->from_port > b->from_port) - (a->from_port < b->from_port);
}

/* Sorts, keeps the first of each pair, and returns how many are left. */
static uint32_t keep_pairs_once(struct tf_exec_edge *edges, uint32_t edge_count)
{
	uint32_t kept = 0;

	qsort(edges, edge_count, sizeof(*edges), compare_edges);
	for (uint32_t i = 0; i < edge_count; i++)
		if (!kept || edges[kept - 1].from != edges[i].from || edges[kept - 1].to != edges[i].to)
			edges[kept++] = edges[i];
	return kept;
}

/* A programmatic edge whose port nobody has stored starts at the usual trigger. */
static CUgraphEdgeData edge_data(const struct tf_exec_edge *edge)
{
	CUgraphEdgeData data = {.type = edge->type, .from_port = edge->from_port};

	if (edge->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && !edge->from_port)
		data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
	return data;
}

/* The same edges four times over: sorted, and as the three arrays of the driver's call. */
struct edge_arrays {
	struct tf_exec_edge *sorted;
	CUgraphNode *from, *to;
	CUgraphEdgeData *data;
};

static void fini_arrays(struct edge_arrays *arrays)
{
	tf_free(arrays->sorted);
	tf_free(arrays->from);
	tf_free(arrays->to);
	tf_free(arrays->data);
}

static enum tf_status init_arrays(
	struct edge_arrays *arrays, uint32_t edge_count, struct tf_error *err)
{
	arrays->sorted = tf_calloc(edge_count, sizeof(*arrays->sorted));
	arrays->from = tf_calloc(edge_count, sizeof(*arrays->from));
	arrays->to = tf_calloc(edge_count, sizeof(*arrays->to));
	arrays->data = tf_calloc(edge_count, sizeof(*arrays->data));
	if (arrays->sorted && arrays->from && arrays->to && arrays->data)
		return TF_OK;
	fini_arrays(arrays);
	return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u edges", edge_count);
}

enum tf_status tf_cuda_edges_add(const struct tf_cuda_context *context, CUgraph graph,
	const CUgraphNode *handles, const struct tf_exec_edge *edges, uint32_t edge_count,
	struct tf_error *err)
{
	struct edge_arrays arrays = {0};
	enum tf_status status;
	uint32_t count;

	if (!edge_count)
		return TF_OK;
	TF_TRY(init_arrays(&arrays, edge_count, err));
	for (uint32_t i = 0; i < edge_count; i++)
		arrays.sorted[i] = edges[i];
	count = keep_pairs_once(arrays.sorted, edge_count);
	for (uint32_t i = 0; i < count; i++) {
		arrays.from[i] = handles[arrays.sorted[i].from];
		arrays.to[i] = handles[arrays.sorted[i].to];
		arrays.data[i] = edge_data(&arrays.sorted[i]);
	}
	status = TF_CU(context->api, err,
		cuGraphAddDependencies(graph, arrays.from, arrays.to, arrays.data, count));
	fini_arrays(&arrays);
	return status;
}
