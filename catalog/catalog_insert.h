/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal: rows into one table, with a sticky error. Values are bound left to right; insert_row
 * ends the row.
 */
#ifndef TF_CATALOG_CATALOG_INSERT_H
#define TF_CATALOG_CATALOG_INSERT_H

#include "catalog/catalog_db.h"
#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_insert {
	sqlite3 *db; /* borrowed */
	sqlite3_stmt *stmt;
	const char *table; /* static string */
	uint64_t row;      /* rows so far */
	int column;        /* values of the row under way */
	enum tf_status status;
	struct tf_error *err;
};

/* For a table of `columns` columns, all of which every row binds. Close it even if this fails. */
void tf_insert_open(
	struct tf_insert *insert, sqlite3 *db, const char *table, int columns, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_insert_close(struct tf_insert *insert);

void tf_insert_uint(struct tf_insert *insert, uint64_t value); /* at most INT64_MAX */
/* NULL where value is `null`. */
void tf_insert_int_or(struct tf_insert *insert, int64_t value, int64_t null);
/* Text and blob are borrowed until tf_insert_row. */
void tf_insert_text(struct tf_insert *insert, const char *text);
void tf_insert_blob(struct tf_insert *insert, const void *blob, size_t size);
/* Nonzero while all went well. */
int tf_insert_row(struct tf_insert *insert);

/* Parts of tf_catalog_write, each for some tables of a program that has been checked. */
TF_WARN_UNUSED enum tf_status tf_write_memory(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_write_tuning(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_write_kernels(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_write_graphs(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err);
/* Makes the tables of schema 1.1 first; for programs with foreign kernels. */
TF_WARN_UNUSED enum tf_status tf_write_foreign(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
