/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the texts of option tables; nothing is copied, every piece points into its table. */
#include "base/options_text.h"

#include <string.h>

int tf_choice_next(const char **at, struct tf_text_piece *out)
{
	const char *bar;

	if (!*at)
		return 0;
	bar = strchr(*at, '|');
	*out = (struct tf_text_piece){.start = *at, .length = bar ? (size_t)(bar - *at) : strlen(*at)};
	*at = bar ? bar + 1 : NULL;
	return 1;
}

int tf_paragraph_next(const char **at, struct tf_text_piece *out)
{
	const char *line, *end;

	if (!*at)
		return 0;
	*at += strspn(*at, "\n");
	if (!**at)
		return 0;
	*out = (struct tf_text_piece){.start = *at, .verbatim = **at == ' '};
	for (line = *at; *line && *line != '\n' && (*line == ' ') == out->verbatim;
		 line = end + (*end != 0)) {
		end = line + strcspn(line, "\n");
		out->length = (size_t)(end - out->start);
	}
	*at = line;
	return 1;
}

const char *tf_option_value_word(const struct tf_option *option)
{
	static const char *const words[] = {
		[TF_OPTION_TEXT] = "TEXT",
		[TF_OPTION_UINT] = "N",
		[TF_OPTION_PATH] = "FILE",
	};

	if (option->kind == TF_OPTION_FLAG)
		return NULL;
	if (option->value)
		return option->value;
	return option->kind == TF_OPTION_CHOICE ? option->choices : words[option->kind];
}

int tf_tool_is_single(const struct tf_tool *tool)
{
	return tool->verbs[0].name && !tool->verbs[1].name && !strcmp(tool->verbs[0].name, tool->name);
}

int tf_verb_has_letter(const struct tf_verb *verb, char letter)
{
	for (const struct tf_option *option = verb->options; option->name; option++) {
		if (option->letter == letter)
			return 1;
	}
	return 0;
}
