/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep diff`. A difference is a result, not a failure, unless --exit-code asks for it. */
#include "prepare/diff_verb.h"

#include "prepare/diff_print.h"
#include "prepare/tfprep_tool.h"

struct words {
	_Bool json, exit_code;
};

static const struct tf_option option_table[] = {
	{.name = "json",
		.kind = TF_OPTION_FLAG,
		.off = offsetof(struct words, json),
		.help = "print JSON"},
	{.name = "exit-code",
		.kind = TF_OPTION_FLAG,
		.off = offsetof(struct words, exit_code),
		.help = "leave with 1 unless both have the same groups with the same picks"},
	{.name = NULL},
};

const struct tf_verb tf_diff_verb_table = {
	.name = "diff",
	.synopsis = "[options] A B",
	.summary = "show how two packages differ, and whether their samples justify it",
	.text = "For every pick that changed, each package's own samples are asked whether they tell "
			"the two candidates apart: the mean of its pick's middle 11 samples must lie more "
			"than 2 % below the other's and win 16 of 21 passes; a pick that the package lacks or "
			"struck out is no "
			"rival. A change is 'justified' if both packages say so, "
			"'one-sided' if one does, and else a 'tie', which another run may decide either way.",
	.options = option_table,
	.args_min = 2,
	.args_max = 2,
};

static enum tf_status open_both(
	struct tf_package_view *views, const char *const *paths, struct tf_error *err)
{
	for (int i = 0; i < 2; i++) {
		TF_TRY(tf_package_view_open(&views[i], paths[i], err));
		TF_TRY(tf_package_view_program(&views[i], err));
	}
	return TF_OK;
}

static enum tf_status show(const struct words *words, const struct tf_package_view *views,
	struct tf_package_diff *diff, struct tf_error *err)
{
	TF_TRY(tf_package_diff(&views[0].program, &views[1].program, diff, err));
	if (words->json)
		return tf_diff_print_json(stdout, views, diff, err);
	return tf_diff_print_table(stdout, views, diff, err);
}

int tf_diff_verb(int argc, char **argv)
{
	struct words words = {0};
	struct tf_package_view views[2] = {{0}, {0}};
	struct tf_package_diff diff = {0};
	struct tf_error err = {0};
	const char *args[2];
	int arg_count = 0, differs;
	int code = tf_tfprep_parse(&tf_diff_verb_table, argc, argv, &words, args, &arg_count);
	enum tf_status status;

	if (code >= 0)
		return code;
	status = open_both(views, args, &err);
	if (status == TF_OK)
		status = show(&words, views, &diff, &err);
	differs = diff.pick_count || diff.only_count[0] || diff.only_count[1];
	tf_package_diff_fini(&diff);
	tf_package_view_fini(&views[0]);
	tf_package_view_fini(&views[1]);
	if (status == TF_OK && (fflush(stdout) || ferror(stdout)))
		status = TF_FAIL_ERRNO(&err, "cannot write to standard output");
	if (status != TF_OK)
		return tf_tfprep_fail(&tf_diff_verb_table, &err);
	return words.exit_code && differs ? TF_EXIT_FAILED : TF_EXIT_DONE;
}
