/* SPDX-License-Identifier: Apache-2.0 */
/* A call's time is a chain's by its calls. Columns of a side stand only where it was measured. */
#include "prepare/bench/bench_print.h"

#include <inttypes.h>
#include <string.h>

#include "prepare/text_table.h"

static const struct {
	const char *time, *ratio;
} heads[TF_SIDE_COUNT] = {
	[TF_SIDE_OURS] = {"ours us", NULL},
	[TF_SIDE_MPI] = {"MPI us", "ours/MPI"},
	[TF_SIDE_NCCL] = {"NCCL us", "ours/NCCL"},
	[TF_SIDE_NCCL_SYMMETRIC] = {"symmetric us", "ours/symmetric"},
};

const struct tf_candidate *tf_bench_pick(const struct tf_bench_result *result, uint32_t index)
{
	const struct tf_program *program = &result->program;
	const struct tf_bench_case *what = &result->cases[index];

	if (what->group_count != 1)
		return NULL;
	return &program->candidates[program->selectors[what->first_group]].candidate;
}

static void print_nccl(FILE *to, const struct tf_bench_result *result)
{
	if (result->nccl.version[0])
		fprintf(to, "NCCL is %s, with the environment as it is\n", result->nccl.version);
	if (result->nccl.missing[0])
		fprintf(to, "without NCCL: %s\n", result->nccl.missing);
	if (result->nccl.no_window[0])
		fprintf(to, "without symmetric windows: %s\n", result->nccl.no_window);
}

struct tf_bench_check tf_bench_checked(
	const struct tf_bench_result *result, enum tf_bench_side side)
{
	struct tf_bench_check sum = {0};

	for (uint32_t i = 0; result->checks[side] && i < result->case_count; i++) {
		sum.outputs += result->checks[side][i].outputs;
		sum.equal += result->checks[side][i].equal;
	}
	return sum;
}

static void print_checks(FILE *to, const struct tf_bench_result *result)
{
	static const char *const names[TF_SIDE_COUNT] = {"ours", "MPI", "NCCL", "NCCL symmetric"};

	for (int side = 0; side < TF_SIDE_COUNT; side++) {
		struct tf_bench_check sum = tf_bench_checked(result, (enum tf_bench_side)side);

		if (!sum.outputs)
			continue;
		if (sum.equal == sum.outputs)
			fprintf(to, "%s: all %" PRIu64 " outputs equal the reference in every byte\n",
				names[side], sum.outputs);
		else
			fprintf(to,
				"%s: %" PRIu64 " of %" PRIu64
				" outputs equal the reference in every byte, the others differ by rounding\n",
				names[side], sum.equal, sum.outputs);
	}
}

static void print_head(FILE *to, const struct tf_bench_result *result)
{
	int is_host = !strcmp(result->device, "host");
	const char *model = tf_program_identity(&result->program, "device.model");

	fprintf(to, "%u ranks on the %s device, %s; a chain is one launch of a captured graph\n",
		result->program.world, result->device, tf_dtype_name(result->program.groups[0].dtype));
	if (!is_host)
		fprintf(
			to, "a rank's device is %s; its own stamps are the time\n", model ? model : "unnamed");
	fprintf(to, "%d rounds%s, %d launches of each chain a round; %.1f s\n", TF_BENCH_ROUNDS,
		result->times[TF_SIDE_MPI]        ? " of ours and MPI in turn"
			: result->times[TF_SIDE_NCCL] ? " of ours and NCCL in turn"
										  : "",
		TF_BENCH_LAUNCHES, (double)result->total_ns / 1e9);
	if (result->times[TF_SIDE_MPI])
		fprintf(to, "MPI is %s\n", result->mpi_library);
	print_nccl(to, result);
	print_checks(to, result);
	fprintf(to, "load average of the machine %.1f before, %.1f after\n", result->load_before,
		result->load_after);
}

static void add_side(struct tf_text_table *table, const struct tf_bench_result *result,
	enum tf_bench_side side, uint32_t index)
{
	const struct tf_bench_times *times = &result->times[side][index];
	struct tf_interval call = tf_bench_call(times, result->cases[index].calls);
	double ratio, low, high;

	tf_text_table_cell(table, "%.2f", call.median / 1e3);
	tf_text_table_cell(table, "[%.2f, %.2f]", call.low / 1e3, call.high / 1e3);
	if (side == TF_SIDE_OURS)
		return;
	ratio = tf_bench_ratio(&result->times[TF_SIDE_OURS][index], times, &low, &high);
	tf_text_table_cell(table, "%.2f", ratio);
	tf_text_table_cell(table, "[%.2f, %.2f]", low, high);
}

static void add_case(
	struct tf_text_table *table, const struct tf_bench_result *result, uint32_t index)
{
	const struct tf_bench_case *what = &result->cases[index];
	const struct tf_candidate *pick = tf_bench_pick(result, index);
	char name[TF_CANDIDATE_NAME_BYTES];

	if (what->capacity)
		tf_text_table_cell(table, "step of capacity %u", what->capacity);
	else
		tf_text_table_cell(table, "%s", tf_op_name(what->op));
	if (what->bytes)
		tf_text_table_cell(table, "%" PRIu64, what->bytes);
	else
		tf_text_table_cell(table, "-");
	tf_text_table_cell(table, "%u", what->calls);
	if (pick)
		tf_text_table_cell(table, "%s", tf_candidate_name(pick, name));
	else
		tf_text_table_cell(table, "%u groups", what->group_count);
	for (int side = 0; side < TF_SIDE_COUNT; side++) {
		if (result->times[side])
			add_side(table, result, (enum tf_bench_side)side, index);
	}
}

static void add_head(struct tf_text_table *table, char *align, const struct tf_bench_result *result)
{
	static const char *const first[] = {"op", "bytes", "calls", "pick"};

	strcpy(align, "lrrl");
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		tf_text_table_cell(table, "%s", first[i]);
	for (int side = 0; side < TF_SIDE_COUNT; side++) {
		if (!result->times[side])
			continue;
		tf_text_table_cell(table, "%s", heads[side].time);
		tf_text_table_cell(table, "[low, high]");
		strcat(align, "rr");
		if (!heads[side].ratio)
			continue;
		tf_text_table_cell(table, "%s", heads[side].ratio);
		tf_text_table_cell(table, "[least, most]");
		strcat(align, "rr");
	}
}

enum tf_status tf_bench_print_table(
	FILE *to, const struct tf_bench_result *result, struct tf_error *err)
{
	char align[4 + 4 * TF_SIDE_COUNT + 1] = "";
	struct tf_text_table table = {.align = align};

	print_head(to, result);
	add_head(&table, align, result);
	for (uint32_t i = 0; i < result->case_count; i++)
		add_case(&table, result, i);
	return tf_text_table_print(&table, to, "", err);
}
