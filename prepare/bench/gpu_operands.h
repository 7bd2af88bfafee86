/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of one case on all sides of a rank: written before it is timed, checked after. */
#ifndef TF_PREPARE_BENCH_GPU_OPERANDS_H
#define TF_PREPARE_BENCH_GPU_OPERANDS_H

#include "prepare/bench/gpu_bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rank with its sides; sides[0] is ours. */
struct tf_gpu_sides {
	struct tf_bench_rank *rank; /* open */
	struct tf_nccl_side *nccl;  /* or NULL */
};

/* Whether side `index` (0..TF_GPU_SIDES - 1) is measured. */
int tf_gpu_side_is_on(const struct tf_gpu_sides *sides, int index);
/* "ours", "NCCL", "NCCL in a symmetric window". */
const char *tf_gpu_side_name(int index);

/*
 * Inputs on every side, the same ones, other ones in every pair; outputs are overwritten with a
 * pattern that no result has. Local.
 */
TF_WARN_UNUSED enum tf_status tf_gpu_operands_write(
	const struct tf_gpu_sides *sides, const struct tf_bench_case *what, struct tf_error *err);

/*
 * Compares what the last launches left. checks[i] (TF_GPU_SIDES) counts this rank's outputs. Local.
 * TF_E_MISMATCH: ours differs in a byte, or NCCL's by more than rounding; names side, group,
 * element and values.
 */
TF_WARN_UNUSED enum tf_status tf_gpu_operands_check(const struct tf_gpu_sides *sides,
	const struct tf_bench_case *what, struct tf_bench_check *checks, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
