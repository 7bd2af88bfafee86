/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuning: one startup graph samples every candidate of every group, the device selects, all ranks
 * agree (DESIGN 8).
 */
#ifndef TF_PREPARE_TUNE_TUNE_H
#define TF_PREPARE_TUNE_TUNE_H

#include "prepare/tune/bench_rank.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_tune_times {
	int64_t verify_ns;
	int64_t capture_ns;   /* the startup graph: record and rebuild */
	int64_t sample_ns[2]; /* its launches, by stage */
	uint32_t nodes;
};

/*
 * Verifies, captures the startup graph into the program, launches it TF_LAUNCHES times, and fills
 * candidates, samples and selectors. out_aggregate (1 word) is the caller's storage: 0 is success,
 * anything else an enum tf_startup_status. Collective.
 * TF_E_MISMATCH: the ranks' selectors differ (the text names them); TF_E_INVALID: a group keeps
 * no candidate.
 */
TF_WARN_UNUSED enum tf_status tf_tune(struct tf_bench_rank *rank, uint32_t *out_aggregate,
	struct tf_tune_times *out_times, struct tf_error *err);

/* Captures the startup graph (part of tf_tune, for tests). */
TF_WARN_UNUSED enum tf_status tf_capture_startup_graph(
	struct tf_bench_rank *rank, struct tf_error *err);

/* Captures the step graph of every capacity of the program with the picked candidates. */
TF_WARN_UNUSED enum tf_status tf_capture_step_graphs(
	struct tf_bench_rank *rank, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
