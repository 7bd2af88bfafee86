/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogs as bytes: opened as any SQLite program would, without the reader's care. */
#include "tests/catalog/catalog_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "catalog/catalog_write.h"
#include "tests/catalog/sample_program.h"

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "catalog_image: %s\n", what);
	abort();
}

void catalog_image_make(struct tf_bytes *out)
{
	struct tf_program program;
	struct tf_error err = {0};

	memset(out, 0, sizeof(*out));
	sample_program_make(&program);
	must(tf_catalog_write(&program, out, &err) == TF_OK, err.text);
	tf_program_fini(&program);
}

static sqlite3 *open_copy(const struct tf_bytes *image)
{
	const unsigned flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
	unsigned char *copy = sqlite3_malloc64(image->size);
	sqlite3_int64 size = (sqlite3_int64)image->size;
	sqlite3 *db;

	must(copy != NULL, "memory");
	memcpy(copy, image->data, image->size);
	must(sqlite3_open(":memory:", &db) == SQLITE_OK, "open");
	must(sqlite3_deserialize(db, "main", copy, size, size, flags) == SQLITE_OK, "deserialize");
	return db;
}

int catalog_image_edit(const struct tf_bytes *image, const char *sql, struct tf_bytes *out)
{
	sqlite3 *db = open_copy(image);
	sqlite3_int64 size = 0;
	unsigned char *bytes;
	int code;

	memset(out, 0, sizeof(*out));
	must(sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON", 0, 0,
			 0) == SQLITE_OK,
		"pragma");
	code = sqlite3_exec(db, sql, NULL, NULL, NULL);
	if (code != SQLITE_OK)
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
	bytes = sqlite3_serialize(db, "main", &size, 0);
	must(bytes != NULL, "serialize");
	must(tf_bytes_append(out, bytes, (size_t)size, NULL) == TF_OK, "memory");
	sqlite3_free(bytes);
	sqlite3_close(db);
	return code;
}

static int on_row(void *user, int columns, char **values, char **names)
{
	struct tf_bytes *out = user;

	(void)names;
	for (int i = 0; i < columns; i++)
		must(tf_bytes_printf(out, NULL, "%s%s", i ? "|" : "", values[i] ? values[i] : "") == TF_OK,
			"memory");
	must(tf_bytes_printf(out, NULL, "\n") == TF_OK, "memory");
	return 0;
}

void catalog_image_ask(const struct tf_bytes *image, const char *sql, struct tf_bytes *out)
{
	sqlite3 *db = open_copy(image);

	memset(out, 0, sizeof(*out));
	must(tf_bytes_printf(out, NULL, "%s", "") == TF_OK, "memory");
	if (sqlite3_exec(db, sql, on_row, out, NULL) != SQLITE_OK)
		must(0, sqlite3_errmsg(db));
	sqlite3_close(db);
}
