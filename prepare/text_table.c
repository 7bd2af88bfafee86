/* SPDX-License-Identifier: Apache-2.0 */
/* Widths count bytes: the cells are names and numbers, which are ASCII. */
#include "prepare/text_table.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"

#define CELL_BYTES 512 /* longer cells are cut; names and reasons are at most 160 */

void tf_text_table_cell(struct tf_text_table *table, const char *fmt, ...)
{
	char text[CELL_BYTES], *copy;
	va_list args;

	if (table->status != TF_OK)
		return;
	if (table->cell_count == table->cell_capacity) {
		size_t capacity = table->cell_capacity ? 2 * table->cell_capacity : 64;
		char **grown = tf_reallocarray(table->cells, capacity, sizeof(table->cells[0]));

		if (!grown) {
			table->status = TF_E_NO_MEMORY;
			return;
		}
		table->cells = grown;
		table->cell_capacity = capacity;
	}
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	copy = tf_strdup(text);
	if (!copy)
		table->status = TF_E_NO_MEMORY;
	else
		table->cells[table->cell_count++] = copy;
}

static size_t width_of(const struct tf_text_table *table, size_t columns, size_t column)
{
	size_t width = 0;

	for (size_t i = column; i < table->cell_count; i += columns) {
		size_t bytes = strlen(table->cells[i]);

		width = bytes > width ? bytes : width;
	}
	return width;
}

/* Blanks are put out only before a cell that is not empty, so that none ends a line. */
static void print_row(
	FILE *to, const struct tf_text_table *table, char *const *cells, const size_t *widths)
{
	size_t blanks = 0;

	for (size_t i = 0; table->align[i]; i++) {
		size_t bytes = strlen(cells[i]), fill = widths[i] - bytes;
		int right = table->align[i] == 'r';

		if (bytes)
			fprintf(to, "%*s%s", (int)(blanks + (right ? fill : 0)), "", cells[i]);
		if (bytes)
			blanks = right ? 2 : fill + 2;
		else
			blanks += widths[i] + 2;
	}
	fputc('\n', to);
}

enum tf_status tf_text_table_print(
	struct tf_text_table *table, FILE *to, const char *indent, struct tf_error *err)
{
	size_t columns = strlen(table->align), *widths;

	if (table->status != TF_OK)
		return TF_FAIL(err, table->status, "no memory for a table");
	if (table->cell_count % columns)
		return TF_FAIL(err, TF_E_INTERNAL, "a table's last row is not full");
	widths = tf_calloc(columns, sizeof(widths[0]));
	if (!widths)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a table");
	for (size_t i = 0; i < columns; i++)
		widths[i] = width_of(table, columns, i);
	for (size_t i = 0; i < table->cell_count; i += columns) {
		fputs(indent, to);
		print_row(to, table, table->cells + i, widths);
	}
	tf_free(widths);
	tf_text_table_fini(table);
	return TF_OK;
}

void tf_text_table_fini(struct tf_text_table *table)
{
	for (size_t i = 0; i < table->cell_count; i++)
		tf_free(table->cells[i]);
	tf_free(table->cells);
	table->cells = NULL;
	table->cell_count = table->cell_capacity = 0;
}
