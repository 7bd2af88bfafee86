/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading graphs, nodes and edges. Rows come by graph, and the startup graph is the last: without
 * it, reading ends at its first row. The counts in the graph's row are compared, never allocated
 * from.
 */
#include "catalog/catalog_read_parts.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "catalog/catalog_rows.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

/* What a graph's row says about its rows in node and edge. */
struct counts {
	uint32_t nodes, edges;
};

struct graph_reader {
	struct tf_program *out;
	struct counts *counts; /* (out->graph_count) */
	int skipped;           /* the startup graph is there and not loaded */
	uint32_t total;        /* rows of node or edge so far */
};

static void read_graph_row(struct tf_rows *rows, struct graph_reader *reader, int with_startup)
{
	struct tf_program *out = reader->out;
	uint32_t at = out->graph_count;
	enum tf_graph_kind kind = (enum tf_graph_kind)tf_rows_enum(rows, 1, tf_graph_kind_parse);
	struct tf_graph *items;
	struct counts *counts;

	tf_rows_index(rows, 0, at + (uint32_t)reader->skipped);
	if (reader->skipped) {
		tf_rows_fail(rows, TF_E_INVALID, "a graph follows the startup graph");
		return;
	}
	reader->skipped = kind == TF_GRAPH_STARTUP && !with_startup;
	if (reader->skipped)
		return;
	items = tf_rows_grow(rows, out->graphs, at, sizeof(*items), TF_GRAPHS_MAX);
	if (!items)
		return;
	out->graphs = items;
	counts = tf_rows_grow(rows, reader->counts, at, sizeof(*counts), TF_GRAPHS_MAX);
	if (!counts)
		return;
	reader->counts = counts;
	items[at].kind = kind;
	items[at].capacity = (uint32_t)tf_rows_int_or(rows, 2, 0, TF_ROWS_MAX);
	counts[at].nodes = (uint32_t)tf_rows_uint(rows, 3, TF_NODES_MAX);
	counts[at].edges = (uint32_t)tf_rows_uint(rows, 4, TF_EDGES_MAX);
	out->graph_count++;
}

/* The graph of a row; NULL at the end of what is loaded, or on a fault. */
static struct tf_graph *graph_of_row(
	struct tf_rows *rows, struct graph_reader *reader, uint32_t max)
{
	uint32_t graph = (uint32_t)tf_rows_uint(rows, 0, TF_GRAPHS_MAX);

	if (rows->status != TF_OK || (reader->skipped && graph == reader->out->graph_count))
		return NULL;
	if (graph >= reader->out->graph_count) {
		tf_rows_fail(rows, TF_E_INVALID, "graph is %" PRIu32 ", there are %" PRIu32, graph,
			reader->out->graph_count);
		return NULL;
	}
	if (reader->total++ >= max) {
		tf_rows_fail(rows, TF_E_LIMIT, "more than %" PRIu32 " rows", max);
		return NULL;
	}
	return &reader->out->graphs[graph];
}

static enum tf_status read_nodes(sqlite3 *db, struct graph_reader *reader, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_node *items, *item;

	reader->total = 0;
	tf_rows_open(&rows, db, "node",
		"SELECT graph, node, kind, launch, to_peer, to_off, from_peer, from_off, bytes, value"
		" FROM node",
		err);
	while (tf_rows_next(&rows)) {
		struct tf_graph *graph = graph_of_row(&rows, reader, TF_NODES_MAX);

		if (!graph)
			break;
		items = tf_rows_grow(&rows, graph->nodes, graph->node_count, sizeof(*items), TF_NODES_MAX);
		if (!items)
			break;
		graph->nodes = items;
		tf_rows_index(&rows, 1, graph->node_count);
		item = &items[graph->node_count++];
		item->kind = (enum tf_node_kind)tf_rows_uint(&rows, 2, TF_NODE_COMM);
		item->launch = (uint32_t)tf_rows_int_or(&rows, 3, TF_PROGRAM_NONE, TF_LAUNCHES_MAX);
		item->to_peer = (uint32_t)tf_rows_uint(&rows, 4, TF_WORLD_MAX);
		item->to_off = tf_rows_uint(&rows, 5, INT64_MAX);
		item->from_peer = (uint32_t)tf_rows_uint(&rows, 6, TF_WORLD_MAX);
		item->from_off = tf_rows_uint(&rows, 7, INT64_MAX);
		item->bytes = tf_rows_uint(&rows, 8, INT64_MAX);
		item->value = (uint32_t)tf_rows_uint(&rows, 9, UINT32_MAX);
		if ((item->launch == TF_PROGRAM_NONE) != (item->kind != TF_NODE_KERNEL))
			tf_rows_fail(&rows, TF_E_INVALID, "only kernel nodes have a launch");
	}
	return tf_rows_close(&rows);
}

static enum tf_status read_edges(sqlite3 *db, struct graph_reader *reader, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_edge *items, *item;

	reader->total = 0;
	tf_rows_open(&rows, db, "edge",
		"SELECT graph, from_node, to_node, type, from_port, to_port FROM edge", err);
	while (tf_rows_next(&rows)) {
		struct tf_graph *graph = graph_of_row(&rows, reader, TF_EDGES_MAX);

		if (!graph)
			break;
		items = tf_rows_grow(&rows, graph->edges, graph->edge_count, sizeof(*items), TF_EDGES_MAX);
		if (!items)
			break;
		graph->edges = items;
		item = &items[graph->edge_count++];
		item->from = (uint32_t)tf_rows_uint(&rows, 1, TF_NODES_MAX);
		item->to = (uint32_t)tf_rows_uint(&rows, 2, TF_NODES_MAX);
		item->type = (uint8_t)tf_rows_uint(&rows, 3, UINT8_MAX);
		item->from_port = (uint8_t)tf_rows_uint(&rows, 4, UINT8_MAX);
		item->to_port = (uint8_t)tf_rows_uint(&rows, 5, UINT8_MAX);
	}
	return tf_rows_close(&rows);
}

static enum tf_status compare_counts(const struct graph_reader *reader, struct tf_error *err)
{
	for (uint32_t i = 0; i < reader->out->graph_count; i++) {
		const struct tf_graph *graph = &reader->out->graphs[i];
		const struct counts *counts = &reader->counts[i];

		if (graph->node_count != counts->nodes || graph->edge_count != counts->edges)
			return TF_FAIL(err, TF_E_INVALID,
				"row %" PRIu32 " of graph: %" PRIu32 " nodes and %" PRIu32 " edges, found %" PRIu32
				" and %" PRIu32,
				i, counts->nodes, counts->edges, graph->node_count, graph->edge_count);
	}
	return TF_OK;
}

enum tf_status tf_read_graphs(
	sqlite3 *db, int with_startup, struct tf_program *out, struct tf_error *err)
{
	struct graph_reader reader = {.out = out};
	struct tf_rows rows;
	enum tf_status status;

	tf_rows_open(
		&rows, db, "graph", "SELECT graph, kind, capacity, node_count, edge_count FROM graph", err);
	while (tf_rows_next(&rows))
		read_graph_row(&rows, &reader, with_startup);
	status = tf_rows_close(&rows);
	if (status == TF_OK)
		status = read_nodes(db, &reader, err);
	if (status == TF_OK)
		status = read_edges(db, &reader, err);
	if (status == TF_OK)
		status = compare_counts(&reader, err);
	tf_free(reader.counts);
	return status;
}
