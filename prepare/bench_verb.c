/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `tfprep bench`. */
#include "prepare/bench_verb.h"

#include <string.h>

#include "base/deadline.h"
#include "prepare/bench/bench_print.h"
#include "prepare/bench/bench_sizes.h"
#include "prepare/progress_bar.h"
#include "prepare/tfprep_tool.h"

#define SECONDS_DEFAULT 20
#define SECONDS_MAX     3600

struct words {
	uint64_t world, seconds;
	const char *sizes, *ops, *dtype, *against;
	_Bool json;
};

static const struct tf_option option_table[] = {
	{.name = "tp",
		.kind = TF_OPTION_UINT,
		.value = "N",
		.off = offsetof(struct words, world),
		.min = TF_WORLD_MIN,
		.max = TF_WORLD_MAX,
		.help = "ranks (default 2)"},
	{.name = "sizes",
		.kind = TF_OPTION_TEXT,
		.value = "LIST",
		.off = offsetof(struct words, sizes),
		.help = "bytes of one rank's input, such as 8KiB,1MiB or 8KiB..1MiB by powers of two "
				"(default " TF_BENCH_SIZES_DEFAULT ")"},
	{.name = "ops",
		.kind = TF_OPTION_TEXT,
		.value = "LIST",
		.off = offsetof(struct words, ops),
		.help = "operations (default " TF_BENCH_OPS_DEFAULT ")"},
	{.name = "dtype",
		.kind = TF_OPTION_CHOICE,
		.value = "DTYPE",
		.off = offsetof(struct words, dtype),
		.choices = "f32|bf16|f16",
		.help = "data type (default f32)"},
	{.name = "against",
		.kind = TF_OPTION_CHOICE,
		.value = "WHAT",
		.off = offsetof(struct words, against),
		.choices = "mpi|none",
		.help = "measure Open MPI's collectives beside ours (default none)"},
	{.name = "seconds",
		.kind = TF_OPTION_UINT,
		.value = "S",
		.off = offsetof(struct words, seconds),
		.min = 1,
		.max = SECONDS_MAX,
		.help = "about how long to take: chains are as long as it allows (default 20)"},
	{.name = "json",
		.kind = TF_OPTION_FLAG,
		.off = offsetof(struct words, json),
		.help = "print JSON, every launch included"},
	{.name = NULL},
};

const struct tf_verb tf_bench_verb_table = {
	.name = "bench",
	.synopsis = "[options]",
	.summary = "measure tuned collectives on the host device, beside Open MPI's",
	.text =
		"Tunes every operation at every size, then times the pick as it is served: a captured "
		"graph of up to 86 calls, each with operands of its own that are written afresh before "
		"each launch, launched 21 times a round. With --against mpi the same chains of "
		"MPI_Allreduce and MPI_Allgather are timed "
		"in turn with ours, five rounds, and the ratio is that of the medians of each round.\n\n"
		"Times are us a call of the slowest rank: the median of all launches with the order "
		"statistics that bound it at 97 %. A ratio below 1 means that ours is faster.",
	.options = option_table,
};

static enum tf_status to_options(
	const struct words *words, struct tf_bench_options *options, struct tf_error *err)
{
	options->world = (uint32_t)words->world;
	options->dtype = (enum tf_dtype)tf_dtype_parse(words->dtype);
	options->against_mpi = !strcmp(words->against, "mpi");
	options->budget_ns = (int64_t)words->seconds * TF_NS_PER_S;
	options->progress = tf_progress_bar;
	options->interrupted = &tf_tfprep_interrupted;
	TF_TRY(tf_bench_cases(words->ops, words->sizes, options, err));
	for (uint32_t i = 0; options->against_mpi && i < options->case_count; i++) {
		if (options->cases[i].op == TF_OP_ALL_REDUCE && options->dtype != TF_DTYPE_F32)
			return TF_FAIL(err, TF_E_USAGE,
				"MPI has no sum of '%s'; '--against mpi' takes '--dtype f32' or '--ops all_gather'",
				words->dtype);
	}
	return TF_OK;
}

static enum tf_status run(const struct words *words, struct tf_bench_options *options,
	struct tf_bench_result *result, struct tf_error *err)
{
	enum tf_status status;

	TF_TRY(to_options(words, options, err));
	tf_tfprep_catch_interrupts();
	status = tf_bench(options, result, err);
	tf_progress_bar_end();
	if (status != TF_OK)
		return status;
	if (words->json)
		return tf_bench_print_json(stdout, result, err);
	return tf_bench_print_table(stdout, result, err);
}

int tf_bench_verb(int argc, char **argv)
{
	struct words words = {
		.world = 2,
		.seconds = SECONDS_DEFAULT,
		.sizes = TF_BENCH_SIZES_DEFAULT,
		.ops = TF_BENCH_OPS_DEFAULT,
		.dtype = "f32",
		.against = "none",
	};
	struct tf_bench_options options = {0};
	struct tf_bench_result result = {0};
	struct tf_error err = {0};
	const char *args[1];
	int arg_count = 0;
	int code = tf_tfprep_parse(&tf_bench_verb_table, argc, argv, &words, args, &arg_count);
	enum tf_status status;

	if (code >= 0)
		return code;
	status = run(&words, &options, &result, &err);
	tf_bench_result_fini(&result);
	if (status == TF_OK && (fflush(stdout) || ferror(stdout)))
		status = TF_FAIL_ERRNO(&err, "cannot write to standard output");
	return status == TF_OK ? TF_EXIT_DONE : tf_tfprep_fail(&tf_bench_verb_table, &err);
}
