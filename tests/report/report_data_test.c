/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report's data against the catalog: both are written out as the same text, one from the JSON
 * and one by SQL over the public views.
 */
#include "tests/report/report_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/catalog/sample_program.h"

static struct tf_program program;

static int set_up(void **state)
{
	(void)state;
	sample_program_make(&program);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tf_program_fini(&program);
	return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static long long int_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static const json_t *pick_of(const json_t *group)
{
	const json_t *candidate;
	size_t i;

	json_array_foreach(json_object_get(group, "candidates"), i, candidate)
	{
		if (int_of(candidate, "rung") == int_of(group, "pick"))
			return candidate;
	}
	fail_msg("group '%s' has no pick", text_of(group, "name"));
	return NULL;
}

static void add_pick(char **text, const json_t *root, const json_t *group)
{
	const json_t *pick = pick_of(group), *stages = json_object_get(pick, "stages");
	const json_t *stage = json_array_get(stages, 1);

	if (json_is_null(stage))
		stage = json_array_get(stages, 0);
	report_rig_add(text, "%s|%s|%s|%lld|%lld|%lld|%s|%s|%lld|%lld|%lld|", text_of(group, "name"),
		text_of(group, "op"), text_of(group, "dtype"), int_of(group, "bytes"),
		int_of(root, "world"), int_of(group, "capacity"), text_of(pick, "algorithm"),
		text_of(pick, "writer"), int_of(pick, "threads"), int_of(pick, "ctas"),
		int_of(pick, "chunk_bytes"));
	if (json_is_null(stage))
		report_rig_add(text, "-|-|-|");
	else
		report_rig_add(text, "%lld|%lld|%lld|", int_of(stage, "median_ns"), int_of(stage, "low_ns"),
			int_of(stage, "high_ns"));
	report_rig_add(text, "%s\n", text_of(pick, "reason"));
}

static void check_picks(const struct tf_program *from)
{
	struct tf_report_source source = report_rig_source(from);
	json_t *root = report_rig_data(&source), *group;
	char *is = NULL, *wanted = report_rig_ask(from, "SELECT * FROM picks");
	size_t i;

	json_array_foreach(json_object_get(root, "groups"), i, group) add_pick(&is, root, group);
	assert_string_equal(is, wanted);
	free(is);
	free(wanted);
	json_decref(root);
}

static void test_picks(void **state)
{
	(void)state;
	check_picks(&program);
}

/* The samples of one stage as the view has them, and their slowest ranks as the table has them. */
static void add_stage(
	char **texts, const json_t *group, const json_t *candidate, size_t number, const json_t *stage)
{
	const json_t *ns = json_object_get(stage, "ns");

	assert_int_equal(json_array_size(ns), 21);
	for (size_t pass = 0; pass < 21; pass++) {
		const json_t *value = json_array_get(ns, pass);
		const json_t *rank = json_array_get(json_object_get(stage, "slowest_rank"), pass);

		assert_int_equal(json_is_null(value), json_is_null(rank));
		if (!json_is_integer(value))
			continue;
		report_rig_add(&texts[0], "%s|%lld|%s|%zu|%zu|%lld\n", text_of(group, "name"),
			int_of(group, "capacity"), text_of(candidate, "name"), pass, number + 1,
			(long long)json_integer_value(value));
		report_rig_add(&texts[1], "%lld\n", (long long)json_integer_value(rank));
	}
}

static void test_samples(void **state)
{
	static const char *const questions[2] = {
		"SELECT group_name, capacity, candidate, pass, stage, ns FROM samples",
		"SELECT slowest_rank FROM sample ORDER BY candidate, stage, pass"};
	struct tf_report_source source = report_rig_source(&program);
	json_t *root = report_rig_data(&source), *group, *candidate, *stage;
	char *texts[2] = {NULL, NULL};
	size_t g, c, number;

	(void)state;
	json_array_foreach(json_object_get(root, "groups"), g, group)
	{
		json_array_foreach(json_object_get(group, "candidates"), c, candidate)
		{
			json_array_foreach(json_object_get(candidate, "stages"), number, stage)
			{
				if (!json_is_null(stage))
					add_stage(texts, group, candidate, number, stage);
			}
		}
	}
	for (int i = 0; i < 2; i++) {
		char *wanted = report_rig_ask(&program, questions[i]);

		assert_string_equal(texts[i], wanted);
		free(texts[i]);
		free(wanted);
	}
	assert_int_equal(int_of(root, "samples"), program.sample_count);
	json_decref(root);
}

static void test_identity_and_members(void **state)
{
	struct tf_report_source source = report_rig_source(&program);
	json_t *root = report_rig_data(&source), *row;
	char *is = NULL, *wanted = report_rig_ask(&program, "SELECT * FROM identity ORDER BY key");
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(root, "identity"), i, row)
		report_rig_add(&is, "%s|%s\n", text_of(row, "key"), text_of(row, "value"));
	assert_string_equal(is, wanted);
	free(is);
	free(wanted);
	is = NULL;
	wanted = report_rig_ask(&program, "SELECT * FROM members");
	json_array_foreach(json_object_get(root, "members"), i, row)
	{
		if (!i) /* the catalog, which is not in itself */
			assert_int_equal(int_of(row, "bytes"), 6789);
		else
			report_rig_add(&is, "%s|%lld|%s\n", text_of(row, "name"), int_of(row, "bytes"),
				text_of(row, "sha256"));
	}
	assert_string_equal(is, wanted);
	free(is);
	free(wanted);
	json_decref(root);
}

/* One row for each op, type, writer and size: the least stage-1 median there is. */
static void check_writers(const struct tf_program *from)
{
	struct tf_report_source source = report_rig_source(from);
	json_t *root = report_rig_data(&source), *row;
	char *wanted = report_rig_ask(from,
		"SELECT p.op, p.dtype, c.writer, p.bytes, min(c.stage1_median_ns) FROM candidate AS c "
		"JOIN tuned_group AS g USING(tuned_group) "
		"JOIN picks AS p ON p.group_name = g.name AND p.capacity = g.capacity "
		"WHERE c.stage1_median_ns IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4");
	size_t i, lines = 0;

	json_array_foreach(json_object_get(root, "writers"), i, row)
	{
		char *line = NULL;

		report_rig_add(&line, "%s|%s|%s|%lld|%lld\n", text_of(row, "op"), text_of(row, "dtype"),
			text_of(row, "writer"), int_of(row, "bytes"), int_of(row, "median_ns"));
		assert_non_null(strstr(wanted, line));
		assert_true(int_of(row, "low_ns") <= int_of(row, "median_ns"));
		free(line);
	}
	for (const char *at = wanted; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(i, lines);
	free(wanted);
	json_decref(root);
}

static void test_writers(void **state)
{
	(void)state;
	check_writers(&program);
}

static void test_large(void **state)
{
	struct tf_program large;
	struct tf_report_source source;
	json_t *root;

	(void)state;
	sample_program_make_large(&large);
	check_picks(&large);
	check_writers(&large);
	source = report_rig_source(&large);
	root = report_rig_data(&source);
	assert_string_equal(text_of(json_object_get(root, "shown"), "samples"), "all");
	json_decref(root);
	tf_program_fini(&large);
}

/* Above its limits the data says so, and keeps bounds and picks. */
static void test_limits(void **state)
{
	struct tf_report_source source = report_rig_source(&program);
	json_t *root, *group, *candidate, *stage;
	long long kept = 0;
	size_t g, c, s;

	(void)state;
	source.samples_max = source.candidates_max = 1;
	root = report_rig_data(&source);
	assert_string_equal(text_of(json_object_get(root, "shown"), "samples"), "bounds");
	assert_string_equal(text_of(json_object_get(root, "shown"), "candidates"), "survivors");
	json_array_foreach(json_object_get(root, "groups"), g, group)
	{
		assert_non_null(pick_of(group));
		kept += int_of(group, "omitted");
		json_array_foreach(json_object_get(group, "candidates"), c, candidate)
		{
			kept++;
			json_array_foreach(json_object_get(candidate, "stages"), s, stage)
			{
				assert_null(json_object_get(stage, "ns"));
				if (json_is_object(stage) && int_of(stage, "samples"))
					assert_true(int_of(stage, "min_ns") <= int_of(stage, "max_ns"));
			}
		}
	}
	assert_int_equal(kept, program.candidate_count);
	json_decref(root);
}

static void test_head_and_load(void **state)
{
	struct tf_report_load load = {.phase_count = 1, .total_ns = 7};
	struct tf_report_source source = report_rig_source(&program);
	json_t *root = report_rig_data(&source);

	(void)state;
	assert_int_equal(int_of(root, "version"), TF_REPORT_DATA_VERSION);
	assert_string_equal(text_of(json_object_get(root, "tool"), "version"), "9.8.7");
	assert_string_equal(text_of(json_object_get(root, "package"), "name"), "x.tfp");
	assert_int_equal(strncmp(text_of(json_object_get(root, "package"), "sha256"), "abab", 4), 0);
	assert_true(json_is_null(json_object_get(root, "load")));
	assert_int_equal(json_array_size(json_object_get(root, "graphs")), program.graph_count);
	json_decref(root);
	strcpy(load.phases[0].name, "peers");
	load.phases[0].ns = 5;
	source.load = &load;
	root = report_rig_data(&source);
	assert_int_equal(int_of(json_object_get(root, "load"), "total_ns"), 7);
	json_decref(root);
}

/* Texts that would end the element they lie in, or are no UTF-8. */
static void test_hostile_texts(void **state)
{
	struct tf_report_source source = report_rig_source(&program);
	json_t *root;

	(void)state;
	assert_int_equal(
		tf_program_set_identity(&program, "workload", "</script><!--\xff\"", NULL), TF_OK);
	strcpy(program.groups[0].name, "<b>&amp;");
	root = report_rig_data(&source);
	assert_string_equal(
		text_of(json_array_get(json_object_get(root, "groups"), 0), "name"), "<b>&amp;");
	json_decref(root);
}

static void test_short_memory(void **state)
{
	struct tf_report_source source = report_rig_source(&program);
	enum tf_status status = TF_E_NO_MEMORY;
	int failures = -1;

	(void)state;
	for (uint64_t n = 1; status == TF_E_NO_MEMORY && n < 1000; n++) {
		struct tf_bytes bytes = {0};

		tf_alloc_fail_at(n);
		status = tf_report_data(&source, &bytes, NULL);
		tf_alloc_fail_at(0);
		tf_bytes_fini(&bytes);
		failures++;
	}
	assert_int_equal(status, TF_OK);
	assert_true(failures > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_picks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_samples, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_identity_and_members, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_writers, set_up, tear_down),
		cmocka_unit_test(test_large),
		cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_head_and_load, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_short_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
