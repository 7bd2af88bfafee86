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

TF_WARN_UNUSED enum tf_status tf_bench_print_table(
	FILE *to, const struct tf_bench_result *result, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_bench_print_json(
	FILE *to, const struct tf_bench_result *result, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
