/* SPDX-License-Identifier: Apache-2.0 */
/* The error object: texts, prefixes, cuts, names and exit codes. */
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static void fail_sets_everything(void **state)
{
	struct tf_error err = {0};
	enum tf_status status;
	int line = __LINE__ + 2;

	status = TF_FAIL(&err, TF_E_MISFIT, "capability is %d, not '%s'", 90, "80");
	assert_int_equal(status, TF_E_MISFIT);
	assert_int_equal(err.status, TF_E_MISFIT);
	assert_int_equal(err.native, 0);
	assert_null(err.origin);
	assert_int_equal(err.line, line);
	assert_non_null(strstr(err.file, "error_test.c"));
	assert_string_equal(err.text, "capability is 90, not '80'");
	(void)state;
}

static void a_null_error_still_gives_the_status(void **state)
{
	assert_int_equal(TF_FAIL(NULL, TF_E_LIMIT, "x"), TF_E_LIMIT);
	errno = EACCES;
	assert_int_equal(TF_FAIL_ERRNO(NULL, "x"), TF_E_SYSTEM);
	tf_error_prefix(NULL, "x");
	(void)state;
}

static void an_error_of_another_process_is_adopted(void **state)
{
	struct tf_error err = {.status = TF_E_SYSTEM, .native = 7, .origin = (const char *)16};

	err.file = (const char *)32;
	memset(err.text, 'x', sizeof(err.text));
	tf_error_adopt(&err);
	assert_int_equal(err.status, TF_E_SYSTEM);
	assert_int_equal(err.native, 7);
	assert_null(err.origin);
	assert_null(err.file);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	(void)state;
}

static void prefixes_read_outermost_first(void **state)
{
	struct tf_error err = {0};

	(void)TF_FAIL(&err, TF_E_INVALID, "digest is %d bytes, not 32", 31);
	tf_error_prefix(&err, "row %d of %s", 12, "kernel");
	tf_error_prefix(&err, "cannot open '%s'", "x.tfp");
	assert_string_equal(
		err.text, "cannot open 'x.tfp': row 12 of kernel: digest is 31 bytes, not 32");
	assert_int_equal(err.status, TF_E_INVALID);
	(void)state;
}

static void no_error_takes_no_prefix(void **state)
{
	struct tf_error err = {0};

	tf_error_prefix(&err, "cannot open '%s'", "x.tfp");
	assert_int_equal(err.status, TF_OK);
	assert_string_equal(err.text, "");
	(void)state;
}

static void texts_that_fit_exactly_are_whole(void **state)
{
	struct tf_error err = {0};

	(void)TF_FAIL(&err, TF_E_LIMIT, "%0*d", TF_ERROR_TEXT_BYTES - 1, 7);
	assert_int_equal(strlen(err.text), TF_ERROR_TEXT_BYTES - 1);
	assert_string_equal(err.text + TF_ERROR_TEXT_BYTES - 4, "007");
	(void)state;
}

static void long_texts_are_cut_visibly(void **state)
{
	struct tf_error err = {0};

	(void)TF_FAIL(&err, TF_E_LIMIT, "%0*d", TF_ERROR_TEXT_BYTES, 7);
	assert_int_equal(strlen(err.text), TF_ERROR_TEXT_BYTES - 1);
	assert_string_equal(err.text + TF_ERROR_TEXT_BYTES - 6, "00...");
	tf_error_prefix(&err, "outer");
	assert_int_equal(strlen(err.text), TF_ERROR_TEXT_BYTES - 1);
	assert_memory_equal(err.text, "outer: 000", 10);
	assert_string_equal(err.text + TF_ERROR_TEXT_BYTES - 6, "00...");
	tf_error_prefix(&err, "%0*d", 2 * TF_ERROR_TEXT_BYTES, 1);
	assert_int_equal(strlen(err.text), TF_ERROR_TEXT_BYTES - 1);
	assert_string_equal(err.text + TF_ERROR_TEXT_BYTES - 6, "00...");
	(void)state;
}

static void errno_is_kept_and_spelt(void **state)
{
	struct tf_error err = {0};

	errno = ENOENT;
	assert_int_equal(TF_FAIL_ERRNO(&err, "cannot open '%s'", "x.tfp"), TF_E_SYSTEM);
	assert_string_equal(err.text, "cannot open 'x.tfp': No such file or directory");
	assert_int_equal(err.native, ENOENT);
	assert_string_equal(err.origin, "system");
	errno = ENOMEM;
	assert_int_equal(TF_FAIL_ERRNO(&err, "cannot map"), TF_E_NO_MEMORY);
	(void)state;
}

static void a_long_subject_never_hides_the_cause(void **state)
{
	struct tf_error err = {0};

	errno = ENOSPC;
	(void)TF_FAIL_ERRNO(&err, "cannot write '%0*d'", 2 * TF_ERROR_TEXT_BYTES, 1);
	assert_non_null(strstr(err.text, "00...: No space left on device"));
	(void)state;
}

static void every_status_has_a_name_of_its_own(void **state)
{
	for (int a = 0; a < TF_STATUS_COUNT; a++) {
		for (int b = 0; b < a; b++)
			assert_string_not_equal(
				tf_status_name((enum tf_status)a), tf_status_name((enum tf_status)b));
		assert_string_not_equal(tf_status_name((enum tf_status)a), "unknown");
	}
	assert_string_equal(tf_status_name(TF_E_NOT_FOUND), "not_found");
	assert_string_equal(tf_status_name(TF_STATUS_COUNT), "unknown");
	assert_string_equal(tf_status_name((enum tf_status) - 1), "unknown");
	(void)state;
}

static void exit_codes_follow_the_status(void **state)
{
	static const struct {
		enum tf_status status;
		int code;
	} cases[] = {
		{TF_OK, 0},
		{TF_E_USAGE, 2},
		{TF_E_INVALID, 3},
		{TF_E_DAMAGED, 3},
		{TF_E_VERSION, 3},
		{TF_E_MISFIT, 3},
		{TF_E_NOT_FOUND, 3},
		{TF_E_UNAVAILABLE, 4},
		{TF_E_UNSUPPORTED, 1},
		{TF_E_NO_MEMORY, 1},
		{TF_E_LIMIT, 1},
		{TF_E_TIMEOUT, 1},
		{TF_E_DISCONNECTED, 1},
		{TF_E_ABORTED, 1},
		{TF_E_MISMATCH, 1},
		{TF_E_SYSTEM, 1},
		{TF_E_INTERNAL, 1},
	};

	assert_int_equal(sizeof(cases) / sizeof(cases[0]), TF_STATUS_COUNT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(tf_status_exit(cases[i].status), cases[i].code);
	(void)state;
}

static enum tf_status two_steps(int *reached, enum tf_status first)
{
	TF_TRY(first);
	*reached = 1;
	return TF_OK;
}

static void try_leaves_at_the_first_failure(void **state)
{
	int reached = 0;

	assert_int_equal(two_steps(&reached, TF_E_TIMEOUT), TF_E_TIMEOUT);
	assert_int_equal(reached, 0);
	assert_int_equal(two_steps(&reached, TF_OK), TF_OK);
	assert_int_equal(reached, 1);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_sets_everything),
		cmocka_unit_test(a_null_error_still_gives_the_status),
		cmocka_unit_test(an_error_of_another_process_is_adopted),
		cmocka_unit_test(prefixes_read_outermost_first),
		cmocka_unit_test(no_error_takes_no_prefix),
		cmocka_unit_test(texts_that_fit_exactly_are_whole),
		cmocka_unit_test(long_texts_are_cut_visibly),
		cmocka_unit_test(errno_is_kept_and_spelt),
		cmocka_unit_test(a_long_subject_never_hides_the_cause),
		cmocka_unit_test(every_status_has_a_name_of_its_own),
		cmocka_unit_test(exit_codes_follow_the_status),
		cmocka_unit_test(try_leaves_at_the_first_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
