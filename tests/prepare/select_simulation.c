/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rule of selection promises, by simulation: how often two independent tunings of the same
 * machine pick alike, and how often a pick costs more than 2 or 5 % more than the best candidate.
 *
 *   select_simulation                     the shipped rule; fails where it breaks its bounds
 *   select_simulation --rules             the shipped rule beside others
 *   ... --trials N                        groups a cell (default 200)
 *
 * A group has six rungs. Their true costs are the length times 1, 1 + s, 1 + 2 s, ... in random
 * ladder order, or ("spread") uniform between the length and 30 % more.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/prepare/rule_variants.h"
#include "tests/prepare/sample_model.h"

#define RUNGS         6
#define SPREAD        (-1.0) /* instead of a spacing */
#define SPREAD_SHARE  0.3
#define TRIALS        200
#define TRIALS_MAX    1000000
#define COUNT(a)      ((uint32_t)(sizeof(a) / sizeof((a)[0])))
#define PERCENT(n, t) (100.0 * (n) / (t))

static const double lengths_ns[] = {2500, 5000, 20000, 100000};
static const double spacings[] = {0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, SPREAD};

struct cell {
	uint32_t trials;
	uint32_t agree;        /* two tunings picked the same */
	uint32_t over2, over5; /* the first tuning's pick costs more than that above the best */
};

static void draw_costs(double length, double spacing, uint64_t *seed, double *costs)
{
	for (uint32_t i = 0; i < RUNGS; i++) {
		uint32_t j = (uint32_t)(sample_random(seed) * (i + 1));

		if (spacing < 0) {
			costs[i] = length * (1 + SPREAD_SHARE * sample_random(seed));
			continue;
		}
		costs[i] = costs[j];
		costs[j] = length * (1 + spacing * i);
	}
}

static void count_trial(
	struct cell *cell, const double *costs, uint32_t picked, uint32_t picked_again)
{
	double best = costs[0];

	for (uint32_t i = 1; i < RUNGS; i++)
		best = costs[i] < best ? costs[i] : best;
	cell->trials++;
	cell->agree += picked == picked_again;
	/* a billionth for the rounding of the costs themselves */
	cell->over2 += costs[picked] > best * (1.02 + 1e-9);
	cell->over5 += costs[picked] > best * (1.05 + 1e-9);
}

static struct cell simulate(const struct rule_variant *rule, const struct sample_model *model,
	double length, double spacing, uint32_t trials)
{
	uint32_t launches = 1 + (rule->is_shipped ? TF_LOOKS : rule->looks);
	uint64_t seed = 20240607;
	struct sample_set set;
	struct cell cell = {0};

	for (uint32_t t = 0; t < trials; t++) {
		double costs[MODEL_RUNGS_MAX] = {0};
		uint32_t picked[2];

		draw_costs(length, spacing, &seed, costs);
		for (int i = 0; i < 2; i++) {
			sample_model_draw(model, costs, RUNGS, rule->calls, launches, &seed, &set);
			picked[i] = rule_variant_pick(rule, &set, RUNGS);
		}
		count_trial(&cell, costs, picked[0], picked[1]);
	}
	return cell;
}

/*
 * What any cell of the shipped rule keeps, far enough from what it measures that no seed breaks it.
 * Rungs that cost the same are one pick; rungs well above the tie are told apart; and nothing
 * ever costs 5 % more.
 */
static int keeps_bounds(
	const struct sample_model *model, double length, double spacing, const struct cell *cell)
{
	double agree = PERCENT(cell->agree, cell->trials), over2 = PERCENT(cell->over2, cell->trials);
	double over5 = PERCENT(cell->over5, cell->trials);
	int is_apart = spacing >= 0.05;
	double agree_min = spacing == 0 ? 97 : is_apart ? 97 : spacing < 0 ? 86 : 65;
	double over2_max = is_apart ? 2 : spacing < 0 ? 8 : spacing > 0.025 ? 20 : 10;

	if (agree >= agree_min && over2 <= over2_max && over5 <= 1)
		return 1;
	printf("FAIL %s, %.1f us, spacing %.3f: %.1f %% agree (at least %.0f), %.1f %% are over 2 %% "
		   "(at most %.0f), %.1f %% over 5 %% (at most 1)\n",
		model->name, length / 1e3, spacing, agree, agree_min, over2, over2_max, over5);
	return 0;
}

static int print_shipped(const struct rule_variant *rule, uint32_t trials)
{
	uint32_t model_count;
	const struct sample_model *models = sample_models(&model_count);
	int good = 1;

	printf(
		"%% of groups that two tunings pick alike, by spacing of the rungs; of a spread of 30 %%, "
		"alike / over 2 %% / over 5 %%\n%-12s%8s",
		"noise", "us");
	for (uint32_t s = 0; s < COUNT(spacings) - 1; s++)
		printf("%7.1f%%", 100 * spacings[s]);
	printf("  spread\n");
	for (uint32_t m = 0; m < model_count; m++) {
		for (uint32_t l = 0; l < COUNT(lengths_ns); l++) {
			printf("%-12s%8.1f", models[m].name, lengths_ns[l] / 1e3);
			for (uint32_t s = 0; s < COUNT(spacings); s++) {
				struct cell cell = simulate(rule, &models[m], lengths_ns[l], spacings[s], trials);

				if (spacings[s] >= 0)
					printf("%8.1f", PERCENT(cell.agree, trials));
				else
					printf("  %.1f / %.1f / %.2f\n", PERCENT(cell.agree, trials),
						PERCENT(cell.over2, trials), PERCENT(cell.over5, trials));
				good &= keeps_bounds(&models[m], lengths_ns[l], spacings[s], &cell);
			}
		}
	}
	return good;
}

/* At 2.5 us, where a step of the clock is more than 1 %. */
static void print_rules(uint32_t trials)
{
	uint32_t model_count, rule_count;
	const struct sample_model *models = sample_models(&model_count);
	const struct rule_variant *rules = rule_variants(&rule_count);

	printf(
		"%% of groups of a spread of 30 %% at 2.5 us that two tunings pick alike / that cost over "
		"2 %% more than the best\n%-40s",
		"rule");
	for (uint32_t m = 0; m < model_count; m++)
		printf("%13s", models[m].name);
	printf("\n");
	for (uint32_t r = 0; r < rule_count; r++) {
		printf("%-40s", rules[r].name);
		for (uint32_t m = 0; m < model_count; m++) {
			struct cell cell = simulate(&rules[r], &models[m], lengths_ns[0], SPREAD, trials);

			printf("  %5.1f /%4.1f", PERCENT(cell.agree, trials), PERCENT(cell.over2, trials));
		}
		printf("\n");
	}
}

/* The shipped rule and its second writing pick alike, sample set by sample set. */
static int bodies_agree(const struct rule_variant *rules, uint32_t trials)
{
	uint32_t model_count;
	const struct sample_model *models = sample_models(&model_count);

	for (uint32_t m = 0; m < model_count; m++) {
		struct cell shipped = simulate(&rules[0], &models[m], 2500, SPREAD, trials);
		struct cell other = simulate(&rules[1], &models[m], 2500, SPREAD, trials);

		if (memcmp(&shipped, &other, sizeof(shipped)) != 0) {
			printf("FAIL %s: the two writings of the rule differ\n", models[m].name);
			return 0;
		}
	}
	return 1;
}

/* Over all models together the shipped rule repeats itself more than a median of one look does. */
static int beats_one_look(const struct rule_variant *rules, uint32_t trials)
{
	uint32_t model_count, agree[2] = {0, 0};
	const struct sample_model *models = sample_models(&model_count);

	for (uint32_t m = 0; m < model_count; m++) {
		agree[0] += simulate(&rules[0], &models[m], 2500, SPREAD, trials).agree;
		agree[1] += simulate(&rules[2], &models[m], 2500, SPREAD, trials).agree;
	}
	if (agree[0] > agree[1])
		return 1;
	printf("FAIL %u agree, %u with the median of one look\n", agree[0], agree[1]);
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t rule_count, trials = TRIALS;
	const struct rule_variant *rules = rule_variants(&rule_count);
	int compares = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--rules")) {
			compares = 1;
		} else if (!strcmp(argv[i], "--trials") && i + 1 < argc) {
			long asked = strtol(argv[++i], NULL, 10);

			trials = asked > 0 && asked <= TRIALS_MAX ? (uint32_t)asked : TRIALS;
		} else {
			fprintf(stderr, "select_simulation: '%s' is no option of it\n", argv[i]);
			return 2;
		}
	}
	if (compares) {
		print_rules(trials);
		return 0;
	}
	return !(print_shipped(&rules[0], trials) && bodies_agree(rules, trials) &&
		beats_one_look(rules, trials));
}
