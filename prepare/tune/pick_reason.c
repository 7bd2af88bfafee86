/* SPDX-License-Identifier: Apache-2.0 */
/* Every sentence follows from the functions of select.h, so it cannot differ from what they did. */
#include "prepare/tune/pick_reason.h"

#include <stdio.h>

#include "runtime/collective/select.h"

#define NONE UINT32_MAX

static const uint64_t *fresh_row(const struct tf_group_outcome *outcome, uint32_t index)
{
	return outcome->fresh + (size_t)index * TF_PASSES;
}

static const uint64_t *first_row(const struct tf_group_outcome *outcome, uint32_t index)
{
	return outcome->first + (size_t)index * TF_PASSES;
}

static const char *name_of(const struct tf_group_outcome *outcome, uint32_t index, char *out)
{
	return tf_candidate_name(&outcome->entries[index].candidate, out);
}

/* How far the value of `a` lies below that of `b`, in percent of b's; negative: above. */
static double percent_below(const uint64_t *a, const uint64_t *b)
{
	double low = (double)tf_select_value(a), high = (double)tf_select_value(b);

	return high > 0 ? 100 * (high - low) / high : 0;
}

/* Whether `a` is lower by so little that it does not count. */
static int is_tie(const uint64_t *a, const uint64_t *b)
{
	return tf_select_value(a) * 100 >= tf_select_value(b) * (100 - TF_TIE_PERCENT);
}

static int passes_won(const uint64_t *a, const uint64_t *b)
{
	int wins = 0;

	for (int pass = 0; pass < TF_PASSES; pass++)
		wins += a[pass] < b[pass];
	return wins;
}

/* The survivor of the lowest value but `but`; NONE if there is no other. */
static uint32_t lowest_other(const struct tf_group_outcome *outcome, uint32_t but)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < outcome->count; i++) {
		if (i != but && tf_select_competes(fresh_row(outcome, i)) &&
			(best == NONE ||
				tf_select_value(fresh_row(outcome, i)) < tf_select_value(fresh_row(outcome, best))))
			best = i;
	}
	return best;
}

static void explain_pick(
	const struct tf_group_outcome *outcome, uint32_t index, char *out, size_t bytes)
{
	uint32_t rival = lowest_other(outcome, index);
	char name[TF_CANDIDATE_NAME_BYTES];
	double below;

	if (rival == NONE) {
		snprintf(out, bytes, "picked: no other survived the first stage");
		return;
	}
	below = percent_below(fresh_row(outcome, rival), fresh_row(outcome, index));
	name_of(outcome, rival, name);
	if (below <= 0)
		snprintf(out, bytes, "picked: lowest; next is %s, %.2f %% above", name, 0 - below);
	else if (is_tie(fresh_row(outcome, rival), fresh_row(outcome, index)))
		snprintf(out, bytes, "picked: tie with %s, which is %.2f %% lower: the earlier rung stays",
			name, below);
	else
		snprintf(out, bytes,
			"picked: tie with %s, which is %.2f %% lower but won %d of %d passes: the earlier rung "
			"stays",
			name, below, passes_won(fresh_row(outcome, rival), fresh_row(outcome, index)),
			TF_PASSES);
}

/* The survivor that displaces `index` by most; NONE if nobody does. */
static uint32_t strongest_winner(const struct tf_group_outcome *outcome, uint32_t index)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < outcome->count; i++) {
		if (i != index && tf_select_competes(fresh_row(outcome, i)) &&
			tf_select_beats(fresh_row(outcome, i), fresh_row(outcome, index)) &&
			(best == NONE ||
				tf_select_value(fresh_row(outcome, i)) < tf_select_value(fresh_row(outcome, best))))
			best = i;
	}
	return best;
}

static void explain_survivor(
	const struct tf_group_outcome *outcome, uint32_t index, char *out, size_t bytes)
{
	const uint64_t *own = fresh_row(outcome, index), *pick = fresh_row(outcome, outcome->picked);
	uint32_t winner = strongest_winner(outcome, index);
	double below = percent_below(own, pick);
	char name[TF_CANDIDATE_NAME_BYTES];

	if (winner != NONE)
		snprintf(out, bytes, "beaten by %s, which is %.2f %% lower and won %d of %d passes",
			name_of(outcome, winner, name), percent_below(fresh_row(outcome, winner), own),
			passes_won(fresh_row(outcome, winner), own), TF_PASSES);
	else if (below > 0 && !is_tie(own, pick))
		snprintf(out, bytes,
			"tie with the pick, an earlier rung: %.2f %% lower, but won %d of %d passes", below,
			passes_won(own, pick), TF_PASSES);
	else if (below > 0)
		snprintf(out, bytes, "tie with the pick, an earlier rung: %.2f %% lower", below);
	else
		snprintf(out, bytes, "a later rung than the pick, and not lower: %.2f %% above", 0 - below);
}

/* The lowest median of the first stage; its interval's end and its candidate. */
static uint64_t best_of_first(
	const struct tf_group_outcome *outcome, uint64_t *out_high, uint32_t *out_leader)
{
	uint64_t median, low, high, best = TF_NS_NONE;

	for (uint32_t i = 0; i < outcome->count; i++) {
		if (!tf_select_competes(first_row(outcome, i)))
			continue;
		tf_order_statistics(first_row(outcome, i), &median, &low, &high);
		if (median < best) {
			best = median;
			*out_high = high;
			*out_leader = i;
		}
	}
	return best;
}

/* How many have a lower median in the first stage. */
static uint32_t lower_medians(const struct tf_group_outcome *outcome, uint64_t than)
{
	uint64_t median, low, high;
	uint32_t count = 0;

	for (uint32_t i = 0; i < outcome->count; i++) {
		if (!tf_select_competes(first_row(outcome, i)))
			continue;
		tf_order_statistics(first_row(outcome, i), &median, &low, &high);
		count += median < than;
	}
	return count;
}

/* In the first stage: the best median's interval ends below, or too many stand before. */
static void explain_loser(
	const struct tf_group_outcome *outcome, uint32_t index, char *out, size_t bytes)
{
	uint64_t median, low, high, best, best_high = 0;
	char name[TF_CANDIDATE_NAME_BYTES], beside[32] = "overlaps the best";
	uint32_t leader = index;

	best = best_of_first(outcome, &best_high, &leader);
	tf_order_statistics(first_row(outcome, index), &median, &low, &high);
	if (low > best_high && (median - best) * 100 > best * TF_NEAR_PERCENT) {
		snprintf(out, bytes, "first stage: interval begins at %.2f us, that of %s ends at %.2f us",
			(double)low / 1e3, name_of(outcome, leader, name), (double)best_high / 1e3);
		return;
	}
	if (low > best_high)
		snprintf(beside, sizeof(beside), "within %d %% of the best", TF_NEAR_PERCENT);
	if (lower_medians(outcome, median) >= TF_SURVIVORS_MAX)
		snprintf(
			out, bytes, "first stage: %s, but %d have lower medians", beside, TF_SURVIVORS_MAX);
	else
		snprintf(out, bytes,
			"first stage: %s, but %d have medians as low or lower, the equal ones on earlier rungs",
			beside, TF_SURVIVORS_MAX);
}

void tf_pick_reason(const struct tf_group_outcome *outcome, uint32_t index, char *out, size_t bytes)
{
	if (index == outcome->picked)
		explain_pick(outcome, index, out, bytes);
	else if (tf_select_competes(fresh_row(outcome, index)))
		explain_survivor(outcome, index, out, bytes);
	else if (tf_select_competes(first_row(outcome, index)))
		explain_loser(outcome, index, out, bytes);
	else
		snprintf(out, bytes, "not all of its samples were taken");
}
