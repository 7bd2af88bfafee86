/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep inspect`. A summary shows the file's digest, so the whole file is verified first; a
 * query and a question about a group rest on the catalog alone, whose digest is in the seal.
 */
#include "prepare/inspect_verb.h"

#include "prepare/inspect_print.h"
#include "prepare/tfprep_tool.h"

#define CAPACITY_MAX UINT32_MAX /* a capacity that no package has is answered by name */

struct words {
	const char *sql, *why;
	uint64_t capacity;
	_Bool json;
};

static const struct tf_option option_table[] = {
	{.name = "json",
		.kind = TF_OPTION_FLAG,
		.off = offsetof(struct words, json),
		.help = "print JSON"},
	{.name = "sql",
		.kind = TF_OPTION_TEXT,
		.value = "QUERY",
		.off = offsetof(struct words, sql),
		.help = "run one reading statement over the catalog; its views are identity, picks, "
				"samples and members"},
	{.name = "why",
		.kind = TF_OPTION_TEXT,
		.value = "GROUP",
		.off = offsetof(struct words, why),
		.help = "show every candidate of a group with its intervals, who was left behind or beaten "
				"by whom, and the tie that decided"},
	{.name = "capacity",
		.kind = TF_OPTION_UINT,
		.value = "N",
		.off = offsetof(struct words, capacity),
		.min = 1,
		.max = CAPACITY_MAX,
		.help = "with --why: only at this capacity (default all)"},
	{.name = NULL},
};

const struct tf_verb tf_inspect_verb_table = {
	.name = "inspect",
	.synopsis = "[options] PACKAGE",
	.summary = "show what a package holds, and why it picked what it picked",
	.text =
		"Without --sql and --why the whole file is checked and its identity, groups, picks and "
		"members are shown. Times are medians over 21 passes with order statistics 6 and 16, of "
		"the stage that decided.\n\n"
		"--sql prints a line of column names and a line a row, split by tabs; \\N is NULL. The "
		"catalog cannot be written.\n\n"
		"  tfprep inspect --sql 'SELECT group_name, writer, median_ns FROM picks' x.tfp",
	.options = option_table,
	.args_min = 1,
	.args_max = 1,
};

static enum tf_status check_words(const struct words *words, struct tf_error *err)
{
	if (words->sql && words->why)
		return TF_FAIL(err, TF_E_USAGE, "'--sql' and '--why' are two questions; ask one");
	if (words->capacity && !words->why)
		return TF_FAIL(err, TF_E_USAGE, "'--capacity' belongs to '--why'");
	return TF_OK;
}

static enum tf_status show(
	const struct words *words, struct tf_package_view *view, struct tf_error *err)
{
	if (words->sql)
		return tf_inspect_print_query(stdout, view, words->sql, words->json, err);
	TF_TRY(tf_package_view_program(view, err));
	if (words->why)
		return tf_inspect_print_why(
			stdout, &view->program, words->why, (uint32_t)words->capacity, words->json, err);
	TF_TRY(tf_package_view_verify(view, err));
	if (words->json)
		return tf_inspect_print_json(stdout, view, err);
	return tf_inspect_print_table(stdout, view, err);
}

int tf_inspect_verb(int argc, char **argv)
{
	struct words words = {0};
	struct tf_package_view view = {0};
	struct tf_error err = {0};
	const char *args[1];
	int arg_count = 0;
	int code = tf_tfprep_parse(&tf_inspect_verb_table, argc, argv, &words, args, &arg_count);
	enum tf_status status;

	if (code >= 0)
		return code;
	status = check_words(&words, &err);
	if (status == TF_OK)
		status = tf_package_view_open(&view, args[0], &err);
	if (status == TF_OK)
		status = show(&words, &view, &err);
	tf_package_view_fini(&view);
	if (status == TF_OK && (fflush(stdout) || ferror(stdout)))
		status = TF_FAIL_ERRNO(&err, "cannot write to standard output");
	return status == TF_OK ? TF_EXIT_DONE : tf_tfprep_fail(&tf_inspect_verb_table, &err);
}
