/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a package that a load uses, lacks, or leaves idle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "packages/container_read.h"
#include "packages/container_write.h"
#include "runtime/session/loaded_package.h"
#include "tests/session/session_rig.h"

static struct rig rig;

static int setup(void **state)
{
	(void)state;
	rig_init(&rig, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_fini(&rig);
	return 0;
}

static void read_program(struct tf_program *program, struct tf_bytes *catalog)
{
	struct tf_package *package = NULL;

	assert_int_equal(tf_package_open(rig.path, &package, NULL), TF_OK);
	assert_int_equal(tf_package_read_catalog(package, catalog, NULL), TF_OK);
	assert_int_equal(tf_catalog_read(catalog->data, catalog->size,
						 TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES, program, NULL),
		TF_OK);
	tf_package_close(package);
}

/* The rig's package again, with its catalog as given and one more member. */
static void write_package(
	const char *name, const struct tf_bytes *catalog, const char *member, char *out_path)
{
	struct tf_package_writer *writer = NULL;

	snprintf(out_path, 200, "%s/%s", rig.folder, name);
	assert_int_equal(tf_package_writer_create(out_path, &writer, NULL), TF_OK);
	assert_int_equal(
		tf_package_writer_add(writer, TF_PACKAGE_CATALOG, catalog->data, catalog->size, NULL),
		TF_OK);
	if (member)
		assert_int_equal(tf_package_writer_add(writer, member, "words", 5, NULL), TF_OK);
	assert_int_equal(tf_package_writer_seal(writer, NULL), TF_OK);
	assert_int_equal(tf_package_writer_publish(writer, NULL, NULL, NULL), TF_OK);
	tf_package_writer_destroy(writer);
}

static void test_idle_members(void **state)
{
	struct tf_loaded_package loaded;
	struct tf_program program = {0};
	struct tf_bytes catalog = {0};
	struct tf_error err = {0};
	char path[200];

	(void)state;
	read_program(&program, &catalog);
	write_package("idle.tfp", &catalog, "extra/words.txt", path);
	assert_int_equal(tf_loaded_package_open(path, TF_CATALOG_STEP, 0, &loaded, &err), TF_OK);
	assert_int_equal(loaded.idle_members, 1);
	assert_string_equal(loaded.idle_text, "'extra/words.txt'");
	tf_loaded_package_fini(&loaded);
	assert_int_equal(tf_loaded_package_open(path, TF_CATALOG_STEP, 1, &loaded, &err), TF_E_MISFIT);
	assert_non_null(strstr(err.text, "strict: 1 members would lie idle: 'extra/words.txt'"));
	/* without it nothing is idle, and strict is content */
	assert_int_equal(tf_loaded_package_open(rig.path, TF_CATALOG_STEP, 1, &loaded, &err), TF_OK);
	assert_int_equal(loaded.idle_members, 0);
	tf_loaded_package_fini(&loaded);
	tf_bytes_fini(&catalog);
	tf_program_fini(&program);
}

/* A catalog that names a member which the file lacks, or has with another size than `bytes`. */
static void name_member(struct tf_program *program, uint64_t bytes, struct tf_bytes *out)
{
	program->members = tf_calloc(1, sizeof(program->members[0]));
	assert_non_null(program->members);
	program->member_count = 1;
	snprintf(program->members[0].name, sizeof(program->members[0].name), "weights.bin");
	program->members[0].bytes = bytes;
	assert_int_equal(tf_catalog_write(program, out, NULL), TF_OK);
}

static void test_lacking_members(void **state)
{
	struct tf_loaded_package loaded;
	struct tf_program program = {0};
	struct tf_bytes catalog = {0}, named = {0};
	struct tf_error err = {0};
	char path[200];

	(void)state;
	read_program(&program, &catalog);
	name_member(&program, 6, &named);
	write_package("lacking.tfp", &named, NULL, path);
	assert_int_equal(
		tf_loaded_package_open(path, TF_CATALOG_STEP, 0, &loaded, &err), TF_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "weights.bin"));
	write_package("short.tfp", &named, "weights.bin", path);
	assert_int_equal(tf_loaded_package_open(path, TF_CATALOG_STEP, 0, &loaded, &err), TF_E_DAMAGED);
	assert_non_null(strstr(err.text, "'weights.bin' has 5 bytes, the catalog says 6"));
	tf_bytes_fini(&catalog);
	tf_bytes_fini(&named);
	tf_program_fini(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_members),
		cmocka_unit_test(test_lacking_members),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
