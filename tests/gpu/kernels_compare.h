/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all parts of the check do with a call: fill its operands on every rank, wait for its end
 * and compare what it left with the reference; and the tally of it.
 */
#ifndef TF_TESTS_GPU_KERNELS_COMPARE_H
#define TF_TESTS_GPU_KERNELS_COMPARE_H

#include "tests/gpu/kernels_rig.h"

#define TIMEOUT_NS 200000000u
#define WAIT_S     20
#define COUNT_MAX  9000
#define AREAS      28
#define MESSAGES   20

extern struct kernels_tally {
	uint32_t failures, cases; /* a case: one rank's output of one call */
} kernels_tally;

/* Without peer access staged is the only writer that may run. */
int kernels_may_run(const struct rig *rig, int writer);

/* Counts a failure; the first MESSAGES are printed. */
void kernels_fail(
	const struct rig *rig, uint32_t rank, const struct rig_call *call, const char *why);
/* Ends the program. */
void kernels_give_up(const char *what);

/*
 * Inputs of all ranks for (call, seed, fill), uploaded to area_in; ranks' inputs in `inputs`, one
 * behind the other.
 */
void kernels_upload(const struct rig *rig, const struct rig_call *call, uint64_t seed,
	enum tf_fill fill, uint8_t *inputs);
/* Outputs of that area, of all ranks. */
void kernels_poison(const struct rig *rig, uint32_t area);

/*
 * Compares area_out of every rank with the reference, a guard behind it included. A call with a
 * mask must have left it as it was poisoned.
 */
void kernels_compare(const struct rig *rig, const struct rig_call *call, const uint8_t *inputs);

/* All streams' work has ended; 0 when there is no fault. Resets to `epoch` after one. */
int kernels_settle(struct rig *rig, const char *what, uint32_t epoch);

#endif
