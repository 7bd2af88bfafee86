/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep report` as it is called: what it writes, and what it refuses before it writes. */
#include "tests/verbs/verb_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether this tfprep has the page; a build without it must say so, and nothing else. */
static int has_page(void)
{
	if (!tf_verb_run("report", TF_SMALL, "-o", tf_verb_path("probe.html"), NULL))
		return 1;
	assert_non_null(strstr(tf_verb_err, "was built without the report's page: "));
	assert_int_not_equal(access(tf_verb_path("probe.html"), F_OK), 0);
	return 0;
}

static void test_json(void **state)
{
	json_t *root;

	(void)state;
	assert_int_equal(tf_verb_run("report", "--json", "-o", "-", TF_SMALL, NULL), 0);
	root = tf_verb_json();
	assert_int_equal(json_array_size(json_object_get(root, "groups")), 4);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(root, "package"), "name")), "small.tfp");
	assert_true(json_is_null(json_object_get(root, "load")));
	json_decref(root);
}

static void test_file(void **state)
{
	const char *path = tf_verb_path("page.html");
	size_t size;
	char *page, line[600];

	(void)state;
	if (!has_page()) {
		print_message("skipped: %s", tf_verb_err);
		skip();
	}
	tf_verb_store(path, "old", 3);
	assert_int_equal(tf_verb_run("report", TF_SMALL, "-o", path, NULL), 0);
	page = tf_verb_load(path, &size);
	snprintf(line, sizeof(line), "report    %s, %zu bytes\n", path, size);
	assert_string_equal(tf_verb_out, line);
	assert_int_equal(strncmp(page, "<!doctype html>\n", 16), 0);
	assert_string_equal(page + size - 8, "</html>\n");
	assert_int_equal(tf_verb_run("report", TF_SMALL, "-o", "-", NULL), 0);
	assert_string_equal(tf_verb_out, page); /* the same package gives the same page */
	free(page);
}

static void test_load(void **state)
{
	char text[400], *digest, *end;
	const char *path = tf_verb_path("load.json");
	json_t *root;

	(void)state;
	assert_int_equal(tf_verb_run("inspect", "--json", TF_SMALL, NULL), 0);
	digest = strstr(tf_verb_out, "\"sha256\": \"");
	assert_non_null(digest);
	digest += strlen("\"sha256\": \"");
	end = strchr(digest, '"');
	snprintf(text, sizeof(text),
		"{\"version\":1,\"sha256\":\"%.*s\",\"load_ns\":{\"peers\":12,\"total\":34}}",
		(int)(end - digest), digest);
	tf_verb_store(path, text, strlen(text));
	assert_int_equal(tf_verb_run("report", "--json", "--load", path, "-o", "-", TF_SMALL, NULL), 0);
	root = tf_verb_json();
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(root, "load"), "total_ns")), 34);
	json_decref(root);
	strstr(text, "sha256\":\"")[9] ^= 1;
	tf_verb_store(path, text, strlen(text));
	tf_verb_assert_refused(
		tf_verb_run("report", "--json", "--load", path, "-o", "-", TF_SMALL, NULL), 3,
		"measured the package");
	tf_verb_assert_refused(tf_verb_run("report", "--json", "--load", tf_verb_path("none.json"),
							   "-o", "-", TF_SMALL, NULL),
		3, "none.json");
}

static void test_usage(void **state)
{
	const char *own = tf_verb_path("own.tfp");
	size_t size, after;
	char *data = tf_verb_load(TF_SMALL, &size), *now;

	(void)state;
	tf_verb_assert_refused(tf_verb_run("report", NULL), 2, "see 'tfprep report --help'");
	tf_verb_assert_refused(
		tf_verb_run("report", "--ouput=x", TF_SMALL, NULL), 2, "did you mean '--output'?");
	tf_verb_assert_refused(tf_verb_run("report", TF_SMALL, TF_SMALL, NULL), 2, "see 'tfprep");
	tf_verb_store(own, data, size);
	tf_verb_assert_refused(
		tf_verb_run("report", "--json", own, "-o", own, NULL), 2, "would replace");
	now = tf_verb_load(own, &after);
	assert_int_equal(after, size);
	assert_memory_equal(now, data, size);
	free(data);
	free(now);
}

static void test_bad_output(void **state)
{
	(void)state;
	tf_verb_assert_refused(
		tf_verb_run("report", "--json", TF_SMALL, "-o", tf_verb_path("none/x.json"), NULL), 3,
		"there is no folder");
	tf_verb_assert_refused(
		tf_verb_run("report", "--json", TF_SMALL, "-o", tf_verb_folder, NULL), 2, "it is a folder");
	assert_int_equal(
		tf_verb_run_program("/bin/sh", "-c", "exec \"$0\" report --json -o - \"$1\" > /dev/full",
			TF_TFPREP, TF_SMALL, NULL),
		1);
	assert_non_null(strstr(tf_verb_err, "cannot write to standard output"));
}

/* A damaged package leaves the page that was there, and no temporary file. */
static void test_bad_packages(void **state)
{
	const char *page = tf_verb_path("kept.json");
	char command[500];
	size_t size;
	char *data = tf_verb_load(TF_SMALL, &size), *kept;

	(void)state;
	tf_verb_store(page, "kept", 4);
	tf_verb_assert_refused(
		tf_verb_run("report", "--json", tf_verb_path("none.tfp"), "-o", page, NULL), 3, "none.tfp");
	tf_verb_store(tf_verb_path("cut.tfp"), data, size / 2);
	tf_verb_assert_refused(
		tf_verb_run("report", "--json", tf_verb_path("cut.tfp"), "-o", page, NULL), 3, "cut.tfp");
	data[size / 2] ^= 1;
	tf_verb_store(tf_verb_path("bit.tfp"), data, size);
	tf_verb_assert_refused(
		tf_verb_run("report", "--json", tf_verb_path("bit.tfp"), "-o", page, NULL), 3, "bit.tfp");
	kept = tf_verb_load(page, NULL);
	assert_string_equal(kept, "kept");
	snprintf(command, sizeof(command), "! ls '%s' | grep -q '\\.tmp$'", tf_verb_folder);
	assert_int_equal(system(command), 0);
	free(kept);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_bad_output),
		cmocka_unit_test(test_bad_packages),
	};

	return cmocka_run_group_tests(tests, tf_verb_set_up, tf_verb_tear_down);
}
