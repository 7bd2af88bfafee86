/* SPDX-License-Identifier: Apache-2.0 */
/* One read-only statement of a person's own, row by row as texts. */
#include "catalog/catalog_read.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/catalog_db.h"

#define NOT_READING "query: not one reading statement (SELECT, WITH, VALUES, EXPLAIN)"

/* Values of one row as texts: NULL, SQLite's text of numbers and texts, lower-case hex of blobs. */
struct row_texts {
	int columns;
	char **names;  /* (columns), borrowed from the statement */
	char **values; /* (columns), borrowed, or into hex */
	struct tf_bytes hex;
};

static void row_fini(struct row_texts *row)
{
	tf_free(row->names);
	tf_free(row->values);
	tf_bytes_fini(&row->hex);
}

static enum tf_status row_init(struct row_texts *row, sqlite3_stmt *stmt, struct tf_error *err)
{
	row->columns = sqlite3_column_count(stmt);
	row->names = tf_calloc((size_t)row->columns, sizeof(*row->names));
	row->values = tf_calloc((size_t)row->columns, sizeof(*row->values));
	if (!row->names || !row->values)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %d columns", row->columns);
	for (int i = 0; i < row->columns; i++) {
		row->names[i] = (char *)(uintptr_t)sqlite3_column_name(stmt, i);
		if (!row->names[i])
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a column's name");
	}
	return TF_OK;
}

/* Two passes, because the buffer of hex digits may move while it grows. */
static enum tf_status fill_hex(struct row_texts *row, sqlite3_stmt *stmt, struct tf_error *err)
{
	size_t total = 0;
	void *to;
	char *next;

	for (int i = 0; i < row->columns; i++) {
		if (sqlite3_column_type(stmt, i) == SQLITE_BLOB)
			total += 2 * (size_t)sqlite3_column_bytes(stmt, i) + 1;
	}
	row->hex.size = 0;
	TF_TRY(tf_bytes_extend(&row->hex, total, &to, err));
	next = to;
	for (int i = 0; i < row->columns; i++) {
		size_t size;

		if (sqlite3_column_type(stmt, i) != SQLITE_BLOB)
			continue;
		size = (size_t)sqlite3_column_bytes(stmt, i);
		tf_hex(sqlite3_column_blob(stmt, i), size, next);
		row->values[i] = next;
		next += 2 * size + 1;
	}
	return TF_OK;
}

static enum tf_status row_fill(struct row_texts *row, sqlite3_stmt *stmt, struct tf_error *err)
{
	for (int i = 0; i < row->columns; i++) {
		int type = sqlite3_column_type(stmt, i);

		row->values[i] = NULL;
		if (type == SQLITE_NULL || type == SQLITE_BLOB)
			continue;
		row->values[i] = (char *)(uintptr_t)sqlite3_column_text(stmt, i);
		if (!row->values[i])
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a value");
	}
	return fill_hex(row, stmt, err);
}

static enum tf_status run(struct tf_catalog_db *db, sqlite3_stmt *stmt,
	int (*row)(void *user, int columns, char *const *names, char *const *values), void *user,
	struct tf_error *err)
{
	struct row_texts texts = {0};
	enum tf_status status = row_init(&texts, stmt, err);

	while (status == TF_OK) {
		int code = sqlite3_step(stmt);

		status = tf_sqlite_status(db->handle, code, "query", __FILE__, __LINE__, err);
		if (code != SQLITE_ROW)
			break;
		status = row_fill(&texts, stmt, err);
		if (status == TF_OK && row(user, texts.columns, texts.names, texts.values))
			status = TF_FAIL(err, TF_E_ABORTED, "query: ended by its receiver");
	}
	row_fini(&texts);
	return status;
}

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char)*text) || *text == ';')
		text++;
	return text;
}

/*
 * Whether anything but blanks and comments follows the first statement. SQLite itself says what a
 * comment is.
 */
static enum tf_status check_tail(struct tf_catalog_db *db, const char *tail, struct tf_error *err)
{
	while (*(tail = skip_blanks(tail))) {
		sqlite3_stmt *stmt = NULL;
		int code = sqlite3_prepare_v2(db->handle, tail, -1, &stmt, &tail);

		if (code == SQLITE_NOMEM)
			return tf_sqlite_status(db->handle, code, "query", __FILE__, __LINE__, err);
		if (code == SQLITE_OK && !stmt)
			continue;
		sqlite3_finalize(stmt);
		return TF_FAIL(err, TF_E_USAGE, "query: more than one statement");
	}
	return TF_OK;
}

/*
 * A statement that does not compile is the caller's words, unless the file or the memory is at
 * fault.
 */
static enum tf_status prepare_status(sqlite3 *db, int code, struct tf_error *err)
{
	switch (code & 0xff) {
	case SQLITE_OK:
		return TF_OK;
	case SQLITE_NOMEM:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_INTERRUPT:
		return tf_sqlite_status(db, code, "query", __FILE__, __LINE__, err);
	case SQLITE_AUTH:
	case SQLITE_SCHEMA: /* what CREATE ends in when it may not write the schema */
		return tf_error_set(err, TF_E_USAGE, "sqlite", code, __FILE__, __LINE__, NOT_READING ": %s",
			sqlite3_errmsg(db));
	default:
		return tf_error_set(
			err, TF_E_USAGE, "sqlite", code, __FILE__, __LINE__, "query: %s", sqlite3_errmsg(db));
	}
}

static enum tf_status prepare(
	struct tf_catalog_db *db, const char *sql, sqlite3_stmt **stmt, struct tf_error *err)
{
	const char *tail = sql;
	int code = sqlite3_prepare_v2(db->handle, sql, -1, stmt, &tail);

	TF_TRY(prepare_status(db->handle, code, err));
	if (!*stmt)
		return TF_FAIL(err, TF_E_USAGE, "query: no statement");
	if (!sqlite3_stmt_readonly(*stmt) || sqlite3_column_count(*stmt) == 0)
		return TF_FAIL(err, TF_E_USAGE, "%s", NOT_READING);
	return check_tail(db, tail, err);
}

enum tf_status tf_catalog_query(const void *bytes, size_t size, const char *sql,
	int64_t deadline_ns,
	int (*row)(void *user, int columns, char *const *names, char *const *values), void *user,
	struct tf_error *err)
{
	struct tf_catalog_db db = {0};
	sqlite3_stmt *stmt = NULL;
	enum tf_status status;

	status = tf_catalog_db_open(&db, bytes, size, TF_CATALOG_ACCESS_QUERY, deadline_ns, err);
	if (status == TF_OK)
		status = prepare(&db, sql, &stmt, err);
	if (status == TF_OK)
		status = run(&db, stmt, row, user, err);
	sqlite3_finalize(stmt);
	tf_catalog_db_close(&db);
	if (status == TF_E_TIMEOUT)
		status = TF_FAIL(err, TF_E_TIMEOUT, "query: not done by its deadline");
	if (status != TF_OK)
		tf_error_prefix(err, "catalog");
	return status;
}
