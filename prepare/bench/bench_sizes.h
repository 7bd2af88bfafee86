/* SPDX-License-Identifier: Apache-2.0 */
/* The words of `tfprep bench`: sizes and operations, as people write them. */
#ifndef TF_PREPARE_BENCH_BENCH_SIZES_H
#define TF_PREPARE_BENCH_BENCH_SIZES_H

#include "prepare/bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_BENCH_SIZES_DEFAULT     "8KiB..1MiB"
#define TF_BENCH_OPS_DEFAULT       "all_reduce,all_gather"
#define TF_BENCH_GPU_SIZES_DEFAULT "2KiB..16MiB"
#define TF_BENCH_GPU_OPS_DEFAULT   "all_reduce,all_gather,reduce_scatter"

/*
 * Fills options->cases for options->dtype from "8KiB,1MiB" or "8KiB..1MiB" (by powers of two from
 * the first to the last) and "all_reduce,all_gather,reduce_scatter". K and KiB are 1024. TF_E_USAGE
 * names the word and what is allowed.
 */
TF_WARN_UNUSED enum tf_status tf_bench_cases(
	const char *ops, const char *sizes, struct tf_bench_options *options, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
