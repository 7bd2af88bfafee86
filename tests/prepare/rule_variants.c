/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shipped rule goes through select.h. The others share one parametric body, which a test
 * compares with select.h at the shipped rule's own parameters.
 */
#include "tests/prepare/rule_variants.h"

#include <stdlib.h>
#include <string.h>

#define ROW_MAX (MODEL_LOOKS * TF_PASSES)

#define ONE_LOOK .calls = 1, .looks = 1, .kept = 1
#define RULE     .tie_percent = 2, .wins = 16
#define SHIPPED                                                                                    \
	.calls = 1, .looks = 5, .kept = 3, .value = RULE_MIDDLE, .near_percent = 4, .tie_percent = 2,  \
	.wins = 16

static const struct rule_variant variants[] = {
	{.name = "shipped: middle, 3 shortest of 5 looks", .is_shipped = 1, SHIPPED},
	{.name = "the same, in another body", SHIPPED},
	{.name = "median, one look", ONE_LOOK, RULE},
	{.name = "... and near ones survive", ONE_LOOK, RULE, .near_percent = 4},
	{.name = "middle", ONE_LOOK, RULE, .value = RULE_MIDDLE, .near_percent = 4},
	{.name = "middle, tie of 3 %",
		ONE_LOOK,
		.value = RULE_MIDDLE,
		.near_percent = 6,
		.tie_percent = 3,
		.wins = 16},
	{.name = "middle, tie of 4 %",
		ONE_LOOK,
		.value = RULE_MIDDLE,
		.near_percent = 8,
		.tie_percent = 4,
		.wins = 16},
	{.name = "middle of paired differences",
		ONE_LOOK,
		RULE,
		.value = RULE_PAIRED,
		.near_percent = 4},
	{.name = "middle, families of two rungs first",
		ONE_LOOK,
		RULE,
		.value = RULE_MIDDLE,
		.near_percent = 4,
		.family = 2},
	{.name = "middle, 42 passes (28 won)",
		.calls = 1,
		.looks = 2,
		.pools = 1,
		.value = RULE_MIDDLE,
		.near_percent = 4,
		.tie_percent = 2,
		.wins = 14},
	{.name = "middle, 105 passes (64 won)",
		.calls = 1,
		.looks = 5,
		.pools = 1,
		.value = RULE_MIDDLE,
		.near_percent = 4,
		.tie_percent = 2,
		.wins = 12},
	{.name = "median, 4 calls a sample", RULE, .calls = 4, .looks = 1, .kept = 1},
	{.name = "middle, 4 calls a sample",
		RULE,
		.calls = 4,
		.looks = 1,
		.kept = 1,
		.value = RULE_MIDDLE,
		.near_percent = 4},
	{.name = "middle, mean of 5 looks",
		RULE,
		.calls = 1,
		.looks = 5,
		.kept = 5,
		.value = RULE_MIDDLE,
		.near_percent = 4},
	{.name = "middle, 2 shortest of 4 looks",
		RULE,
		.calls = 1,
		.looks = 4,
		.kept = 2,
		.value = RULE_MIDDLE,
		.near_percent = 4},
	{.name = "middle, 3 shortest of 4 looks",
		RULE,
		.calls = 1,
		.looks = 4,
		.kept = 3,
		.value = RULE_MIDDLE,
		.near_percent = 4},
	{.name = "middle, shortest of 5 looks",
		RULE,
		.calls = 1,
		.looks = 5,
		.kept = 1,
		.value = RULE_MIDDLE,
		.near_percent = 4},
	{.name = "middle, 4 shortest of 8 looks",
		RULE,
		.calls = 1,
		.looks = 8,
		.kept = 4,
		.value = RULE_MIDDLE,
		.near_percent = 4},
	{.name = "median, 3 shortest of 5 looks",
		RULE,
		.calls = 1,
		.looks = 5,
		.kept = 3,
		.near_percent = 4},
	{.name = "shipped, but near ones struck",
		RULE,
		.calls = 1,
		.looks = 5,
		.kept = 3,
		.value = RULE_MIDDLE},
	{.name = "shipped, but a tie of 3 %",
		.calls = 1,
		.looks = 5,
		.kept = 3,
		.value = RULE_MIDDLE,
		.near_percent = 6,
		.tie_percent = 3,
		.wins = 16},
};

const struct rule_variant *rule_variants(uint32_t *out_count)
{
	*out_count = sizeof(variants) / sizeof(variants[0]);
	return variants;
}

/* What stage 2 knows of a candidate. */
struct row {
	double ns[ROW_MAX];
	uint32_t count;
	double value;
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double value_of(const double *ns, uint32_t count, enum rule_value value)
{
	uint32_t low = count * (TF_ORDER_LOW - 1) / TF_PASSES;
	double sorted[ROW_MAX], sum = 0;

	memcpy(sorted, ns, count * sizeof(sorted[0]));
	qsort(sorted, count, sizeof(sorted[0]), compare);
	if (value == RULE_MEDIAN)
		return sorted[count / 2];
	for (uint32_t i = low; i < count - low; i++)
		sum += sorted[i];
	return sum / (count - 2 * low);
}

static void fill_row(const struct rule_variant *rule, const struct sample_set *samples,
	uint32_t rung, struct row *row)
{
	row->count = 0;
	for (uint32_t pass = 0; pass < TF_PASSES; pass++) {
		double looks[MODEL_LOOKS], sum = 0;

		for (uint32_t look = 0; look < rule->looks; look++)
			looks[look] = (double)samples->ns[1 + look][rung * TF_PASSES + pass];
		if (rule->pools) {
			memcpy(row->ns + row->count, looks, rule->looks * sizeof(looks[0]));
			row->count += rule->looks;
			continue;
		}
		qsort(looks, rule->looks, sizeof(looks[0]), compare);
		for (uint32_t i = 0; i < rule->kept; i++)
			sum += looks[i];
		row->ns[row->count++] = (double)(uint64_t)(sum / rule->kept);
	}
	row->value = value_of(row->ns, row->count, rule->value);
}

static int beats(
	const struct rule_variant *rule, const struct row *challenger, const struct row *holder)
{
	double difference[ROW_MAX], gain = holder->value - challenger->value;
	uint32_t wins = 0;

	for (uint32_t i = 0; i < holder->count; i++) {
		difference[i] = holder->ns[i] - challenger->ns[i];
		wins += difference[i] > 0;
	}
	if (rule->value == RULE_PAIRED)
		gain = value_of(difference, holder->count, RULE_MIDDLE);
	/* a hair above the tie, as exact integers would say it */
	return gain * 100 > holder->value * rule->tie_percent + 1e-6 &&
		wins * TF_PASSES >= rule->wins * holder->count;
}

/* Which survive; `alive` is (rungs). The order statistics are those of select.h. */
static void first_stage(const struct rule_variant *rule, const struct sample_set *samples,
	uint32_t rungs, uint8_t *alive)
{
	uint64_t median[MODEL_RUNGS_MAX], low[MODEL_RUNGS_MAX], high[MODEL_RUNGS_MAX];
	uint32_t best = 0;

	for (uint32_t i = 0; i < rungs; i++) {
		tf_order_statistics(samples->ns[0] + i * TF_PASSES, &median[i], &low[i], &high[i]);
		best = median[i] < median[best] ? i : best;
	}
	for (uint32_t i = 0; i < rungs; i++)
		alive[i] = low[i] <= high[best] ||
			(double)median[i] * 100 <= (double)median[best] * (100 + rule->near_percent);
}

/* The earliest of the rungs from `first` to `end` that none of them beats. */
static uint32_t pick_among(const struct rule_variant *rule, const struct row *rows,
	const uint8_t *alive, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		int beaten = !alive[i];

		for (uint32_t j = first; j < end && !beaten; j++)
			beaten = j != i && alive[j] && beats(rule, &rows[j], &rows[i]);
		if (!beaten)
			return i;
	}
	return UINT32_MAX;
}

/* The rung of the lowest value stands for its family. */
static uint32_t pick_family(
	const struct rule_variant *rule, const struct row *rows, const uint8_t *alive, uint32_t rungs)
{
	uint8_t leads[MODEL_RUNGS_MAX] = {0};
	uint32_t leader, first;

	for (uint32_t start = 0; start < rungs; start += rule->family) {
		uint32_t best = UINT32_MAX;

		for (uint32_t i = start; i < start + rule->family && i < rungs; i++)
			if (alive[i] && (best == UINT32_MAX || rows[i].value < rows[best].value))
				best = i;
		if (best != UINT32_MAX)
			leads[best] = 1;
	}
	leader = pick_among(rule, rows, leads, 0, rungs);
	first = leader / rule->family * rule->family;
	return pick_among(
		rule, rows, alive, first, first + rule->family < rungs ? first + rule->family : rungs);
}

static uint32_t pick_shipped(const struct sample_set *samples, uint32_t rungs)
{
	uint64_t fresh[MODEL_RUNGS_MAX * TF_PASSES], looks[TF_LOOKS];
	uint8_t survivors[MODEL_RUNGS_MAX];

	tf_select_survivors(samples->ns[0], rungs, survivors);
	for (uint32_t i = 0; i < rungs * TF_PASSES; i++) {
		for (uint32_t look = 0; look < TF_LOOKS; look++)
			looks[look] = survivors[i / TF_PASSES] ? samples->ns[1 + look][i] : TF_NS_NONE;
		fresh[i] = tf_sample_of_looks(looks);
	}
	return tf_select_pick(fresh, rungs);
}

uint32_t rule_variant_pick(
	const struct rule_variant *rule, const struct sample_set *samples, uint32_t rungs)
{
	struct row rows[MODEL_RUNGS_MAX];
	uint8_t alive[MODEL_RUNGS_MAX];

	if (rule->is_shipped)
		return pick_shipped(samples, rungs);
	first_stage(rule, samples, rungs, alive);
	for (uint32_t i = 0; i < rungs; i++)
		fill_row(rule, samples, i, &rows[i]);
	if (rule->family)
		return pick_family(rule, rows, alive, rungs);
	return pick_among(rule, rows, alive, 0, rungs);
}
