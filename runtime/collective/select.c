/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of selection. Pure functions of samples that every rank holds alike, so every
 * rank decides alike.
 *
 * 1. A candidate's value is the median of its TF_PASSES samples, a sample being the maximum over
 *    ranks; order statistics TF_ORDER_LOW and TF_ORDER_HIGH bound the median at 97.3 %.
 * 2. A candidate with a missing sample does not compete.
 * 3. Ties go to the earlier rung: a later rung displaces it only by a median more than
 *    TF_TIE_PERCENT lower and by winning TF_WINS_MIN of TF_PASSES pairs, so noise that spares the
 *    order of two candidates spares the pick.
 */
#include "runtime/collective/startup.h"

#include <stdlib.h>
#include <string.h>

#define TF_WINS_MIN 16 /* of 21 pairs: two-sided sign test at p = 0.027 */

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void tf_order_statistics(
	const uint64_t *ns, uint64_t *out_median, uint64_t *out_low, uint64_t *out_high)
{
	uint64_t sorted[TF_PASSES];

	memcpy(sorted, ns, sizeof(sorted));
	qsort(sorted, TF_PASSES, sizeof(sorted[0]), compare_ns);
	*out_median = sorted[TF_PASSES / 2];
	*out_low = sorted[TF_ORDER_LOW - 1];
	*out_high = sorted[TF_ORDER_HIGH - 1];
}

static int competes(const uint64_t *ns)
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

/* How many competing candidates stand before `candidate` by (median, ladder order). */
static uint32_t place_of(
	const uint64_t *samples, uint32_t candidates, uint32_t candidate, uint64_t median)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < candidates; i++) {
		const uint64_t *row = samples + (size_t)i * TF_PASSES;
		uint64_t other;

		if (i == candidate || !competes(row))
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

		if (!competes(row))
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
		if (!competes(row))
			continue;
		tf_order_statistics(row, &median, &low, &high);
		survivors[i] =
			low <= best_high && place_of(samples, candidates, i, median) < TF_SURVIVORS_MAX;
		count += survivors[i];
	}
	return count;
}

int tf_select_beats(const uint64_t *challenger, const uint64_t *holder)
{
	uint64_t fast = median_of(challenger), slow = median_of(holder);
	int wins = 0;

	if (fast * 100 >= slow * (100 - TF_TIE_PERCENT))
		return 0;
	for (int pass = 0; pass < TF_PASSES; pass++)
		wins += challenger[pass] < holder[pass];
	return wins >= TF_WINS_MIN;
}

/*
 * The earliest rung nobody beats. "Beats" strictly lowers the median, so the rung of the lowest
 * median is never beaten and the search always ends with a pick where anyone competes.
 */
uint32_t tf_select_pick(const uint64_t *samples, uint32_t candidates)
{
	for (uint32_t i = 0; i < candidates; i++) {
		const uint64_t *holder = samples + (size_t)i * TF_PASSES;
		int beaten = 0;

		if (!competes(holder))
			continue;
		for (uint32_t j = 0; j < candidates && !beaten; j++) {
			const uint64_t *challenger = samples + (size_t)j * TF_PASSES;

			beaten = j != i && competes(challenger) && tf_select_beats(challenger, holder);
		}
		if (!beaten)
			return i;
	}
	return UINT32_MAX;
}
