/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a catalog from bytes that are not trusted. */
#ifndef TF_CATALOG_CATALOG_READ_H
#define TF_CATALOG_CATALOG_READ_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_CATALOG_APPLICATION_ID 0x54465052 /* "TFPR" */
#define TF_CATALOG_SCHEMA_MAJOR   1
#define TF_CATALOG_SCHEMA_MINOR   0 /* user_version = major * 1000 + minor */
#define TF_CATALOG_FOREIGN_MINOR  1 /* with foreign kernels: schema_foreign.sql */
#define TF_CATALOG_LIBRARY_MINOR  2 /* with candidates of a library: the word 'library' */

/* What to load beside identity, groups, picks, buffers, kernels and the step graphs. */
enum tf_catalog_parts {
	TF_CATALOG_STEP = 0,
	TF_CATALOG_STARTUP = 1, /* the startup graph and its launches */
	TF_CATALOG_SAMPLES = 2
};

/*
 * Reads `bytes` (borrowed, unchanged: sqlite3_deserialize read-only, defensive, trusted_schema
 * off, limits set) into `out`.
 * TF_E_INVALID / TF_E_DAMAGED: not such a database, or a row that breaks a rule (named).
 * TF_E_VERSION: another application_id's file, or a newer major; a newer minor is read.
 */
TF_WARN_UNUSED enum tf_status tf_catalog_read(
	const void *bytes, size_t size, unsigned parts, struct tf_program *out, struct tf_error *err);

/*
 * Runs one read-only statement (inspect --sql) and hands each row to `row` (texts, NULL for
 * null). Anything but a single SELECT/WITH/EXPLAIN/VALUES is refused as TF_E_USAGE; bounded by
 * `deadline_ns`.
 */
TF_WARN_UNUSED enum tf_status tf_catalog_query(const void *bytes, size_t size, const char *sql,
	int64_t deadline_ns,
	int (*row)(void *user, int columns, char *const *names, char *const *values), void *user,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
