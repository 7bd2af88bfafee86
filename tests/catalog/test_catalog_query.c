/* SPDX-License-Identifier: Apache-2.0 */
/* tf_catalog_query: rows as texts, one reading statement and nothing else, bounded. */
#include "tests/catalog/sample_catalog.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "tests/catalog/catalog_image.h"

/* Names once, then values; NULL as "(null)". */
static int collect(void *user, int columns, char *const *names, char *const *values)
{
	struct tf_bytes *out = user;
	int is_first = out->size == 0;

	for (int i = 0; is_first && i < columns; i++)
		assert_int_equal(
			tf_bytes_printf(out, NULL, "%s%s", names[i], i + 1 < columns ? "|" : "\n"), TF_OK);
	for (int i = 0; i < columns; i++)
		assert_int_equal(tf_bytes_printf(out, NULL, "%s%s", values[i] ? values[i] : "(null)",
							 i + 1 < columns ? "|" : "\n"),
			TF_OK);
	return 0;
}

static enum tf_status ask(const char *sql, struct tf_bytes *out, struct tf_error *err)
{
	memset(out, 0, sizeof(*out));
	memset(err, 0, sizeof(*err));
	return tf_catalog_query(sample_catalog.data, sample_catalog.size, sql,
		tf_deadline_after(60 * TF_NS_PER_S), collect, out, err);
}

static void rows_are_texts(void **state)
{
	static const char *const asked[][2] = {
		{"SELECT group_name, capacity, writer, low_ns FROM picks",
			"group_name|capacity|writer|low_ns\nattn.out|1|ll|4910\nlogits|1|copy_engine|(null)\n"
			"attn.out|8|pull|0\nmoe-combine_2|8|queued|7000\n"},
		{"SELECT x'00ff10' AS a, x'' AS b, 'text' AS c, 1.5 AS d, -7 AS e, x'ab' AS f",
			"a|b|c|d|e|f\n00ff10||text|1.5|-7|ab\n"},
		{"-- a comment\nWITH c(n) AS (SELECT count(*) FROM samples) SELECT n FROM c; -- end",
			"n\n168\n"},
		{"VALUES(1, 2) ;; /* nothing */ ;", "column1|column2\n1|2\n"},
		{"SELECT count(*) AS n FROM sqlite_schema WHERE type = 'view'", "n\n4\n"},
		{"SELECT key FROM identity WHERE key LIKE 'device%' ORDER BY value", "key\ndevice.model\n"},
		{"SELECT 1 WHERE 0", ""},
	};
	struct tf_bytes out;
	struct tf_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		if (ask(asked[i][0], &out, &err) != TF_OK)
			fail_msg("%s: %s", asked[i][0], err.text);
		assert_string_equal(out.data ? (const char *)out.data : "", asked[i][1]);
		tf_bytes_fini(&out);
	}
	assert_int_equal(ask("EXPLAIN QUERY PLAN SELECT * FROM picks", &out, &err), TF_OK);
	assert_true(out.size > 0);
	tf_bytes_fini(&out);
}

static void only_one_reading_statement(void **state)
{
	static const char *const refused[][2] = {
		{"", "no statement"},
		{"  ; -- nothing\n", "no statement"},
		{"SELECT 1; SELECT 2", "more than one statement"},
		{"SELECT 1; garbage", "more than one statement"},
		{"SELECT 1; DROP TABLE kernel", "more than one statement"},
		{"SELEC 1", "syntax error"},
		{"SELECT absent FROM picks", "no such column"},
		{"SELECT 'open", "unrecognized token"},
		{"DELETE FROM kernel", "not one reading statement"},
		{"INSERT INTO identity VALUES('a', 'b')", "not one reading statement"},
		{"UPDATE identity SET value = ''", "not one reading statement"},
		{"WITH a AS (SELECT 1) DELETE FROM kernel", "not one reading statement"},
		{"CREATE TABLE t(a)", "not one reading statement"},
		{"CREATE TEMP TABLE t(a)", "not one reading statement"},
		{"PRAGMA user_version", "not one reading statement"},
		{"PRAGMA temp_store = FILE", "not one reading statement"},
		{"SELECT * FROM pragma_database_list", "not authorized"},
		{"ATTACH '/tmp/tf-catalog-attached' AS a", "not one reading statement"},
		{"BEGIN", "not one reading statement"},
		{"COMMIT", "not one reading statement"},
		{"VACUUM INTO '/tmp/tf-catalog-vacuumed'", "not one reading statement"},
		{"ANALYZE", "not one reading statement"},
		{"REINDEX", "not one reading statement"},
		{"EXPLAIN DELETE FROM kernel", "not one reading statement"},
		{"SELECT load_extension('libc.so.6')", "not authorized to use function"},
	};
	struct tf_bytes out;
	struct tf_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		enum tf_status status = ask(refused[i][0], &out, &err);

		if (status != TF_E_USAGE || !strstr(err.text, refused[i][1]))
			fail_msg(
				"%s: %s %d: '%s'", refused[i][0], tf_status_name(status), err.native, err.text);
		assert_int_equal(out.size, 0);
		tf_bytes_fini(&out);
	}
}

static void deadline_bounds_it(void **state)
{
	static const char endless[] =
		"WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
	struct tf_bytes out = {0};
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_catalog_query(sample_catalog.data, sample_catalog.size, endless,
						 tf_deadline_after(20 * TF_NS_PER_MS), collect, &out, &err),
		TF_E_TIMEOUT);
	assert_string_equal(err.text, "catalog: query: not done by its deadline");
	assert_int_equal(
		tf_catalog_query(sample_catalog.data, sample_catalog.size, endless, 0, collect, &out, &err),
		TF_E_TIMEOUT);
	tf_bytes_fini(&out);
}

static int stop_at_second(void *user, int columns, char *const *names, char *const *values)
{
	(void)columns, (void)names, (void)values;
	return ++*(int *)user == 2;
}

static void receiver_may_end_it(void **state)
{
	struct tf_error err = {0};
	int rows = 0;

	(void)state;
	assert_int_equal(tf_catalog_query(sample_catalog.data, sample_catalog.size,
						 "SELECT * FROM samples", TF_DEADLINE_NEVER, stop_at_second, &rows, &err),
		TF_E_ABORTED);
	assert_int_equal(rows, 2);
}

/*
 * Views run here, but they are only SQL: a hostile one can do no more than the user's own
 * statement.
 */
static void hostile_views_are_bounded(void **state)
{
	static const char *const hostile[] = {
		"DROP VIEW picks; CREATE VIEW picks AS SELECT load_extension('x')",
		"DROP VIEW picks; CREATE VIEW picks AS SELECT hex(zeroblob(900000000))",
		"DROP VIEW picks; CREATE VIEW picks AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT "
		"i + 1 FROM n)"
		" SELECT count(*) FROM n",
		"DROP VIEW picks; CREATE VIEW picks AS SELECT * FROM picks",
		"DROP VIEW picks; CREATE VIEW picks AS SELECT file FROM pragma_database_list",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct tf_bytes edited, out = {0};
		struct tf_error err = {0};

		assert_int_equal(catalog_image_edit(&sample_catalog, hostile[i], &edited), 0);
		assert_int_not_equal(tf_catalog_query(edited.data, edited.size, "SELECT * FROM picks",
								 tf_deadline_after(50 * TF_NS_PER_MS), collect, &out, &err),
			TF_OK);
		assert_int_equal(out.size, 0);
		tf_bytes_fini(&edited);
		tf_bytes_fini(&out);
	}
}

static void other_files_are_refused(void **state)
{
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(
		tf_catalog_query("", 0, "SELECT 1", TF_DEADLINE_NEVER, collect, NULL, &err), TF_E_INVALID);
	assert_string_equal(err.text, "catalog: not an SQLite database");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_texts),
		cmocka_unit_test(only_one_reading_statement),
		cmocka_unit_test(deadline_bounds_it),
		cmocka_unit_test(receiver_may_end_it),
		cmocka_unit_test(hostile_views_are_bounded),
		cmocka_unit_test(other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, sample_catalog_make, sample_catalog_drop);
}
