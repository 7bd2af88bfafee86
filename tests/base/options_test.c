/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines: every spelling that is accepted, and the words of every refusal. */
#include "base/options.h"
#include "tests/base/options_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define WORDS_MAX 16

struct outcome {
	struct brew brew;
	const char *args[2];
	int arg_count;
	int help;
	struct tf_error err;
	enum tf_status status;
};

/* Parses `text`, split at single spaces; '%' stands for a word that is empty. */
static struct outcome parse_for(const struct tf_verb *verb, const char *text)
{
	static char buffer[1024];
	struct outcome out = {.brew = {.cups = 77, .device = "before"}, .arg_count = -1};
	char *argv[WORDS_MAX + 1] = {NULL};
	int argc = 0;

	assert_true(strlen(text) < sizeof(buffer));
	strcpy(buffer, text);
	for (char *word = strtok(buffer, " "); word; word = strtok(NULL, " ")) {
		assert_true(argc < WORDS_MAX);
		argv[argc++] = strcmp(word, "%") ? word : word + 1;
	}
	out.status = tf_options_parse(
		verb, argc, argv, &out.brew, out.args, &out.arg_count, &out.help, &out.err);
	return out;
}

static struct outcome parse(const char *text)
{
	return parse_for(&tf_test_pot.verbs[0], text);
}

static void expect_refusal(const char *text, const char *message)
{
	struct outcome out = parse(text);

	assert_int_equal(out.status, TF_E_USAGE);
	assert_int_equal(out.err.status, TF_E_USAGE);
	assert_string_equal(out.err.text, message);
	/* Nothing changes before the whole line is right. */
	assert_int_equal(out.brew.cups, 77);
	assert_string_equal(out.brew.device, "before");
	assert_null(out.brew.name);
	assert_null(out.args[0]);
	assert_int_equal(out.arg_count, -1);
	assert_int_equal(out.help, 0);
}

static void defaults_stay_where_nothing_is_said(void **state)
{
	struct outcome out = parse("leaf");

	assert_int_equal(out.status, TF_OK);
	assert_int_equal(out.brew.cups, 77);
	assert_string_equal(out.brew.device, "before");
	assert_false(out.brew.strict);
	assert_int_equal(out.arg_count, 1);
	assert_string_equal(out.args[0], "leaf");
	assert_int_equal(out.help, 0);
	(void)state;
}

static void long_options_take_both_spellings(void **state)
{
	struct outcome out = parse("--cups 3 --device=cuda --name=a=b --strict leaf --output x.tfp");

	assert_int_equal(out.status, TF_OK);
	assert_int_equal(out.brew.cups, 3);
	assert_string_equal(out.brew.device, "cuda");
	assert_string_equal(out.brew.name, "a=b");
	assert_string_equal(out.brew.output, "x.tfp");
	assert_true(out.brew.strict);
	assert_false(out.brew.json);
	assert_int_equal(out.arg_count, 1);
	(void)state;
}

static void short_options_take_both_spellings(void **state)
{
	struct outcome out = parse("leaf -o x.tfp water -c12 -sj");

	assert_int_equal(out.status, TF_OK);
	assert_string_equal(out.brew.output, "x.tfp");
	assert_int_equal(out.brew.count, 12);
	assert_true(out.brew.strict);
	assert_true(out.brew.json);
	assert_int_equal(out.arg_count, 2);
	assert_string_equal(out.args[1], "water");
	out = parse("-sjoy leaf");
	assert_int_equal(out.status, TF_OK);
	assert_string_equal(out.brew.output, "y");
	(void)state;
}

static void a_lone_dash_is_an_argument_or_a_value(void **state)
{
	struct outcome out = parse("- -o -");

	assert_int_equal(out.status, TF_OK);
	assert_string_equal(out.args[0], "-");
	assert_string_equal(out.brew.output, "-");
	(void)state;
}

static void two_dashes_end_the_options(void **state)
{
	struct outcome out = parse("-s -- --cups --");

	assert_int_equal(out.status, TF_OK);
	assert_true(out.brew.strict);
	assert_int_equal(out.brew.cups, 77);
	assert_int_equal(out.arg_count, 2);
	assert_string_equal(out.args[0], "--cups");
	assert_string_equal(out.args[1], "--");
	(void)state;
}

static void the_last_of_a_repeated_option_counts(void **state)
{
	struct outcome out = parse("--cups 3 leaf --cups 4");

	assert_int_equal(out.status, TF_OK);
	assert_int_equal(out.brew.cups, 4);
	(void)state;
}

static void values_with_a_dash_need_an_equals_sign(void **state)
{
	struct outcome out = parse("--name=-x leaf -o-y");

	assert_int_equal(out.status, TF_OK);
	assert_string_equal(out.brew.name, "-x");
	assert_string_equal(out.brew.output, "-y");
	expect_refusal("--name --cups 3 leaf",
		"option '--name' needs a value 'NAME', found '--cups'; a value with a dash is written "
		"'--name=VALUE'");
	expect_refusal("leaf -n -s",
		"option '--name' needs a value 'NAME', found '-s'; a value with a dash is written "
		"'--name=VALUE'");
	(void)state;
}

static void empty_texts_are_texts(void **state)
{
	struct outcome out = parse("--name= % ");

	assert_int_equal(out.status, TF_OK);
	assert_string_equal(out.brew.name, "");
	assert_string_equal(out.args[0], "");
	out = parse("--name % leaf");
	assert_int_equal(out.status, TF_OK);
	assert_string_equal(out.brew.name, "");
	expect_refusal("--output= leaf", "option '--output': a file name is empty");
	(void)state;
}

static void help_is_taken_at_once(void **state)
{
	static const char *const lines[] = {
		"--help", "-h", "--cups 3 --help --bogus", "-sh", "a --help b c d", "-jh --cups"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct outcome out = parse(lines[i]);

		assert_int_equal(out.status, TF_OK);
		assert_int_equal(out.help, 1);
		assert_int_equal(out.brew.cups, 77);
		assert_false(out.brew.strict);
		assert_int_equal(out.arg_count, -1);
		assert_null(out.args[0]);
	}
	assert_int_equal(parse("-- --help").help, 0);
	(void)state;
}

static void a_table_may_use_the_letter_of_help(void **state)
{
	static const struct tf_option options[] = {
		{.name = "host",
			.letter = 'h',
			.kind = TF_OPTION_TEXT,
			.help = "x",
			.off = offsetof(struct brew, name)},
		{.name = NULL},
	};
	static const struct tf_verb verb = {.name = "v", .synopsis = "[options]", .options = options};
	struct outcome out = parse_for(&verb, "-hname");

	assert_int_equal(out.status, TF_OK);
	assert_int_equal(out.help, 0);
	assert_string_equal(out.brew.name, "name");
	assert_int_equal(parse_for(&verb, "--help").help, 1);
	(void)state;
}

static void unknown_options_meet_a_suggestion(void **state)
{
	expect_refusal("--devcie host leaf", "unknown option '--devcie', did you mean '--device'?");
	expect_refusal("--devise=host leaf", "unknown option '--devise', did you mean '--device'?");
	expect_refusal("--dev host leaf", "unknown option '--dev', did you mean '--device'?");
	expect_refusal("--cup 3 leaf", "unknown option '--cup', did you mean '--cups'?");
	expect_refusal("--hepl", "unknown option '--hepl', did you mean '--help'?");
	expect_refusal("-device host leaf", "unknown option '-d', did you mean '--device'?");
	expect_refusal("--kettle leaf", "unknown option '--kettle'");
	expect_refusal("-x leaf", "unknown option '-x'");
	expect_refusal("-sx leaf", "unknown option '-x'");
	expect_refusal("-5", "unknown option '-5'");
	expect_refusal("-\xc3\xa4 leaf", "unknown option '-\xc3\xa4'");
	expect_refusal("--=x leaf", "unknown option '--'");
	(void)state;
}

static void wrong_numbers_meet_the_range(void **state)
{
	static const char *const wrong[] = {
		"1", "9", "x", "3x", "-3", "+3", "0x3", "18446744073709551616", "99999999999999999999999"};
	char line[128], message[256];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(line, sizeof(line), "leaf --cups=%s", wrong[i]);
		snprintf(message, sizeof(message), "option '--cups': '%s' is not a number from 2 to 8",
			wrong[i]);
		expect_refusal(line, message);
	}
	expect_refusal("--cups= leaf", "option '--cups': '' is not a number from 2 to 8");
	expect_refusal("-c 0 leaf", "option '--count': '0' is not a number of 1 or more");
	expect_refusal("-c", "option '--count' needs a value 'N', found the end of the line");
	assert_int_equal(parse("--cups 2 leaf").brew.cups, 2);
	assert_int_equal(parse("--cups 08 leaf").brew.cups, 8);
	assert_int_equal(parse("-c18446744073709551615 leaf").brew.count, UINT64_MAX);
	(void)state;
}

static void wrong_choices_meet_the_list(void **state)
{
	expect_refusal("--device=cdua leaf",
		"option '--device': 'cdua' is none of 'auto|cuda|host', did you mean 'cuda'?");
	expect_refusal(
		"--device kettle leaf", "option '--device': 'kettle' is none of 'auto|cuda|host'");
	expect_refusal("--device= leaf", "option '--device': '' is none of 'auto|cuda|host'");
	expect_refusal(
		"--device=auto|cuda leaf", "option '--device': 'auto|cuda' is none of 'auto|cuda|host'");
	assert_string_equal(parse("--device host leaf").brew.device, "host");
	(void)state;
}

static void flags_take_no_value(void **state)
{
	expect_refusal("--strict=yes leaf", "option '--strict' takes no value, found 'yes'");
	expect_refusal("--strict= leaf", "option '--strict' takes no value, found ''");
	(void)state;
}

static void arguments_are_counted(void **state)
{
	expect_refusal("-s", "found 0 of 1 arguments; 'brew' takes [options] LEAF [WATER]");
	expect_refusal("a b c", "unexpected argument 'c'; 'brew' takes [options] LEAF [WATER]");
	expect_refusal("a b -- c", "unexpected argument 'c'; 'brew' takes [options] LEAF [WATER]");
	(void)state;
}

static void long_words_leave_room_for_the_rest(void **state)
{
	char line[600];
	struct outcome out;

	memset(line, 'x', sizeof(line));
	memcpy(line, "--device=", 9);
	line[sizeof(line) - 1] = '\0';
	out = parse(line);
	assert_int_equal(out.status, TF_E_USAGE);
	assert_non_null(strstr(out.err.text, "xxx...' is none of 'auto|cuda|host'"));
	assert_true(strlen(out.err.text) < 200);
	memcpy(line, "--xxxxxxx", 9);
	out = parse(line);
	assert_int_equal(out.status, TF_E_USAGE);
	assert_non_null(strstr(out.err.text, "xxx...'"));
	assert_true(strlen(out.err.text) < 200);
	(void)state;
}

static void verbs_are_found_by_name(void **state)
{
	assert_ptr_equal(tf_options_find_verb(&tf_test_pot, "brew", NULL), &tf_test_pot.verbs[0]);
	assert_ptr_equal(tf_options_find_verb(&tf_test_pot, "pour", NULL), &tf_test_pot.verbs[1]);
	assert_ptr_equal(tf_options_find_verb(&tf_test_cup, "cup", NULL), &tf_test_cup.verbs[0]);
	(void)state;
}

static void unknown_verbs_meet_the_list(void **state)
{
	struct tf_error err = {0};

	assert_null(tf_options_find_verb(&tf_test_pot, "berw", &err));
	assert_int_equal(err.status, TF_E_USAGE);
	assert_string_equal(
		err.text, "unknown verb 'berw', did you mean 'brew'? the verbs are brew, pour");
	assert_null(tf_options_find_verb(&tf_test_pot, "kettle", &err));
	assert_string_equal(err.text, "unknown verb 'kettle'; the verbs are brew, pour");
	assert_null(tf_options_find_verb(&tf_test_pot, NULL, &err));
	assert_string_equal(err.text, "no verb given; one of brew, pour is needed");
	assert_null(tf_options_find_verb(&tf_test_pot, "", &err));
	assert_null(tf_options_find_verb(&tf_test_pot, "kettle", NULL));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_stay_where_nothing_is_said),
		cmocka_unit_test(long_options_take_both_spellings),
		cmocka_unit_test(short_options_take_both_spellings),
		cmocka_unit_test(a_lone_dash_is_an_argument_or_a_value),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(the_last_of_a_repeated_option_counts),
		cmocka_unit_test(values_with_a_dash_need_an_equals_sign),
		cmocka_unit_test(empty_texts_are_texts),
		cmocka_unit_test(help_is_taken_at_once),
		cmocka_unit_test(a_table_may_use_the_letter_of_help),
		cmocka_unit_test(unknown_options_meet_a_suggestion),
		cmocka_unit_test(wrong_numbers_meet_the_range),
		cmocka_unit_test(wrong_choices_meet_the_list),
		cmocka_unit_test(flags_take_no_value),
		cmocka_unit_test(arguments_are_counted),
		cmocka_unit_test(long_words_leave_room_for_the_rest),
		cmocka_unit_test(verbs_are_found_by_name),
		cmocka_unit_test(unknown_verbs_meet_the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
