/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of all ranks of one order as one. */
#ifndef TF_RUNTIME_SERVE_STEP_REPORTS_H
#define TF_RUNTIME_SERVE_STEP_REPORTS_H

#include "runtime/serve/command.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Times of (world) reports: of each statistic, and of each step in times_ns, the maximum over
 * ranks. Counts, buckets and capacity are rank 0's.
 */
void tf_step_reports_join(
	const struct tf_step_report *reports, uint32_t world, struct tf_step_report *out);

#ifdef __cplusplus
}
#endif
#endif
