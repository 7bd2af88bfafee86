/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a catalog: open, read the tables in order, check the whole. */
#include "catalog/catalog_read.h"

#include <string.h>

#include "base/deadline.h"
#include "catalog/catalog_db.h"
#include "catalog/catalog_read_parts.h"

/*
 * Behind the last launch that a loaded graph uses. Launches are a prefix, so indices stay what they
 * are.
 */
static uint32_t launch_end(const struct tf_program *program)
{
	uint32_t end = 0;

	for (uint32_t g = 0; g < program->graph_count; g++) {
		const struct tf_graph *graph = &program->graphs[g];

		for (uint32_t n = 0; n < graph->node_count; n++) {
			if (graph->nodes[n].kind == TF_NODE_KERNEL && graph->nodes[n].launch >= end)
				end = graph->nodes[n].launch + 1;
		}
	}
	return end;
}

static enum tf_status read_all(
	sqlite3 *db, unsigned parts, struct tf_program *out, struct tf_error *err)
{
	int with_startup = (parts & TF_CATALOG_STARTUP) != 0;

	TF_TRY(tf_read_memory(db, out, err));
	TF_TRY(tf_read_tuning(db, (parts & TF_CATALOG_SAMPLES) != 0, out, err));
	TF_TRY(tf_read_graphs(db, with_startup, out, err));
	TF_TRY(tf_read_kernels(db, with_startup ? TF_PROGRAM_NONE : launch_end(out), out, err));
	TF_TRY(tf_read_foreign(db, out, err));
	return tf_program_check(out, err);
}

enum tf_status tf_catalog_read(
	const void *bytes, size_t size, unsigned parts, struct tf_program *out, struct tf_error *err)
{
	struct tf_catalog_db db = {0};
	struct tf_program program = {0};
	enum tf_status status;

	status = tf_catalog_db_open(&db, bytes, size, TF_CATALOG_ACCESS_READ, TF_DEADLINE_NEVER, err);
	if (status == TF_OK)
		status = read_all(db.handle, parts, &program, err);
	tf_catalog_db_close(&db);
	if (status == TF_E_TIMEOUT)
		status =
			TF_FAIL(err, TF_E_INVALID, "reading takes more steps than %zu bytes can need", size);
	if (status != TF_OK) {
		tf_error_prefix(err, "catalog");
		tf_program_fini(&program);
		return status;
	}
	*out = program;
	return TF_OK;
}
