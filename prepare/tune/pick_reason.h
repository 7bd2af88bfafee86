/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why each candidate of a group ended as it did, in words that stand beside the numbers: who was
 * left behind in the first stage and by whom, who was beaten, and the tie that decided.
 */
#ifndef TF_PREPARE_TUNE_PICK_REASON_H
#define TF_PREPARE_TUNE_PICK_REASON_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A group after selection: its candidates in ladder order, with both stages' samples. */
struct tf_group_outcome {
	const struct tf_group_candidate *entries; /* (count) */
	const uint64_t *first, *fresh;            /* (count, TF_PASSES) each, as select.h has them */
	uint32_t count;
	uint32_t picked; /* among them */
};

/*
 * Writes why `index` ended as it did to `out`, a string of at most `bytes`. Not for candidates that
 * were struck out: verification gave their reason. At most count^2 comparisons of rows.
 */
void tf_pick_reason(
	const struct tf_group_outcome *outcome, uint32_t index, char *out, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
