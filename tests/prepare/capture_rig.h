/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks on threads that capture: a test runs a function on each, and what that finds wrong fails
 * the test in the main thread. And the tests of prepare_capture that are not in its own file.
 */
#ifndef TF_TESTS_PREPARE_CAPTURE_RIG_H
#define TF_TESTS_PREPARE_CAPTURE_RIG_H

#include <stdio.h>

#include "prepare/capture/capture.h"
#include "tests/prepare/bench_rig.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAPTURE_WRONG_BYTES 1200

/* A rank's test; a text in `wrong` fails the test in the main thread. */
typedef void (*rank_test)(struct tf_bench_rank *rank, char *wrong);

struct run {
	struct bench bench;
	rank_test test;
	char wrong[TF_WORLD_MAX][CAPTURE_WRONG_BYTES];
	uint64_t bases[TF_WORLD_MAX];
};

/* Of a rank's test: says what is wrong, and ends it. */
#define WRONG(...)                                                                                 \
	do {                                                                                           \
		snprintf(wrong, CAPTURE_WRONG_BYTES, __VA_ARGS__);                                         \
		return;                                                                                    \
	} while (0)

/* *run is filled, and its bench is the caller's to end. */
void run_on_ranks(struct run *run, uint32_t world, rank_test test);

/* A step graph of capacity 1. */
TF_WARN_UNUSED enum tf_status begin(
	struct tf_bench_rank *rank, struct tf_capture **out, struct tf_error *err);

/* Input or output of a group's first pair, in the segment of `peer`. */
uint8_t *operand(
	const struct tf_bench_rank *rank, enum tf_buffer_role role, uint32_t group, uint32_t peer);

/* capture_refusals.c */
void test_refused_without_storage(void **state);
void test_an_address_outside_the_window(void **state);
void test_an_address_in_no_buffer(void **state);
void test_foreign_operations(void **state);
void test_calls_outside_the_segment(void **state);

#ifdef __cplusplus
}
#endif
#endif
