/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep inspect` on a package exported before this test, and on spoiled copies of it. */
#include "tests/verbs/verb_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_table(void **state)
{
	(void)state;
	assert_int_equal(tf_verb_run("inspect", TF_SMALL, NULL), 0);
	tf_verb_assert_golden("inspect.txt");
}

static void test_json(void **state)
{
	json_t *root, *picks, *pick;
	size_t i;

	(void)state;
	assert_int_equal(tf_verb_run("inspect", "--json", TF_SMALL, NULL), 0);
	root = tf_verb_json();
	assert_int_equal(json_integer_value(json_object_get(root, "world")), 2);
	picks = json_object_get(root, "picks");
	assert_int_equal(json_array_size(picks), 4);
	json_array_foreach(picks, i, pick)
	{
		const json_t *time = json_object_get(pick, "time");

		assert_int_equal(json_integer_value(json_object_get(pick, "stage")), 2);
		assert_true(json_integer_value(json_object_get(time, "low_ns")) <=
			json_integer_value(json_object_get(time, "median_ns")));
		assert_true(json_integer_value(json_object_get(time, "median_ns")) <=
			json_integer_value(json_object_get(time, "high_ns")));
	}
	assert_int_equal(json_array_size(json_object_get(root, "members")), 1);
	assert_int_equal(json_array_size(json_object_get(root, "graphs")), 3);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(root, "identity"), "workload")), "small");
	json_decref(root);
}

/* The digest shown is the file's, as any tool computes it. */
static void test_digest(void **state)
{
	char command[600], hex[65] = "";
	FILE *pipe;

	(void)state;
	snprintf(command, sizeof(command), "sha256sum '%s'", TF_SMALL);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%64s", hex), 1);
	assert_int_equal(pclose(pipe), 0);
	assert_int_equal(tf_verb_run("inspect", TF_SMALL, NULL), 0);
	assert_non_null(strstr(tf_verb_out, hex));
}

static void test_why(void **state)
{
	json_t *root, *capacities, *candidate;
	size_t i;
	int picked = 0;

	(void)state;
	assert_int_equal(tf_verb_run("inspect", "--why", "gather", "--json", TF_SMALL, NULL), 0);
	root = tf_verb_json();
	capacities = json_object_get(root, "capacities");
	assert_int_equal(json_array_size(capacities), 2);
	json_array_foreach(json_object_get(json_array_get(capacities, 0), "candidates"), i, candidate)
	{
		assert_int_equal(json_integer_value(json_object_get(candidate, "rung")), (int)i);
		assert_true(*json_string_value(json_object_get(candidate, "reason")));
		assert_true(json_is_object(json_object_get(candidate, "stage1")));
		/* what the second stage compared lies inside the interval that it gave */
		assert_int_equal(json_is_real(json_object_get(candidate, "value_ns")),
			json_is_object(json_object_get(candidate, "stage2")));
		if (json_is_object(json_object_get(candidate, "stage2"))) {
			const json_t *time = json_object_get(candidate, "stage2");
			double value = json_real_value(json_object_get(candidate, "value_ns"));

			assert_true(value >= (double)json_integer_value(json_object_get(time, "low_ns")));
			assert_true(value <= (double)json_integer_value(json_object_get(time, "high_ns")));
		}
		picked += !strcmp(json_string_value(json_object_get(candidate, "state")), "picked");
	}
	assert_int_equal(picked, 1);
	json_decref(root);
	assert_int_equal(tf_verb_run("inspect", "--why=reduce", "--capacity=2", TF_SMALL, NULL), 0);
	assert_non_null(strstr(tf_verb_out, "reduce at capacity 2: all_reduce of f32, 2048 bytes"));
	assert_null(strstr(tf_verb_out, "capacity 1"));
	assert_non_null(strstr(tf_verb_out, "one_shot/ll/t32/c1"));
	assert_non_null(strstr(tf_verb_out, "picked: "));
	assert_non_null(strstr(tf_verb_out, "  decided: one_shot/"));
}

static void test_why_refusals(void **state)
{
	(void)state;
	tf_verb_assert_refused(tf_verb_run("inspect", "--why", "gathr", TF_SMALL, NULL), 3,
		"no group 'gathr', did you mean 'gather'?");
	tf_verb_assert_refused(tf_verb_run("inspect", "--why", "exchange", TF_SMALL, NULL), 3,
		"no group 'exchange'; 'tfprep inspect PACKAGE' shows");
	tf_verb_assert_refused(
		tf_verb_run("inspect", "--why", "gather", "--capacity", "3", TF_SMALL, NULL), 3,
		"group 'gather' has no capacity 3; it has 1, 2");
	tf_verb_assert_refused(
		tf_verb_run("inspect", "--capacity", "3", TF_SMALL, NULL), 2, "belongs to '--why'");
	tf_verb_assert_refused(
		tf_verb_run("inspect", "--why", "gather", "--sql", "SELECT 1", TF_SMALL, NULL), 2,
		"two questions");
}

static void test_sql(void **state)
{
	json_t *root, *rows;

	(void)state;
	assert_int_equal(tf_verb_run("inspect", "--sql",
						 "SELECT group_name, capacity, bytes FROM picks", TF_SMALL, NULL),
		0);
	assert_string_equal(tf_verb_out,
		"group_name\tcapacity\tbytes\n"
		"reduce\t1\t1024\ngather\t1\t256\n"
		"reduce\t2\t2048\ngather\t2\t512\n");
	assert_int_equal(
		tf_verb_run("inspect", "--sql",
			"SELECT NULL AS a, 'x' || char(9) || char(10) || '\\' || char(27) AS b, x'00ff' AS c",
			TF_SMALL, NULL),
		0);
	assert_string_equal(tf_verb_out, "a\tb\tc\n\\N\tx\\t\\n\\\\\\x1b\t00ff\n");
	assert_int_equal(
		tf_verb_run("inspect", "--sql", "SELECT count(*) AS n FROM samples", TF_SMALL, NULL), 0);
	assert_int_equal(strncmp(tf_verb_out, "n\n", 2), 0);
	assert_true(atoi(tf_verb_out + 2) >= 16 * 21);
	assert_int_equal(tf_verb_run("inspect", "--json", "--sql",
						 "SELECT key, value FROM identity WHERE key = 'world'", TF_SMALL, NULL),
		0);
	root = tf_verb_json();
	rows = json_object_get(root, "rows");
	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(json_string_value(json_array_get(json_array_get(rows, 0), 1)), "2");
	json_decref(root);
}

static void test_sql_refusals(void **state)
{
	static const char *const statements[] = {
		"INSERT INTO identity VALUES('a', 'b')",
		"UPDATE identity SET value = ''",
		"DELETE FROM sample",
		"DROP TABLE sample",
		"CREATE TABLE x(y)",
		"CREATE TEMP TABLE x(y)",
		"ATTACH DATABASE '/tmp/tfprep-attached.db' AS x",
		"VACUUM INTO '/tmp/tfprep-vacuum.db'",
		"PRAGMA user_version = 3",
		"PRAGMA journal_mode = WAL",
		"BEGIN",
		"SELECT 1; SELECT 2",
		"SELECT 1; DROP TABLE sample",
		"SELECT load_extension('x')",
		"SELECT",
		"",
		"/* nothing */",
	};
	size_t size_before, size_after;
	char *before = tf_verb_load(TF_SMALL, &size_before), *after;

	(void)state;
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		tf_verb_assert_refused(
			tf_verb_run("inspect", "--sql", statements[i], TF_SMALL, NULL), 2, "query: ");
	after = tf_verb_load(TF_SMALL, &size_after);
	assert_int_equal(size_before, size_after);
	assert_memory_equal(before, after, size_before);
	assert_int_equal(access("/tmp/tfprep-attached.db", F_OK), -1);
	assert_int_equal(access("/tmp/tfprep-vacuum.db", F_OK), -1);
	free(before);
	free(after);
}

static void test_bad_files(void **state)
{
	size_t size;
	char *data = tf_verb_load(TF_SMALL, &size);

	(void)state;
	tf_verb_assert_refused(tf_verb_run("inspect", tf_verb_path("none.tfp"), NULL), 3, "none.tfp");
	tf_verb_store(tf_verb_path("text.tfp"), "not a package\n", 14);
	tf_verb_assert_refused(tf_verb_run("inspect", tf_verb_path("text.tfp"), NULL), 3, "text.tfp");
	tf_verb_store(tf_verb_path("cut.tfp"), data, size / 2);
	tf_verb_assert_refused(tf_verb_run("inspect", tf_verb_path("cut.tfp"), NULL), 3, "cut.tfp");
	data[size / 2] ^= 1;
	tf_verb_store(tf_verb_path("bit.tfp"), data, size);
	tf_verb_assert_refused(tf_verb_run("inspect", tf_verb_path("bit.tfp"), NULL), 3, "bit.tfp");
	tf_verb_assert_refused(
		tf_verb_run("inspect", "--json", tf_verb_path("bit.tfp"), NULL), 3, "bit.tfp");
	tf_verb_assert_refused(
		tf_verb_run("inspect", "--sql", "SELECT 1", tf_verb_path("bit.tfp"), NULL), 3, "bit.tfp");
	tf_verb_assert_refused(tf_verb_run("inspect", NULL), 2, "see 'tfprep inspect --help'");
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_digest),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_why_refusals),
		cmocka_unit_test(test_sql),
		cmocka_unit_test(test_sql_refusals),
		cmocka_unit_test(test_bad_files),
	};

	return cmocka_run_group_tests(tests, tf_verb_set_up, tf_verb_tear_down);
}
