/* SPDX-License-Identifier: Apache-2.0 */
/* A call's time is a chain's by its calls; the JSON has every chain, so anyone can recompute. */
#include "prepare/bench/bench_print.h"

#include <inttypes.h>

#include "prepare/json_print.h"
#include "prepare/text_table.h"

static const struct tf_candidate *pick_of(const struct tf_bench_result *result, uint32_t index)
{
	return &result->program.candidates[result->program.selectors[index]].candidate;
}

static void print_head(FILE *to, const struct tf_bench_result *result)
{
	fprintf(to, "%u ranks on the host device, %s; a chain is one launch of a captured graph\n",
		result->program.world, tf_dtype_name(result->program.groups[0].dtype));
	fprintf(to, "%d rounds%s, %d launches of each chain a round; %.1f s\n", TF_BENCH_ROUNDS,
		result->mpi ? " of ours and MPI in turn" : "", TF_BENCH_LAUNCHES,
		(double)result->total_ns / 1e9);
	if (result->mpi)
		fprintf(to, "MPI is %s\n", result->mpi_library);
	fprintf(to, "load average of the machine %.1f before, %.1f after\n", result->load_before,
		result->load_after);
}

static void add_time(
	struct tf_text_table *table, const struct tf_bench_times *times, uint32_t calls)
{
	struct tf_interval call = tf_bench_call(times, calls);

	tf_text_table_cell(table, "%.2f", call.median / 1e3);
	tf_text_table_cell(table, "[%.2f, %.2f]", call.low / 1e3, call.high / 1e3);
}

static void add_case(
	struct tf_text_table *table, const struct tf_bench_result *result, uint32_t index)
{
	const struct tf_bench_case *what = &result->cases[index];
	char name[TF_CANDIDATE_NAME_BYTES];
	double ratio, low, high;

	tf_text_table_cell(table, "%s", tf_op_name(what->op));
	tf_text_table_cell(table, "%" PRIu64, what->bytes);
	tf_text_table_cell(table, "%u", what->calls);
	tf_text_table_cell(table, "%s", tf_candidate_name(pick_of(result, index), name));
	add_time(table, &result->ours[index], what->calls);
	if (!result->mpi)
		return;
	add_time(table, &result->mpi[index], what->calls);
	ratio = tf_bench_ratio(&result->ours[index], &result->mpi[index], &low, &high);
	tf_text_table_cell(table, "%.2f", ratio);
	tf_text_table_cell(table, "[%.2f, %.2f]", low, high);
}

enum tf_status tf_bench_print_table(
	FILE *to, const struct tf_bench_result *result, struct tf_error *err)
{
	static const char *const head[] = {"op", "bytes", "calls", "pick", "ours us", "[low, high]",
		"MPI us", "[low, high]", "ours/MPI", "[least, most]"};
	struct tf_text_table table = {.align = result->mpi ? "lrrlrrrrrr" : "lrrlrr"};
	size_t columns = result->mpi ? 10 : 6;

	print_head(to, result);
	for (size_t i = 0; i < columns; i++)
		tf_text_table_cell(&table, "%s", head[i]);
	for (uint32_t i = 0; i < result->case_count; i++)
		add_case(&table, result, i);
	return tf_text_table_print(&table, to, "", err);
}

static json_t *pack_chains(const struct tf_bench_times *times)
{
	json_t *rounds = json_array();

	for (int round = 0; rounds && round < TF_BENCH_ROUNDS; round++) {
		json_t *launches = json_array();

		for (int i = 0; launches && i < TF_BENCH_LAUNCHES; i++)
			launches =
				tf_json_append(launches, json_integer((json_int_t)times->chain_ns[round][i]));
		rounds = tf_json_append(rounds, launches);
	}
	return rounds;
}

static json_t *pack_side(const struct tf_bench_times *times, uint32_t calls)
{
	struct tf_interval call = tf_bench_call(times, calls);

	return json_pack("{s:f, s:f, s:f, s:o}", "call_median_ns", call.median, "call_low_ns", call.low,
		"call_high_ns", call.high, "chain_ns", pack_chains(times));
}

static json_t *pack_ratio(const struct tf_bench_result *result, uint32_t index)
{
	double ratio, low, high;

	if (!result->mpi)
		return json_null();
	ratio = tf_bench_ratio(&result->ours[index], &result->mpi[index], &low, &high);
	return json_pack("{s:f, s:f, s:f}", "median", ratio, "least", low, "most", high);
}

static json_t *pack_cases(const struct tf_bench_result *result)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < result->case_count; i++) {
		const struct tf_bench_case *what = &result->cases[i];

		array = tf_json_append(array,
			json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "op", tf_op_name(what->op), "bytes",
				(json_int_t)what->bytes, "calls", (json_int_t)what->calls, "pick",
				tf_json_candidate(pick_of(result, i)), "ours",
				pack_side(&result->ours[i], what->calls), "mpi",
				result->mpi ? pack_side(&result->mpi[i], what->calls) : json_null(),
				"ours_over_mpi", pack_ratio(result, i)));
	}
	return array;
}

enum tf_status tf_bench_print_json(
	FILE *to, const struct tf_bench_result *result, struct tf_error *err)
{
	return tf_json_print(to,
		json_pack("{s:i, s:I, s:s, s:s, s:i, s:i, s:o, s:[f, f], s:I, s:o}", "version",
			TF_BENCH_JSON_VERSION, "world", (json_int_t)result->program.world, "device", "host",
			"dtype", tf_dtype_name(result->program.groups[0].dtype), "rounds", TF_BENCH_ROUNDS,
			"launches", TF_BENCH_LAUNCHES, "mpi",
			result->mpi ? json_string(result->mpi_library) : json_null(), "load",
			result->load_before, result->load_after, "total_ns", (json_int_t)result->total_ns,
			"cases", pack_cases(result)),
		err);
}
