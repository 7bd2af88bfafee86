/* SPDX-License-Identifier: Apache-2.0 */
/* What option tables print: help, bash completion (run by bash), man page (read by groff). */
#include "base/options.h"
#include "tests/base/options_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_BYTES 65536

/* Prints into memory; the caller frees. */
static char *print_help(const struct tf_tool *tool, const struct tf_verb *verb)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	if (verb)
		tf_options_print_help(to, tool, verb);
	else
		tf_options_print_tool_help(to, tool);
	assert_int_equal(fclose(to), 0);
	return text;
}

static char *print_man(const struct tf_tool *tool)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	tf_options_print_man(to, tool, "1.2-3");
	assert_int_equal(fclose(to), 0);
	return text;
}

static int have(const char *program)
{
	char command[128];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
	return system(command) == 0;
}

/* Runs a shell command line and returns what it printed; the caller frees. */
static char *output_of(const char *command)
{
	char *text = calloc(OUTPUT_BYTES, 1);
	FILE *from = popen(command, "r");

	assert_non_null(text);
	assert_non_null(from);
	(void)!fread(text, 1, OUTPUT_BYTES - 1, from);
	assert_int_equal(pclose(from), 0);
	return text;
}

/* A new file under /tmp that holds what `print` prints. */
static void make_file(
	char path[32], void (*print)(FILE *to, const struct tf_tool *tool), const struct tf_tool *tool)
{
	FILE *to;
	int fd;

	strcpy(path, "/tmp/tf-options-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	to = fdopen(fd, "w");
	assert_non_null(to);
	print(to, tool);
	assert_int_equal(fclose(to), 0);
}

static void help_of_a_verb(void **state)
{
	static const char expected[] =
		"usage: pot brew [options] LEAF [WATER]\n"
		"\n"
		"brew a pot of tea\n"
		"\n"
		"The first paragraph is long enough that it has to be filled into more than one\n"
		"line of a page. .It holds what roff would take for a request, and a back\\slash.\n"
		"\n"
		"Examples:\n"
		"\n"
		"  pot brew --cups 3 leaf\n"
		"  'pot' brew -\n"
		"\n"
		"The end.\n"
		"\n"
		"options:\n"
		"      --cups N              number of cups, default 2 (2 to 8)\n"
		"  -c, --count N             rounds (1 or more)\n"
		"      --device auto|cuda|host\n"
		"                            where it is brewed, default 'auto' (one of auto,\n"
		"                            cuda, host)\n"
		"  -n, --name NAME           what it is called; a sentence that is long enough to\n"
		"                            be filled into a second line\n"
		"  -o, --output FILE         the file that is written\n"
		"  -s, --strict              refuse leftovers\n"
		"  -j, --json                print JSON\n"
		"  -h, --help                print this text\n";
	char *text = print_help(&tf_test_pot, &tf_test_pot.verbs[0]);

	assert_string_equal(text, expected);
	free(text);
	(void)state;
}

static void help_of_a_tool(void **state)
{
	char *text = print_help(&tf_test_pot, NULL);

	assert_string_equal(text,
		"usage: pot VERB [options]\n"
		"\n"
		"brews tea\n"
		"\n"
		"A pot is described here.\n"
		"\n"
		"verbs:\n"
		"  brew        brew a pot of tea\n"
		"  pour        pour it\n"
		"\n"
		"'pot VERB --help' describes one verb.\n");
	free(text);
	(void)state;
}

static void help_of_a_tool_without_verbs(void **state)
{
	char *tool = print_help(&tf_test_cup, NULL);
	char *verb = print_help(&tf_test_cup, &tf_test_cup.verbs[0]);

	assert_string_equal(tool, verb);
	assert_int_equal(strncmp(tool, "usage: cup [options] LEAF\n", 26), 0);
	free(tool);
	free(verb);
	(void)state;
}

static void help_keeps_to_80_columns(void **state)
{
	char *text = print_help(&tf_test_pot, &tf_test_pot.verbs[0]);

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
	free(text);
	(void)state;
}

/* What bash offers for a command line whose last word is being completed, words split by '|'. */
static char *complete(const struct tf_tool *tool, const char *words)
{
	char path[32], command[1024];
	char *reply;

	make_file(path, tf_options_print_completion, tool);
	snprintf(command, sizeof(command),
		"cd '%s' && bash -c 'set -eu; source %s; IFS=\"|\" read -r -a COMP_WORDS <<<\"$1.\"; "
		"COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
		"COMP_WORDS[COMP_CWORD]=${COMP_WORDS[COMP_CWORD]%%.}; set +e; "
		"_%s; printf \"%%s \" \"${COMPREPLY[@]}\"' bash '%s' 2>&1",
		FIXTURE_FOLDER, path, tool->name, words);
	reply = output_of(command);
	unlink(path);
	return reply;
}

static void completion_offers_what_fits(void **state)
{
	static const struct {
		const char *words, *offered;
	} cases[] = {
		{"pot|", "brew pour --help "},
		{"pot|b", "brew "},
		{"pot|x", " "},
		{"pot|brew|--", "--cups --count --device --name --output --strict --json --help "},
		{"pot|brew|--c", "--cups --count "},
		{"pot|brew|--device|", "auto cuda host "},
		{"pot|brew|--device|c", "cuda "},
		{"pot|brew|--device|=", "auto cuda host "},
		{"pot|brew|--device|=|h", "host "},
		{"pot|brew|--cups|", " "},
		{"pot|brew|--output|options_te", "options_test.c "},
		{"pot|brew|-o|options_te", "options_test.c "},
		{"pot|brew|-o|=|options_te", "options_test.c "},
		{"pot|brew|options_te", "options_test.c "},
		{"pot|brew|--strict|--j", "--json "},
		{"pot|brew|--|options_te", "options_test.c "},
		{"pot|brew|--|--c", " "},
		{"pot|brew|--|--device|", NULL},
		{"pot|pour|", "--help "},
		{"pot|pour|options_te", " "},
		{"pot|kettle|", " "},
	};

	if (!have("bash"))
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *reply = complete(&tf_test_pot, cases[i].words);

		if (cases[i].offered)
			assert_string_equal(reply, cases[i].offered);
		else
			assert_non_null(strstr(reply, "options_test.c "));
		free(reply);
	}
	(void)state;
}

static void completion_of_a_tool_without_verbs(void **state)
{
	char *reply;

	if (!have("bash"))
		skip();
	reply = complete(&tf_test_cup, "cup|--d");
	assert_string_equal(reply, "--device ");
	free(reply);
	reply = complete(&tf_test_cup, "cup|options_te");
	assert_string_equal(reply, "options_test.c ");
	free(reply);
	reply = complete(&tf_test_cup, "cup|--device|a");
	assert_string_equal(reply, "auto ");
	free(reply);
	(void)state;
}

static void man_page_says_what_the_tables_say(void **state)
{
	static const char *const pieces[] = {
		".TH POT 1 \"\" \"pot 1.2\\-3\" \"User Commands\"\n.SH NAME\npot \\- brews tea\n",
		".SH SYNOPSIS\n.nf\n\\fBpot brew\\fR [options] LEAF [WATER]\n\\fBpot pour\\fR "
		"[options]\n.fi\n",
		".SH DESCRIPTION\n.PP\nA pot is described here.\n.SH VERBS\n.SS brew\n.PP\nBrew a pot of "
		"tea.\n",
		"\n\\&.It holds what roff would take for a request, and a back\\eslash.\n",
		".PP\n.nf\n  pot brew \\-\\-cups 3 leaf\n  'pot' brew \\-\n.fi\n.PP\nThe end.\n",
		".TP\n\\fB\\-\\-cups\\fR \\fIN\\fR\nNumber of cups, default 2.\nFrom 2 to 8.\n",
		".TP\n\\fB\\-c\\fR, \\fB\\-\\-count\\fR \\fIN\\fR\nRounds.\n1 or more.\n",
		"\nOne of \\fBauto\\fR, \\fBcuda\\fR, \\fBhost\\fR.\n",
		".TP\n\\fB\\-s\\fR, \\fB\\-\\-strict\\fR\nRefuse leftovers.\n",
		".SS pour\n",
		".SH EXIT STATUS\n.TP\n\\fB0\\fR\nDone.\n",
		".TP\n\\fB130\\fR\nInterrupted.\n",
	};
	char *text = print_man(&tf_test_pot);
	const char *at = text;

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		const char *found = strstr(at, pieces[i]);

		if (!found)
			fail_msg("missing or out of order: %s", pieces[i]);
		at = found;
	}
	free(text);
	text = print_man(&tf_test_cup);
	assert_non_null(strstr(text, ".SH DESCRIPTION\n.PP\nOne cup.\n.SH OPTIONS\n.TP\n"));
	assert_null(strstr(text, ".SH VERBS"));
	free(text);
	(void)state;
}

static void print_man_to(FILE *to, const struct tf_tool *tool)
{
	tf_options_print_man(to, tool, "1.2-3");
}

static void groff_reads_the_man_page(void **state)
{
	static const struct tf_tool *const tools[] = {&tf_test_pot, &tf_test_cup};

	if (!have("groff"))
		skip();
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		char path[32], command[128];
		char *text;

		make_file(path, print_man_to, tools[i]);
		snprintf(command, sizeof(command), "groff -man -Tascii -ww -z %s 2>&1", path);
		text = output_of(command);
		assert_string_equal(text, "");
		free(text);
		snprintf(command, sizeof(command), "groff -man -Tascii -P-cbou %s 2>&1", path);
		text = output_of(command);
		assert_non_null(strstr(text, "--device auto|cuda|host\n"));
		assert_non_null(strstr(text, "One of auto, cuda, host."));
		free(text);
		unlink(path);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_of_a_verb),
		cmocka_unit_test(help_of_a_tool),
		cmocka_unit_test(help_of_a_tool_without_verbs),
		cmocka_unit_test(help_keeps_to_80_columns),
		cmocka_unit_test(completion_offers_what_fits),
		cmocka_unit_test(completion_of_a_tool_without_verbs),
		cmocka_unit_test(man_page_says_what_the_tables_say),
		cmocka_unit_test(groff_reads_the_man_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
