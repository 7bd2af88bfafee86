/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep inspect --sql`. The texts come from a file that is not trusted and may go to a terminal,
 * so control bytes are written out.
 */
#include "prepare/inspect_print.h"

#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "prepare/json_print.h"

/* Ample for any question about one package; a statement that never ends is ended. */
#define QUERY_BOUND_NS (30 * TF_NS_PER_S)

struct rows {
	FILE *to;
	uint64_t count;
	json_t *names, *values; /* with --json */
	int failed;
};

static void put_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '\\')
			fputs("\\\\", to);
		else if (byte == '\t')
			fputs("\\t", to);
		else if (byte == '\n')
			fputs("\\n", to);
		else if (byte < 0x20 || byte == 0x7f)
			fprintf(to, "\\x%02x", byte);
		else
			fputc(byte, to);
	}
}

static void put_row(FILE *to, int columns, char *const *texts)
{
	for (int i = 0; i < columns; i++) {
		if (i)
			fputc('\t', to);
		if (texts[i])
			put_escaped(to, texts[i]);
		else
			fputs("\\N", to);
	}
	fputc('\n', to);
}

static int take_text(void *user, int columns, char *const *names, char *const *values)
{
	struct rows *rows = user;

	if (!rows->count++)
		put_row(rows->to, columns, names);
	put_row(rows->to, columns, values);
	return ferror(rows->to);
}

static json_t *pack_row(int columns, char *const *texts)
{
	json_t *row = json_array();

	/* Bytes that are not UTF-8 have no JSON string; json_string gives NULL for them. */
	for (int i = 0; row && i < columns; i++)
		row = tf_json_append(row, texts[i] ? json_string(texts[i]) : json_null());
	return row;
}

static int take_json(void *user, int columns, char *const *names, char *const *values)
{
	struct rows *rows = user;

	if (!rows->count++)
		rows->names = pack_row(columns, names);
	rows->values = tf_json_append(rows->values, pack_row(columns, values));
	rows->failed = !rows->names || !rows->values;
	return rows->failed;
}

enum tf_status tf_inspect_print_query(
	FILE *to, const struct tf_package_view *view, const char *sql, int json, struct tf_error *err)
{
	struct rows rows = {.to = to, .values = json ? json_array() : NULL};
	enum tf_status status = tf_catalog_query(view->catalog.data, view->catalog.size, sql,
		tf_deadline_after(QUERY_BOUND_NS), json ? take_json : take_text, &rows, err);

	if (rows.failed)
		status = TF_FAIL(err, TF_E_INVALID,
			"row %llu of the query is not UTF-8 or does not fit into memory",
			(unsigned long long)rows.count);
	if (status != TF_OK || !json) {
		json_decref(rows.names);
		json_decref(rows.values);
		return status;
	}
	return tf_json_print(to,
		json_pack("{s:i, s:o, s:o}", "version", TF_INSPECT_JSON_VERSION, "columns",
			rows.names ? rows.names : json_array(), "rows", rows.values),
		err);
}
