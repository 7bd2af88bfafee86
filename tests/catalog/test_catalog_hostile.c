/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Catalogs that are not what they claim: other versions, SQL of their own, values out of range.
 * Each must end in its status and say why.
 */
#include "tests/catalog/sample_catalog.h"

#include <string.h>

#include <sqlite3.h>

#include "base/alloc.h"
#include "catalog/catalog_read.h"
#include "tests/catalog/catalog_image.h"
#include "tests/catalog/sample_program.h"

#define ALL (TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES)

static void assert_same_program(const struct tf_bytes *bytes)
{
	struct tf_program sample, read = {0};
	struct tf_error err = {0};
	const char *field;

	if (tf_catalog_read(bytes->data, bytes->size, ALL, &read, &err) != TF_OK)
		fail_msg("%s", err.text);
	sample_program_make(&sample);
	field = sample_program_difference(&sample, &read);
	if (field)
		fail_msg("programs differ in %s", field);
	tf_program_fini(&sample);
	tf_program_fini(&read);
}

static void other_files_are_named(void **state)
{
	static const char text[200] = "SQLite format 2";
	static const char not_ours[200] = "SQLite format 3";

	(void)state;
	sample_catalog_refused("", 0, TF_E_INVALID, "not an SQLite database");
	sample_catalog_refused("S", 1, TF_E_INVALID, "not an SQLite database");
	sample_catalog_refused(sample_catalog.data, 99, TF_E_INVALID, "not an SQLite database");
	sample_catalog_refused(text, sizeof(text), TF_E_INVALID, "not an SQLite database");
	sample_catalog_refused(
		not_ours, sizeof(not_ours), TF_E_VERSION, "application_id is 0x00000000, not 0x54465052");
}

/* X(SQL, status, text) for files that must be refused. */
static const struct {
	const char *sql;
	enum tf_status status;
	const char *text;
} refused[] = {
	/* versions */
	{"PRAGMA application_id = 7", TF_E_VERSION, "application_id is 0x00000007, not 0x54465052"},
	{"PRAGMA user_version = 2000", TF_E_VERSION, "schema version is 2.0, this build reads 1.x"},
	{"PRAGMA user_version = 999", TF_E_VERSION, "schema version is 0.999, this build reads 1.x"},
	{"PRAGMA user_version = -1", TF_E_VERSION, "this build reads 1.x"},
	/* a schema of its own */
	{"DROP TABLE sample", TF_E_INVALID, "table 'sample' is missing"},
	{"ALTER TABLE kernel RENAME TO k; CREATE VIEW kernel AS SELECT * FROM k", TF_E_INVALID,
		"'kernel' is a view, not a table"},
	{"ALTER TABLE selector RENAME TO Selector_; ALTER TABLE Selector_ RENAME TO SELECTOR",
		TF_E_INVALID, "table 'selector' is missing"},
	{"DROP TABLE sample; CREATE VIRTUAL TABLE sample USING rtree(candidate, stage, pass)",
		TF_E_INVALID, "'sample' is a virtual table, not a table"},
	{"ALTER TABLE selector ADD COLUMN x INTEGER AS (candidate + 1) VIRTUAL", TF_E_INVALID,
		"table 'selector' has a generated column 'x'"},
	{"CREATE TABLE s(candidate INTEGER PRIMARY KEY, tuned_group INTEGER AS "
	 "(length(zeroblob(900000))));"
	 "DROP TABLE selector; ALTER TABLE s RENAME TO selector",
		TF_E_INVALID, "has a generated column"},
	{"ALTER TABLE buffer RENAME COLUMN pair TO couple", TF_E_INVALID, "no such column: pair"},
	/* types */
	{"CREATE TABLE s(tuned_group, candidate); INSERT INTO s SELECT * FROM selector; DROP TABLE "
	 "selector;"
	 "UPDATE s SET candidate = 'x' WHERE tuned_group = 1; ALTER TABLE s RENAME TO selector",
		TF_E_INVALID, "row 1 of selector: candidate is a text, not an integer"},
	{"CREATE TABLE s(tuned_group, candidate); INSERT INTO s SELECT * FROM selector; DROP TABLE "
	 "selector;"
	 "UPDATE s SET candidate = NULL; ALTER TABLE s RENAME TO selector",
		TF_E_INVALID, "row 0 of selector: candidate is NULL, not an integer"},
	{"CREATE TABLE s(tuned_group, candidate); INSERT INTO s SELECT * FROM selector; DROP TABLE "
	 "selector;"
	 "UPDATE s SET candidate = 5.5; ALTER TABLE s RENAME TO selector",
		TF_E_INVALID, "candidate is a real, not an integer"},
	/* texts */
	{"UPDATE tuned_group SET name = 'a' || char(0) || 'b' WHERE tuned_group = 0", TF_E_INVALID,
		"row 0 of tuned_group: name has 3 bytes, not 0..63 without NUL"},
	{"UPDATE tuned_group SET name = 'a b' WHERE tuned_group = 0", TF_E_INVALID,
		"group 0 'a b': name"},
	{"UPDATE tuned_group SET name = char(27) || '[31m' WHERE tuned_group = 0", TF_E_INVALID,
		"group 0 '(unprintable)': name"},
	{"UPDATE buffer SET name = printf('%064d', 1) WHERE buffer = 3", TF_E_INVALID,
		"row 3 of buffer: name has 64 bytes"},
	{"UPDATE member SET name = '../../etc/passwd' WHERE member = 4", TF_E_INVALID,
		"member 4: name"},
	{"UPDATE identity SET value = CAST(x'61ff62' AS TEXT) WHERE key = 'abi'", TF_E_INVALID,
		"identity 'abi': value is not UTF-8"},
	{"UPDATE identity SET value = printf('%065537d', 1) WHERE key = 'abi'", TF_E_INVALID,
		"value has 65537 bytes, not 0..65536"},
	{"UPDATE identity SET value = printf('%02000000d', 1) WHERE key = 'abi'", TF_E_LIMIT,
		"too big"},
	{"UPDATE candidate SET writer = 'telepathy' WHERE candidate = 2", TF_E_INVALID,
		"row 2 of candidate: writer 'telepathy' is unknown to this build"},
	{"UPDATE candidate SET writer = char(27) || '[31m' WHERE candidate = 2", TF_E_INVALID,
		"writer '(unprintable)' is unknown"},
	/* numbers */
	{"UPDATE program SET world = 9", TF_E_INVALID, "row 0 of program: world is 9, not 0..8"},
	{"UPDATE program SET world = 4294967298", TF_E_INVALID, "world is 4294967298"},
	{"DELETE FROM program", TF_E_INVALID, "world is 0"},
	{"INSERT INTO program SELECT 1, world, stride_bytes, segment_bytes, "
	 "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 FROM"
	 " program",
		TF_E_INVALID, "a program has one row"},
	{"UPDATE program SET segment_bytes = 9223372036854775807, stride_bytes = 9223372036854775807",
		TF_E_INVALID, "segment_bytes is 9223372036854775807"},
	{"UPDATE program SET ll_source_bytes = 4611686018427387904", TF_E_INVALID, "bytes a source"},
	{"UPDATE program SET private_off = -131072", TF_E_INVALID, "private_off is -131072, not 0.."},
	{"UPDATE buffer SET segment_off = -1 WHERE buffer = 0", TF_E_INVALID,
		"row 0 of buffer: segment_off is -1"},
	{"UPDATE buffer SET bytes = 9223372036854775807 WHERE buffer = 0", TF_E_INVALID,
		"lies in no part"},
	{"UPDATE buffer SET dim0 = 9223372036854775807 WHERE buffer = 0", TF_E_INVALID,
		"dim 1 is 64, zero or"},
	{"UPDATE buffer SET dim1 = NULL, dim2 = 3 WHERE buffer = 0", TF_E_INVALID,
		"dim2 follows a NULL"},
	{"UPDATE buffer SET tuned_group = 4294967295 WHERE buffer = 0", TF_E_INVALID,
		"tuned_group is 4294967295, not 0..4096"},
	{"UPDATE constant SET rank = 3 WHERE constant = 0", TF_E_INVALID, "rank is 3, not -1..2"},
	{"UPDATE kernel SET args_bytes = 2147483647", TF_E_INVALID, "args_bytes is 2147483647"},
	{"UPDATE kernel SET args_bytes = 56 WHERE kernel = 0", TF_E_INVALID,
		"row 0 of launch: args is 48 bytes, not 56"},
	{"UPDATE launch SET kernel = 65536 WHERE launch = 0", TF_E_INVALID,
		"kernel is 65536, there are 4"},
	{"UPDATE launch SET args = zeroblob(49) WHERE launch = 0", TF_E_INVALID,
		"args is 49 bytes, not 48"},
	{"UPDATE launch SET args = x'' WHERE launch = 0", TF_E_INVALID, "args is 0 bytes, not 48"},
	{"UPDATE launch SET grid_x = -4 WHERE launch = 0", TF_E_INVALID, "grid_x is -4"},
	{"UPDATE launch_word SET segment_off = -9223372036854775808 WHERE launch = 0", TF_E_INVALID,
		"segment_off is -9223372036854775808"},
	{"UPDATE launch_word SET peer = 8 WHERE launch = 0", TF_E_INVALID,
		"peer is 8, the world has 3"},
	{"UPDATE launch_word SET launch = 99 WHERE launch = 5 AND arg_off = 40", TF_E_INVALID,
		"owner is 99"},
	{"UPDATE launch_word SET arg_off = 41 WHERE launch = 5 AND arg_off = 40", TF_E_INVALID,
		"is missing"},
	{"DELETE FROM kernel_word WHERE kernel = 0 AND arg_off = 40", TF_E_INVALID,
		"is not the kernel's"},
	{"UPDATE kernel_word SET kernel = 4 WHERE kernel = 3", TF_E_INVALID, "owner is 4"},
	{"UPDATE module SET digest = x'00' WHERE module = 0", TF_E_INVALID,
		"digest is 1 bytes, not 32"},
	{"UPDATE node SET launch = 4000000000 WHERE launch = 0", TF_E_INVALID, "launch is 4000000000"},
	{"UPDATE node SET launch = NULL WHERE launch = 0", TF_E_INVALID,
		"only kernel nodes have a launch"},
	{"UPDATE node SET kind = 5 WHERE kind = 4", TF_E_INVALID, "kind is 5, not 0..4"},
	{"UPDATE node SET bytes = 9223372036854775807 WHERE kind = 1", TF_E_INVALID,
		"passes the segment"},
	{"UPDATE edge SET to_node = 4294967297 WHERE from_node = 4", TF_E_INVALID,
		"to_node is 4294967297"},
	{"UPDATE sample SET pass = 255 WHERE candidate = 0 AND stage = 1 AND pass = 20", TF_E_INVALID,
		"pass is 255"},
	{"UPDATE sample SET ns = -1 WHERE candidate = 0 AND stage = 1 AND pass = 20", TF_E_INVALID,
		"ns is -1"},
	/* counts and order */
	{"DELETE FROM kernel WHERE kernel = 0", TF_E_INVALID, "row 0 of kernel: kernel is 1, not 0"},
	{"UPDATE member SET member = -7 WHERE member = 0", TF_E_INVALID, "member is -7"},
	{"DELETE FROM selector WHERE tuned_group = 3", TF_E_INVALID, "missing, there are 4 groups"},
	{"INSERT INTO selector VALUES(4, 0)", TF_E_INVALID, "row 4 of selector: there are 4 groups"},
	{"DELETE FROM node WHERE graph = 0 AND node = 5; DELETE FROM edge WHERE graph = 0 AND to_node "
	 "= 5",
		TF_E_INVALID, "row 0 of graph: 6 nodes and 6 edges, found 5 and 5"},
	{"DELETE FROM node WHERE graph = 0 AND node = 2", TF_E_INVALID,
		"row 2 of node: node is 3, not 2"},
	{"UPDATE graph SET node_count = 4194304 WHERE graph = 0", TF_E_INVALID,
		"4194304 nodes and 6 edges"},
	{"UPDATE graph SET node_count = 9223372036854775807 WHERE graph = 0", TF_E_INVALID,
		"node_count is 9223372036854775807"},
	{"INSERT INTO node SELECT 3, node, kind, launch, 0,0,0,0,0,0 FROM node WHERE graph = 2",
		TF_E_INVALID, "graph is 3, there are 3"},
	{"INSERT INTO graph VALUES(3, 'step', 64, 0, 0)", TF_E_INVALID,
		"the startup graph is not the last"},
	{"WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 1100)"
	 " INSERT INTO identity SELECT 'k' || i, '' FROM n",
		TF_E_LIMIT, "more than 1024 rows"},
	{"WITH RECURSIVE n(i) AS (VALUES(4) UNION ALL SELECT i + 1 FROM n WHERE i < 4200)"
	 " INSERT INTO tuned_group SELECT i, 'g' || i, 'all_reduce', 'f32', 1, 8, 1, 1 FROM n",
		TF_E_LIMIT, "row 4096 of tuned_group: more than 4096 rows"},
	{"WITH RECURSIVE n(i) AS (VALUES(3) UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
	 " INSERT INTO graph SELECT i, 'step', 100 + i, 0, 0 FROM n",
		TF_E_LIMIT, "more than 257 rows"},
};

/* Some builds of SQLite have no virtual tables to plant. */
static int sqlite_can(const char *sql)
{
	if (strstr(sql, "USING rtree"))
		return sqlite3_compileoption_used("ENABLE_RTREE");
	if (strstr(sql, "USING fts5"))
		return sqlite3_compileoption_used("ENABLE_FTS5");
	return 1;
}

static void hostile_files_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct tf_bytes edited;

		if (!sqlite_can(refused[i].sql))
			continue;
		if (catalog_image_edit(&sample_catalog, refused[i].sql, &edited))
			fail_msg("the test's own SQL failed: %s", refused[i].sql);
		sample_catalog_refused(edited.data, edited.size, refused[i].status, refused[i].text);
		tf_bytes_fini(&edited);
	}
	print_message("%zu files\n", sizeof(refused) / sizeof(refused[0]));
}

/* Harmless additions, and what a later minor version may do. */
static void later_minors_are_read(void **state)
{
	static const char *const accepted[] = {
		"SELECT 1",
		"PRAGMA user_version = 1999",
		"PRAGMA user_version = 1007; CREATE TABLE future(a, b); INSERT INTO future VALUES(1, 2);"
		"ALTER TABLE kernel ADD COLUMN extra TEXT DEFAULT 'x'; UPDATE kernel SET extra = 'y' WHERE "
		"kernel = 1;"
		"ALTER TABLE node ADD COLUMN priority INTEGER; ALTER TABLE identity ADD COLUMN note TEXT",
		"CREATE TRIGGER t AFTER INSERT ON kernel BEGIN DELETE FROM kernel; END",
		"DROP VIEW picks; CREATE VIEW picks AS SELECT load_extension('x') FROM kernel",
		"CREATE INDEX i ON node(launch)",
		"CREATE VIRTUAL TABLE v USING fts5(x)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
		struct tf_bytes edited;

		if (!sqlite_can(accepted[i]))
			continue;
		assert_int_equal(catalog_image_edit(&sample_catalog, accepted[i], &edited), 0);
		assert_same_program(&edited);
		tf_bytes_fini(&edited);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files_are_named),
		cmocka_unit_test(hostile_files_are_refused),
		cmocka_unit_test(later_minors_are_read),
	};

	return cmocka_run_group_tests(tests, sample_catalog_make, sample_catalog_drop);
}
