/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_program_check: groups, candidates, selectors and samples. Invariants afterwards:
 * 1. Every group has exactly one picked candidate, and its selector names it.
 * 2. A stage that was sampled has low <= median <= high; a struck candidate was never sampled.
 * 3. A candidate has at most one sample a stage and pass.
 */
#include "catalog/program_check.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static enum tf_status check_range(
	const char *field, uint64_t value, uint64_t low, uint64_t high, struct tf_error *err)
{
	if (value < low || value > high)
		return TF_FAIL(err, TF_E_INVALID, "%s is %" PRIu64 ", not %" PRIu64 "..%" PRIu64, field,
			value, low, high);
	return TF_OK;
}

static enum tf_status check_group(const struct tf_group *group, struct tf_error *err)
{
	if (!tf_text_is_name(group->name, sizeof(group->name)))
		return TF_FAIL(err, TF_E_INVALID, "name is not a name of A-Z a-z 0-9 . _ -");
	if (!tf_op_name(group->op))
		return TF_FAIL(err, TF_E_INVALID, "op %d is unknown", (int)group->op);
	if (!tf_dtype_name(group->dtype))
		return TF_FAIL(err, TF_E_INVALID, "dtype %d is unknown", (int)group->dtype);
	TF_TRY(check_range("row_elements", group->row_elements, 1, TF_ROW_ELEMENTS_MAX, err));
	TF_TRY(check_range("capacity", group->capacity, 1, TF_ROWS_MAX, err));
	TF_TRY(check_range("times", group->times, 1, TF_TIMES_MAX, err));
	return check_range("buffer_pairs", group->buffer_pairs, 1, group->times, err);
}

static int compare_group(const void *a, const void *b, void *program)
{
	const struct tf_group *groups = ((const struct tf_program *)program)->groups;
	const struct tf_group *x = &groups[*(const uint32_t *)a], *y = &groups[*(const uint32_t *)b];

	return x->capacity != y->capacity ? compare_u64(x->capacity, y->capacity)
									  : strcmp(x->name, y->name);
}

static enum tf_status check_stage(
	const struct tf_group_candidate *row, int stage, struct tf_error *err)
{
	int64_t median = row->stage_median_ns[stage];
	int64_t low = row->stage_low_ns[stage], high = row->stage_high_ns[stage];

	if (median == -1 && low == -1 && high == -1)
		return TF_OK;
	if (low < 0 || low > median || median > high)
		return TF_FAIL(err, TF_E_INVALID,
			"stage %d has low %" PRId64 ", median %" PRId64 ", high %" PRId64
			" ns, neither rising from 0 nor all -1",
			stage + 1, low, median, high);
	if (row->state == TF_CANDIDATE_STRUCK)
		return TF_FAIL(
			err, TF_E_INVALID, "stage %d was sampled although the candidate was struck", stage + 1);
	if (stage == 1 && row->stage_median_ns[0] < 0)
		return TF_FAIL(err, TF_E_INVALID, "stage 2 was sampled and stage 1 was not");
	if (stage == 1 && row->state == TF_CANDIDATE_COMPETED)
		return TF_FAIL(
			err, TF_E_INVALID, "stage 2 was sampled although the candidate lost in stage 1");
	return TF_OK;
}

static enum tf_status check_candidate(
	const struct tf_program *program, const struct tf_group_candidate *row, struct tf_error *err)
{
	if (row->group >= program->group_count)
		return TF_FAIL(err, TF_E_INVALID, "group is %" PRIu32 ", there are %" PRIu32, row->group,
			program->group_count);
	TF_TRY(check_range("rung", row->rung, 0, TF_RUNGS_MAX - 1, err));
	if (!tf_algorithm_name(row->candidate.algorithm))
		return TF_FAIL(err, TF_E_INVALID, "algorithm %d is unknown", (int)row->candidate.algorithm);
	if (!tf_writer_name(row->candidate.writer))
		return TF_FAIL(err, TF_E_INVALID, "writer %d is unknown", (int)row->candidate.writer);
	if ((row->candidate.algorithm == TF_ALGORITHM_LIBRARY) !=
		(row->candidate.writer == TF_WRITER_NCCL))
		return TF_FAIL(err, TF_E_INVALID, "algorithm '%s' does not go with writer '%s'",
			tf_algorithm_name(row->candidate.algorithm), tf_writer_name(row->candidate.writer));
	TF_TRY(check_range("threads", row->candidate.threads, 0, TF_THREADS_MAX, err));
	TF_TRY(check_range("ctas", row->candidate.ctas, 0, TF_GRID_MAX, err));
	TF_TRY(check_range("chunk_bytes", row->candidate.chunk_bytes, 0, TF_CHUNK_MAX, err));
	if (!tf_candidate_state_name(row->state))
		return TF_FAIL(err, TF_E_INVALID, "state %d is unknown", (int)row->state);
	if (!tf_text_is_plain(row->reason, sizeof(row->reason)) || !row->reason[0])
		return TF_FAIL(
			err, TF_E_INVALID, "reason is empty or not UTF-8 without control characters");
	TF_TRY(check_stage(row, 0, err));
	return check_stage(row, 1, err);
}

static int compare_candidate(const void *a, const void *b, void *program)
{
	const struct tf_group_candidate *rows = ((const struct tf_program *)program)->candidates;
	const struct tf_group_candidate *x = &rows[*(const uint32_t *)a],
									*y = &rows[*(const uint32_t *)b];

	if (x->group != y->group)
		return compare_u64(x->group, y->group);
	if (x->candidate.algorithm != y->candidate.algorithm)
		return compare_u64(x->candidate.algorithm, y->candidate.algorithm);
	if (x->candidate.writer != y->candidate.writer)
		return compare_u64(x->candidate.writer, y->candidate.writer);
	if (x->candidate.threads != y->candidate.threads)
		return compare_u64(x->candidate.threads, y->candidate.threads);
	if (x->candidate.ctas != y->candidate.ctas)
		return compare_u64(x->candidate.ctas, y->candidate.ctas);
	return compare_u64(x->candidate.chunk_bytes, y->candidate.chunk_bytes);
}

static int candidate_rises(const struct tf_group_candidate *a, const struct tf_group_candidate *b)
{
	return a->group < b->group || (a->group == b->group && a->rung < b->rung);
}

static enum tf_status check_candidates(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	TF_TRY(tf_check_count(
		"candidates", program->candidates, program->candidate_count, TF_CANDIDATES_MAX, err));
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *row = &program->candidates[i];
		enum tf_status status = check_candidate(program, row, err);

		if (status == TF_OK && i && !candidate_rises(row - 1, row))
			status = TF_FAIL(err, TF_E_INVALID,
				"group %" PRIu32 " rung %" PRIu32 " does not come after group %" PRIu32
				" rung %" PRIu32,
				row->group, row->rung, row[-1].group, row[-1].rung);
		if (status != TF_OK) {
			tf_error_prefix(err, "candidate %" PRIu32, i);
			return status;
		}
	}
	return tf_check_unique(check, program->candidate_count, compare_candidate, "candidates",
		"are the same candidate of the same group", err);
}

static enum tf_status check_selectors(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	TF_TRY(
		tf_check_count("selectors", program->selectors, program->group_count, TF_GROUPS_MAX, err));
	for (uint32_t g = 0; g < program->group_count; g++) {
		const char *name = program->groups[g].name;
		uint32_t at = program->selectors[g];

		if (at >= program->candidate_count)
			return TF_FAIL(err, TF_E_INVALID,
				"selector of group '%s' is %" PRIu32 ", there are %" PRIu32 " candidates", name, at,
				program->candidate_count);
		if (program->candidates[at].group != g)
			return TF_FAIL(err, TF_E_INVALID,
				"selector of group '%s' is candidate %" PRIu32 ", which is of group '%s'", name, at,
				program->groups[program->candidates[at].group].name);
		if (program->candidates[at].state != TF_CANDIDATE_PICKED)
			return TF_FAIL(err, TF_E_INVALID,
				"selector of group '%s' is candidate %" PRIu32 ", whose state is %s, not picked",
				name, at, tf_candidate_state_name(program->candidates[at].state));
	}
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *row = &program->candidates[i];

		if (row->state == TF_CANDIDATE_PICKED && program->selectors[row->group] != i)
			return TF_FAIL(err, TF_E_INVALID,
				"candidate %" PRIu32 ": state is picked, the selector of group '%s' is %" PRIu32, i,
				program->groups[row->group].name, program->selectors[row->group]);
	}
	return TF_OK;
}

enum tf_status tf_check_groups(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	TF_TRY(tf_check_count("groups", program->groups, program->group_count, TF_GROUPS_MAX, err));
	for (uint32_t i = 0; i < program->group_count; i++) {
		const struct tf_group *group = &program->groups[i];
		enum tf_status status = check_group(group, err);

		if (status == TF_OK && i && group[-1].capacity > group->capacity)
			status = TF_FAIL(err, TF_E_INVALID, "capacity %" PRIu32 " comes after %" PRIu32,
				group->capacity, group[-1].capacity);
		if (status != TF_OK) {
			tf_error_prefix(
				err, "group %" PRIu32 " '%s'", i, tf_text_shown(group->name, TF_NAME_BYTES));
			return status;
		}
	}
	TF_TRY(tf_check_unique(check, program->group_count, compare_group, "groups",
		"have the same name and capacity", err));
	TF_TRY(check_candidates(check, err));
	return check_selectors(check, err);
}

static enum tf_status check_sample(
	const struct tf_program *program, const struct tf_sample *sample, struct tf_error *err)
{
	const struct tf_group_candidate *row;

	if (sample->group_candidate >= program->candidate_count)
		return TF_FAIL(err, TF_E_INVALID, "candidate is %" PRIu32 ", there are %" PRIu32,
			sample->group_candidate, program->candidate_count);
	TF_TRY(check_range("stage", sample->stage, 1, TF_SAMPLE_STAGES, err));
	TF_TRY(check_range("pass", sample->pass, 0, TF_SAMPLE_PASSES - 1, err));
	TF_TRY(check_range("slowest_rank", sample->slowest_rank, 0, program->world - 1, err));
	if (sample->ns < 0)
		return TF_FAIL(err, TF_E_INVALID, "ns is %" PRId64 ", below 0", sample->ns);
	row = &program->candidates[sample->group_candidate];
	if (row->stage_median_ns[sample->stage - 1] < 0)
		return TF_FAIL(err, TF_E_INVALID, "candidate %" PRIu32 " was not sampled in stage %u",
			sample->group_candidate, sample->stage);
	return TF_OK;
}

enum tf_status tf_check_samples(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;
	enum tf_status status = TF_OK;
	uint64_t *seen; /* (candidate_count): a bit for each stage and pass */

	TF_TRY(tf_check_count("samples", program->samples, program->sample_count, TF_SAMPLES_MAX, err));
	seen = tf_calloc(program->candidate_count, sizeof(*seen));
	if (!seen)
		return TF_FAIL(
			err, TF_E_NO_MEMORY, "no memory to check %" PRIu32 " samples", program->sample_count);
	for (uint32_t i = 0; i < program->sample_count && status == TF_OK; i++) {
		const struct tf_sample *sample = &program->samples[i];
		uint64_t bit;

		status = check_sample(program, sample, err);
		if (status != TF_OK) {
			tf_error_prefix(err, "sample %" PRIu32, i);
			break;
		}
		bit = UINT64_C(1) << ((sample->stage - 1) * TF_SAMPLE_PASSES + sample->pass);
		if (seen[sample->group_candidate] & bit)
			status = TF_FAIL(err, TF_E_INVALID,
				"sample %" PRIu32 ": candidate %" PRIu32 " has one of stage %u pass %u already", i,
				sample->group_candidate, sample->stage, sample->pass);
		seen[sample->group_candidate] |= bit;
	}
	tf_free(seen);
	return status;
}
