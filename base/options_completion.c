/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bash completion script from option tables. It needs bash alone, not the bash-completion
 * package, and runs nothing: every word it offers is written into it. Bash splits --name=VALUE at
 * the equals sign, so the script looks one word further back there.
 */
#include "base/options.h"
#include "base/options_text.h"

#include <string.h>

static void print_words(FILE *to, const struct tf_verb *verb)
{
	for (const struct tf_option *option = verb->options; option->name; option++)
		fprintf(to, "--%s ", option->name);
	fputs("--help", to);
}

/* The case pattern of an option: "-o | --output". */
static void print_pattern(FILE *to, const struct tf_option *option)
{
	fputs("\t\t", to);
	if (option->letter)
		fprintf(to, "-%c | ", option->letter);
	fprintf(to, "--%s)", option->name);
}

static void print_value(FILE *to, const char *tool, const struct tf_option *option)
{
	struct tf_text_piece choice;
	const char *at = option->choices;

	switch (option->kind) {
	case TF_OPTION_FLAG:
		return;
	case TF_OPTION_PATH:
		print_pattern(to, option);
		fprintf(to, " _%s_files \"$cur\"; return ;;\n", tool);
		return;
	case TF_OPTION_CHOICE:
		print_pattern(to, option);
		fprintf(to, " _%s_words \"$cur\" '", tool);
		while (tf_choice_next(&at, &choice))
			fprintf(to, "%.*s%s", (int)choice.length, choice.start, at ? " " : "");
		fputs("'; return ;;\n", to);
		return;
	case TF_OPTION_TEXT:
	case TF_OPTION_UINT:
		print_pattern(to, option);
		fputs(" return ;;\n", to);
		return;
	}
}

static void print_verb(FILE *to, const struct tf_tool *tool, const struct tf_verb *verb)
{
	fprintf(to, "\t%s)\n", verb->name);
	if (verb->args_max)
		fputs("\t\tfiles=yes\n", to);
	fputs("\t\toptions='", to);
	print_words(to, verb);
	fputs("'\n\t\t[[ $ended ]] || case $prev in\n", to);
	for (const struct tf_option *option = verb->options; option->name; option++)
		print_value(to, tool->name, option);
	fputs("\t\tesac\n\t\t;;\n", to);
}

static void print_verb_names(FILE *to, const struct tf_tool *tool)
{
	fprintf(to, "\tif ((COMP_CWORD == 1)); then\n\t\t_%s_words \"$cur\" '", tool->name);
	for (const struct tf_verb *verb = tool->verbs; verb->name; verb++)
		fprintf(to, "%s ", verb->name);
	fputs("--help'\n\t\treturn\n\tfi\n", to);
}

static void print_functions(FILE *to, const char *tool)
{
	fprintf(to,
		"_%s_words()\n"
		"{\n"
		"\tmapfile -t COMPREPLY < <(compgen -W \"$2\" -- \"$1\")\n"
		"}\n"
		"\n"
		"_%s_files()\n"
		"{\n"
		"\tcompopt -o filenames 2>/dev/null\n"
		"\tmapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
		"}\n"
		"\n",
		tool, tool);
}

static void print_opening(FILE *to, const struct tf_tool *tool)
{
	fprintf(to, "# bash completion for %s\n\n", tool->name);
	print_functions(to, tool->name);
	fprintf(to,
		"_%s()\n"
		"{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		"\tlocal options='' files='' ended='' i\n"
		"\tCOMPREPLY=()\n"
		"\tif [[ $cur == = ]]; then\n"
		"\t\tcur=''\n"
		"\telif [[ $prev == = ]]; then\n"
		"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
		"\tfi\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\t[[ ${COMP_WORDS[i]} == -- ]] && ended=yes\n"
		"\tdone\n",
		tool->name);
}

void tf_options_print_completion(FILE *to, const struct tf_tool *tool)
{
	int single = tf_tool_is_single(tool);

	print_opening(to, tool);
	if (!single)
		print_verb_names(to, tool);
	fprintf(to, "\tcase %s in\n", single ? tool->name : "${COMP_WORDS[1]}");
	for (const struct tf_verb *verb = tool->verbs; verb->name; verb++)
		print_verb(to, tool, verb);
	fprintf(to,
		"\tesac\n"
		"\tif [[ $ended || ( $files && $cur != -* ) ]]; then\n"
		"\t\t[[ $files ]] && _%s_files \"$cur\"\n"
		"\telse\n"
		"\t\t_%s_words \"$cur\" \"$options\"\n"
		"\tfi\n"
		"}\n"
		"complete -F _%s %s\n",
		tool->name, tool->name, tool->name, tool->name);
}
