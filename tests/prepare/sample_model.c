/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic is of IEEE basic operations alone, so that results do not depend on a library. */
#include "tests/prepare/sample_model.h"

#define RANKS      2
#define SPIKE_MOST 50 /* times the length */

/* 32 ns is the step of the device's clock on an H200. */
#define PLAIN .step_ns = 32, .noise_ns = 20, .noise_share = 0.01

static const struct sample_model models[] = {
	{.name = "plain", PLAIN},
	{.name = "fine clock", .step_ns = 1, .noise_ns = 20, .noise_share = 0.01},
	{.name = "noisy", .step_ns = 32, .noise_ns = 60, .noise_share = 0.02},
	{.name = "tails", PLAIN, .tail_chance = 0.1},
	{.name = "drift", PLAIN, .drift_share = 0.1},
	{.name = "two clocks", PLAIN, .clock_chance = 0.3},
	{.name = "slow rank", PLAIN, .lag_share = 0.15},
	{.name = "common", PLAIN, .common_share = 0.05},
	{.name = "placement", PLAIN, .place_share = 0.003},
};

const struct sample_model *sample_models(uint32_t *out_count)
{
	*out_count = sizeof(models) / sizeof(models[0]);
	return models;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

double sample_random(uint64_t *seed)
{
	return ((double)(next(seed) >> 11) + 0.5) / 9007199254740992.0;
}

/* Standard normal but for its tails: the sum of twelve uniform numbers. */
static double normal(uint64_t *seed)
{
	uint32_t sum = 0;

	for (int i = 0; i < 3; i++) {
		uint64_t bits = next(seed);

		for (int part = 0; part < 4; part++)
			sum += (uint32_t)(bits >> (16 * part)) & 0xffff;
	}
	return (double)sum / 65536 - 6;
}

/* How much longer everything takes in one pass. */
static double pass_factor(const struct sample_model *model, uint32_t pass, uint64_t *seed)
{
	double factor = 1 + model->drift_share * pass / TF_PASSES + model->common_share * normal(seed);

	if (sample_random(seed) < model->clock_chance)
		factor *= 1.3;
	return factor > 0.3 ? factor : 0.3;
}

static double call_ns(
	const struct sample_model *model, double cost, double factor, int lags, uint64_t *seed)
{
	double sigma = model->noise_ns + model->noise_share * cost, ns = cost * factor, spike;

	if (lags) {
		ns *= 1 + model->lag_share;
		sigma *= 2;
	}
	ns += sigma * normal(seed);
	if (sample_random(seed) < model->tail_chance) {
		spike = 0.1 * cost / sample_random(seed);
		ns += spike < SPIKE_MOST * cost ? spike : SPIKE_MOST * cost;
	}
	return ns > 0 ? ns : 0;
}

/* Between two stamps of a clock that moves in steps and knows nothing of the sample. */
static uint64_t sample_ns(
	const struct sample_model *model, double cost, double factor, uint32_t calls, uint64_t *seed)
{
	uint64_t longest = 0;

	for (int rank = 0; rank < RANKS; rank++) {
		double ns = model->step_ns * sample_random(seed);
		uint64_t stamps;

		for (uint32_t i = 0; i < calls; i++)
			ns += call_ns(model, cost, factor, rank == 0 && model->lag_share > 0, seed);
		stamps = (uint64_t)(ns / model->step_ns) * (uint64_t)model->step_ns;
		longest = stamps > longest ? stamps : longest;
	}
	return longest;
}

void sample_model_draw(const struct sample_model *model, const double *costs, uint32_t rungs,
	uint32_t calls, uint32_t launches, uint64_t *seed, struct sample_set *out)
{
	double placed[MODEL_RUNGS_MAX];

	for (uint32_t i = 0; i < rungs; i++)
		placed[i] = costs[i] * (1 + model->place_share * normal(seed));
	for (uint32_t launch = 0; launch < launches; launch++) {
		for (uint32_t pass = 0; pass < TF_PASSES; pass++) {
			double factor = pass_factor(model, pass, seed);

			for (uint32_t i = 0; i < rungs; i++)
				out->ns[launch][i * TF_PASSES + pass] =
					sample_ns(model, placed[i], factor, calls, seed);
		}
	}
}
