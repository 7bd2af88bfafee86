/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of one table with a sticky error. Types are checked value by value: STRICT binds only honest
 * writers.
 */
#include "catalog/catalog_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/program_names.h"

#define GROW_FIRST 16 /* items of the first allocation; a power of two */

void tf_rows_fail(struct tf_rows *rows, enum tf_status status, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (rows->status != TF_OK)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	rows->status =
		TF_FAIL(rows->err, status, "row %" PRIu64 " of %s: %s", rows->row, rows->table, text);
}

void tf_rows_open(
	struct tf_rows *rows, sqlite3 *db, const char *table, const char *sql, struct tf_error *err)
{
	memset(rows, 0, sizeof(*rows));
	rows->db = db;
	rows->table = table;
	rows->err = err;
	rows->status = tf_catalog_db_table(db, table, err);
	if (rows->status != TF_OK)
		return;
	rows->status = TF_SQL(db, err, sqlite3_prepare_v2(db, sql, -1, &rows->stmt, NULL));
	if (rows->status != TF_OK)
		tf_error_prefix(err, "%s", table);
}

int tf_rows_next(struct tf_rows *rows)
{
	int code;

	if (rows->status != TF_OK)
		return 0;
	rows->row = rows->rows_done;
	code = sqlite3_step(rows->stmt);
	if (code == SQLITE_ROW) {
		rows->rows_done++;
		return 1;
	}
	rows->status = tf_sqlite_status(rows->db, code, "sqlite3_step", __FILE__, __LINE__, rows->err);
	if (rows->status != TF_OK)
		tf_error_prefix(rows->err, "row %" PRIu64 " of %s", rows->row, rows->table);
	return 0;
}

enum tf_status tf_rows_close(struct tf_rows *rows)
{
	sqlite3_finalize(rows->stmt);
	rows->stmt = NULL;
	return rows->status;
}

static const char *type_name(int type)
{
	switch (type) {
	case SQLITE_INTEGER:
		return "an integer";
	case SQLITE_FLOAT:
		return "a real";
	case SQLITE_TEXT:
		return "a text";
	case SQLITE_BLOB:
		return "a blob";
	default:
		return "NULL";
	}
}

/* Whether the column is of the type and nothing failed before. */
static int has_type(struct tf_rows *rows, int column, int type)
{
	int found;

	if (rows->status != TF_OK)
		return 0;
	found = sqlite3_column_type(rows->stmt, column);
	if (found == type)
		return 1;
	tf_rows_fail(rows, TF_E_INVALID, "%s is %s, not %s", sqlite3_column_name(rows->stmt, column),
		type_name(found), type_name(type));
	return 0;
}

uint64_t tf_rows_uint(struct tf_rows *rows, int column, uint64_t max)
{
	int64_t value;

	if (!has_type(rows, column, SQLITE_INTEGER))
		return 0;
	value = sqlite3_column_int64(rows->stmt, column);
	if (value < 0 || (uint64_t)value > max) {
		tf_rows_fail(rows, TF_E_INVALID, "%s is %" PRId64 ", not 0..%" PRIu64,
			sqlite3_column_name(rows->stmt, column), value, max);
		return 0;
	}
	return (uint64_t)value;
}

int64_t tf_rows_int_or(struct tf_rows *rows, int column, int64_t null, int64_t max)
{
	if (rows->status == TF_OK && sqlite3_column_type(rows->stmt, column) == SQLITE_NULL)
		return null;
	return (int64_t)tf_rows_uint(rows, column, (uint64_t)max);
}

void tf_rows_index(struct tf_rows *rows, int column, uint64_t expected)
{
	uint64_t value = tf_rows_uint(rows, column, INT64_MAX);

	if (rows->status == TF_OK && value != expected)
		tf_rows_fail(rows, TF_E_INVALID, "%s is %" PRIu64 ", not %" PRIu64,
			sqlite3_column_name(rows->stmt, column), value, expected);
}

/* A text of at most max bytes and no NUL in it; borrowed until the next row. */
static const char *borrow_text(struct tf_rows *rows, int column, size_t max, size_t *out_size)
{
	const char *text;
	size_t size;

	if (!has_type(rows, column, SQLITE_TEXT))
		return NULL;
	text = (const char *)sqlite3_column_text(rows->stmt, column);
	size = (size_t)sqlite3_column_bytes(rows->stmt, column);
	if (!text) {
		tf_rows_fail(rows, TF_E_NO_MEMORY, "no memory for a text");
		return NULL;
	}
	if (size > max || memchr(text, 0, size)) {
		tf_rows_fail(rows, TF_E_INVALID, "%s has %zu bytes, not 0..%zu without NUL",
			sqlite3_column_name(rows->stmt, column), size, max);
		return NULL;
	}
	*out_size = size;
	return text;
}

void tf_rows_text(struct tf_rows *rows, int column, char *out, size_t out_bytes)
{
	size_t size;
	const char *text = borrow_text(rows, column, out_bytes - 1, &size);

	if (!text)
		return;
	memcpy(out, text, size);
	out[size] = '\0';
}

char *tf_rows_text_copy(struct tf_rows *rows, int column, size_t max)
{
	size_t size;
	const char *text = borrow_text(rows, column, max, &size);
	char *copy = text ? tf_strndup(text, size) : NULL;

	if (text && !copy)
		tf_rows_fail(rows, TF_E_NO_MEMORY, "no memory for a text of %zu bytes", size);
	return copy;
}

int tf_rows_enum(struct tf_rows *rows, int column, int (*parse)(const char *name))
{
	size_t size;
	const char *text = borrow_text(rows, column, 64, &size);
	int value;

	if (!text)
		return 0;
	value = parse(text);
	if (value < 0) {
		tf_rows_fail(rows, TF_E_INVALID, "%s '%s' is unknown to this build",
			sqlite3_column_name(rows->stmt, column), tf_text_shown(text, size + 1));
		return 0;
	}
	return value;
}

const void *tf_rows_blob(struct tf_rows *rows, int column, size_t size)
{
	const void *blob;
	size_t found;

	if (!has_type(rows, column, SQLITE_BLOB))
		return NULL;
	blob = sqlite3_column_blob(rows->stmt, column);
	found = (size_t)sqlite3_column_bytes(rows->stmt, column);
	if (found != size) {
		tf_rows_fail(rows, TF_E_INVALID, "%s is %zu bytes, not %zu",
			sqlite3_column_name(rows->stmt, column), found, size);
		return NULL;
	}
	if (size && !blob)
		tf_rows_fail(rows, TF_E_NO_MEMORY, "no memory for a blob of %zu bytes", size);
	return blob;
}

void *tf_rows_grow(
	struct tf_rows *rows, void *array, uint32_t count, size_t item_bytes, uint32_t max)
{
	if (rows->status != TF_OK)
		return NULL;
	if (count >= max) {
		tf_rows_fail(rows, TF_E_LIMIT, "more than %" PRIu32 " rows", max);
		return NULL;
	}
	if (count == 0 || (count >= GROW_FIRST && (count & (count - 1)) == 0)) {
		array = tf_reallocarray(array, count ? (size_t)count * 2 : GROW_FIRST, item_bytes);
		if (!array) {
			tf_rows_fail(rows, TF_E_NO_MEMORY, "no memory for %" PRIu32 " rows", count + 1);
			return NULL;
		}
	}
	memset((char *)array + (size_t)count * item_bytes, 0, item_bytes);
	return array;
}
