/* SPDX-License-Identifier: Apache-2.0 */
/* Which mode is whose; and mode device, what all others stand on, without NCCL. */
#include "tests/rank/rank_modes.h"

#include <inttypes.h>
#include <string.h>

#include "base/deadline.h"
#include "tests/rank/rank_chain.h"

static enum tf_status run_device(struct rank_job *job, struct tf_error *err)
{
	struct rank_chain chain = {{NULL, NULL}, {0}};
	float back[RANK_CHAIN_SIZE];

	TF_TRY(rank_chain_open(job, &chain, err));
	TF_TRY(rank_device_wait(&job->device, tf_deadline_after(job->timeout_ns), err));
	TF_TRY(rank_device_read(&job->device, back, chain.at[0], sizeof(back), err));
	rank_chain_close(job, &chain);
	if (memcmp(back, chain.host, sizeof(back)) != 0)
		return TF_FAIL(err, TF_E_MISMATCH, "the device's memory does not hold what was written");
	return rank_job_tell(job, "memory and stream hold, %" PRIu64 " MiB in use",
		rank_device_used_bytes(&job->device) >> 20);
}

enum tf_status rank_mode_run(struct rank_job *job, struct tf_error *err)
{
	const char *mode = job->mode;

	if (!strcmp(mode, "sum"))
		return rank_mode_sum(job, 0, err);
	if (!strcmp(mode, "disagree"))
		return rank_mode_sum(job, rank_job_is_odd_one(job), err);
	if (!strcmp(mode, "timeout") || !strcmp(mode, "timeout-scatter"))
		return rank_mode_lose_peer(job, 0, err);
	if (!strcmp(mode, "eof") || !strcmp(mode, "eof-scatter"))
		return rank_mode_lose_peer(job, 1, err);
	if (!strcmp(mode, "missing"))
		return rank_mode_missing(job, err);
	if (!strcmp(mode, "exchange"))
		return rank_mode_exchange(job, err);
	if (!strcmp(mode, "eager"))
		return rank_mode_eager(job, err);
	if (!strcmp(mode, "device"))
		return run_device(job, err);
	return TF_FAIL(err, TF_E_USAGE, "mode '%s' is none of " RANK_MODES, mode);
}
