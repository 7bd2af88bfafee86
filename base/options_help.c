/* SPDX-License-Identifier: Apache-2.0 */
/* --help from option tables: filled to 80 columns, one column for labels and one for sentences. */
#include "base/options.h"
#include "base/options_text.h"

#include <inttypes.h>
#include <string.h>

#define LINE_COLUMNS 80
#define LABEL_COLUMN 28 /* where an option's sentence begins */
#define VERB_COLUMN  14 /* where a verb's summary begins */

/* Fills words into lines; `column` is where the next byte goes. */
struct filler {
	FILE *to;
	size_t indent;
	size_t column;
};

/* One word, given in three parts that stay together; starts a line where the rest is too short. */
static void fill_word(struct filler *filler, const char *before, const char *word,
	size_t word_length, const char *after)
{
	size_t length = strlen(before) + word_length + strlen(after);

	if (filler->column > filler->indent && filler->column + 1 + length > LINE_COLUMNS) {
		fputc('\n', filler->to);
		filler->column = 0;
	} else if (filler->column > filler->indent) {
		fputc(' ', filler->to);
		filler->column++;
	}
	if (filler->column < filler->indent)
		filler->column +=
			(size_t)fprintf(filler->to, "%*s", (int)(filler->indent - filler->column), "");
	fprintf(filler->to, "%s%.*s%s", before, (int)word_length, word, after);
	filler->column += length;
}

static void fill_text(struct filler *filler, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		size_t word_length = 0;

		while (text + word_length < end && text[word_length] != ' ' && text[word_length] != '\n')
			word_length++;
		if (word_length)
			fill_word(filler, "", text, word_length, "");
		text += word_length + 1;
	}
}

static void fill_end(struct filler *filler)
{
	fputc('\n', filler->to);
	filler->column = 0;
}

static void print_paragraphs(FILE *to, const char *text)
{
	struct tf_text_piece paragraph;

	while (tf_paragraph_next(&text, &paragraph)) {
		struct filler filler = {.to = to};

		fputc('\n', to);
		if (paragraph.verbatim)
			fprintf(to, "%.*s", (int)paragraph.length, paragraph.start);
		else
			fill_text(&filler, paragraph.start, paragraph.length);
		fill_end(&filler);
	}
}

/* "(one of auto, cuda, host)" or "(2 to 8)": what the table knows beside the sentence. */
static void fill_accepted(struct filler *filler, const struct tf_option *option)
{
	char range[64];
	struct tf_text_piece choice;
	const char *at = option->choices;
	const char *before = "(one of ";

	if (option->kind == TF_OPTION_CHOICE) {
		while (tf_choice_next(&at, &choice)) {
			fill_word(filler, before, choice.start, choice.length, at ? "," : ")");
			before = "";
		}
	}
	if (option->kind != TF_OPTION_UINT || (!option->min && !option->max))
		return;
	if (option->max)
		snprintf(range, sizeof(range), "(%" PRIu64 " to %" PRIu64 ")", option->min, option->max);
	else
		snprintf(range, sizeof(range), "(%" PRIu64 " or more)", option->min);
	fill_text(filler, range, strlen(range));
}

static void print_option(FILE *to, const struct tf_option *option)
{
	struct filler filler = {.to = to, .indent = LABEL_COLUMN};
	const char *word = tf_option_value_word(option);

	if (option->letter)
		filler.column += (size_t)fprintf(to, "  -%c, --%s", option->letter, option->name);
	else
		filler.column += (size_t)fprintf(to, "      --%s", option->name);
	if (word)
		filler.column += (size_t)fprintf(to, " %s", word);
	if (filler.column + 2 > LABEL_COLUMN)
		fill_end(&filler);
	fill_text(&filler, option->help, strlen(option->help));
	fill_accepted(&filler, option);
	fill_end(&filler);
}

void tf_options_print_help(FILE *to, const struct tf_tool *tool, const struct tf_verb *verb)
{
	int single = tf_tool_is_single(tool);
	struct tf_option help = {.name = "help", .help = "print this text"};
	struct filler filler = {.to = to};

	fprintf(to, "usage: %s%s%s %s\n\n", tool->name, single ? "" : " ", single ? "" : verb->name,
		verb->synopsis);
	fill_text(&filler, verb->summary, strlen(verb->summary));
	fill_end(&filler);
	print_paragraphs(to, verb->text);
	fprintf(to, "\noptions:\n");
	for (const struct tf_option *option = verb->options; option->name; option++)
		print_option(to, option);
	help.letter = tf_verb_has_letter(verb, 'h') ? 0 : 'h';
	print_option(to, &help);
}

void tf_options_print_tool_help(FILE *to, const struct tf_tool *tool)
{
	struct filler filler = {.to = to};

	if (tf_tool_is_single(tool)) {
		tf_options_print_help(to, tool, &tool->verbs[0]);
		return;
	}
	fprintf(to, "usage: %s VERB [options]\n\n", tool->name);
	fill_text(&filler, tool->summary, strlen(tool->summary));
	fill_end(&filler);
	print_paragraphs(to, tool->text);
	fprintf(to, "\nverbs:\n");
	for (const struct tf_verb *verb = tool->verbs; verb->name; verb++) {
		filler = (struct filler){.to = to, .indent = VERB_COLUMN};
		filler.column = (size_t)fprintf(to, "  %s", verb->name);
		if (filler.column + 2 > VERB_COLUMN)
			fill_end(&filler);
		fill_text(&filler, verb->summary, strlen(verb->summary));
		fill_end(&filler);
	}
	fprintf(to, "\n'%s VERB --help' describes one verb.\n", tool->name);
}
