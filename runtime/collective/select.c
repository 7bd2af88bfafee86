/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of selection. Every rank holds the same samples, so every rank decides alike.
 *
 * 1. A sample is the maximum over ranks; order statistics TF_ORDER_LOW and TF_ORDER_HIGH of
 *    TF_PASSES bound a candidate's median at 97.3 %, and what lies between them is its value.
 * 2. A candidate with a missing sample does not compete.
 * 3. The first stage strikes out what is certainly slower and never decides between candidates
 *    that the second might call a tie.
 * 4. Ties go to the earlier rung: a later rung displaces it only by a value more than
 *    TF_TIE_PERCENT lower and by winning TF_WINS_MIN of TF_PASSES pairs, so noise that spares the
 *    order of two candidates spares the pick.
 */
#include "runtime/collective/select.h"

#include <stdlib.h>
#include <string.h>

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t bounded(uint64_t ns)
{
	return ns < TF_NS_MOST ? ns : TF_NS_MOST;
}

uint64_t tf_sample_of_looks(const uint64_t *looks)
{
	uint64_t sorted[TF_LOOKS], sum = 0;

	memcpy(sorted, looks, sizeof(sorted));
	qsort(sorted, TF_LOOKS, sizeof(sorted[0]), compare_ns);
	if (sorted[TF_LOOKS - 1] == TF_NS_NONE)
		return TF_NS_NONE;
	for (int i = 0; i < TF_LOOKS_KEPT; i++)
		sum += bounded(sorted[i]);
	return sum / TF_LOOKS_KEPT;
}

static void sort_row(const uint64_t *ns, uint64_t *sorted)
{
	memcpy(sorted, ns, TF_PASSES * sizeof(sorted[0]));
	qsort(sorted, TF_PASSES, sizeof(sorted[0]), compare_ns);
}

void tf_order_statistics(
	const uint64_t *ns, uint64_t *out_median, uint64_t *out_low, uint64_t *out_high)
{
	uint64_t sorted[TF_PASSES];

	sort_row(ns, sorted);
	*out_median = sorted[TF_PASSES / 2];
	*out_low = sorted[TF_ORDER_LOW - 1];
	*out_high = sorted[TF_ORDER_HIGH - 1];
}

uint64_t tf_select_value(const uint64_t *ns)
{
	uint64_t sorted[TF_PASSES], sum = 0;

	sort_row(ns, sorted);
	for (int i = TF_ORDER_LOW - 1; i < TF_ORDER_HIGH; i++)
		sum += bounded(sorted[i]);
	return sum;
}

int tf_select_competes(const uint64_t *ns)
{
	for (int pass = 0; pass < TF_PASSES; pass++) {
		if (ns[pass] == TF_NS_NONE)
			return 0;
	}
	return 1;
}

static uint64_t median_of(const uint64_t *ns)
{
	uint64_t median, low, high;

	tf_order_statistics(ns, &median, &low, &high);
	return median;
}

/* So little above the best median that the first stage does not judge. */
static int is_near(uint64_t median, uint64_t best)
{
	return bounded(median) * 100 <= bounded(best) * (100 + TF_NEAR_PERCENT);
}

/* How many competing candidates stand before `candidate` by (median, ladder order). */
static uint32_t place_of(
	const uint64_t *samples, uint32_t candidates, uint32_t candidate, uint64_t median)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < candidates; i++) {
		const uint64_t *row = samples + (size_t)i * TF_PASSES;
		uint64_t other;

		if (i == candidate || !tf_select_competes(row))
			continue;
		other = median_of(row);
		place += other < median || (other == median && i < candidate);
	}
	return place;
}

uint32_t tf_select_survivors(const uint64_t *samples, uint32_t candidates, uint8_t *survivors)
{
	uint64_t best_median = TF_NS_NONE, best_high = 0, median, low, high;
	uint32_t count = 0;

	for (uint32_t i = 0; i < candidates; i++) {
		const uint64_t *row = samples + (size_t)i * TF_PASSES;

		if (!tf_select_competes(row))
			continue;
		tf_order_statistics(row, &median, &low, &high);
		if (median < best_median) {
			best_median = median;
			best_high = high;
		}
	}
	for (uint32_t i = 0; i < candidates; i++) {
		const uint64_t *row = samples + (size_t)i * TF_PASSES;

		survivors[i] = 0;
		if (!tf_select_competes(row))
			continue;
		tf_order_statistics(row, &median, &low, &high);
		survivors[i] = (low <= best_high || is_near(median, best_median)) &&
			place_of(samples, candidates, i, median) < TF_SURVIVORS_MAX;
		count += survivors[i];
	}
	return count;
}

int tf_select_beats(const uint64_t *challenger, const uint64_t *holder)
{
	uint64_t fast = tf_select_value(challenger), slow = tf_select_value(holder);
	int wins = 0;

	if (fast * 100 >= slow * (100 - TF_TIE_PERCENT))
		return 0;
	for (int pass = 0; pass < TF_PASSES; pass++)
		wins += challenger[pass] < holder[pass];
	return wins >= TF_WINS_MIN;
}

/*
 * The earliest rung nobody beats. "Beats" strictly lowers the value, so the rung of the lowest
 * value is never beaten and the search always ends with a pick where anyone competes.
 */
uint32_t tf_select_pick(const uint64_t *samples, uint32_t candidates)
{
	for (uint32_t i = 0; i < candidates; i++) {
		const uint64_t *holder = samples + (size_t)i * TF_PASSES;
		int beaten = 0;

		if (!tf_select_competes(holder))
			continue;
		for (uint32_t j = 0; j < candidates && !beaten; j++) {
			const uint64_t *challenger = samples + (size_t)j * TF_PASSES;

			beaten =
				j != i && tf_select_competes(challenger) && tf_select_beats(challenger, holder);
		}
		if (!beaten)
			return i;
	}
	return UINT32_MAX;
}
