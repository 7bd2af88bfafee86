/* SPDX-License-Identifier: Apache-2.0 */
/* Reading identity, layout, members, buffers and constants. */
#include "catalog/catalog_read_parts.h"

#include <string.h>

#include "catalog/catalog_rows.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

static enum tf_status read_identity(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_identity *items, *item;

	tf_rows_open(&rows, db, "identity", "SELECT key, value FROM identity", err);
	while (tf_rows_next(&rows)) {
		items = tf_rows_grow(
			&rows, out->identity, out->identity_count, sizeof(*items), TF_IDENTITY_MAX);
		if (!items)
			break;
		out->identity = items;
		item = &items[out->identity_count++];
		tf_rows_text(&rows, 0, item->key, sizeof(item->key));
		item->value = tf_rows_text_copy(&rows, 1, TF_IDENTITY_VALUE_MAX);
	}
	return tf_rows_close(&rows);
}

static void fill_layout(struct tf_rows *rows, struct tf_layout *layout)
{
	uint64_t *const fields[] = {
		&layout->stride_bytes,
		&layout->segment_bytes,
		&layout->control_off,
		&layout->control_bytes,
		&layout->ll_off,
		&layout->ll_source_bytes,
		&layout->sentinel_off,
		&layout->sentinel_source_bytes,
		&layout->flag_off,
		&layout->flag_bytes,
		&layout->staging_off,
		&layout->staging_source_bytes,
		&layout->exchange_off,
		&layout->exchange_bytes,
		&layout->startup_off,
		&layout->startup_bytes,
		&layout->private_off,
		&layout->private_bytes,
	};

	for (int i = 0; i < (int)(sizeof(fields) / sizeof(fields[0])); i++)
		*fields[i] = tf_rows_uint(rows, 2 + i, INT64_MAX);
}

static enum tf_status read_program(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;

	tf_rows_open(&rows, db, "program",
		"SELECT program, world, stride_bytes, segment_bytes, control_off, control_bytes, ll_off,"
		" ll_source_bytes, sentinel_off, sentinel_source_bytes, flag_off, flag_bytes, staging_off,"
		" staging_source_bytes, exchange_off, exchange_bytes, startup_off, startup_bytes,"
		" private_off, private_bytes FROM program",
		err);
	while (tf_rows_next(&rows)) {
		if (out->world) {
			tf_rows_fail(&rows, TF_E_INVALID, "a program has one row");
			break;
		}
		tf_rows_index(&rows, 0, 0);
		out->world = (uint32_t)tf_rows_uint(&rows, 1, TF_WORLD_MAX);
		fill_layout(&rows, &out->layout);
	}
	return tf_rows_close(&rows);
}

static void fill_digest(struct tf_rows *rows, int column, uint8_t digest[TF_DIGEST_BYTES])
{
	const void *blob = tf_rows_blob(rows, column, TF_DIGEST_BYTES);

	if (blob)
		memcpy(digest, blob, TF_DIGEST_BYTES);
}

static enum tf_status read_members(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_member *items, *item;

	tf_rows_open(&rows, db, "member", "SELECT member, name, bytes, digest FROM member", err);
	while (tf_rows_next(&rows)) {
		items =
			tf_rows_grow(&rows, out->members, out->member_count, sizeof(*items), TF_MEMBERS_MAX);
		if (!items)
			break;
		out->members = items;
		tf_rows_index(&rows, 0, out->member_count);
		item = &items[out->member_count++];
		tf_rows_text(&rows, 1, item->name, sizeof(item->name));
		item->bytes = tf_rows_uint(&rows, 2, TF_MEMBER_MAX);
		fill_digest(&rows, 3, item->digest);
	}
	return tf_rows_close(&rows);
}

/* dim0..dim3 from `column`: those that are there come first. */
static void fill_dims(struct tf_rows *rows, int column, struct tf_buffer *buffer)
{
	for (uint32_t i = 0; i < TF_PROGRAM_DIMS_MAX; i++) {
		int64_t dim = tf_rows_int_or(rows, column + (int)i, -1, INT64_MAX);

		if (dim < 0)
			continue;
		if (buffer->dims_count != i)
			tf_rows_fail(rows, TF_E_INVALID, "dim%u follows a NULL", (unsigned)i);
		buffer->dims[buffer->dims_count++] = (uint64_t)dim;
	}
}

static enum tf_status read_buffers(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_buffer *items, *item;

	tf_rows_open(&rows, db, "buffer",
		"SELECT buffer, name, role, dtype, dim0, dim1, dim2, dim3, segment_off, bytes, "
		"peer_visible,"
		" tuned_group, pair FROM buffer",
		err);
	while (tf_rows_next(&rows)) {
		items =
			tf_rows_grow(&rows, out->buffers, out->buffer_count, sizeof(*items), TF_BUFFERS_MAX);
		if (!items)
			break;
		out->buffers = items;
		tf_rows_index(&rows, 0, out->buffer_count);
		item = &items[out->buffer_count++];
		tf_rows_text(&rows, 1, item->name, sizeof(item->name));
		item->role = (enum tf_buffer_role)tf_rows_enum(&rows, 2, tf_buffer_role_parse);
		item->dtype = (enum tf_dtype)tf_rows_enum(&rows, 3, tf_dtype_parse);
		fill_dims(&rows, 4, item);
		item->segment_off = tf_rows_uint(&rows, 8, INT64_MAX);
		item->bytes = tf_rows_uint(&rows, 9, INT64_MAX);
		item->peer_visible = (uint8_t)tf_rows_uint(&rows, 10, 1);
		item->group = (uint32_t)tf_rows_int_or(&rows, 11, TF_PROGRAM_NONE, TF_GROUPS_MAX);
		item->pair = (uint32_t)tf_rows_uint(&rows, 12, TF_TIMES_MAX);
	}
	return tf_rows_close(&rows);
}

static enum tf_status read_constants(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_constant *items, *item;

	tf_rows_open(&rows, db, "constant", "SELECT constant, buffer, rank, member FROM constant", err);
	while (tf_rows_next(&rows)) {
		items = tf_rows_grow(
			&rows, out->constants, out->constant_count, sizeof(*items), TF_CONSTANTS_MAX);
		if (!items)
			break;
		out->constants = items;
		tf_rows_index(&rows, 0, out->constant_count);
		item = &items[out->constant_count++];
		item->buffer = (uint32_t)tf_rows_uint(&rows, 1, TF_BUFFERS_MAX);
		item->rank = (int32_t)tf_rows_int_or(&rows, 2, -1, TF_WORLD_MAX);
		item->member = (uint32_t)tf_rows_uint(&rows, 3, TF_MEMBERS_MAX);
	}
	return tf_rows_close(&rows);
}

enum tf_status tf_read_memory(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	TF_TRY(read_identity(db, out, err));
	TF_TRY(read_program(db, out, err));
	TF_TRY(read_members(db, out, err));
	TF_TRY(read_buffers(db, out, err));
	return read_constants(db, out, err);
}
