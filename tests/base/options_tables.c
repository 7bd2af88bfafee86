/* SPDX-License-Identifier: Apache-2.0 */
/* A tool with verbs and one without. */
#include "tests/base/options_tables.h"

#include <stddef.h>

static const struct tf_option brew_options[] = {
	{.name = "cups",
		.kind = TF_OPTION_UINT,
		.value = "N",
		.help = "number of cups, default 2",
		.off = offsetof(struct brew, cups),
		.min = 2,
		.max = 8},
	{.name = "count",
		.letter = 'c',
		.kind = TF_OPTION_UINT,
		.help = "rounds",
		.off = offsetof(struct brew, count),
		.min = 1},
	{.name = "device",
		.kind = TF_OPTION_CHOICE,
		.help = "where it is brewed, default 'auto'",
		.off = offsetof(struct brew, device),
		.choices = "auto|cuda|host"},
	{.name = "name",
		.letter = 'n',
		.kind = TF_OPTION_TEXT,
		.value = "NAME",
		.help = "what it is called; a sentence that is long enough to be filled into a second line",
		.off = offsetof(struct brew, name)},
	{.name = "output",
		.letter = 'o',
		.kind = TF_OPTION_PATH,
		.value = "FILE",
		.help = "the file that is written",
		.off = offsetof(struct brew, output)},
	{.name = "strict",
		.letter = 's',
		.kind = TF_OPTION_FLAG,
		.help = "refuse leftovers",
		.off = offsetof(struct brew, strict)},
	{.name = "json",
		.letter = 'j',
		.kind = TF_OPTION_FLAG,
		.help = "print JSON",
		.off = offsetof(struct brew, json)},
	{.name = NULL},
};

static const struct tf_option no_options[] = {{.name = NULL}};

/* Its text holds what roff would take for requests and escapes. */
static const struct tf_verb pot_verbs[] = {
	{.name = "brew",
		.synopsis = "[options] LEAF [WATER]",
		.summary = "brew a pot of tea",
		.text =
			"The first paragraph is long enough that it has to be filled into more than one line "
			"of a page.\n.It holds what roff would take for a request, and a back\\slash.\n\n"
			"Examples:\n  pot brew --cups 3 leaf\n  'pot' brew -\n\nThe end.",
		.options = brew_options,
		.args_min = 1,
		.args_max = 2},
	{.name = "pour",
		.synopsis = "[options]",
		.summary = "pour it",
		.options = no_options,
		.args_min = 0,
		.args_max = 0},
	{.name = NULL},
};

const struct tf_tool tf_test_pot = {
	.name = "pot",
	.summary = "brews tea",
	.text = "A pot is described here.",
	.verbs = pot_verbs,
};

static const struct tf_verb cup_verbs[] = {
	{.name = "cup",
		.synopsis = "[options] LEAF",
		.summary = "drink a cup of tea",
		.text = "One cup.",
		.options = brew_options,
		.args_min = 1,
		.args_max = 1},
	{.name = NULL},
};

const struct tf_tool tf_test_cup = {
	.name = "cup",
	.summary = "drinks tea",
	.verbs = cup_verbs,
};
