/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal: rows of one table, read with a sticky error. After the first fault every getter gives
 * 0 and rows_next ends, so that a loop reads a whole row and asks once. A fault names row, table
 * and column.
 *
 * Statements have no ORDER BY: a sort would gather all rows of a hostile file in memory before
 * the first check. They come in key order by the tables' layout; tf_rows_index refuses any other.
 */
#ifndef TF_CATALOG_CATALOG_ROWS_H
#define TF_CATALOG_CATALOG_ROWS_H

#include <stdint.h>

#include "catalog/catalog_db.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_rows {
	sqlite3 *db; /* borrowed */
	sqlite3_stmt *stmt;
	const char *table;  /* static string */
	uint64_t row;       /* the row under way, from 0 */
	uint64_t rows_done; /* rows handed out */
	enum tf_status status;
	struct tf_error *err;
};

/* Checks the table (tf_catalog_db_table) and prepares `sql`. Close it even if this fails. */
void tf_rows_open(
	struct tf_rows *rows, sqlite3 *db, const char *table, const char *sql, struct tf_error *err);

/* Nonzero while there is a row. */
int tf_rows_next(struct tf_rows *rows);

/* Ends, and returns what happened. */
TF_WARN_UNUSED enum tf_status tf_rows_close(struct tf_rows *rows);

/* An integer in 0..max. */
uint64_t tf_rows_uint(struct tf_rows *rows, int column, uint64_t max);
/* The same, or `null` where the column is NULL. */
int64_t tf_rows_int_or(struct tf_rows *rows, int column, int64_t null, int64_t max);
/* An index that must be `expected`: tables are numbered without gaps, in order. */
void tf_rows_index(struct tf_rows *rows, int column, uint64_t expected);
/* A text without NUL bytes, with its end in `out` of `out_bytes`. */
void tf_rows_text(struct tf_rows *rows, int column, char *out, size_t out_bytes);
/* A text of at most `max` bytes in fresh memory; NULL on a fault. */
char *tf_rows_text_copy(struct tf_rows *rows, int column, size_t max);
/* The value of a name by one of the _parse functions. */
int tf_rows_enum(struct tf_rows *rows, int column, int (*parse)(const char *name));
/* Exactly `size` bytes of blob, valid until the next row; NULL on a fault or when size is 0. */
const void *tf_rows_blob(struct tf_rows *rows, int column, size_t size);

/*
 * Room for one more item in `array` of `count`: the array, perhaps moved, with item `count`
 * zeroed; NULL on a fault (the old array stays valid). TF_E_LIMIT at `max` items. Capacity is the
 * next power of two, so it is not stored.
 */
void *tf_rows_grow(
	struct tf_rows *rows, void *array, uint32_t count, size_t item_bytes, uint32_t max);

/* Sets the fault unless there is one: "row R of TABLE: " and the text. */
void tf_rows_fail(struct tf_rows *rows, enum tf_status status, const char *fmt, ...)
	TF_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif
#endif
