/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test support: samples as a machine might give them, from true costs and a model of its noise.
 * Deterministic: the same seed gives the same samples everywhere.
 */
#ifndef TF_TESTS_PREPARE_SAMPLE_MODEL_H
#define TF_TESTS_PREPARE_SAMPLE_MODEL_H

#include <stdint.h>

#include "runtime/collective/select.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MODEL_RUNGS_MAX 8
#define MODEL_LOOKS     8 /* launches after the first, as many as any rule under comparison uses */

/* Shares are of a sample's length. */
struct sample_model {
	const char *name;
	double step_ns;               /* of the clock */
	double noise_ns, noise_share; /* standard deviation of one rank's duration: their sum */
	double tail_chance;           /* that a rank's duration has a Pareto spike (exponent 1) */
	double drift_share;           /* slower by this at the end of a launch than at its start */
	double clock_chance;          /* that a pass runs at the lower of two clocks, 30 % slower */
	double lag_share;             /* one rank is slower by this, with twice the noise */
	double common_share;          /* standard deviation that all samples of a pass share */
	double place_share;           /* standard deviation of a candidate in all of a tuning */
};

/* The models that docs/PERFORMANCE.md names; `out_count` of them. */
const struct sample_model *sample_models(uint32_t *out_count);

/* Uniform in (0, 1); moves the seed. */
double sample_random(uint64_t *seed);

/* Launch after launch, (rungs, TF_PASSES) each; a sample is the longest of the ranks. */
struct sample_set {
	uint64_t ns[1 + MODEL_LOOKS][MODEL_RUNGS_MAX * TF_PASSES];
};

/*
 * Two ranks sample `rungs` candidates of `costs` ns in `launches` launches. A sample is of `calls`
 * calls in a row and stands for all of them.
 */
void sample_model_draw(const struct sample_model *model, const double *costs, uint32_t rungs,
	uint32_t calls, uint32_t launches, uint64_t *seed, struct sample_set *out);

#ifdef __cplusplus
}
#endif
#endif
