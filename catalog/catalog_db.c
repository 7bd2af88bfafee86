/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening an untrusted catalog. What a file could try, and what stops it:
 * 1. Another database, or a part of one: magic, length, application_id and user_version are read
 *    before SQLite sees it.
 * 2. SQL of its own (views, triggers, generated columns, virtual tables): the reader takes only
 *    ordinary tables without generated columns, triggers never run, and the authorizer allows reads
 *    alone.
 * 3. Large values and deep statements: sqlite3_limit.
 * 4. Pages that refer in circles: cell_size_check, and a budget of virtual machine steps that
 *    follows from the file's size.
 */
#include "catalog/catalog_db.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

/*
 * Offsets in the header of an SQLite file (sqlite.org/fileformat2.html, section 1.3); fields are
 * big-endian.
 */
#define HEADER_BYTES    100
#define HEADER_PAGE     16
#define HEADER_PAGES    28
#define HEADER_VERSION  60
#define HEADER_APP      68
#define HEADER_READ_WAL 19

/*
 * Above any value of a catalog: identity values have at most 64 KiB, argument structs 32 KiB, this
 * schema 16 KiB.
 */
#define LENGTH_MAX 1000000

/*
 * A row costs about 2 steps a column and at least a byte a column: an honest file stays far below
 * this.
 */
#define STEPS_A_BYTE   INT64_C(8)
#define STEPS_FREE     INT64_C(1000000)
#define PROGRESS_STEPS 1000 /* some microseconds */

enum tf_status tf_sqlite_status(
	sqlite3 *db, int code, const char *call, const char *file, int line, struct tf_error *err)
{
	enum tf_status status;

	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return TF_OK;
	case SQLITE_NOMEM:
		status = TF_E_NO_MEMORY;
		break;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		status = TF_E_DAMAGED;
		break;
	case SQLITE_TOOBIG:
		status = TF_E_LIMIT;
		break;
	case SQLITE_INTERRUPT:
		status = TF_E_TIMEOUT;
		break;
	case SQLITE_ERROR:
	case SQLITE_AUTH:
	case SQLITE_CONSTRAINT:
	case SQLITE_CANTOPEN:
		status = TF_E_INVALID;
		break;
	default:
		status = TF_E_SYSTEM;
		break;
	}
	return tf_error_set(err, status, "sqlite", code, file, line, "%s: %s", call,
		db && sqlite3_extended_errcode(db) == code ? sqlite3_errmsg(db) : sqlite3_errstr(code));
}

static uint32_t get_be(const uint8_t *from, int bytes)
{
	uint32_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | from[i];
	return value;
}

static enum tf_status check_length(const uint8_t *header, size_t size, struct tf_error *err)
{
	uint64_t page = get_be(header + HEADER_PAGE, 2);
	uint64_t pages = get_be(header + HEADER_PAGES, 4);

	if (page == 1)
		page = 65536;
	if (page < 512 || page & (page - 1))
		return TF_FAIL(
			err, TF_E_DAMAGED, "page size is %" PRIu64 ", not a power of two in 512..65536", page);
	if (pages * page != size)
		return TF_FAIL(err, TF_E_DAMAGED,
			"%zu bytes, its header says %" PRIu64 " pages of %" PRIu64 " bytes", size, pages, page);
	return TF_OK;
}

static enum tf_status check_header(const uint8_t *header, size_t size, struct tf_error *err)
{
	uint32_t app, version;

	if (size > TF_CATALOG_BYTES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "%zu bytes, at most %" PRIu64 " are allowed", size,
			TF_CATALOG_BYTES_MAX);
	if (size < HEADER_BYTES || memcmp(header, "SQLite format 3", 16))
		return TF_FAIL(err, TF_E_INVALID, "not an SQLite database");
	app = get_be(header + HEADER_APP, 4);
	if (app != TF_CATALOG_APPLICATION_ID)
		return TF_FAIL(err, TF_E_VERSION,
			"an SQLite database of another application: application_id is 0x%08" PRIx32
			", not 0x%08x",
			app, TF_CATALOG_APPLICATION_ID);
	version = get_be(header + HEADER_VERSION, 4);
	if (version / 1000 != TF_CATALOG_SCHEMA_MAJOR)
		return TF_FAIL(err, TF_E_VERSION,
			"schema version is %" PRIu32 ".%" PRIu32 ", this build reads %d.x", version / 1000,
			version % 1000, TF_CATALOG_SCHEMA_MAJOR);
	if (header[HEADER_READ_WAL] != 1 || header[HEADER_READ_WAL - 1] != 1)
		return TF_FAIL(err, TF_E_INVALID, "journal versions are %u and %u, not 1",
			header[HEADER_READ_WAL - 1], header[HEADER_READ_WAL]);
	return check_length(header, size, err);
}

/* The functions that reach outside the database. */
static int is_function_allowed(const char *name)
{
	return sqlite3_stricmp(name, "load_extension") && sqlite3_stricmp(name, "fts3_tokenizer");
}

static int authorize_query(
	void *user, int action, const char *a, const char *b, const char *database, const char *trigger)
{
	(void)user, (void)a, (void)database, (void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_function_allowed(b) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/*
 * `trigger` is the view or trigger that the access comes from: the reader's own statements have
 * none.
 */
static int authorize_read(
	void *user, int action, const char *a, const char *b, const char *database, const char *trigger)
{
	(void)user, (void)b, (void)database;
	if (trigger)
		return SQLITE_DENY;
	if (action == SQLITE_SELECT || action == SQLITE_READ)
		return SQLITE_OK;
	return action == SQLITE_PRAGMA && !strcmp(a, "table_xinfo") ? SQLITE_OK : SQLITE_DENY;
}

static void set_limits(sqlite3 *db)
{
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 65536);
	sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 256);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 64);
	sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 16);
	sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 100000);
	sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, 32);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256);
	sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 16);
	sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
	sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

static enum tf_status harden(sqlite3 *db, enum tf_catalog_access access, struct tf_error *err)
{
	int views = access == TF_CATALOG_ACCESS_QUERY;

	set_limits(db);
	TF_TRY(TF_SQL(db, err, sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL)));
	TF_TRY(TF_SQL(db, err, sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL)));
	TF_TRY(TF_SQL(db, err, sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL)));
	TF_TRY(TF_SQL(db, err, sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, views, NULL)));
	TF_TRY(TF_SQL(db, err, sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL)));
	TF_TRY(TF_SQL(db, err, sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL)));
	TF_TRY(TF_SQL(db, err, sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL)));
	TF_TRY(TF_SQL(db, err, sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL)));
	return TF_SQL(db, err, sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL));
}

/* Nonzero ends the statement. */
static int on_progress(void *user)
{
	struct tf_catalog_db *db = user;

	db->steps_left -= PROGRESS_STEPS;
	return db->steps_left < 0 || tf_deadline_passed(db->deadline_ns);
}

static enum tf_status open_image(struct tf_catalog_db *db, const void *bytes, size_t size,
	enum tf_catalog_access access, struct tf_error *err)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
	unsigned char *image = (unsigned char *)(uintptr_t)bytes; /* READONLY below: never written */
	sqlite3_int64 length = (sqlite3_int64)size;
	int code;

	TF_TRY(TF_SQL(db->handle, err, sqlite3_open_v2(":memory:", &db->handle, flags, NULL)));
	TF_TRY(harden(db->handle, access, err));
	code =
		sqlite3_deserialize(db->handle, "main", image, length, length, SQLITE_DESERIALIZE_READONLY);
	/* its inner statement reads no page, so it can lack nothing but memory */
	if (code == SQLITE_ERROR)
		code = SQLITE_NOMEM;
	TF_TRY(tf_sqlite_status(db->handle, code, "sqlite3_deserialize", __FILE__, __LINE__, err));
	sqlite3_progress_handler(db->handle, PROGRESS_STEPS, on_progress, db);
	/* last, because sqlite3_deserialize attaches */
	return TF_SQL(db->handle, err,
		sqlite3_set_authorizer(db->handle,
			access == TF_CATALOG_ACCESS_QUERY ? authorize_query : authorize_read, NULL));
}

enum tf_status tf_catalog_db_open(struct tf_catalog_db *db, const void *bytes, size_t size,
	enum tf_catalog_access access, int64_t deadline_ns, struct tf_error *err)
{
	enum tf_status status;

	memset(db, 0, sizeof(*db));
	TF_TRY(check_header(bytes, size, err));
	db->deadline_ns = deadline_ns;
	db->steps_left =
		access == TF_CATALOG_ACCESS_QUERY ? INT64_MAX : STEPS_FREE + STEPS_A_BYTE * (int64_t)size;
	status = open_image(db, bytes, size, access, err);
	if (status != TF_OK)
		tf_catalog_db_close(db);
	return status;
}

void tf_catalog_db_close(struct tf_catalog_db *db)
{
	sqlite3_close(db->handle);
	memset(db, 0, sizeof(*db));
}

/*
 * Runs a statement of one text parameter; out_type and out_number are of its first row, or NULL and
 * 0.
 */
static enum tf_status look_up(sqlite3 *db, const char *sql, const char *table, char out_type[16],
	int64_t *out_number, struct tf_error *err)
{
	sqlite3_stmt *stmt = NULL;
	enum tf_status status;

	*out_number = 0;
	out_type[0] = '\0';
	status = TF_SQL(db, err, sqlite3_prepare_v2(db, sql, -1, &stmt, NULL));
	if (status == TF_OK)
		status = TF_SQL(db, err, sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC));
	if (status == TF_OK) {
		int code = sqlite3_step(stmt);

		status = TF_SQL(db, err, code);
		if (code == SQLITE_ROW) {
			const char *type = (const char *)sqlite3_column_text(stmt, 0);

			if (type)
				strncat(out_type, type, 15);
			*out_number = sqlite3_column_int64(stmt, 1);
		}
	}
	sqlite3_finalize(stmt);
	return status;
}

/*
 * `table` is a name of this program's own text. Columns of the pragma: cid, name, type, notnull,
 * default, pk, hidden.
 */
static enum tf_status refuse_generated(sqlite3 *db, const char *table, struct tf_error *err)
{
	sqlite3_stmt *stmt = NULL;
	enum tf_status status;
	char sql[128];
	int code;

	snprintf(sql, sizeof(sql), "PRAGMA table_xinfo('%s')", table);
	status = TF_SQL(db, err, sqlite3_prepare_v2(db, sql, -1, &stmt, NULL));
	while (status == TF_OK && (code = sqlite3_step(stmt)) != SQLITE_DONE) {
		status = TF_SQL(db, err, code);
		if (status == TF_OK && sqlite3_column_int(stmt, 6) != 0)
			status = TF_FAIL(err, TF_E_INVALID, "table '%s' has a generated column '%s'", table,
				tf_text_shown((const char *)sqlite3_column_text(stmt, 1), TF_NAME_BYTES));
	}
	sqlite3_finalize(stmt);
	return status;
}

#define TABLE_SQL "SELECT type, rootpage FROM sqlite_schema WHERE name = ?1"

enum tf_status tf_catalog_db_has(sqlite3 *db, const char *table, int *out, struct tf_error *err)
{
	char type[16];
	int64_t root;

	TF_TRY(look_up(db, TABLE_SQL, table, type, &root, err));
	*out = type[0] != '\0';
	return TF_OK;
}

enum tf_status tf_catalog_db_table(sqlite3 *db, const char *table, struct tf_error *err)
{
	char type[16];
	int64_t root;

	TF_TRY(look_up(db, TABLE_SQL, table, type, &root, err));
	if (!type[0])
		return TF_FAIL(err, TF_E_INVALID, "table '%s' is missing", table);
	if (strcmp(type, "table") || root <= 0)
		return TF_FAIL(err, TF_E_INVALID, "'%s' is a %s, not a table", table,
			strcmp(type, "table") ? type : "virtual table");
	return refuse_generated(db, table, err);
}
