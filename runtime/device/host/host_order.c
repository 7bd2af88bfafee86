/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kahn's algorithm with a heap of ready nodes (Kahn, "Topological sorting of large networks",
 * CACM 1962). Successors are kept as one array of edge targets, grouped by source.
 */
#include "runtime/device/host/host_order.h"

#include <string.h>

#include "base/alloc.h"

struct sorter {
	uint32_t node_count;
	uint32_t *waits; /* (node_count): predecessors that have not run */
	uint32_t *first; /* (node_count + 1): where a node's successors start in `next` */
	uint32_t *next;  /* (edge_count) */
	uint32_t *heap;  /* (node_count): ready nodes, lowest first */
	uint32_t heap_count;
};

static void heap_push(struct sorter *sorter, uint32_t node)
{
	uint32_t *heap = sorter->heap;
	uint32_t at = sorter->heap_count++;

	while (at && heap[(at - 1) / 2] > node) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = node;
}

static uint32_t heap_pop(struct sorter *sorter)
{
	uint32_t *heap = sorter->heap;
	uint32_t top = heap[0];
	uint32_t count = --sorter->heap_count;
	uint32_t last = heap[count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= last)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return top;
}

static enum tf_status check_edges(uint32_t node_count, const struct tf_exec_edge *edges,
	uint32_t edge_count, struct tf_error *err)
{
	for (uint32_t i = 0; i < edge_count; i++) {
		if (edges[i].from >= node_count || edges[i].to >= node_count)
			return TF_FAIL(err, TF_E_INVALID, "edge %u from node %u to node %u, of %u nodes", i,
				edges[i].from, edges[i].to, node_count);
		if (edges[i].type > 1)
			return TF_FAIL(err, TF_E_INVALID,
				"edge %u from node %u to node %u has type %u, not 0 (full) or 1 (programmatic)", i,
				edges[i].from, edges[i].to, edges[i].type);
	}
	return TF_OK;
}

/* Counts, then places: after it, first[n] .. first[n + 1] are the successors of n. */
static void group_edges(
	struct sorter *sorter, const struct tf_exec_edge *edges, uint32_t edge_count)
{
	uint32_t *first = sorter->first;

	for (uint32_t i = 0; i < edge_count; i++) {
		sorter->waits[edges[i].to]++;
		first[edges[i].from + 1]++;
	}
	for (uint32_t node = 0; node < sorter->node_count; node++)
		first[node + 1] += first[node];
	for (uint32_t i = edge_count; i-- > 0;)
		sorter->next[--first[edges[i].from + 1]] = edges[i].to;
	/* Each first[n + 1] has moved down to the start of n: shift the row back into place. */
	memmove(first, first + 1, sorter->node_count * sizeof(*first));
	first[sorter->node_count] = edge_count;
}

static uint32_t run_sorter(struct sorter *sorter, uint32_t *order)
{
	uint32_t done = 0;

	for (uint32_t node = 0; node < sorter->node_count; node++)
		if (!sorter->waits[node])
			heap_push(sorter, node);
	while (sorter->heap_count) {
		uint32_t node = heap_pop(sorter);

		order[done++] = node;
		for (uint32_t i = sorter->first[node]; i < sorter->first[node + 1]; i++)
			if (!--sorter->waits[sorter->next[i]])
				heap_push(sorter, sorter->next[i]);
	}
	return done;
}

/*
 * Every node that still waits has a predecessor that still waits; so walking back node_count
 * times ends on a cycle. The heap's memory, unused by now, holds the predecessors.
 */
static uint32_t node_on_cycle(
	struct sorter *sorter, const struct tf_exec_edge *edges, uint32_t edge_count)
{
	uint32_t *back = sorter->heap;
	uint32_t node = 0;
	uint32_t lowest;

	for (uint32_t i = 0; i < edge_count; i++)
		if (sorter->waits[edges[i].from] && sorter->waits[edges[i].to])
			back[edges[i].to] = edges[i].from;
	while (!sorter->waits[node])
		node++;
	for (uint32_t step = 0; step < sorter->node_count; step++)
		node = back[node];
	lowest = node;
	for (uint32_t at = back[node]; at != node; at = back[at])
		lowest = at < lowest ? at : lowest;
	return lowest;
}

enum tf_status tf_host_order(uint32_t node_count, const struct tf_exec_edge *edges,
	uint32_t edge_count, uint32_t *order, struct tf_error *err)
{
	struct sorter sorter = {.node_count = node_count};
	enum tf_status status;
	uint32_t *block = NULL;

	status = check_edges(node_count, edges, edge_count, err);
	if (status != TF_OK)
		return status;
	block = tf_calloc(3 * (size_t)node_count + 1 + edge_count, sizeof(*block));
	if (!block)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to order %u nodes", node_count);
	sorter.waits = block;
	sorter.heap = sorter.waits + node_count;
	sorter.first = sorter.heap + node_count;
	sorter.next = sorter.first + node_count + 1;
	group_edges(&sorter, edges, edge_count);
	if (run_sorter(&sorter, order) != node_count)
		status = TF_FAIL(err, TF_E_INVALID, "node %u lies on a cycle of edges",
			node_on_cycle(&sorter, edges, edge_count));
	tf_free(block);
	return status;
}
