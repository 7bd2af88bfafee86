/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification before timing: every candidate of every group gives the reference's bytes in time,
 * or is struck out.
 */
#ifndef TF_PREPARE_TUNE_VERIFY_H
#define TF_PREPARE_TUNE_VERIFY_H

#include "prepare/tune/bench_rank.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs each candidate on random and on special operands. One that is wrong or late on any rank is
 * marked TF_CANDIDATE_STRUCK on all ranks, with rank and reason in its text; where it was late, or
 * failed, in a library's call, so are all of that library's. The protocol memory is reset and the
 * rest goes on. Collective. Fails only if the ranks cannot agree (a departed or silent peer).
 */
TF_WARN_UNUSED enum tf_status tf_verify_candidates(
	struct tf_bench_rank *rank, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
