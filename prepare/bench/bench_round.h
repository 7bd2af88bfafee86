/* SPDX-License-Identifier: Apache-2.0 */
/* Our side of one round: fresh ranks rebuild every case's chain, launch it, and tell its times. */
#ifndef TF_PREPARE_BENCH_BENCH_ROUND_H
#define TF_PREPARE_BENCH_BENCH_ROUND_H

#include "prepare/bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Measures all cases on result->program's picks into round `round` of result->times[TF_SIDE_OURS].
 * The ranks work on their own copies, so the program stays as it is. TF_E_ABORTED: interrupted;
 * others as tf_bench_rank_open and tf_graph_rebuild.
 */
TF_WARN_UNUSED enum tf_status tf_bench_round(const struct tf_bench_options *options,
	struct tf_bench_result *result, uint32_t round, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
