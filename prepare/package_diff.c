/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and candidates are found by what they are, never by their place. */
#include "prepare/package_diff.h"

#include <string.h>

#include "base/alloc.h"
#include "prepare/package_proof.h"
#include "runtime/collective/startup.h"

static const char *const verdict_names[TF_DIFF_VERDICT_COUNT] = {
	[TF_DIFF_TIE] = "tie",
	[TF_DIFF_JUSTIFIED] = "justified",
	[TF_DIFF_BEATEN] = "beaten",
	[TF_DIFF_ABSENT] = "absent",
	[TF_DIFF_STRUCK] = "struck",
	[TF_DIFF_UNSAMPLED] = "unsampled",
};

static const char *const outcome_names[TF_DIFF_OUTCOME_COUNT] = {
	[TF_DIFF_OUTCOME_TIE] = "tie",
	[TF_DIFF_OUTCOME_ONE_SIDED] = "one-sided",
	[TF_DIFF_OUTCOME_JUSTIFIED] = "justified",
};

const char *tf_diff_verdict_name(enum tf_diff_verdict verdict)
{
	return verdict_names[verdict];
}

const char *tf_diff_outcome_name(enum tf_diff_outcome outcome)
{
	return outcome_names[outcome];
}

static enum tf_status allocate(const struct tf_program *a, const struct tf_program *b,
	struct tf_package_diff *diff, struct tf_error *err)
{
	diff->identity =
		tf_calloc((size_t)a->identity_count + b->identity_count, sizeof(diff->identity[0]));
	diff->only[0] = tf_calloc(a->group_count, sizeof(diff->only[0][0]));
	diff->only[1] = tf_calloc(b->group_count, sizeof(diff->only[1][0]));
	diff->picks = tf_calloc(a->group_count, sizeof(diff->picks[0]));
	if (!diff->identity || !diff->only[0] || !diff->only[1] || !diff->picks)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the differences");
	return TF_OK;
}

static void add_identity(
	struct tf_package_diff *diff, const char *key, const char *a, const char *b)
{
	if (a && b && !strcmp(a, b))
		return;
	diff->identity[diff->identity_count++] = (struct tf_diff_identity){.key = key, .value = {a, b}};
}

/* Both lists are ordered by key. */
static void compare_identity(
	const struct tf_program *a, const struct tf_program *b, struct tf_package_diff *diff)
{
	uint32_t i = 0, j = 0;

	while (i < a->identity_count || j < b->identity_count) {
		const struct tf_identity *left = i < a->identity_count ? &a->identity[i] : NULL;
		const struct tf_identity *right = j < b->identity_count ? &b->identity[j] : NULL;
		int order = !left ? 1 : !right ? -1 : strcmp(left->key, right->key);

		add_identity(diff, order <= 0 ? left->key : right->key, order <= 0 ? left->value : NULL,
			order >= 0 ? right->value : NULL);
		i += order <= 0;
		j += order >= 0;
	}
}

static uint32_t find_group(const struct tf_program *program, const struct tf_group *group)
{
	for (uint32_t i = 0; i < program->group_count; i++) {
		const struct tf_group *other = &program->groups[i];

		if (other->capacity == group->capacity && !strcmp(other->name, group->name) &&
			other->op == group->op && other->dtype == group->dtype &&
			other->row_elements == group->row_elements)
			return i;
	}
	return TF_PROGRAM_NONE;
}

static uint32_t find_candidate(
	const struct tf_program *program, uint32_t group, const struct tf_candidate *candidate)
{
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		if (program->candidates[i].group == group &&
			tf_candidate_equal(&program->candidates[i].candidate, candidate))
			return i;
	}
	return TF_PROGRAM_NONE;
}

/* The latest stage that sampled both; -1 if none did. */
static int samples_of_both(const struct tf_program *program, const struct tf_diff_side *side,
	uint64_t *pick, uint64_t *other)
{
	for (int stage = 1; stage >= 0; stage--) {
		if (tf_program_samples(program, side->pick, stage, pick) &&
			tf_program_samples(program, side->other, stage, other))
			return stage;
	}
	return -1;
}

static void judge(const struct tf_program *program, struct tf_diff_side *side)
{
	uint64_t pick[TF_PASSES], other[TF_PASSES];

	side->stage = -1;
	if (side->other == TF_PROGRAM_NONE) {
		side->verdict = TF_DIFF_ABSENT;
		return;
	}
	if (program->candidates[side->other].state == TF_CANDIDATE_STRUCK) {
		side->verdict = TF_DIFF_STRUCK;
		return;
	}
	side->stage = samples_of_both(program, side, pick, other);
	if (side->stage < 0)
		side->verdict = TF_DIFF_UNSAMPLED;
	else if (tf_select_beats(pick, other))
		side->verdict = TF_DIFF_JUSTIFIED;
	else if (tf_select_beats(other, pick))
		side->verdict = TF_DIFF_BEATEN;
	else
		side->verdict = TF_DIFF_TIE;
}

/* A candidate that could not run asks for another pick as firmly as one that lost. */
static int asks_for_its_pick(const struct tf_diff_side *side)
{
	return side->verdict == TF_DIFF_JUSTIFIED || side->verdict == TF_DIFF_ABSENT ||
		side->verdict == TF_DIFF_STRUCK;
}

static void compare_pick(const struct tf_program *const programs[2], uint32_t group_a,
	uint32_t group_b, struct tf_package_diff *diff)
{
	struct tf_diff_pick pick = {.group = {group_a, group_b}};
	const struct tf_candidate *candidates[2];

	for (int i = 0; i < 2; i++) {
		pick.side[i].pick = programs[i]->selectors[pick.group[i]];
		candidates[i] = &programs[i]->candidates[pick.side[i].pick].candidate;
	}
	if (tf_candidate_equal(candidates[0], candidates[1]))
		return;
	for (int i = 0; i < 2; i++) {
		pick.side[i].other = find_candidate(programs[i], pick.group[i], candidates[!i]);
		judge(programs[i], &pick.side[i]);
	}
	pick.outcome =
		(enum tf_diff_outcome)(asks_for_its_pick(&pick.side[0]) + asks_for_its_pick(&pick.side[1]));
	diff->outcome_count[pick.outcome]++;
	diff->picks[diff->pick_count++] = pick;
}

enum tf_status tf_package_diff(const struct tf_program *a, const struct tf_program *b,
	struct tf_package_diff *diff, struct tf_error *err)
{
	const struct tf_program *const programs[2] = {a, b};

	TF_TRY(allocate(a, b, diff, err));
	compare_identity(a, b, diff);
	for (uint32_t i = 0; i < a->group_count; i++) {
		uint32_t j = find_group(b, &a->groups[i]);

		if (j == TF_PROGRAM_NONE) {
			diff->only[0][diff->only_count[0]++] = i;
			continue;
		}
		diff->common_count++;
		compare_pick(programs, i, j, diff);
	}
	for (uint32_t j = 0; j < b->group_count; j++) {
		if (find_group(a, &b->groups[j]) == TF_PROGRAM_NONE)
			diff->only[1][diff->only_count[1]++] = j;
	}
	return TF_OK;
}

void tf_package_diff_fini(struct tf_package_diff *diff)
{
	tf_free(diff->identity);
	tf_free(diff->only[0]);
	tf_free(diff->only[1]);
	tf_free(diff->picks);
	memset(diff, 0, sizeof(*diff));
}
