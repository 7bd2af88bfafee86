/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step with kernels of the user's own, issued as its user would issue it: packed arguments on the
 * stream, buffers as plain pointers, collectives by their picks.
 */
#ifndef TF_PREPARE_CAPTURE_FOREIGN_LAUNCH_H
#define TF_PREPARE_CAPTURE_FOREIGN_LAUNCH_H

#include "prepare/tune/bench_rank.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Enqueues one step of `capacity` rows; rank->foreign is not NULL. Pointers of foreign kernels lie
 * in `window`, which is the rank's own unless the stream is tapped. TF_E_LIMIT: a grid or block
 * beyond 32 bits; what stream_launch returns. The text names the kernel.
 */
TF_WARN_UNUSED enum tf_status tf_foreign_record(struct tf_bench_rank *rank,
	const struct tf_window_view *window, uint32_t capacity, struct tf_error *err);

/* The workload's kernel of the n-th foreign launch of a step, from 0. */
uint32_t tf_foreign_nth_kernel(const struct tf_foreign *foreign, uint32_t nth);

#ifdef __cplusplus
}
#endif
#endif
