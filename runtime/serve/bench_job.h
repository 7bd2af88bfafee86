/* SPDX-License-Identifier: Apache-2.0 */
/* tfrun --bench: steps a second of every loaded capacity. */
#ifndef TF_RUNTIME_SERVE_BENCH_JOB_H
#define TF_RUNTIME_SERVE_BENCH_JOB_H

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_supervisor;

/* Measures, prints to stdout, and drains. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_bench_job_add(
	struct tf_supervisor *supervisor, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
