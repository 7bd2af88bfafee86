/* SPDX-License-Identifier: Apache-2.0 */
/* Writing identity, layout, members, buffers and constants. */
#include "catalog/catalog_insert.h"
#include "catalog/program_names.h"

static enum tf_status write_identity(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "identity", 2, err);
	for (uint32_t i = 0; i < program->identity_count; i++) {
		tf_insert_text(&insert, program->identity[i].key);
		tf_insert_text(&insert, program->identity[i].value);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_program(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	const struct tf_layout *l = &program->layout;
	const uint64_t fields[] = {0, program->world, l->stride_bytes, l->segment_bytes, l->control_off,
		l->control_bytes, l->ll_off, l->ll_source_bytes, l->sentinel_off, l->sentinel_source_bytes,
		l->flag_off, l->flag_bytes, l->staging_off, l->staging_source_bytes, l->exchange_off,
		l->exchange_bytes, l->startup_off, l->startup_bytes, l->private_off, l->private_bytes};
	const int count = (int)(sizeof(fields) / sizeof(fields[0]));
	struct tf_insert insert;

	tf_insert_open(&insert, db, "program", count, err);
	for (int i = 0; i < count; i++)
		tf_insert_uint(&insert, fields[i]);
	tf_insert_row(&insert);
	return tf_insert_close(&insert);
}

static enum tf_status write_members(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "member", 4, err);
	for (uint32_t i = 0; i < program->member_count; i++) {
		const struct tf_member *member = &program->members[i];

		tf_insert_uint(&insert, i);
		tf_insert_text(&insert, member->name);
		tf_insert_uint(&insert, member->bytes);
		tf_insert_blob(&insert, member->digest, sizeof(member->digest));
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_buffers(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "buffer", 13, err);
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		const struct tf_buffer *buffer = &program->buffers[i];

		tf_insert_uint(&insert, i);
		tf_insert_text(&insert, buffer->name);
		tf_insert_text(&insert, tf_buffer_role_name(buffer->role));
		tf_insert_text(&insert, tf_dtype_name(buffer->dtype));
		for (uint32_t d = 0; d < TF_PROGRAM_DIMS_MAX; d++)
			tf_insert_int_or(&insert, d < buffer->dims_count ? (int64_t)buffer->dims[d] : -1, -1);
		tf_insert_uint(&insert, buffer->segment_off);
		tf_insert_uint(&insert, buffer->bytes);
		tf_insert_uint(&insert, buffer->peer_visible);
		tf_insert_int_or(&insert, buffer->group, TF_PROGRAM_NONE);
		tf_insert_uint(&insert, buffer->pair);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_constants(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "constant", 4, err);
	for (uint32_t i = 0; i < program->constant_count; i++) {
		tf_insert_uint(&insert, i);
		tf_insert_uint(&insert, program->constants[i].buffer);
		tf_insert_int_or(&insert, program->constants[i].rank, -1);
		tf_insert_uint(&insert, program->constants[i].member);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

enum tf_status tf_write_memory(sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	TF_TRY(write_identity(db, program, err));
	TF_TRY(write_program(db, program, err));
	TF_TRY(write_members(db, program, err));
	TF_TRY(write_buffers(db, program, err));
	return write_constants(db, program, err);
}
