/* SPDX-License-Identifier: Apache-2.0 */
/* Element i of rank r is (r + 1) * (i % 7): a sum tells both who took part and where it stands. */
#include "tests/rank/rank_chain.h"

enum tf_status rank_chain_open(struct rank_job *job, struct rank_chain *chain, struct tf_error *err)
{
	for (unsigned i = 0; i < RANK_CHAIN_SIZE; i++)
		chain->host[i] = (float)((tf_link_rank(job->link) + 1) * (i % 7));
	TF_TRY(rank_device_alloc(&job->device, sizeof(chain->host), &chain->at[0], err));
	TF_TRY(rank_device_alloc(&job->device, sizeof(chain->host), &chain->at[1], err));
	return rank_device_write(&job->device, chain->at[0], chain->host, sizeof(chain->host), err);
}

void rank_chain_close(struct rank_job *job, struct rank_chain *chain)
{
	rank_device_free(&job->device, chain->at[0]);
	rank_device_free(&job->device, chain->at[1]);
}
