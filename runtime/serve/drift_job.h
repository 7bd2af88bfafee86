/* SPDX-License-Identifier: Apache-2.0 */
/* tfrun --drift: the packaged startup graph replayed here, compared with the packaged samples. */
#ifndef TF_RUNTIME_SERVE_DRIFT_JOB_H
#define TF_RUNTIME_SERVE_DRIFT_JOB_H

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_supervisor;

/* Measures, prints to stdout, and drains; selectors do not change. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_drift_job_add(
	struct tf_supervisor *supervisor, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
