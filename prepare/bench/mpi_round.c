/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the helper prints is read as lines of JSON: one that names the library, then one a case in
 * the order asked for, {"op", "bytes", "calls", "chain_ns": [TF_BENCH_LAUNCHES]}.
 */
#include "prepare/bench/mpi_round.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/deadline.h"
#include "prepare/bench/child_output.h"

#define START_NS   (30 * TF_NS_PER_S) /* of mpirun and its daemon on a slow machine */
#define SLACK      20                 /* times what ours took: MPI may poll where cores are few */
#define CASE_BYTES 64
/* mpirun, its words, the helper, its own two, the cases, the end. */
#define ARGS_MAX (12 + TF_BENCH_CASES_MAX)

struct command {
	char cases[TF_BENCH_CASES_MAX][CASE_BYTES];
	char world[16], launches[16], limit[16];
	char *argv[ARGS_MAX];
};

/* Our own time of this round says how long such chains take; a floor covers the start. */
static int64_t bound_ns(const struct tf_bench_result *result, uint32_t round)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < result->case_count; i++) {
		for (int k = 0; k < TF_BENCH_LAUNCHES; k++)
			sum += result->times[TF_SIDE_OURS][i].chain_ns[round][k];
	}
	return START_NS + SLACK * sum;
}

static char *word(const char *text)
{
	return (char *)(uintptr_t)text; /* exec's argv is not const, and is not written to */
}

static void write_command(const struct tf_mpi_tools *tools, uint32_t world,
	const struct tf_bench_result *result, int64_t limit_ns, struct command *command)
{
	char **arg = command->argv;

	snprintf(command->world, sizeof(command->world), "%u", world);
	snprintf(command->launches, sizeof(command->launches), "%d", TF_BENCH_LAUNCHES);
	snprintf(command->limit, sizeof(command->limit), "%" PRId64, limit_ns / TF_NS_PER_S + 1);
	*arg++ = tools->runner;
	/* Containers run as root; the ranks touch nothing but their own memory. */
	if (!geteuid())
		*arg++ = word("--allow-run-as-root");
	/* Binding is left to Open MPI: a core a rank where they suffice, none where they do not. */
	*arg++ = word("--oversubscribe");
	*arg++ = word("-np");
	*arg++ = command->world;
	*arg++ = tools->helper;
	*arg++ = command->launches;
	*arg++ = command->limit;
	for (uint32_t i = 0; i < result->case_count; i++) {
		snprintf(command->cases[i], CASE_BYTES, "%s:%" PRIu64 ":%u",
			tf_op_name(result->cases[i].op), result->cases[i].bytes, result->cases[i].calls);
		*arg++ = command->cases[i];
	}
	*arg = NULL;
}

static int take_case(const json_t *root, const struct tf_bench_case *wanted, int64_t *out_ns)
{
	const json_t *times = json_object_get(root, "chain_ns");
	const char *op = json_string_value(json_object_get(root, "op"));

	if (!op || strcmp(op, tf_op_name(wanted->op)) ||
		json_integer_value(json_object_get(root, "bytes")) != (json_int_t)wanted->bytes ||
		json_integer_value(json_object_get(root, "calls")) != (json_int_t)wanted->calls ||
		json_array_size(times) != TF_BENCH_LAUNCHES)
		return 0;
	for (size_t i = 0; i < TF_BENCH_LAUNCHES; i++) {
		out_ns[i] = json_integer_value(json_array_get(times, i));
		if (out_ns[i] <= 0)
			return 0;
	}
	return 1;
}

/* Line 0 names the library, line i + 1 is case i. */
static enum tf_status take_line(struct tf_bench_result *result, uint32_t line, const char *text,
	size_t size, uint32_t round, struct tf_error *err)
{
	json_t *root = json_loadb(text, size, 0, NULL);
	const char *library = json_string_value(json_object_get(root, "library"));
	int taken = 0;

	if (line == 0 && library) {
		snprintf(result->mpi_library, sizeof(result->mpi_library), "%s", library);
		taken = 1;
	} else if (line && line <= result->case_count) {
		taken = take_case(
			root, &result->cases[line - 1], result->times[TF_SIDE_MPI][line - 1].chain_ns[round]);
	}
	json_decref(root);
	if (!taken)
		return TF_FAIL(err, TF_E_INVALID, "line %u of its answer is not what was asked for: %.*s",
			line + 1, (int)(size < 80 ? size : 80), text);
	return TF_OK;
}

static enum tf_status take_answer(struct tf_bench_result *result, const struct tf_bytes *answer,
	uint32_t round, struct tf_error *err)
{
	const char *text = (const char *)answer->data;
	uint32_t line = 0;

	for (; *text; line++) {
		size_t size = strcspn(text, "\n");

		TF_TRY(take_line(result, line, text, size, round, err));
		text += size + (text[size] == '\n');
	}
	if (line != result->case_count + 1)
		return TF_FAIL(err, TF_E_INVALID, "it answered %u of %u cases", line ? line - 1 : 0,
			result->case_count);
	return TF_OK;
}

enum tf_status tf_mpi_round(const struct tf_mpi_tools *tools,
	const struct tf_bench_options *options, struct tf_bench_result *result, uint32_t round,
	struct tf_error *err)
{
	struct tf_bytes answer = {0}, errors = {0};
	int64_t limit_ns = bound_ns(result, round);
	struct command command;
	enum tf_status status;

	write_command(tools, options->world, result, limit_ns, &command);
	status = tf_child_output(
		command.argv, tf_deadline_after(limit_ns), options->interrupted, &answer, &errors, err);
	if (status == TF_OK)
		status = take_answer(result, &answer, round, err);
	if (status != TF_OK)
		tf_error_prefix(err, "mpirun tfprep-mpi-bench");
	tf_bytes_fini(&answer);
	tf_bytes_fini(&errors);
	return status;
}
