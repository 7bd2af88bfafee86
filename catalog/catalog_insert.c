/* SPDX-License-Identifier: Apache-2.0 */
/* Rows into one table with a sticky error. */
#include "catalog/catalog_insert.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX 24 /* of the widest table, program */

void tf_insert_open(
	struct tf_insert *insert, sqlite3 *db, const char *table, int columns, struct tf_error *err)
{
	char sql[64 + 2 * COLUMNS_MAX];
	int used;

	assert(columns >= 1 && columns <= COLUMNS_MAX && strlen(table) < 32);
	memset(insert, 0, sizeof(*insert));
	insert->db = db;
	insert->table = table;
	insert->err = err;
	used = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(?", table);
	for (int i = 1; i < columns; i++)
		used += snprintf(sql + used, sizeof(sql) - (size_t)used, ",?");
	snprintf(sql + used, sizeof(sql) - (size_t)used, ")");
	insert->status = TF_SQL(db, err, sqlite3_prepare_v2(db, sql, -1, &insert->stmt, NULL));
}

static void note(struct tf_insert *insert, int code, const char *call)
{
	insert->status = tf_sqlite_status(insert->db, code, call, __FILE__, __LINE__, insert->err);
	if (insert->status != TF_OK)
		tf_error_prefix(insert->err, "row %" PRIu64 " of %s", insert->row, insert->table);
}

enum tf_status tf_insert_close(struct tf_insert *insert)
{
	sqlite3_finalize(insert->stmt);
	insert->stmt = NULL;
	return insert->status;
}

void tf_insert_uint(struct tf_insert *insert, uint64_t value)
{
	assert(value <= INT64_MAX);
	if (insert->status == TF_OK)
		note(insert, sqlite3_bind_int64(insert->stmt, ++insert->column, (int64_t)value),
			"sqlite3_bind_int64");
}

void tf_insert_int_or(struct tf_insert *insert, int64_t value, int64_t null)
{
	if (insert->status != TF_OK)
		return;
	insert->column++;
	if (value == null)
		note(insert, sqlite3_bind_null(insert->stmt, insert->column), "sqlite3_bind_null");
	else
		note(insert, sqlite3_bind_int64(insert->stmt, insert->column, value), "sqlite3_bind_int64");
}

void tf_insert_text(struct tf_insert *insert, const char *text)
{
	if (insert->status == TF_OK)
		note(insert, sqlite3_bind_text(insert->stmt, ++insert->column, text, -1, SQLITE_STATIC),
			"sqlite3_bind_text");
}

/* sqlite3_bind_blob takes a NULL pointer for NULL, and an empty blob may have no address. */
void tf_insert_blob(struct tf_insert *insert, const void *blob, size_t size)
{
	if (insert->status == TF_OK)
		note(insert,
			sqlite3_bind_blob64(
				insert->stmt, ++insert->column, size ? blob : "", size, SQLITE_STATIC),
			"sqlite3_bind_blob64");
}

int tf_insert_row(struct tf_insert *insert)
{
	if (insert->status == TF_OK)
		note(insert, sqlite3_step(insert->stmt), "sqlite3_step");
	if (insert->status == TF_OK)
		note(insert, sqlite3_reset(insert->stmt), "sqlite3_reset");
	insert->column = 0;
	insert->row++;
	return insert->status == TF_OK;
}
