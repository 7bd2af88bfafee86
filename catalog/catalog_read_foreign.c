/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what foreign kernels bring. The four tables come together, with schema 1.1; a file that
 * has the first must have the others.
 */
#include "catalog/catalog_read_parts.h"

#include <inttypes.h>
#include <string.h>

#include "catalog/catalog_rows.h"
#include "catalog/program_limits.h"

static enum tf_status read_host_images(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;

	tf_rows_open(&rows, db, "host_image", "SELECT module, member FROM host_image", err);
	while (tf_rows_next(&rows)) {
		uint64_t module = tf_rows_uint(&rows, 0, TF_MODULES_MAX);
		uint64_t member = tf_rows_uint(&rows, 1, TF_MEMBERS_MAX);

		if (rows.status != TF_OK)
			break;
		if (module >= out->module_count || out->modules[module].kind != TF_MODULE_HOST) {
			tf_rows_fail(
				&rows, TF_E_INVALID, "module is %" PRIu64 ", which is no host module", module);
			break;
		}
		out->modules[module].member = (uint32_t)member;
	}
	return tf_rows_close(&rows);
}

/* Rows come by kernel and parameter; both are counted from 0 without gaps. */
static void take_param(
	struct tf_rows *rows, struct tf_program *out, const struct tf_kernel_param *param)
{
	uint64_t owner = tf_rows_uint(rows, 0, TF_KERNELS_MAX);
	struct tf_kernel *kernel;

	if (rows->status != TF_OK)
		return;
	if (owner >= out->kernel_count) {
		tf_rows_fail(rows, TF_E_INVALID, "kernel is %" PRIu64 ", there are %" PRIu32, owner,
			out->kernel_count);
		return;
	}
	kernel = &out->kernels[owner];
	if (!kernel->params_count)
		kernel->params_first = (uint32_t)(param - out->kernel_params);
	tf_rows_index(rows, 1, kernel->params_count++);
	if (rows->status == TF_OK &&
		kernel->params_first + kernel->params_count - 1 != (uint32_t)(param - out->kernel_params))
		tf_rows_fail(
			rows, TF_E_INVALID, "parameters of kernel %" PRIu64 " do not stand together", owner);
}

static enum tf_status read_params(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_kernel_param *items, *item;

	tf_rows_open(
		&rows, db, "kernel_param", "SELECT kernel, param, arg_off, bytes FROM kernel_param", err);
	while (tf_rows_next(&rows)) {
		items = tf_rows_grow(&rows, out->kernel_params, out->kernel_param_count, sizeof(*items),
			TF_KERNEL_PARAMS_MAX);
		if (!items)
			break;
		out->kernel_params = items;
		item = &items[out->kernel_param_count++];
		item->arg_off = (uint32_t)tf_rows_uint(&rows, 2, TF_KERNEL_ARGS_MAX);
		item->bytes = (uint32_t)tf_rows_uint(&rows, 3, TF_KERNEL_ARGS_MAX);
		take_param(&rows, out, item);
	}
	return tf_rows_close(&rows);
}

static enum tf_status read_touched(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	uint32_t *items;

	tf_rows_open(&rows, db, "touched", "SELECT buffer FROM touched", err);
	while (tf_rows_next(&rows)) {
		items =
			tf_rows_grow(&rows, out->touched, out->touched_count, sizeof(*items), TF_BUFFERS_MAX);
		if (!items)
			break;
		out->touched = items;
		items[out->touched_count++] = (uint32_t)tf_rows_uint(&rows, 0, TF_BUFFERS_MAX);
	}
	return tf_rows_close(&rows);
}

static enum tf_status read_proofs(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_proof *items, *item;
	const void *digest;

	tf_rows_open(&rows, db, "proof", "SELECT capacity, seed, rank, digest FROM proof", err);
	while (tf_rows_next(&rows)) {
		items = tf_rows_grow(&rows, out->proofs, out->proof_count, sizeof(*items), TF_PROOFS_MAX);
		if (!items)
			break;
		out->proofs = items;
		item = &items[out->proof_count++];
		item->capacity = (uint32_t)tf_rows_uint(&rows, 0, TF_ROWS_MAX);
		item->seed = tf_rows_uint(&rows, 1, INT64_MAX);
		item->rank = (uint32_t)tf_rows_uint(&rows, 2, TF_WORLD_MAX);
		digest = tf_rows_blob(&rows, 3, TF_DIGEST_BYTES);
		if (digest)
			memcpy(item->digest, digest, TF_DIGEST_BYTES);
	}
	return tf_rows_close(&rows);
}

enum tf_status tf_read_foreign(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	int has_tables = 0;

	TF_TRY(tf_catalog_db_has(db, "host_image", &has_tables, err));
	if (!has_tables)
		return TF_OK;
	TF_TRY(read_host_images(db, out, err));
	TF_TRY(read_params(db, out, err));
	TF_TRY(read_touched(db, out, err));
	return read_proofs(db, out, err);
}
