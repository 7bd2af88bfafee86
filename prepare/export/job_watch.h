/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of a job done by rank processes: spawn them, hear them out, reap them, and
 * say whose fault it was.
 */
#ifndef TF_PREPARE_EXPORT_JOB_WATCH_H
#define TF_PREPARE_EXPORT_JOB_WATCH_H

#include "prepare/export/rank_job.h"
#include "runtime/link/spawn.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs `run` on `world` ranks until each said TF_JOB_DONE. out_done (done_bytes) receives rank
 * 0's payload of it, the same size from every rank.
 * On a failure of one rank the others are ended; the error is that of the rank that failed first
 * by cause: its own words before those that only lost a peer. `interrupted` may be NULL: a word
 * that a signal handler sets; then TF_E_ABORTED. No process is left behind.
 */
TF_WARN_UNUSED enum tf_status tf_job_run(uint32_t world, tf_rank_fn run, void *user,
	int64_t deadline_ns, tf_progress_fn progress, void *progress_user,
	const volatile int *interrupted, void *out_done, size_t done_bytes, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
