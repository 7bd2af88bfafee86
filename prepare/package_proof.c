/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The selection is repeated from the samples with the functions that the device used, so a catalog
 * whose picks were written by hand is found out.
 */
#include "prepare/package_proof.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/startup.h"

static enum tf_status check_member(
	const struct tf_package_view *view, const struct tf_member *member, struct tf_error *err)
{
	uint64_t bytes;
	size_t index;

	TF_TRY(tf_package_find(view->package, member->name, &index, err));
	bytes = tf_package_member_bytes(view->package, index);
	if (bytes != member->bytes)
		return TF_FAIL(err, TF_E_INVALID,
			"member '%s' has %" PRIu64 " bytes, the catalog says %" PRIu64, member->name, bytes,
			member->bytes);
	return tf_package_check_member(view->package, index, member->digest, err);
}

static int catalog_names(const struct tf_program *program, const char *name)
{
	for (uint32_t i = 0; i < program->member_count; i++) {
		if (!strcmp(program->members[i].name, name))
			return 1;
	}
	return 0;
}

enum tf_status tf_proof_members(const struct tf_package_view *view, struct tf_error *err)
{
	for (uint32_t i = 0; i < view->program.member_count; i++)
		TF_TRY(check_member(view, &view->program.members[i], err));
	for (size_t i = 1; i < tf_package_member_count(view->package); i++) {
		const char *name = tf_package_member_name(view->package, i);

		if (!catalog_names(&view->program, name))
			return TF_FAIL(err, TF_E_INVALID, "member '%s' of '%s' is not in the catalog", name,
				tf_package_path(view->package));
	}
	return TF_OK;
}

int tf_program_samples(
	const struct tf_program *program, uint32_t candidate, int stage, uint64_t *out)
{
	int found = 0;

	for (int pass = 0; pass < TF_PASSES; pass++)
		out[pass] = TF_NS_NONE;
	for (uint32_t i = 0; i < program->sample_count; i++) {
		const struct tf_sample *sample = &program->samples[i];

		if (sample->group_candidate != candidate || sample->stage != stage + 1 ||
			sample->pass >= TF_PASSES)
			continue;
		found += out[sample->pass] == TF_NS_NONE;
		out[sample->pass] = (uint64_t)sample->ns;
	}
	return found == TF_PASSES;
}

static enum tf_status fail_candidate(
	const struct tf_program *program, uint32_t candidate, const char *what, struct tf_error *err)
{
	const struct tf_group_candidate *entry = &program->candidates[candidate];
	const struct tf_group *group = &program->groups[entry->group];
	char name[TF_CANDIDATE_NAME_BYTES];

	return TF_FAIL(err, TF_E_INVALID, "group '%s' at capacity %u: candidate '%s' %s", group->name,
		group->capacity, tf_candidate_name(&entry->candidate, name), what);
}

static enum tf_status check_statistics(const struct tf_program *program, uint32_t candidate,
	int stage, const uint64_t *row, int whole, struct tf_error *err)
{
	const struct tf_group_candidate *entry = &program->candidates[candidate];
	uint64_t median, low, high;

	if (whole != (entry->stage_median_ns[stage] >= 0))
		return fail_candidate(program, candidate,
			whole ? "has all its samples and no median" : "has a median and lacks samples", err);
	if (!whole)
		return TF_OK;
	tf_order_statistics(row, &median, &low, &high);
	if ((int64_t)median != entry->stage_median_ns[stage] ||
		(int64_t)low != entry->stage_low_ns[stage] || (int64_t)high != entry->stage_high_ns[stage])
		return fail_candidate(
			program, candidate, "has a median or an interval that its samples do not give", err);
	return TF_OK;
}

/* Candidates of a group follow each other; `rows` is (candidates of all groups, TF_PASSES). */
static enum tf_status check_group(const struct tf_program *program, uint32_t group, uint32_t first,
	uint32_t count, const uint64_t *rows, struct tf_error *err)
{
	uint32_t choice = tf_select_pick(rows + (size_t)first * TF_PASSES, count);

	if (choice == UINT32_MAX)
		return fail_candidate(
			program, program->selectors[group], "is picked without any fresh samples", err);
	if (first + choice != program->selectors[group])
		return fail_candidate(program, program->selectors[group],
			"is picked, but the samples and the rule of selection give another", err);
	return TF_OK;
}

static enum tf_status check_groups(
	const struct tf_program *program, const uint64_t *rows, struct tf_error *err)
{
	uint32_t first = 0;

	for (uint32_t g = 0; g < program->group_count; g++) {
		uint32_t count = 0;

		while (first + count < program->candidate_count &&
			program->candidates[first + count].group == g)
			count++;
		TF_TRY(check_group(program, g, first, count, rows, err));
		first += count;
	}
	return TF_OK;
}

enum tf_status tf_proof_selection(const struct tf_program *program, struct tf_error *err)
{
	size_t stage_cells = (size_t)program->candidate_count * TF_PASSES;
	uint64_t *rows = tf_calloc(2 * stage_cells, sizeof(rows[0]));
	uint32_t *found = tf_calloc(2 * (size_t)program->candidate_count, sizeof(found[0]));
	enum tf_status status = TF_OK;

	if (!rows || !found)
		status = TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the samples");
	for (size_t i = 0; status == TF_OK && i < 2 * stage_cells; i++)
		rows[i] = TF_NS_NONE;
	for (uint32_t i = 0; status == TF_OK && i < program->sample_count; i++) {
		const struct tf_sample *sample = &program->samples[i];
		size_t row = (size_t)(sample->stage - 1) * program->candidate_count;

		row += sample->group_candidate;
		rows[row * TF_PASSES + sample->pass] = (uint64_t)sample->ns;
		found[row]++;
	}
	for (uint32_t i = 0; status == TF_OK && i < 2 * program->candidate_count; i++)
		status =
			check_statistics(program, i % program->candidate_count, i >= program->candidate_count,
				rows + (size_t)i * TF_PASSES, found[i] == TF_PASSES, err);
	if (status == TF_OK)
		status = check_groups(program, rows + stage_cells, err);
	tf_free(rows);
	tf_free(found);
	return status;
}
