/* SPDX-License-Identifier: Apache-2.0 */
/* Columns as wide as their widest cell. Cells are given one after another, row by row. */
#ifndef TF_PREPARE_TEXT_TABLE_H
#define TF_PREPARE_TEXT_TABLE_H

#include <stdio.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * {.align = "lrr"} starts a table of three columns, 'l' left and 'r' right. The first failure
 * stays in `status`, later calls do nothing.
 */
struct tf_text_table {
	const char *align; /* one letter a column, borrowed */
	char **cells;      /* (rows, columns) */
	size_t cell_count, cell_capacity;
	enum tf_status status;
};

void tf_text_table_cell(struct tf_text_table *table, const char *fmt, ...) TF_PRINTF(2, 3);

/*
 * Prints every row behind `indent`, two blanks between columns and none at a line's end, and
 * empties the table. TF_E_NO_MEMORY; TF_E_INTERNAL: the last row is not full.
 */
TF_WARN_UNUSED enum tf_status tf_text_table_print(
	struct tf_text_table *table, FILE *to, const char *indent, struct tf_error *err);

/* Empties the table without printing. */
void tf_text_table_fini(struct tf_text_table *table);

#ifdef __cplusplus
}
#endif
#endif
