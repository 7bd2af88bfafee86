/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `tfprep bench`. */
#include "prepare/bench_verb.h"

#include <inttypes.h>
#include <string.h>

#include "base/deadline.h"
#include "prepare/bench/bench_print.h"
#include "prepare/bench/bench_sizes.h"
#include "prepare/export/topology_choice.h"
#include "prepare/progress_bar.h"
#include "prepare/tfprep_tool.h"

#define SECONDS_DEFAULT    20
#define SECONDS_MAX        3600
#define TIMEOUT_MS_DEFAULT 10000 /* ranks may outnumber cores */
#define TIMEOUT_MS_MAX     600000

struct words {
	uint64_t world, seconds, timeout_ms;
	const char *device, *topology, *sizes, *ops, *dtype, *workload, *against;
	_Bool json;
};

/* What is made of the words; the options borrow from it. */
struct settled {
	struct tf_topology_choice machine;
	struct tf_workload workload;
	struct tf_bench_options options;
};

static const struct tf_option option_table[] = {
	{.name = "tp",
		.kind = TF_OPTION_UINT,
		.value = "N",
		.off = offsetof(struct words, world),
		.min = TF_WORLD_MIN,
		.max = TF_WORLD_MAX,
		.help = "ranks (default 2)"},
	{.name = "device",
		.kind = TF_OPTION_CHOICE,
		.value = "KIND",
		.off = offsetof(struct words, device),
		.choices = "auto|host|cuda",
		.help = "where to run (default auto: GPUs where there are some, the host for MPI)"},
	{.name = "topology",
		.kind = TF_OPTION_CHOICE,
		.value = "CLASS",
		.off = offsetof(struct words, topology),
		.choices = "auto|local|switched|host-bridge|ring|fabric",
		.help = "topology class whose ladder is climbed (default auto)"},
	{.name = "sizes",
		.kind = TF_OPTION_TEXT,
		.value = "LIST",
		.off = offsetof(struct words, sizes),
		.help = "bytes of one rank's input, such as 8KiB,1MiB or 8KiB..1MiB by powers of two "
				"(default " TF_BENCH_SIZES_DEFAULT ", on GPUs " TF_BENCH_GPU_SIZES_DEFAULT ")"},
	{.name = "ops",
		.kind = TF_OPTION_TEXT,
		.value = "LIST",
		.off = offsetof(struct words, ops),
		.help = "operations (default " TF_BENCH_OPS_DEFAULT ", on GPUs reduce_scatter too)"},
	{.name = "dtype",
		.kind = TF_OPTION_CHOICE,
		.value = "DTYPE",
		.off = offsetof(struct words, dtype),
		.choices = "f32|bf16|f16",
		.help = "data type (default f32, on GPUs bf16)"},
	{.name = "workload",
		.kind = TF_OPTION_PATH,
		.value = "NAME|FILE",
		.off = offsetof(struct words, workload),
		.help = "on GPUs: time the steps of a workload instead, one graph a capacity"},
	{.name = "against",
		.kind = TF_OPTION_CHOICE,
		.value = "WHAT",
		.off = offsetof(struct words, against),
		.choices = "auto|nccl|mpi|none",
		.help = "whose collectives to measure beside ours: NCCL's on GPUs, Open MPI's on the host "
				"(default auto: on GPUs NCCL's if it is found, else none)"},
	{.name = "seconds",
		.kind = TF_OPTION_UINT,
		.value = "S",
		.off = offsetof(struct words, seconds),
		.min = 1,
		.max = SECONDS_MAX,
		.help =
			"on the host: about how long to take, chains are as long as it allows (default 20)"},
	{.name = "timeout",
		.kind = TF_OPTION_UINT,
		.value = "MS",
		.off = offsetof(struct words, timeout_ms),
		.min = 10,
		.max = TIMEOUT_MS_MAX,
		.help = "bound of every wait between ranks in milliseconds, and of a launch; tuning and "
				"measuring may take 30 times as long each (default 10000)"},
	{.name = "json",
		.kind = TF_OPTION_FLAG,
		.off = offsetof(struct words, json),
		.help = "print JSON, every launch included"},
	{.name = NULL},
};

const struct tf_verb tf_bench_verb_table = {
	.name = "bench",
	.synopsis = "[options]",
	.summary = "measure tuned collectives, beside NCCL's on GPUs or Open MPI's on the host",
	.text =
		"Tunes every operation at every size, then times the pick as it is served: a captured "
		"graph of up to 86 calls, launched 21 times a round, five rounds. Others' collectives are "
		"timed in turn with ours, and the ratio is that of the medians of each round.\n\n"
		"On GPUs a graph is always of 86 calls, or a step of the workload. NCCL's plain calls and "
		"its calls on symmetric windows (from NCCL 2.27 on) are captured into graphs of the same "
		"form, launched by the same processes and stamped by the same kernels on the device. "
		"After the last launch every output is compared with the reference: ours byte by byte, "
		"NCCL's within rounding. NCCL is opened as libnccl.so.2; its own environment variables "
		"hold.\n\n"
		"On the host each call has operands of its own that are written afresh before each "
		"launch. With --against mpi the same chains of MPI_Allreduce and MPI_Allgather are timed "
		"in turn with ours.\n\n"
		"Times are us a call of the slowest rank: the median of all launches with the order "
		"statistics that bound it at 97 %. A ratio below 1 means that ours is faster.",
	.options = option_table,
};

static enum tf_bench_against against_of(const char *word)
{
	return !strcmp(word, "nccl") ? TF_AGAINST_NCCL
		: !strcmp(word, "mpi")   ? TF_AGAINST_MPI
		: !strcmp(word, "none")  ? TF_AGAINST_NONE
								 : TF_AGAINST_AUTO;
}

/* MPI is measured on the host alone, NCCL on GPUs alone; a word that contradicts is refused. */
static enum tf_status settle_device(
	const struct words *words, struct settled *settled, struct tf_error *err)
{
	struct tf_bench_options *options = &settled->options;
	const char *device = words->device;

	options->against = against_of(words->against);
	if (options->against == TF_AGAINST_MPI) {
		if (!strcmp(device, "cuda"))
			return TF_FAIL(err, TF_E_USAGE, "'--against mpi' takes '--device host'");
		device = "host";
	} else if (options->against == TF_AGAINST_NCCL) {
		if (!strcmp(device, "host"))
			return TF_FAIL(err, TF_E_USAGE, "'--against nccl' takes '--device cuda'");
		device = "cuda";
	}
	TF_TRY(tf_topology_choose(device, words->topology, options->world, &settled->machine, err));
	options->device = settled->machine.device;
	options->topology = settled->machine.topology;
	options->device_count = settled->machine.device_count;
	return TF_OK;
}

/* What one side alone can do is refused on the other, not passed over. */
static enum tf_status settle_host(
	const struct words *words, struct tf_bench_options *options, struct tf_error *err)
{
	uint64_t seconds = words->seconds ? words->seconds : SECONDS_DEFAULT;

	if (words->workload)
		return TF_FAIL(err, TF_E_USAGE, "'--workload' is measured on GPUs");
	options->budget_ns = (int64_t)seconds * TF_NS_PER_S;
	options->dtype = (enum tf_dtype)tf_dtype_parse(words->dtype ? words->dtype : "f32");
	TF_TRY(tf_bench_cases(words->ops ? words->ops : TF_BENCH_OPS_DEFAULT,
		words->sizes ? words->sizes : TF_BENCH_SIZES_DEFAULT, options, err));
	for (uint32_t i = 0; options->against == TF_AGAINST_MPI && i < options->case_count; i++) {
		if (options->cases[i].op == TF_OP_REDUCE_SCATTER)
			return TF_FAIL(
				err, TF_E_USAGE, "'--against mpi' takes '--ops' all_reduce and all_gather");
		if (options->cases[i].op == TF_OP_ALL_REDUCE && options->dtype != TF_DTYPE_F32)
			return TF_FAIL(err, TF_E_USAGE,
				"MPI has no sum of '%s'; '--against mpi' takes '--dtype f32' or '--ops all_gather'",
				words->dtype);
	}
	return TF_OK;
}

static enum tf_status settle_workload(
	const struct words *words, struct settled *settled, struct tf_error *err)
{
	if (words->sizes || words->ops || words->dtype)
		return TF_FAIL(err, TF_E_USAGE,
			"'--workload' has sizes, operations and types of its own: leave '%s' out",
			words->sizes     ? "--sizes"
				: words->ops ? "--ops"
							 : "--dtype");
	settled->options.workload = &settled->workload;
	return tf_workload_load(words->workload, &settled->workload, err);
}

static enum tf_status settle_gpus(
	const struct words *words, struct settled *settled, struct tf_error *err)
{
	struct tf_bench_options *options = &settled->options;
	uint64_t count;

	if (words->seconds)
		return TF_FAIL(err, TF_E_USAGE, "'--seconds' is for the host: on GPUs a chain has %d calls",
			TF_BENCH_CALLS_MAX);
	if (words->workload)
		return settle_workload(words, settled, err);
	options->dtype = (enum tf_dtype)tf_dtype_parse(words->dtype ? words->dtype : "bf16");
	TF_TRY(tf_bench_cases(words->ops ? words->ops : TF_BENCH_GPU_OPS_DEFAULT,
		words->sizes ? words->sizes : TF_BENCH_GPU_SIZES_DEFAULT, options, err));
	for (uint32_t i = 0; options->against != TF_AGAINST_NONE && i < options->case_count; i++) {
		count = options->cases[i].bytes / tf_dtype_bytes(options->dtype);
		if (options->cases[i].op == TF_OP_REDUCE_SCATTER && count % options->world)
			return TF_FAIL(err, TF_E_USAGE,
				"NCCL's reduce_scatter takes a multiple of %u elements, not %" PRIu64
				"; '--against none' does without",
				options->world, count);
	}
	return TF_OK;
}

static enum tf_status settle(
	const struct words *words, struct settled *settled, struct tf_error *err)
{
	struct tf_bench_options *options = &settled->options;

	options->world = (uint32_t)words->world;
	options->timeout_ns = (int64_t)words->timeout_ms * TF_NS_PER_MS;
	options->progress = tf_progress_bar;
	options->interrupted = &tf_tfprep_interrupted;
	TF_TRY(settle_device(words, settled, err));
	if (!strcmp(settled->machine.device, "host"))
		return settle_host(words, options, err);
	return settle_gpus(words, settled, err);
}

static enum tf_status run(const struct words *words, struct settled *settled,
	struct tf_bench_result *result, struct tf_error *err)
{
	enum tf_status status;

	TF_TRY(settle(words, settled, err));
	tf_tfprep_catch_interrupts();
	status = tf_bench(&settled->options, result, err);
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
		.timeout_ms = TIMEOUT_MS_DEFAULT,
		.device = "auto",
		.topology = "auto",
		.against = "auto",
	};
	struct settled settled = {0};
	struct tf_bench_result result = {0};
	struct tf_error err = {0};
	const char *args[1];
	int arg_count = 0;
	int code = tf_tfprep_parse(&tf_bench_verb_table, argc, argv, &words, args, &arg_count);
	enum tf_status status;

	if (code >= 0)
		return code;
	status = run(&words, &settled, &result, &err);
	tf_workload_fini(&settled.workload);
	tf_bench_result_fini(&result);
	if (status == TF_OK && (fflush(stdout) || ferror(stdout)))
		status = TF_FAIL_ERRNO(&err, "cannot write to standard output");
	return status == TF_OK ? TF_EXIT_DONE : tf_tfprep_fail(&tf_bench_verb_table, &err);
}
