/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A man page (section 1, man macros) from option tables. It holds no date and no path, so the same
 * tables give the same bytes.
 */
#include "base/options.h"
#include "base/options_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const struct {
	enum tf_exit code;
	const char *meaning;
} exit_meanings[] = {
	{TF_EXIT_DONE, "Done."},
	{TF_EXIT_FAILED, "Failed while it ran."},
	{TF_EXIT_USAGE, "The command line is wrong."},
	{TF_EXIT_INPUT, "An input or a package is missing or invalid, or does not fit this machine."},
	{TF_EXIT_ABSENT, "A library, a driver or hardware is absent."},
	{TF_EXIT_INTERRUPTED, "Interrupted."},
};

/* Text for roff: nothing in it is a request or an escape, and a dash is the dash one types. */
static void put(FILE *to, const char *text, size_t length)
{
	int at_start = 1;

	for (size_t i = 0; i < length; i++) {
		if (at_start && (text[i] == '.' || text[i] == '\''))
			fputs("\\&", to);
		at_start = text[i] == '\n';
		if (text[i] == '\\')
			fputs("\\e", to);
		else if (text[i] == '-')
			fputs("\\-", to);
		else
			fputc(text[i], to);
	}
}

static void put_text(FILE *to, const char *text)
{
	put(to, text, strlen(text));
}

/* Tables write sentences in lower case without a full stop; pages do not. */
static void put_sentence(FILE *to, const char *text)
{
	char first = (char)toupper((unsigned char)text[0]);

	put(to, &first, text[0] ? 1 : 0);
	put_text(to, text[0] ? text + 1 : text);
	fputc('.', to);
}

static void put_paragraphs(FILE *to, const char *text)
{
	struct tf_text_piece paragraph;

	while (tf_paragraph_next(&text, &paragraph)) {
		fputs(paragraph.verbatim ? ".PP\n.nf\n" : ".PP\n", to);
		put(to, paragraph.start, paragraph.length);
		fputs(paragraph.verbatim ? "\n.fi\n" : "\n", to);
	}
}

static void put_accepted(FILE *to, const struct tf_option *option)
{
	struct tf_text_piece choice;
	const char *at = option->choices;

	if (option->kind == TF_OPTION_CHOICE) {
		fputs("\nOne of ", to);
		while (tf_choice_next(&at, &choice)) {
			fputs("\\fB", to);
			put(to, choice.start, choice.length);
			fputs(at ? "\\fR, " : "\\fR.", to);
		}
	}
	if (option->kind != TF_OPTION_UINT || (!option->min && !option->max))
		return;
	if (option->max)
		fprintf(to, "\nFrom %" PRIu64 " to %" PRIu64 ".", option->min, option->max);
	else
		fprintf(to, "\n%" PRIu64 " or more.", option->min);
}

static void put_option(FILE *to, const struct tf_option *option)
{
	const char *word = tf_option_value_word(option);

	fputs(".TP\n", to);
	if (option->letter)
		fprintf(to, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", to);
	put_text(to, option->name);
	fputs("\\fR", to);
	if (word) {
		fputs(" \\fI", to);
		put_text(to, word);
		fputs("\\fR", to);
	}
	fputc('\n', to);
	put_sentence(to, option->help);
	put_accepted(to, option);
	fputc('\n', to);
}

static void put_options(FILE *to, const struct tf_verb *verb)
{
	struct tf_option help = {.name = "help", .help = "print the options"};

	for (const struct tf_option *option = verb->options; option->name; option++)
		put_option(to, option);
	help.letter = tf_verb_has_letter(verb, 'h') ? 0 : 'h';
	put_option(to, &help);
}

static void put_synopsis(FILE *to, const struct tf_tool *tool, const struct tf_verb *verb)
{
	fputs("\\fB", to);
	put_text(to, tool->name);
	if (!tf_tool_is_single(tool)) {
		fputc(' ', to);
		put_text(to, verb->name);
	}
	fputs("\\fR ", to);
	put_text(to, verb->synopsis);
	fputc('\n', to);
}

static void put_verbs(FILE *to, const struct tf_tool *tool)
{
	fputs(".SH VERBS\n", to);
	for (const struct tf_verb *verb = tool->verbs; verb->name; verb++) {
		fputs(".SS ", to);
		put_text(to, verb->name);
		fputs("\n.PP\n", to);
		put_sentence(to, verb->summary);
		fputc('\n', to);
		put_paragraphs(to, verb->text);
		put_options(to, verb);
	}
}

static void put_header(FILE *to, const struct tf_tool *tool, const char *version)
{
	fputs(".TH ", to);
	for (const char *letter = tool->name; *letter; letter++) {
		char upper = (char)toupper((unsigned char)*letter);

		put(to, &upper, 1);
	}
	fputs(" 1 \"\" \"", to);
	put_text(to, tool->name);
	fputc(' ', to);
	put_text(to, version);
	fputs("\" \"User Commands\"\n.SH NAME\n", to);
	put_text(to, tool->name);
	fputs(" \\- ", to);
	put_text(to, tool->summary);
	fputc('\n', to);
}

void tf_options_print_man(FILE *to, const struct tf_tool *tool, const char *version)
{
	int single = tf_tool_is_single(tool);

	put_header(to, tool, version);
	fputs(".SH SYNOPSIS\n.nf\n", to);
	for (const struct tf_verb *verb = tool->verbs; verb->name; verb++)
		put_synopsis(to, tool, verb);
	fputs(".fi\n", to);
	if (tool->text || (single && tool->verbs[0].text)) {
		fputs(".SH DESCRIPTION\n", to);
		put_paragraphs(to, tool->text);
		put_paragraphs(to, single ? tool->verbs[0].text : NULL);
	}
	if (single) {
		fputs(".SH OPTIONS\n", to);
		put_options(to, &tool->verbs[0]);
	} else {
		put_verbs(to, tool);
	}
	fputs(".SH EXIT STATUS\n", to);
	for (size_t i = 0; i < sizeof(exit_meanings) / sizeof(exit_meanings[0]); i++)
		fprintf(to, ".TP\n\\fB%d\\fR\n%s\n", (int)exit_meanings[i].code, exit_meanings[i].meaning);
}
