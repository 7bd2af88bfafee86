/* SPDX-License-Identifier: Apache-2.0 */
/* The log callback: levels, silence, one line a call. */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

struct seen {
	int count;
	enum tf_log_level level;
	char text[2048];
};

static void note(void *user, enum tf_log_level level, const char *text)
{
	struct seen *seen = user;

	seen->count++;
	seen->level = level;
	assert_true(strlen(text) < sizeof(seen->text));
	strcpy(seen->text, text);
}

static int silence(void **state)
{
	tf_log_install(NULL, NULL, TF_LOG_ERROR);
	(void)state;
	return 0;
}

static void nothing_installed_is_silence(void **state)
{
	struct seen seen = {0};

	tf_log_install(note, &seen, TF_LOG_DEBUG);
	tf_log_install(NULL, NULL, TF_LOG_DEBUG);
	tf_log(TF_LOG_ERROR, "unheard");
	assert_int_equal(seen.count, 0);
	(void)state;
}

static void lines_reach_the_callback(void **state)
{
	struct seen seen = {0};

	tf_log_install(note, &seen, TF_LOG_INFO);
	tf_log(TF_LOG_WARN, "rank %d waits for '%s'", 3, "peer");
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.level, TF_LOG_WARN);
	assert_string_equal(seen.text, "rank 3 waits for 'peer'");
	(void)state;
}

static void levels_are_kept(void **state)
{
	for (int wanted = TF_LOG_ERROR; wanted <= TF_LOG_DEBUG; wanted++) {
		struct seen seen = {0};

		tf_log_install(note, &seen, (enum tf_log_level)wanted);
		for (int level = TF_LOG_ERROR; level <= TF_LOG_DEBUG; level++)
			tf_log((enum tf_log_level)level, "x");
		assert_int_equal(seen.count, wanted + 1);
	}
	(void)state;
}

static void a_call_is_one_line(void **state)
{
	struct seen seen = {0};

	tf_log_install(note, &seen, TF_LOG_INFO);
	tf_log(TF_LOG_INFO, "a\nb\r\tc\x1b[31m\x7f\xc3\xa4");
	assert_string_equal(seen.text, "a b  c [31m \xc3\xa4");
	(void)state;
}

static void long_lines_are_cut_visibly(void **state)
{
	struct seen seen = {0};

	tf_log_install(note, &seen, TF_LOG_INFO);
	tf_log(TF_LOG_INFO, "%01023d", 7);
	assert_int_equal(strlen(seen.text), 1023);
	assert_string_equal(seen.text + 1020, "007");
	tf_log(TF_LOG_INFO, "%01024d", 7);
	assert_int_equal(strlen(seen.text), 1023);
	assert_string_equal(seen.text + 1019, "0...");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(nothing_installed_is_silence, silence),
		cmocka_unit_test_teardown(lines_reach_the_callback, silence),
		cmocka_unit_test_teardown(levels_are_kept, silence),
		cmocka_unit_test_teardown(a_call_is_one_line, silence),
		cmocka_unit_test_teardown(long_lines_are_cut_visibly, silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
