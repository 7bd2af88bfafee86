/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the addresses of foreign kernels: every step is captured at three bases of the window, of
 * which the second and third are only reserved, since nothing runs.
 */
#ifndef TF_PREPARE_CAPTURE_FOREIGN_CAPTURE_H
#define TF_PREPARE_CAPTURE_FOREIGN_CAPTURE_H

#include "prepare/tune/bench_rank.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fills the words of the program's foreign kernels, and program->touched. Nothing where
 * rank->foreign is NULL or has no kernels. Before tf_capture_step_graphs. TF_E_INVALID names
 * capacity, node, kernel, argument and value: see address_words.h; an address outside of every
 * declared buffer; captures that do not hold the same launches. Collective, and all ranks return
 * the same refusal.
 */
TF_WARN_UNUSED enum tf_status tf_foreign_capture(struct tf_bench_rank *rank, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
