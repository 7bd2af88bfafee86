/* SPDX-License-Identifier: Apache-2.0 */
/* What `tfprep bench` prints. Every number was measured in this run. */
#ifndef TF_PREPARE_BENCH_BENCH_PRINT_H
#define TF_PREPARE_BENCH_BENCH_PRINT_H

#include <stdio.h>

#include "prepare/bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_BENCH_JSON_VERSION 1

/* The pick of a case of one group; NULL for a step of several. Borrowed. */
const struct tf_candidate *tf_bench_pick(const struct tf_bench_result *result, uint32_t index);

/* A side's outputs over all cases. */
struct tf_bench_check tf_bench_checked(
	const struct tf_bench_result *result, enum tf_bench_side side);

TF_WARN_UNUSED enum tf_status tf_bench_print_table(
	FILE *to, const struct tf_bench_result *result, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_bench_print_json(
	FILE *to, const struct tf_bench_result *result, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
