/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries opened at run time: names tried in order, tables filled wholly or not at all. */
#include "base/dynlib.h"
#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

/* The lists that a real user keeps; FIXTURE_PATH comes from the build. */
struct table {
	int (*one)(void);
	int (*two)(void);
	int (*absent)(void);
};

static const struct tf_dynlib_symbol symbols[] = {
	{"tf_fixture_one", offsetof(struct table, one), 0},
	{"tf_fixture_two", offsetof(struct table, two), 0},
	{"tf_fixture_absent", offsetof(struct table, absent), 1},
	{NULL, 0, 0},
};

static const char *const fixture[] = {FIXTURE_PATH, NULL};

static int failures_off(void **state)
{
	tf_alloc_fail_at(0);
	tf_dynlib_fail_at(0);
	(void)state;
	return 0;
}

static void an_open_library_answers(void **state)
{
	struct table table = {0};
	void *handle = NULL;

	assert_int_equal(tf_dynlib_open(fixture, symbols, &table, sizeof(table), &handle, NULL), TF_OK);
	assert_non_null(handle);
	assert_int_equal(table.one(), 1);
	assert_int_equal(table.two(), 2);
	assert_null(table.absent);
	tf_dynlib_close(handle);
	tf_dynlib_close(NULL);
	(void)state;
}

static void later_names_are_tried(void **state)
{
	static const char *const names[] = {"libtf-no-such.so.9", FIXTURE_PATH, "libtf-never.so", NULL};
	struct table table = {0};
	void *handle = NULL;

	assert_int_equal(tf_dynlib_open(names, symbols, &table, sizeof(table), &handle, NULL), TF_OK);
	assert_int_equal(table.two(), 2);
	tf_dynlib_close(handle);
	(void)state;
}

static void absent_libraries_are_all_named(void **state)
{
	static const char *const names[] = {"libtf-no-such.so.9", "libtf-no-such.so", NULL};
	struct table table = {0};
	struct tf_error err = {0};
	void *handle = NULL;

	assert_int_equal(
		tf_dynlib_open(names, symbols, &table, sizeof(table), &handle, &err), TF_E_UNAVAILABLE);
	assert_int_equal(strncmp(err.text, "cannot open 'libtf-no-such.so.9': ", 34), 0);
	assert_non_null(strstr(err.text, "; 'libtf-no-such.so': "));
	assert_non_null(strstr(err.text, "No such file or directory"));
	assert_null(handle);
	assert_null(table.one);
	(void)state;
}

static void no_name_is_no_library(void **state)
{
	static const char *const names[] = {NULL};
	struct table table = {0};
	struct tf_error err = {0};
	void *handle = NULL;

	assert_int_equal(
		tf_dynlib_open(names, symbols, &table, sizeof(table), &handle, &err), TF_E_UNAVAILABLE);
	assert_string_equal(err.text, "cannot open a library without a name");
	(void)state;
}

/* The message names the library that was opened, not the first one asked for. */
static void a_missing_symbol_is_named_with_its_library(void **state)
{
	static const char *const names[] = {"libtf-no-such.so.9", FIXTURE_PATH, NULL};
	static const struct tf_dynlib_symbol hidden[] = {
		{"tf_fixture_one", offsetof(struct table, one), 0},
		{"tf_fixture_hidden", offsetof(struct table, two), 0},
		{NULL, 0, 0},
	};
	struct table table = {0};
	struct tf_error err = {0};
	void *handle = NULL;

	assert_int_equal(
		tf_dynlib_open(names, hidden, &table, sizeof(table), &handle, &err), TF_E_UNAVAILABLE);
	assert_string_equal(err.text, "'" FIXTURE_PATH "' lacks the symbol 'tf_fixture_hidden'");
	assert_null(handle);
	assert_null(table.one);
	(void)state;
}

static void any_symbol_may_fail(void **state)
{
	for (unsigned nth = 1; nth <= 4; nth++) {
		struct table table = {0};
		void *handle = NULL;
		enum tf_status status;

		tf_dynlib_fail_at(nth);
		status = tf_dynlib_open(fixture, symbols, &table, sizeof(table), &handle, NULL);
		tf_dynlib_fail_at(0);
		assert_int_equal(status, nth <= 2 ? TF_E_UNAVAILABLE : TF_OK);
		assert_int_equal(table.one != NULL, status == TF_OK);
		assert_int_equal(handle != NULL, status == TF_OK);
		tf_dynlib_close(handle);
	}
	(void)state;
}

static void short_memory_is_no_missing_library(void **state)
{
	struct table table = {0};
	struct tf_error err = {0};
	void *handle = NULL;

	tf_alloc_fail_at(1);
	assert_int_equal(
		tf_dynlib_open(fixture, symbols, &table, sizeof(table), &handle, &err), TF_E_NO_MEMORY);
	assert_null(handle);
	(void)state;
}

static void symbols_stay_inside_their_table(void **state)
{
	struct table table = {0};
	struct tf_error err = {0};
	void *handle = NULL;

	assert_int_equal(
		tf_dynlib_open(fixture, symbols, &table, sizeof(table) - 1, &handle, &err), TF_E_INTERNAL);
	assert_null(table.one);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_open_library_answers),
		cmocka_unit_test(later_names_are_tried),
		cmocka_unit_test(absent_libraries_are_all_named),
		cmocka_unit_test(no_name_is_no_library),
		cmocka_unit_test(a_missing_symbol_is_named_with_its_library),
		cmocka_unit_test_teardown(any_symbol_may_fail, failures_off),
		cmocka_unit_test_teardown(short_memory_is_no_missing_library, failures_off),
		cmocka_unit_test(symbols_stay_inside_their_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
