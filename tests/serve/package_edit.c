/* SPDX-License-Identifier: Apache-2.0 */
/* package_edit IN OUT SQL: a package whose catalog was changed by SQL, sound in every other way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "packages/container_read.h"
#include "packages/container_write.h"

static void need(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "package_edit: %s\n", what);
	exit(1);
}

/* The catalog after the statements; freed with sqlite3_free. */
static unsigned char *edit(
	const struct tf_bytes *catalog, const char *sql, sqlite3_int64 *out_bytes)
{
	sqlite3 *db;
	unsigned char *copy = sqlite3_malloc64(catalog->size), *edited;

	need(sqlite3_open(":memory:", &db) == SQLITE_OK && copy, "no memory");
	memcpy(copy, catalog->data, catalog->size);
	need(sqlite3_deserialize(db, "main", copy, (sqlite3_int64)catalog->size,
			 (sqlite3_int64)catalog->size,
			 SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) == SQLITE_OK,
		"the catalog does not open");
	need(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
	need(sqlite3_total_changes(db) > 0, "the SQL changed nothing");
	edited = sqlite3_serialize(db, "main", out_bytes, 0);
	need(edited != NULL, "no memory");
	sqlite3_close(db);
	return edited;
}

static void copy_members(const struct tf_package *package, struct tf_package_writer *writer)
{
	for (size_t i = 1; i < tf_package_member_count(package); i++) {
		struct tf_bytes member = {0};

		need(tf_package_read_member(package, i, &member, NULL) == TF_OK, "a member is damaged");
		need(tf_package_writer_add(writer, tf_package_member_name(package, i), member.data,
				 member.size, NULL) == TF_OK,
			"a member cannot be written");
		tf_bytes_fini(&member);
	}
}

int main(int argc, char **argv)
{
	struct tf_package_writer *writer = NULL;
	struct tf_package *package = NULL;
	struct tf_bytes catalog = {0};
	struct tf_error err = {0};
	unsigned char *edited;
	sqlite3_int64 bytes;

	need(argc == 4, "usage: package_edit IN OUT SQL");
	need(tf_package_open(argv[1], &package, &err) == TF_OK, err.text);
	need(tf_package_read_catalog(package, &catalog, &err) == TF_OK, err.text);
	edited = edit(&catalog, argv[3], &bytes);
	need(tf_package_writer_create(argv[2], &writer, &err) == TF_OK, err.text);
	need(tf_package_writer_add(writer, TF_PACKAGE_CATALOG, edited, (uint64_t)bytes, &err) == TF_OK,
		err.text);
	copy_members(package, writer);
	need(tf_package_writer_seal(writer, &err) == TF_OK, err.text);
	need(tf_package_writer_publish(writer, NULL, NULL, &err) == TF_OK, err.text);
	tf_package_writer_destroy(writer);
	tf_package_close(package);
	tf_bytes_fini(&catalog);
	sqlite3_free(edited);
	return 0;
}
