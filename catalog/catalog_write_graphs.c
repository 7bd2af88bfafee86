/* SPDX-License-Identifier: Apache-2.0 */
/* Writing modules, kernels, launches, graphs, nodes and edges. */
#include "catalog/catalog_insert.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "catalog/program_names.h"

static enum tf_status write_modules(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "module", 6, err);
	for (uint32_t i = 0; i < program->module_count; i++) {
		const struct tf_module *module = &program->modules[i];

		tf_insert_uint(&insert, i);
		tf_insert_text(&insert, module->name);
		tf_insert_text(&insert, tf_module_kind_name(module->kind));
		tf_insert_uint(&insert, module->compute_capability);
		/* a host module's member is in a table of its own: host_image, schema 1.1 */
		tf_insert_int_or(&insert, module->kind == TF_MODULE_HOST ? TF_PROGRAM_NONE : module->member,
			TF_PROGRAM_NONE);
		tf_insert_blob(&insert, module->digest, sizeof(module->digest));
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_kernel_rows(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "kernel", 4, err);
	for (uint32_t i = 0; i < program->kernel_count; i++) {
		tf_insert_uint(&insert, i);
		tf_insert_text(&insert, program->kernels[i].name);
		tf_insert_uint(&insert, program->kernels[i].module);
		tf_insert_uint(&insert, program->kernels[i].args_bytes);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static int insert_kernel_words(
	struct tf_insert *insert, const struct tf_program *program, uint32_t kernel)
{
	const struct tf_kernel *owner = &program->kernels[kernel];

	for (uint32_t i = 0; i < owner->words_count; i++) {
		const struct tf_kernel_word *word = &program->kernel_words[owner->words_first + i];

		tf_insert_uint(insert, kernel);
		tf_insert_uint(insert, word->arg_off);
		tf_insert_uint(insert, word->kind);
		tf_insert_uint(insert, word->nullable);
		tf_insert_text(insert, word->name);
		if (!tf_insert_row(insert))
			return 0;
	}
	return 1;
}

static enum tf_status write_kernel_words(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "kernel_word", 5, err);
	for (uint32_t i = 0; i < program->kernel_count; i++) {
		if (!insert_kernel_words(&insert, program, i))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_launches(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "launch", 10, err);
	for (uint32_t i = 0; i < program->launch_count; i++) {
		const struct tf_launch *launch = &program->launches[i];
		uint32_t args_bytes = program->kernels[launch->kernel].args_bytes;

		tf_insert_uint(&insert, i);
		tf_insert_uint(&insert, launch->kernel);
		for (int k = 0; k < 3; k++)
			tf_insert_uint(&insert, launch->grid[k]);
		for (int k = 0; k < 3; k++)
			tf_insert_uint(&insert, launch->block[k]);
		tf_insert_uint(&insert, launch->shared_bytes);
		tf_insert_blob(
			&insert, args_bytes ? program->args.data + launch->args_off : NULL, args_bytes);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static int insert_launch_words(
	struct tf_insert *insert, const struct tf_program *program, uint32_t launch)
{
	const struct tf_launch *owner = &program->launches[launch];

	for (uint32_t i = 0; i < owner->words_count; i++) {
		const struct tf_launch_word *word = &program->launch_words[owner->words_first + i];

		tf_insert_uint(insert, launch);
		tf_insert_uint(insert, word->arg_off);
		tf_insert_uint(insert, word->kind);
		tf_insert_uint(insert, word->peer);
		tf_insert_uint(insert, word->segment_off);
		if (!tf_insert_row(insert))
			return 0;
	}
	return 1;
}

static enum tf_status write_launch_words(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "launch_word", 5, err);
	for (uint32_t i = 0; i < program->launch_count; i++) {
		if (!insert_launch_words(&insert, program, i))
			break;
	}
	return tf_insert_close(&insert);
}

enum tf_status tf_write_kernels(sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	TF_TRY(write_modules(db, program, err));
	TF_TRY(write_kernel_rows(db, program, err));
	TF_TRY(write_kernel_words(db, program, err));
	TF_TRY(write_launches(db, program, err));
	return write_launch_words(db, program, err);
}

static enum tf_status write_graph_rows(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "graph", 5, err);
	for (uint32_t i = 0; i < program->graph_count; i++) {
		const struct tf_graph *graph = &program->graphs[i];

		tf_insert_uint(&insert, i);
		tf_insert_text(&insert, tf_graph_kind_name(graph->kind));
		tf_insert_int_or(&insert, graph->capacity, 0);
		tf_insert_uint(&insert, graph->node_count);
		tf_insert_uint(&insert, graph->edge_count);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static int insert_nodes(struct tf_insert *insert, const struct tf_graph *graph, uint32_t index)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct tf_node *node = &graph->nodes[i];

		tf_insert_uint(insert, index);
		tf_insert_uint(insert, i);
		tf_insert_uint(insert, node->kind);
		tf_insert_int_or(insert, node->kind == TF_NODE_KERNEL ? (int64_t)node->launch : -1, -1);
		tf_insert_uint(insert, node->to_peer);
		tf_insert_uint(insert, node->to_off);
		tf_insert_uint(insert, node->from_peer);
		tf_insert_uint(insert, node->from_off);
		tf_insert_uint(insert, node->bytes);
		tf_insert_uint(insert, node->value);
		if (!tf_insert_row(insert))
			return 0;
	}
	return 1;
}

static enum tf_status write_nodes(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "node", 10, err);
	for (uint32_t i = 0; i < program->graph_count; i++) {
		if (!insert_nodes(&insert, &program->graphs[i], i))
			break;
	}
	return tf_insert_close(&insert);
}

static int compare_edge(const void *a, const void *b)
{
	const struct tf_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Sorted by (from, to), as the table is. */
static int insert_edges(struct tf_insert *insert, const struct tf_graph *graph, uint32_t index)
{
	struct tf_edge *sorted = tf_calloc(graph->edge_count, sizeof(*sorted));

	if (!sorted) {
		insert->status =
			TF_FAIL(insert->err, TF_E_NO_MEMORY, "no memory to order %u edges", graph->edge_count);
		return 0;
	}
	for (uint32_t i = 0; i < graph->edge_count; i++)
		sorted[i] = graph->edges[i];
	qsort(sorted, graph->edge_count, sizeof(*sorted), compare_edge);
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		tf_insert_uint(insert, index);
		tf_insert_uint(insert, sorted[i].from);
		tf_insert_uint(insert, sorted[i].to);
		tf_insert_uint(insert, sorted[i].type);
		tf_insert_uint(insert, sorted[i].from_port);
		tf_insert_uint(insert, sorted[i].to_port);
		if (!tf_insert_row(insert))
			break;
	}
	tf_free(sorted);
	return insert->status == TF_OK;
}

static enum tf_status write_edges(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "edge", 6, err);
	for (uint32_t i = 0; i < program->graph_count; i++) {
		if (!insert_edges(&insert, &program->graphs[i], i))
			break;
	}
	return tf_insert_close(&insert);
}

enum tf_status tf_write_graphs(sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	TF_TRY(write_graph_rows(db, program, err));
	TF_TRY(write_nodes(db, program, err));
	return write_edges(db, program, err);
}
