/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank does in each mode of the rank program, and judges itself. */
#ifndef TF_TESTS_RANK_RANK_MODES_H
#define TF_TESTS_RANK_RANK_MODES_H

#include "tests/rank/rank_test_job.h"

#define RANK_MODES                                                                                 \
	"sum, timeout, timeout-scatter, eof, eof-scatter, missing, exchange, disagree, eager, device"

/*
 * TF_OK: what must happen happened; a line on stdout says what was seen. TF_E_USAGE: no such mode.
 * The rank that stalls or leaves does so by ending its process with 0.
 */
TF_WARN_UNUSED enum tf_status rank_mode_run(struct rank_job *job, struct tf_error *err);

/* One mode or two each, for rank_mode_run. */
TF_WARN_UNUSED enum tf_status rank_mode_sum(
	struct rank_job *job, int keep_apart, struct tf_error *err);
TF_WARN_UNUSED enum tf_status rank_mode_lose_peer(
	struct rank_job *job, int leaves, struct tf_error *err);
TF_WARN_UNUSED enum tf_status rank_mode_missing(struct rank_job *job, struct tf_error *err);
TF_WARN_UNUSED enum tf_status rank_mode_exchange(struct rank_job *job, struct tf_error *err);
TF_WARN_UNUSED enum tf_status rank_mode_eager(struct rank_job *job, struct tf_error *err);

#endif
