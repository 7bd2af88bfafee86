/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of selection: pure functions of samples, shared by "select" on the host, the reports,
 * the tests and the simulation that tells what the rule promises (docs/PERFORMANCE.md). The CUDA
 * body of "select" repeats them with the same integer arithmetic.
 *
 * A row is TF_PASSES samples of one candidate, by pass, each the maximum over ranks; TF_NS_NONE
 * stands for a missing one, and a row that holds it does not compete. Rows of a group stand in
 * ladder order. All functions are deterministic, allocate nothing and may be called by any thread.
 */
#ifndef TF_RUNTIME_COLLECTIVE_SELECT_H
#define TF_RUNTIME_COLLECTIVE_SELECT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TF_PASSES        21
#define TF_ORDER_LOW     6 /* order statistics that bound the median of 21 at 97.3 % */
#define TF_ORDER_HIGH    16
#define TF_SURVIVORS_MAX 8
#define TF_LOOKS         5 /* fresh samples a pass and survivor in the second stage */
#define TF_LOOKS_KEPT    3 /* the shortest of them, whose mean is the second stage's sample */
#define TF_TIE_PERCENT   2
#define TF_NEAR_PERCENT  (2 * TF_TIE_PERCENT) /* above the best, the first stage is no judge */
#define TF_WINS_MIN      16                   /* of 21 pairs: two-sided sign test at p = 0.027 */
#define TF_NS_NONE       UINT64_MAX
/* Longer samples (three days) count as this long, so that sums and percentages fit 64 bits. */
#define TF_NS_MOST (UINT64_C(1) << 48)

/*
 * The second stage's sample of one pass: the mean of the TF_LOOKS_KEPT shortest of its TF_LOOKS
 * looks, rounded down; TF_NS_NONE where one is missing.
 */
uint64_t tf_sample_of_looks(const uint64_t *looks);

/* Median, order statistics TF_ORDER_LOW and TF_ORDER_HIGH of a whole row. */
void tf_order_statistics(
	const uint64_t *ns, uint64_t *out_median, uint64_t *out_low, uint64_t *out_high);

/*
 * What a candidate costs: the sum of the order statistics TF_ORDER_LOW to TF_ORDER_HIGH of a whole
 * row, which is TF_VALUE_SAMPLES times the mean of its middle. Unlike the median it resolves
 * below the step of the clock.
 */
#define TF_VALUE_SAMPLES (TF_ORDER_HIGH - TF_ORDER_LOW + 1)
uint64_t tf_select_value(const uint64_t *ns);

/* Whether a row is whole. */
int tf_select_competes(const uint64_t *ns);

/*
 * Stage 1: survivors[i] = 1 where candidate i's interval [low, high] overlaps that of the best
 * median, or its median is at most TF_NEAR_PERCENT above it; at most TF_SURVIVORS_MAX, by median,
 * then ladder order. samples is (candidates, TF_PASSES). Returns how many survive.
 */
uint32_t tf_select_survivors(const uint64_t *samples, uint32_t candidates, uint8_t *survivors);

/*
 * Whether `challenger` displaces `holder` (whole rows): a value more than TF_TIE_PERCENT lower,
 * and at least TF_WINS_MIN of the TF_PASSES passes shorter than the holder's in the same pass.
 */
int tf_select_beats(const uint64_t *challenger, const uint64_t *holder);

/*
 * Stage 2: the candidate to pick by fresh samples alone: the earliest rung that no other
 * candidate beats. UINT32_MAX if none competes.
 */
uint32_t tf_select_pick(const uint64_t *samples, uint32_t candidates);

#ifdef __cplusplus
}
#endif
#endif
