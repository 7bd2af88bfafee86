/* SPDX-License-Identifier: Apache-2.0 */
/* Test kernels that misbehave on one rank, each in the place of one production kernel. */
#ifndef TF_TESTS_PREPARE_PLANTED_H
#define TF_TESTS_PREPARE_PLANTED_H

#include <stdint.h>

#include "base/error.h"

struct tf_bench_rank;

#ifdef __cplusplus
extern "C" {
#endif

/* The rank that misbehaves; the same for all kernels of a test. */
extern uint32_t planted_rank;

/* How many calls of "planted_watch" met the sentinel among their input, on the planted rank. */
extern int planted_sentinels;

/* How many calls of "planted_late" that rank carries out well before it stops taking part. */
extern int planted_good_calls;
extern int planted_jitters;

/*
 * Registers, once: "planted_silent" (stands in for all_reduce_one_shot_direct; the rank never sends
 * and never waits), "planted_late" (the same kernel; silent after planted_good_calls),
 * "planted_flip" (all_reduce_one_shot_sentinel; the rank's last output byte has one wrong bit),
 * "planted_flip_serial" (all_reduce_two_shot_serial; the same bit), "planted_fault"
 * (all_reduce_one_shot_ll; the rank waits for its whole bound and faults), "planted_watch"
 * (all_reduce_one_shot_direct, as it is, but counting planted_sentinels), "planted_corrupt"
 * (all_reduce_two_shot_direct; one byte in the middle of the rank's output is wrong),
 * "planted_slow" (all_reduce_one_shot_ll; the rank naps before, planted_jitters: longer or shorter
 * from call to call).
 */
void planted_register(void);

/*
 * Puts the planted kernel `name` in the place of the one that it stands in for, and of no other:
 * another's arguments hold another lane. TF_E_INTERNAL if the plan lacks it.
 */
enum tf_status planted_swap(struct tf_bench_rank *rank, const char *name, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
