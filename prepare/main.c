/* SPDX-License-Identifier: Apache-2.0 */
/* tfprep: the verbs, and finding the one asked for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/process_start.h"
#include "prepare/bench_verb.h"
#include "prepare/diff_verb.h"
#include "prepare/export_verb.h"
#include "prepare/inspect_verb.h"
#include "prepare/progress_bar.h"
#include "prepare/report_verb.h"
#include "prepare/tfprep_tool.h"
#include "prepare/topology_verb.h"
#include "prepare/verify_verb.h"

#ifndef TF_VERSION
#error "TF_VERSION is set by the build"
#endif

struct verb_entry {
	const struct tf_verb *table;
	int (*run)(int argc, char **argv);
};

static const struct verb_entry entries[] = {
	{&tf_export_verb_table, tf_export_verb},
	{&tf_tune_verb_table, tf_tune_verb},
	{&tf_topology_verb_table, tf_topology_verb},
	{&tf_inspect_verb_table, tf_inspect_verb},
	{&tf_verify_verb_table, tf_verify_verb},
	{&tf_diff_verb_table, tf_diff_verb},
	{&tf_report_verb_table, tf_report_verb},
	{&tf_bench_verb_table, tf_bench_verb},
};

#define VERB_COUNT (sizeof(entries) / sizeof(entries[0]))

static struct tf_verb verbs[VERB_COUNT + 1];

const struct tf_tool tf_tfprep_tool = {
	.name = "tfprep",
	.summary = "prepare collectives and graphs of tensor-parallel inference once",
	.verbs = verbs,
};

static int run_named(const char *name, int argc, char **argv)
{
	struct tf_error err = {0};

	for (size_t i = 0; i < VERB_COUNT; i++) {
		if (!strcmp(entries[i].table->name, name))
			return entries[i].run(argc, argv);
	}
	(void)tf_options_find_verb(&tf_tfprep_tool, name, &err);
	fprintf(stderr, "tfprep: %s; see 'tfprep --help'\n", err.text);
	return TF_EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	char help[] = "--help";

	if (argc > 2 && !strcmp(argv[1], "help"))
		return run_named(argv[2], 1, (char *[]){help, NULL});
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
		!strcmp(argv[1], "help")) {
		tf_options_print_tool_help(argc < 2 ? stderr : stdout, &tf_tfprep_tool);
		return argc < 2 ? TF_EXIT_USAGE : TF_EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("tfprep %s\n", TF_VERSION);
		return TF_EXIT_DONE;
	}
	if (!strcmp(argv[1], "--completion")) {
		tf_options_print_completion(stdout, &tf_tfprep_tool);
		return TF_EXIT_DONE;
	}
	if (!strcmp(argv[1], "--man")) {
		tf_options_print_man(stdout, &tf_tfprep_tool, TF_VERSION);
		return TF_EXIT_DONE;
	}
	return run_named(argv[1], argc - 2, argv + 2);
}

static void print_log(void *user, enum tf_log_level level, const char *text)
{
	(void)user;
	tf_progress_bar_end();
	fprintf(stderr, "tfprep: %s%s\n", level == TF_LOG_WARN ? "warning: " : "", text);
}

/* What could not be written, a summary to a full disk, was not told; success would be a lie. */
int main(int argc, char **argv)
{
	int code;

	tf_process_start();
	for (size_t i = 0; i < VERB_COUNT; i++)
		verbs[i] = *entries[i].table;
	tf_log_install(print_log, NULL, TF_LOG_WARN);
	code = run(argc, argv);
	if (code == TF_EXIT_DONE && (fflush(stdout) || ferror(stdout))) {
		fprintf(stderr, "tfprep: cannot write to standard output: %s\n", strerror(errno));
		return TF_EXIT_FAILED;
	}
	return code;
}
