/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of steps with foreign kernels: what the captured launches leave in the outputs when
 * they run one by one, here and now. Every load compares its rebuilt graphs with it.
 */
#ifndef TF_PREPARE_TUNE_PROVE_H
#define TF_PREPARE_TUNE_PROVE_H

#include "prepare/tune/bench_rank.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Appends program->proofs: every capacity, TF_STEP_SEEDS seeds, all ranks. Nothing where foreign
 * kernels write no buffer. Behind tf_capture_step_graphs. TF_E_TIMEOUT and others: a step failed,
 * on all ranks alike. Collective.
 */
TF_WARN_UNUSED enum tf_status tf_prove_steps(struct tf_bench_rank *rank, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
