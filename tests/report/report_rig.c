/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/report/report_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"

#define ASK_BOUND_NS (30 * TF_NS_PER_S)

struct tf_report_source report_rig_source(const struct tf_program *program)
{
	struct tf_report_source source = {
		.name = "x.tfp",
		.bytes = 12345,
		.catalog_bytes = 6789,
		.tool_version = "9.8.7",
		.program = program,
	};

	memset(source.sha256, 0xab, sizeof(source.sha256));
	memset(source.catalog_sha256, 0xcd, sizeof(source.catalog_sha256));
	return source;
}

json_t *report_rig_data(const struct tf_report_source *source)
{
	struct tf_bytes bytes = {0};
	struct tf_error err = {0};
	json_error_t fault;
	json_t *root;

	if (tf_report_data(source, &bytes, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_null(memchr(bytes.data, '<', bytes.size));
	root = json_loadb((const char *)bytes.data, bytes.size, JSON_REJECT_DUPLICATES, &fault);
	if (!root)
		fail_msg("%s", fault.text);
	tf_bytes_fini(&bytes);
	return root;
}

void report_rig_add(char **text, const char *fmt, ...)
{
	size_t used = *text ? strlen(*text) : 0;
	char *grown, line[1024];
	va_list args;

	va_start(args, fmt);
	assert_true(vsnprintf(line, sizeof(line), fmt, args) < (int)sizeof(line));
	va_end(args);
	grown = realloc(*text, used + strlen(line) + 1);
	assert_non_null(grown);
	strcpy(grown + used, line);
	*text = grown;
}

static int take_row(void *user, int columns, char *const *names, char *const *values)
{
	(void)names;
	for (int i = 0; i < columns; i++)
		report_rig_add(user, "%s%c", values[i] ? values[i] : "-", i + 1 < columns ? '|' : '\n');
	return 0;
}

char *report_rig_ask(const struct tf_program *program, const char *sql)
{
	struct tf_bytes catalog = {0};
	struct tf_error err = {0};
	char *text = NULL;

	if (tf_catalog_write(program, &catalog, &err) != TF_OK)
		fail_msg("%s", err.text);
	if (tf_catalog_query(catalog.data, catalog.size, sql, tf_deadline_after(ASK_BOUND_NS), take_row,
			&text, &err) != TF_OK)
		fail_msg("%s", err.text);
	tf_bytes_fini(&catalog);
	assert_non_null(text);
	return text;
}
