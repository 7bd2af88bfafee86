/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a catalog. What makes the bytes the same for the same program and SQLite library:
 * 1. A fresh database in memory with a fixed page size and encoding, one transaction, tables filled
 *    in a fixed order.
 * 2. Rows go in by rising key; samples and edges, whose order in the program is free, are sorted
 *    first.
 * 3. Freed bytes are zeroed, so no page holds what memory held before.
 * 4. A program without foreign kernels is written in schema 1.0: a file states the lowest minor
 *    that holds it.
 * The header's version field (offset 96) is the SQLite library's, so another library may give other
 * bytes.
 */
#include "catalog/catalog_write.h"

#include <string.h>

#include "catalog/catalog_insert.h"
#include "catalog/catalog_read.h"
#include "catalog/schema.h"

static const char settings[] =
	"PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'; PRAGMA auto_vacuum = NONE;"
	"PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON;"
	/*
	 * tf_program_check has proven every reference; a second proof by row would cost half the time
	 */
	"PRAGMA foreign_keys = OFF; BEGIN";

/* The schema is the same; an older reader does not know the word. */
static const char library_version[] = "PRAGMA user_version = 1002";
_Static_assert(TF_CATALOG_SCHEMA_MAJOR == 1 && TF_CATALOG_LIBRARY_MINOR == 2, "library_version");

static enum tf_status fill(sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	TF_TRY(TF_SQL(db, err, sqlite3_exec(db, settings, NULL, NULL, NULL)));
	TF_TRY(TF_SQL(db, err, sqlite3_exec(db, tf_catalog_schema, NULL, NULL, NULL)));
	TF_TRY(tf_write_memory(db, program, err));
	TF_TRY(tf_write_tuning(db, program, err));
	TF_TRY(tf_write_kernels(db, program, err));
	TF_TRY(tf_write_graphs(db, program, err));
	if (tf_program_has_foreign(program))
		TF_TRY(tf_write_foreign(db, program, err));
	if (tf_program_tries_library(program))
		TF_TRY(TF_SQL(db, err, sqlite3_exec(db, library_version, NULL, NULL, NULL)));
	return TF_SQL(db, err, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
}

static enum tf_status serialize(sqlite3 *db, struct tf_bytes *out, struct tf_error *err)
{
	sqlite3_int64 size = 0;
	unsigned char *image = sqlite3_serialize(db, "main", &size, 0);
	enum tf_status status;

	if (!image)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the database's %lld bytes", size);
	status = tf_bytes_append(out, image, (size_t)size, err);
	sqlite3_free(image);
	return status;
}

enum tf_status tf_catalog_write(
	const struct tf_program *program, struct tf_bytes *out, struct tf_error *err)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
	sqlite3 *db = NULL;
	enum tf_status status = tf_program_check(program, err);

	if (status == TF_OK)
		status = TF_SQL(db, err, sqlite3_open_v2(":memory:", &db, flags, NULL));
	if (status == TF_OK)
		status = fill(db, program, err);
	if (status == TF_OK)
		status = serialize(db, out, err);
	sqlite3_close(db);
	if (status != TF_OK)
		tf_error_prefix(err, "catalog");
	return status;
}
