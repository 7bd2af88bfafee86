/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal: a catalog opened as an SQLite database that is not trusted, and the one way to report
 * SQLite's errors.
 *
 * Opened from borrowed bytes, read-only, in memory (nothing is ever written, temporary tables
 * included), defensive, without trusted schema, triggers, extensions or attached files, and with
 * limits that hold before any row is read.
 */
#ifndef TF_CATALOG_CATALOG_DB_H
#define TF_CATALOG_CATALOG_DB_H

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What statements may do: READ is one table at a time without functions; QUERY adds views and
 * functions.
 */
enum tf_catalog_access { TF_CATALOG_ACCESS_READ, TF_CATALOG_ACCESS_QUERY };

/* Lives where it was opened: SQLite holds a pointer to it. */
struct tf_catalog_db {
	sqlite3 *handle;
	int64_t
		steps_left; /* READ: virtual machine steps until the file is taken to refer in circles */
	int64_t deadline_ns; /* QUERY */
};

/*
 * Checks the header (magic, length, application_id, user_version), then opens. `bytes` (borrowed)
 * must outlive it. Statements that run out of steps or past `deadline_ns` end in TF_E_TIMEOUT.
 */
TF_WARN_UNUSED enum tf_status tf_catalog_db_open(struct tf_catalog_db *db, const void *bytes,
	size_t size, enum tf_catalog_access access, int64_t deadline_ns, struct tf_error *err);

/* Takes one that was never opened, if zeroed. All statements must be finalised. */
void tf_catalog_db_close(struct tf_catalog_db *db);

/*
 * TF_E_INVALID unless `table` is an ordinary table of this database: not a view or virtual table
 * of that name, and without generated columns, so that reading it runs no SQL of the file.
 */
TF_WARN_UNUSED enum tf_status tf_catalog_db_table(
	sqlite3 *db, const char *table, struct tf_error *err);

/* Whether anything of the file bears that name: a table of a later minor may be absent. */
TF_WARN_UNUSED enum tf_status tf_catalog_db_has(
	sqlite3 *db, const char *table, int *out, struct tf_error *err);

/*
 * TF_OK for SQLITE_OK, ROW and DONE; else sets err with the call's text and SQLite's words. db
 * may be NULL.
 */
TF_WARN_UNUSED enum tf_status tf_sqlite_status(
	sqlite3 *db, int code, const char *call, const char *file, int line, struct tf_error *err);

/* Makes the call and converts its result. */
#define TF_SQL(db, err, call) tf_sqlite_status((db), (call), #call, __FILE__, __LINE__, (err))

#ifdef __cplusplus
}
#endif
#endif
