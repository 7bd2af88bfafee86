/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep topology` as people run it: text on both streams and exit code. Expected texts lie in
 * golden/; TF_RECORD=1 in the environment writes them anew.
 */
#include "tests/topology/topology_fixture.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prepare/topology_verb.h"

#define ARGS_MAX 8

static char folder[256], edited[320];

/* What the last run wrote. */
static char *out_text, *err_text;

static int set_up(void **state)
{
	(void)state;
	setenv("LC_ALL", "C.UTF-8", 1);
	tf_fixture_make_folder(folder, sizeof(folder));
	snprintf(edited, sizeof(edited), "%s/edited.xml", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(out_text);
	free(err_text);
	out_text = err_text = NULL;
	tf_fixture_remove_folder(folder);
	return 0;
}

/* Points a stream at a file in the folder; returns a copy of what it was. */
static int redirect(FILE *stream, const char *name)
{
	char path[320];
	int saved;
	FILE *file;

	fflush(stream);
	saved = dup(fileno(stream));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(dup2(fileno(file), fileno(stream)) >= 0);
	fclose(file);
	return saved;
}

static char *restore(FILE *stream, int saved, const char *name)
{
	char path[320];

	fflush(stream);
	assert_true(dup2(saved, fileno(stream)) >= 0);
	close(saved);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return tf_fixture_load(path);
}

/* Runs the verb with arguments that end with NULL, keeping what it writes. */
static int run(const char *first, ...)
{
	char *argv[ARGS_MAX + 1];
	int argc = 0, code, saved_out, saved_err;
	va_list args;

	va_start(args, first);
	for (const char *arg = first; arg; arg = va_arg(args, const char *)) {
		assert_true(argc < ARGS_MAX);
		argv[argc++] = strdup(arg);
	}
	va_end(args);
	argv[argc] = NULL;
	free(out_text);
	free(err_text);
	saved_out = redirect(stdout, "out");
	saved_err = redirect(stderr, "err");
	code = tf_topology_verb(argc, argv);
	out_text = restore(stdout, saved_out, "out");
	err_text = restore(stderr, saved_err, "err");
	while (argc)
		free(argv[--argc]);
	return code;
}

static void assert_golden(const char *name)
{
	char path[PATH_MAX], *wanted;

	snprintf(path, sizeof(path), "%s/../golden/%s", TF_TOPOLOGY_DATA, name);
	if (getenv("TF_RECORD")) {
		FILE *file = fopen(path, "we");

		assert_non_null(file);
		assert_true(fputs(out_text, file) >= 0);
		assert_int_equal(fclose(file), 0);
	}
	wanted = tf_fixture_load(path);
	assert_string_equal(out_text, wanted);
	assert_string_equal(err_text, "");
	free(wanted);
}

static void test_tables(void **state)
{
	(void)state;
	assert_int_equal(run("--xml", tf_fixture_data(XEON_24), NULL), 0);
	assert_golden("xeon24.txt");
	assert_int_equal(run("--xml", tf_fixture_data(XEON_32), NULL), 0);
	assert_golden("xeon32.txt");
	assert_int_equal(run("--xml", tf_fixture_data(DGX2), NULL), 0);
	assert_golden("dgx2.txt");
	assert_int_equal(run("--xml", tf_fixture_data(POWER8), "--tp", "2", NULL), 0);
	assert_golden("power8.txt");
}

static void test_ascii(void **state)
{
	(void)state;
	setenv("LC_ALL", "C", 1);
	assert_int_equal(run("--xml", tf_fixture_data(DGX2), "--tp", "16", NULL), 0);
	assert_golden("dgx2-ascii.txt");
	for (const char *c = out_text; *c; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
}

static void test_no_gpu(void **state)
{
	(void)state;
	tf_fixture_edit(XEON_24, edited, (const char *const[]){"0302 [10de:", "0302 [8086:", NULL});
	assert_int_equal(run("--xml", edited, NULL), 0);
	assert_golden("no-gpu.txt");
	assert_non_null(strstr(out_text, "no GPU found: the host device will be used"));
	assert_int_equal(run("--xml", edited, "--topology", "switched", "--tp", "8", NULL), 0);
	assert_golden("no-gpu-switched.txt");
}

static void test_class_checked(void **state)
{
	const char *xml = tf_fixture_data(POWER8);

	(void)state;
	assert_int_equal(run("--xml", xml, "--topology", "switched", "--tp", "2", NULL), 0);
	assert_golden("power8.txt");
	assert_int_equal(run("--xml", xml, "--topology", "switched", NULL), 3);
	assert_string_equal(out_text, "");
	assert_string_equal(err_text,
		"tfprep topology: topology 'switched' does not match: devices 0 and 2 meet across sockets "
		"(0002:01:00.0 -> pci root 0 -> socket 0 -> socket 1 -> pci root 2 -> 000a:01:00.0)\n");
	assert_int_equal(run("--xml", xml, "--topology", "auto", "--tp", "5", NULL), 3);
	assert_string_equal(err_text,
		"tfprep topology: 5 ranks need 5 GPUs, this machine has 4 (0002:01:00.0, 0003:01:00.0, "
		"000a:01:00.0, 000b:01:00.0)\n");
}

/* An emulated machine is shown like a real one, and has one class. */
static void test_links(void **state)
{
	(void)state;
	assert_int_equal(run("--links", "host-bridge-4", NULL), 0);
	assert_golden("links-bridge.txt");
	assert_int_equal(
		run("--links", "no-peer-4", "--tp", "2", "--topology", "host-bridge", NULL), 0);
	assert_golden("links-no-peer.txt");
	assert_int_equal(run("--links", "ring-3", "--json", NULL), 0);
	assert_golden("links-ring.json");
	assert_int_equal(run("--links", "ring-3", "--topology", "switched", NULL), 3);
	assert_string_equal(
		err_text, "tfprep topology: the links 'ring-3' are of topology 'ring', not 'switched'\n");
	assert_int_equal(run("--links", "ring-3", "--tp", "4", NULL), 3);
	assert_string_equal(err_text, "tfprep topology: the links 'ring-3' have 3 ranks, not 4\n");
	assert_int_equal(run("--links", "ring-3", "--xml", "x.xml", NULL), 2);
	assert_string_equal(out_text, "");
}

/* One line, ours: neither hwloc nor its XML parser may add theirs. */
static void test_damaged(void **state)
{
	char wanted[512];

	(void)state;
	tf_fixture_write(folder, "edited.xml", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n");
	assert_int_equal(run("--xml", edited, NULL), 3);
	snprintf(wanted, sizeof(wanted),
		"tfprep topology: '%s' is cut: it does not end in '</topology>'\n", edited);
	assert_string_equal(err_text, wanted);
	tf_fixture_write(folder, "edited.xml",
		"<?xml version=\"1.0\"?>\n<topology version=\"2.0\"><object type=\"Oddity\"></topology>\n");
	assert_int_equal(run("--xml", edited, NULL), 3);
	snprintf(
		wanted, sizeof(wanted), "tfprep topology: '%s' is not a topology in hwloc's XML\n", edited);
	assert_string_equal(err_text, wanted);
	assert_int_equal(run("--xml", "/nonexistent.xml", NULL), 3);
	assert_string_equal(err_text, "tfprep topology: no file '/nonexistent.xml'\n");
}

static void test_usage(void **state)
{
	(void)state;
	assert_int_equal(run("--topology", "sideways", NULL), 2);
	assert_string_equal(out_text, "");
	assert_non_null(strstr(err_text, "see 'tfprep topology --help'"));
	assert_int_equal(run("--tp", "0", NULL), 2);
	assert_int_equal(run("extra", NULL), 2);
	assert_int_equal(run("--help", NULL), 0);
	assert_non_null(strstr(out_text, "--topology CLASS"));
	assert_string_equal(err_text, "");
}

static void test_json(void **state)
{
	json_error_t error;
	json_t *document, *links;

	(void)state;
	assert_int_equal(run("--json", "--xml", tf_fixture_data(POWER8), NULL), 0);
	assert_golden("power8.json");
	document = json_loads(out_text, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(document);
	assert_int_equal(json_integer_value(json_object_get(document, "version")), 1);
	assert_string_equal(json_string_value(json_object_get(document, "class")), "host-bridge");
	assert_int_equal(json_array_size(json_object_get(document, "devices")), 4);
	links = json_object_get(document, "links");
	assert_int_equal(json_array_size(links), 12);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(links, 0), "link")), "nvlink");
	json_decref(document);
}

static void test_this_machine(void **state)
{
	json_error_t error;
	json_t *document;
	int code = run("--json", NULL);

	(void)state;
	if (code == 3)
		return; /* GPUs in MIG mode: refused, and tested elsewhere */
	assert_int_equal(code, 0);
	document = json_loads(out_text, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(document);
	assert_non_null(json_string_value(json_object_get(document, "class")));
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tables, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ascii, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_gpu, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_class_checked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_usage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_this_machine, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
