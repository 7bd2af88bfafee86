/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `tfprep export` and `tfprep tune`, and their summaries. */
#include "prepare/export_verb.h"

#include <string.h>

#include "base/deadline.h"
#include "prepare/export/export.h"
#include "prepare/export_summary.h"
#include "prepare/progress_bar.h"
#include "prepare/tfprep_tool.h"

#define TIMEOUT_MS_DEFAULT 2000
#define TIMEOUT_MS_MAX     600000

struct words {
	uint64_t world, timeout_ms;
	const char *topology, *device, *peer_access, *nccl, *workload, *capacities, *ladder, *links,
		*links_seed;
	const char *out_path;
	_Bool json;
};

#define TUNE_OPTIONS                                                                               \
	{.name = "tp",                                                                                 \
		.kind = TF_OPTION_UINT,                                                                    \
		.value = "N",                                                                              \
		.off = offsetof(struct words, world),                                                      \
		.min = TF_WORLD_MIN,                                                                       \
		.max = TF_WORLD_MAX,                                                                       \
		.help = "ranks of the tensor-parallel group (default 2)"},                                 \
		{.name = "topology",                                                                       \
			.kind = TF_OPTION_CHOICE,                                                              \
			.value = "CLASS",                                                                      \
			.off = offsetof(struct words, topology),                                               \
			.choices = "auto|local|switched|host-bridge|ring|fabric",                              \
			.help = "topology class whose ladder is climbed (default auto)"},                      \
		{.name = "device",                                                                         \
			.kind = TF_OPTION_CHOICE,                                                              \
			.value = "KIND",                                                                       \
			.off = offsetof(struct words, device),                                                 \
			.choices = "auto|host|cuda",                                                           \
			.help = "where to run (default auto: a GPU where there is one)"},                      \
		{.name = "peer-access",                                                                    \
			.kind = TF_OPTION_CHOICE,                                                              \
			.value = "WORD",                                                                       \
			.off = offsetof(struct words, peer_access),                                            \
			.choices = "on|off",                                                                   \
			.help = "whether ranks may use each other's device memory, if they can (default "      \
					"on)"},                                                                        \
		{.name = "nccl",                                                                           \
			.kind = TF_OPTION_CHOICE,                                                              \
			.value = "WORD",                                                                       \
			.off = offsetof(struct words, nccl),                                                   \
			.choices = "on|off",                                                                   \
			.help = "whether NCCL's calls are candidates too, where the ladder has them (default " \
					"off)"},                                                                       \
		{.name = "workload",                                                                       \
			.kind = TF_OPTION_PATH,                                                                \
			.value = "NAME|FILE",                                                                  \
			.off = offsetof(struct words, workload),                                               \
			.help = "a built-in workload or a YAML file (default decode-window)"},                 \
		{.name = "capacity",                                                                       \
			.kind = TF_OPTION_TEXT,                                                                \
			.value = "LIST",                                                                       \
			.off = offsetof(struct words, capacities),                                             \
			.help = "only these capacities, such as 1,2,8 (default all of the workload)"},         \
		{.name = "ladder",                                                                         \
			.kind = TF_OPTION_PATH,                                                                \
			.value = "FILE",                                                                       \
			.off = offsetof(struct words, ladder),                                                 \
			.help = "a ladder of one's own (YAML)"},                                               \
		{.name = "links",                                                                          \
			.kind = TF_OPTION_PATH,                                                                \
			.value = "NAME|FILE",                                                                  \
			.off = offsetof(struct words, links),                                                  \
			.help = "emulate a machine's links in virtual time on the host device"},               \
		{.name = "links-seed",                                                                     \
			.kind = TF_OPTION_TEXT,                                                                \
			.value = "N",                                                                          \
			.off = offsetof(struct words, links_seed),                                             \
			.help = "seed of the links' jitter (default the file's)"},                             \
		{.name = "timeout",                                                                        \
			.kind = TF_OPTION_UINT,                                                                \
			.value = "MS",                                                                         \
			.off = offsetof(struct words, timeout_ms),                                             \
			.min = 10,                                                                             \
			.max = TIMEOUT_MS_MAX,                                                                 \
			.help = "bound of every wait between ranks in milliseconds (default 2000)"},           \
	{                                                                                              \
		.name = "json", .kind = TF_OPTION_FLAG, .off = offsetof(struct words, json),               \
		.help = "print the summary as JSON"                                                        \
	}

static const struct tf_option export_options[] = {
	TUNE_OPTIONS,
	{.name = "output",
		.letter = 'o',
		.kind = TF_OPTION_PATH,
		.value = "FILE",
		.off = offsetof(struct words, out_path),
		.help = "the package to write (default WORKLOAD-tpN-CLASS.tfp)"},
	{.name = NULL},
};

static const struct tf_option tune_options[] = {
	TUNE_OPTIONS,
	{.name = NULL},
};

const struct tf_verb tf_export_verb_table = {
	.name = "export",
	.synopsis = "[options]",
	.summary = "tune, capture and write one package",
	.text = "Tunes every collective group of the workload with interleaved samples in one graph, "
			"captures the step "
			"graphs, writes the package, proves it in fresh processes at another address, and only "
			"then gives "
			"it its name. A failure or a kill leaves the file of that name as it was.",
	.options = export_options,
};

const struct tf_verb tf_tune_verb_table = {
	.name = "tune",
	.synopsis = "[options]",
	.summary = "tune and show the picks, without writing a file",
	.options = tune_options,
};

static void to_options(const struct words *words, struct tf_export_options *options)
{
	*options = (struct tf_export_options){
		.workload = words->workload,
		.capacities = words->capacities,
		.ladder = words->ladder,
		.links = words->links,
		.links_seed = words->links_seed,
		.topology = words->topology,
		.device = words->device,
		.out_path = words->out_path,
		.world = (uint32_t)words->world,
		.no_peer_access = words->peer_access && !strcmp(words->peer_access, "off"),
		.nccl = words->nccl && !strcmp(words->nccl, "on"),
		.timeout_ns = (int64_t)words->timeout_ms * TF_NS_PER_MS,
		.progress = tf_progress_bar,
		.interrupted = &tf_tfprep_interrupted,
	};
}

static int run_verb(const struct tf_verb *verb, int argc, char **argv,
	enum tf_status (*run)(const struct tf_export_options *options, struct tf_export_result *result,
		struct tf_error *err))
{
	struct words words = {.world = 2, .timeout_ms = TIMEOUT_MS_DEFAULT};
	struct tf_export_result result;
	struct tf_export_options options;
	struct tf_error err = {0};
	const char *args[1];
	int arg_count, code = tf_tfprep_parse(verb, argc, argv, &words, args, &arg_count);

	if (code >= 0)
		return code;
	memset(&result, 0, sizeof(result));
	to_options(&words, &options);
	tf_tfprep_catch_interrupts();
	code = TF_EXIT_DONE;
	if (run(&options, &result, &err) == TF_OK) {
		tf_progress_bar_end();
		if (tf_export_summary_print(stdout, &result, words.json, &err) != TF_OK)
			code = tf_tfprep_fail(verb, &err);
	} else {
		tf_progress_bar_end();
		code = tf_tfprep_fail(verb, &err);
	}
	tf_export_result_fini(&result);
	return code;
}

int tf_export_verb(int argc, char **argv)
{
	return run_verb(&tf_export_verb_table, argc, argv, tf_export);
}

int tf_tune_verb(int argc, char **argv)
{
	return run_verb(&tf_tune_verb_table, argc, argv, tf_tune_only);
}
