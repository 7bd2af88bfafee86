/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON has every chain's time, so anyone can recompute what is derived from them. */
#include "prepare/bench/bench_print.h"

#include "prepare/json_print.h"

static json_t *text_or_null(const char *text)
{
	return text[0] ? json_string(text) : json_null();
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

/* Null where the side was not measured. */
static json_t *pack_side(
	const struct tf_bench_result *result, enum tf_bench_side side, uint32_t index)
{
	const struct tf_bench_times *times = result->times[side];
	struct tf_interval call;
	json_t *object;

	if (!times)
		return json_null();
	call = tf_bench_call(&times[index], result->cases[index].calls);
	object = json_pack("{s:f, s:f, s:f, s:o}", "call_median_ns", call.median, "call_low_ns",
		call.low, "call_high_ns", call.high, "chain_ns", pack_chains(&times[index]));
	if (object && result->checks[side] &&
		(json_object_set_new(object, "outputs_checked",
			 json_integer((json_int_t)result->checks[side][index].outputs)) ||
			json_object_set_new(object, "outputs_equal",
				json_integer((json_int_t)result->checks[side][index].equal)))) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *pack_ratio(
	const struct tf_bench_result *result, enum tf_bench_side side, uint32_t index)
{
	double ratio, low, high;

	if (!result->times[side])
		return json_null();
	ratio = tf_bench_ratio(
		&result->times[TF_SIDE_OURS][index], &result->times[side][index], &low, &high);
	return json_pack("{s:f, s:f, s:f}", "median", ratio, "least", low, "most", high);
}

static json_t *pack_case(const struct tf_bench_result *result, uint32_t index)
{
	const struct tf_bench_case *what = &result->cases[index];
	const struct tf_candidate *pick = tf_bench_pick(result, index);

	return json_pack("{s:s, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "op",
		what->capacity ? "step" : tf_op_name(what->op), "bytes",
		what->bytes ? json_integer((json_int_t)what->bytes) : json_null(), "capacity",
		what->capacity ? json_integer((json_int_t)what->capacity) : json_null(), "calls",
		(json_int_t)what->calls, "groups", (json_int_t)what->group_count, "pick",
		pick ? tf_json_candidate(pick) : json_null(), "ours",
		pack_side(result, TF_SIDE_OURS, index), "mpi", pack_side(result, TF_SIDE_MPI, index),
		"nccl", pack_side(result, TF_SIDE_NCCL, index), "nccl_symmetric",
		pack_side(result, TF_SIDE_NCCL_SYMMETRIC, index), "ours_over_mpi",
		pack_ratio(result, TF_SIDE_MPI, index), "ours_over_nccl",
		pack_ratio(result, TF_SIDE_NCCL, index), "ours_over_nccl_symmetric",
		pack_ratio(result, TF_SIDE_NCCL_SYMMETRIC, index));
}

static json_t *pack_cases(const struct tf_bench_result *result)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < result->case_count; i++)
		array = tf_json_append(array, pack_case(result, i));
	return array;
}

enum tf_status tf_bench_print_json(
	FILE *to, const struct tf_bench_result *result, struct tf_error *err)
{
	const char *model = tf_program_identity(&result->program, "device.model");

	return tf_json_print(to,
		json_pack("{s:i, s:I, s:s, s:o, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:[f, f], s:I, s:o}",
			"version", TF_BENCH_JSON_VERSION, "world", (json_int_t)result->program.world, "device",
			result->device, "model", text_or_null(model ? model : ""), "dtype",
			tf_dtype_name(result->program.groups[0].dtype), "rounds", TF_BENCH_ROUNDS, "launches",
			TF_BENCH_LAUNCHES, "mpi", text_or_null(result->mpi_library), "nccl",
			text_or_null(result->nccl.version), "nccl_missing", text_or_null(result->nccl.missing),
			"nccl_no_window", text_or_null(result->nccl.no_window), "load", result->load_before,
			result->load_after, "total_ns", (json_int_t)result->total_ns, "cases",
			pack_cases(result)),
		err);
}
