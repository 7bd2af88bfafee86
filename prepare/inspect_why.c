/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep inspect --why`: every candidate of a group in ladder order, with both stages' times, the
 * value that decided, and what became of it.
 */
#include "prepare/inspect_print.h"

#include <string.h>

#include "base/near_miss.h"
#include "prepare/json_print.h"
#include "prepare/package_proof.h"
#include "prepare/text_table.h"
#include "runtime/collective/select.h"

#define LIST_BYTES 256 /* capacities in a message; more are cut */

static int is_asked(const struct tf_group *group, const char *name, uint32_t capacity)
{
	return !strcmp(group->name, name) && (!capacity || group->capacity == capacity);
}

static enum tf_status fail_capacity(
	const struct tf_program *program, const char *name, uint32_t capacity, struct tf_error *err)
{
	char list[LIST_BYTES] = "";
	size_t used = 0;

	for (uint32_t g = 0; g < program->group_count && used < sizeof(list); g++) {
		if (is_asked(&program->groups[g], name, 0))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u", used ? ", " : "",
				program->groups[g].capacity);
	}
	return TF_FAIL(err, TF_E_NOT_FOUND, "group '%s' has no capacity %u; it has %s%s", name,
		capacity, list, used < sizeof(list) ? "" : "...");
}

static enum tf_status fail_name(
	const struct tf_program *program, const char *name, struct tf_error *err)
{
	struct tf_near_miss miss = {.word = name, .word_length = strlen(name)};

	for (uint32_t g = 0; g < program->group_count; g++)
		tf_near_miss_offer(&miss, program->groups[g].name, strlen(program->groups[g].name));
	if (miss.best)
		return TF_FAIL(err, TF_E_NOT_FOUND, "no group '%.64s', did you mean '%.*s'?", name,
			(int)miss.best_length, miss.best);
	return TF_FAIL(err, TF_E_NOT_FOUND,
		"no group '%.64s'; 'tfprep inspect PACKAGE' shows the groups there are", name);
}

static enum tf_status check_asked(
	const struct tf_program *program, const char *name, uint32_t capacity, struct tf_error *err)
{
	int named = 0;

	for (uint32_t g = 0; g < program->group_count; g++) {
		if (is_asked(&program->groups[g], name, capacity))
			return TF_OK;
		named |= is_asked(&program->groups[g], name, 0);
	}
	return named ? fail_capacity(program, name, capacity, err) : fail_name(program, name, err);
}

static void add_stage(
	struct tf_text_table *table, const struct tf_group_candidate *entry, int stage)
{
	if (entry->stage_median_ns[stage] < 0) {
		tf_text_table_cell(table, "-");
		return;
	}
	tf_text_table_cell(table, "%.2f [%.2f, %.2f]", (double)entry->stage_median_ns[stage] / 1e3,
		(double)entry->stage_low_ns[stage] / 1e3, (double)entry->stage_high_ns[stage] / 1e3);
}

/* What the second stage compared, as ns of a sample; negative: it did not sample the candidate. */
static double value_ns(const struct tf_program *program, uint32_t candidate)
{
	uint64_t row[TF_PASSES];

	if (!tf_program_samples(program, candidate, 1, row))
		return -1;
	return (double)tf_select_value(row) / TF_VALUE_SAMPLES;
}

static void add_candidate(
	struct tf_text_table *table, const struct tf_program *program, uint32_t index)
{
	const struct tf_group_candidate *entry = &program->candidates[index];
	double value = value_ns(program, index);
	char name[TF_CANDIDATE_NAME_BYTES];

	tf_text_table_cell(table, "%u", entry->rung);
	tf_text_table_cell(table, "%s", tf_candidate_name(&entry->candidate, name));
	tf_text_table_cell(table, "%s", tf_candidate_state_name(entry->state));
	add_stage(table, entry, 0);
	add_stage(table, entry, 1);
	if (value < 0)
		tf_text_table_cell(table, "-");
	else
		tf_text_table_cell(table, "%.3f", value / 1e3);
	tf_text_table_cell(table, "%s", entry->reason);
}

/* The sentence that decided, by itself: the pick's reason names the rung it was compared with. */
static void print_decision(FILE *to, const struct tf_program *program, uint32_t index)
{
	const struct tf_group_candidate *picked = &program->candidates[program->selectors[index]];
	char name[TF_CANDIDATE_NAME_BYTES];

	fprintf(to, "  decided: %s %s\n", tf_candidate_name(&picked->candidate, name), picked->reason);
}

static enum tf_status print_group(
	FILE *to, const struct tf_program *program, uint32_t index, struct tf_error *err)
{
	static const char *const head[] = {
		"rung", "candidate", "state", "first stage us", "second stage us", "value us", "reason"};
	const struct tf_group *group = &program->groups[index];
	struct tf_text_table table = {.align = "rllrrrl"};

	fprintf(to, "%s at capacity %u: %s of %s, %llu bytes a rank, %u ranks, %u calls a step\n",
		group->name, group->capacity, tf_op_name(group->op), tf_dtype_name(group->dtype),
		(unsigned long long)tf_group_input_bytes(group), program->world, group->times);
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		tf_text_table_cell(&table, "%s", head[i]);
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		if (program->candidates[i].group == index)
			add_candidate(&table, program, i);
	}
	TF_TRY(tf_text_table_print(&table, to, "  ", err));
	print_decision(to, program, index);
	return TF_OK;
}

static json_t *pack_candidate(const struct tf_program *program, uint32_t index)
{
	const struct tf_group_candidate *entry = &program->candidates[index];
	double value = value_ns(program, index);

	return json_pack("{s:I, s:o, s:s, s:s, s:o, s:o, s:o}", "rung", (json_int_t)entry->rung,
		"candidate", tf_json_candidate(&entry->candidate), "state",
		tf_candidate_state_name(entry->state), "reason", entry->reason, "stage1",
		tf_json_times(entry->stage_median_ns[0], entry->stage_low_ns[0], entry->stage_high_ns[0]),
		"stage2",
		tf_json_times(entry->stage_median_ns[1], entry->stage_low_ns[1], entry->stage_high_ns[1]),
		"value_ns", value < 0 ? json_null() : json_real(value));
}

static json_t *pack_group(const struct tf_program *program, uint32_t index)
{
	json_t *candidates = json_array();

	for (uint32_t i = 0; candidates && i < program->candidate_count; i++) {
		if (program->candidates[i].group == index)
			candidates = tf_json_append(candidates, pack_candidate(program, i));
	}
	return json_pack("{s:I, s:s, s:s, s:I, s:o}", "capacity",
		(json_int_t)program->groups[index].capacity, "op", tf_op_name(program->groups[index].op),
		"dtype", tf_dtype_name(program->groups[index].dtype), "bytes",
		(json_int_t)tf_group_input_bytes(&program->groups[index]), "candidates", candidates);
}

enum tf_status tf_inspect_print_why(FILE *to, const struct tf_program *program, const char *group,
	uint32_t capacity, int json, struct tf_error *err)
{
	json_t *capacities;

	TF_TRY(check_asked(program, group, capacity, err));
	capacities = json ? json_array() : NULL;
	for (uint32_t g = 0; g < program->group_count; g++) {
		if (!is_asked(&program->groups[g], group, capacity))
			continue;
		if (json)
			capacities = tf_json_append(capacities, pack_group(program, g));
		else
			TF_TRY(print_group(to, program, g, err));
	}
	if (!json)
		return TF_OK;
	return tf_json_print(to,
		json_pack("{s:i, s:s, s:o}", "version", TF_INSPECT_JSON_VERSION, "group", group,
			"capacities", capacities),
		err);
}
