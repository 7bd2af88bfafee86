/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program is one package: the same bytes each time, whoever writes it; and the check before
 * publishing refuses a bad one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "prepare/export/package_check.h"
#include "runtime/collective/collective.h"
#include "tests/prepare/bench_rig.h"

static const char workload[] =
	"name: sums\nsummary: Two sums.\ncapacities: [1, 3]\ngroups:\n"
	"  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 515, times: 4}\n";

static char folder[] = "/tmp/tf-package-bytes-XXXXXX";
static char paths[3][64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (int i = 0; i < 3; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%d.tfp", folder, i);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		unlink(paths[i]);
	return rmdir(folder);
}

static void read_file(const char *path, struct tf_bytes *out)
{
	FILE *file = fopen(path, "rb");
	char part[4096];
	size_t got;

	assert_non_null(file);
	while ((got = fread(part, 1, sizeof(part), file)) > 0)
		assert_int_equal(tf_bytes_append(out, part, got, NULL), TF_OK);
	fclose(file);
}

static void assert_same_files(const char *a, const char *b)
{
	struct tf_bytes first = {0}, second = {0};

	read_file(a, &first);
	read_file(b, &second);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);
	tf_bytes_fini(&first);
	tf_bytes_fini(&second);
}

static void test_the_same_program_gives_the_same_bytes(void **state)
{
	struct tf_program read_back = {0};
	struct tf_bytes again = {0}, copied = {0};
	struct bench bench;

	(void)state;
	bench_init(&bench, 2, workload, NULL);
	bench_tune(&bench);
	assert_true(bench_is_ok(&bench));
	assert_int_equal(tf_catalog_write(&bench.programs[1], &again, NULL), TF_OK);
	assert_int_equal(again.size, bench.catalogs[0].size);
	assert_memory_equal(again.data, bench.catalogs[0].data, again.size);
	assert_int_equal(tf_catalog_read(again.data, again.size,
						 TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES, &read_back, NULL),
		TF_OK);
	assert_int_equal(tf_catalog_write(&read_back, &copied, NULL), TF_OK);
	bench_write_package(paths[0], &bench.catalogs[0]);
	usleep(1100000); /* a second later no clock may show in the file */
	bench_write_package(paths[1], &again);
	bench_write_package(paths[2], &copied);
	assert_same_files(paths[0], paths[1]);
	assert_same_files(paths[0], paths[2]);
	tf_bytes_fini(&again);
	tf_bytes_fini(&copied);
	tf_program_fini(&read_back);
	bench_fini(&bench);
}

/*
 * A selector that names another kernel than the graph has is not seen by the bytes; a launch that
 * takes another operand is.
 */
static void test_the_check_refuses_what_is_wrong(void **state)
{
	const struct tf_program *program;
	struct tf_bytes catalog = {0};
	struct tf_error err = {0};
	struct tf_launch_word *input;
	struct bench bench;

	(void)state;
	bench_init(&bench, 2, workload, NULL);
	bench_tune(&bench);
	assert_true(bench_is_ok(&bench));
	bench_write_package(paths[0], &bench.catalogs[0]);
	if (tf_package_check_fresh(paths[0], 2, "host", BENCH_TIMEOUT_NS, NULL, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_int_equal(
		tf_package_check_fresh(paths[0], 3, "host", BENCH_TIMEOUT_NS, NULL, &err), TF_E_MISFIT);
	assert_non_null(strstr(err.text, "world"));

	program = &bench.programs[0];
	input =
		&program->launch_words[program->launches[program->graphs[0].nodes[0].launch].words_first];
	assert_int_equal(input->arg_off, offsetof(struct tf_collective_args, input));
	for (uint32_t i = 0; i < program->buffer_count; i++)
		if (program->buffers[i].role == TF_BUFFER_INPUT && program->buffers[i].group == 1)
			input->segment_off = program->buffers[i].segment_off; /* of the larger capacity */
	assert_int_equal(tf_catalog_write(program, &catalog, &err), TF_OK);
	bench_write_package(paths[1], &catalog);
	memset(&err, 0, sizeof(err));
	assert_int_equal(
		tf_package_check_fresh(paths[1], 2, "host", BENCH_TIMEOUT_NS, NULL, &err), TF_E_MISMATCH);
	assert_non_null(strstr(err.text, "sum.c1.out.0"));
	tf_bytes_fini(&catalog);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_program_gives_the_same_bytes),
		cmocka_unit_test(test_the_check_refuses_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
