/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two buffers of a rank's device, for sums from one to the other and back; small integers in the
 * first.
 */
#ifndef TF_TESTS_RANK_RANK_CHAIN_H
#define TF_TESTS_RANK_RANK_CHAIN_H

#include "tests/rank/rank_test_job.h"

#define RANK_CHAIN_SIZE 2048 /* FP32: 8 KiB */

struct rank_chain {
	void *at[2];
	float host[RANK_CHAIN_SIZE]; /* what rank_chain_open wrote to the first */
};

/* *chain is all zeros before; closed also where this fails. */
TF_WARN_UNUSED enum tf_status rank_chain_open(
	struct rank_job *job, struct rank_chain *chain, struct tf_error *err);
void rank_chain_close(struct rank_job *job, struct rank_chain *chain);

#endif
