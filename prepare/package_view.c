/* SPDX-License-Identifier: Apache-2.0 */
/* Messages begin with the path, because a verb may look at two packages. */
#include "prepare/package_view.h"

#include <string.h>

#include <sodium.h>

#include "catalog/catalog_read.h"

enum tf_status tf_package_view_open(
	struct tf_package_view *view, const char *path, struct tf_error *err)
{
	enum tf_status status = tf_package_open(path, &view->package, err);

	if (status != TF_OK)
		return status;
	TF_TRY(tf_package_read_catalog(view->package, &view->catalog, err));
	crypto_hash_sha256(view->catalog_sha256, view->catalog.data, view->catalog.size);
	return TF_OK;
}

enum tf_status tf_package_view_program(struct tf_package_view *view, struct tf_error *err)
{
	enum tf_status status = tf_catalog_read(view->catalog.data, view->catalog.size,
		TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES, &view->program, err);

	if (status != TF_OK)
		tf_error_prefix(err, "'%s'", tf_package_path(view->package));
	return status;
}

enum tf_status tf_package_view_verify(struct tf_package_view *view, struct tf_error *err)
{
	TF_TRY(tf_package_verify(view->package, err));
	return tf_package_digest(view->package, view->file_sha256, err);
}

void tf_package_view_fini(struct tf_package_view *view)
{
	tf_program_fini(&view->program);
	tf_bytes_fini(&view->catalog);
	tf_package_close(view->package);
	memset(view, 0, sizeof(*view));
}

uint32_t tf_program_capacity_count(const struct tf_program *program)
{
	uint32_t count = 0;

	for (uint32_t g = 0; g < program->group_count; g++)
		count += !g || program->groups[g].capacity != program->groups[g - 1].capacity;
	return count;
}

uint64_t tf_program_node_count(const struct tf_program *program)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < program->graph_count; i++)
		count += program->graphs[i].node_count;
	return count;
}

int tf_candidate_stage(const struct tf_group_candidate *entry)
{
	return entry->stage_median_ns[1] >= 0 ? 1 : entry->stage_median_ns[0] >= 0 ? 0 : -1;
}
