/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of one order on one rank: run, timed and compared. */
#ifndef TF_RUNTIME_SERVE_RANK_STEPS_H
#define TF_RUNTIME_SERVE_RANK_STEPS_H

#include "runtime/serve/command.h"
#include "runtime/serve/rank_voice.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Collective: every rank gets the same order. A step's time begins when this rank begins it; where
 * outputs are compared the ranks meet before each step, so that the time holds no waiting for a
 * slower rank's operands.
 * TF_E_MISMATCH, the same on all ranks, names the first wrong element; otherwise as tf_session_step
 * and tf_link_agree_ok. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_rank_steps_run(struct tf_session *session,
	const struct tf_step_order *order, struct tf_rank_voice *voice, struct tf_step_report *out,
	struct tf_error *err);

/* The protocol's own counters, which prove which writers ran. */
void tf_rank_counters_read(const struct tf_session *session, struct tf_rank_counters *out);

/* Sorts `times` (count >= 1) and fills the report's statistics and buckets. */
void tf_step_report_times(int64_t *times, uint64_t count, struct tf_step_report *report);

#ifdef __cplusplus
}
#endif
#endif
