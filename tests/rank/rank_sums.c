/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chained sums: modes sum and disagree. That a call returned before its peers made theirs is seen
 * by order, never by a clock: rank 0's call, then a barrier, then the others' calls.
 */
#include <inttypes.h>
#include <string.h>

#include "base/deadline.h"
#include "tests/rank/rank_chain.h"
#include "tests/rank/rank_modes.h"

#define CHAIN 5 /* sums of small integers stay below 2^24, which FP32 holds exactly */

static enum tf_status sum_once(struct rank_job *job, struct tf_nccl_communicator *comm,
	const struct rank_chain *chain, unsigned turn, struct tf_error *err)
{
	struct tf_nccl_collective what = {.op = TF_OP_ALL_REDUCE,
		.dtype = TF_DTYPE_F32,
		.count = RANK_CHAIN_SIZE,
		.from = chain->at[turn % 2],
		.to = chain->at[(turn + 1) % 2]};

	return tf_nccl_communicator_enqueue(comm, &what, job->device.stream, err);
}

static enum tf_status check_chain(
	struct rank_job *job, struct rank_chain *chain, struct tf_error *err)
{
	uint32_t world = tf_link_world(job->link);
	float scale = (float)(world * (world + 1) / 2);

	for (unsigned turn = 1; turn < CHAIN; turn++)
		scale *= (float)world;
	TF_TRY(rank_device_read(
		&job->device, chain->host, chain->at[CHAIN % 2], sizeof(chain->host), err));
	for (unsigned i = 0; i < RANK_CHAIN_SIZE; i++)
		if (chain->host[i] != scale * (float)(i % 7))
			return TF_FAIL(err, TF_E_MISMATCH, "element %u of %u chained sums is %g, not %g", i,
				CHAIN, (double)chain->host[i], (double)(scale * (float)(i % 7)));
	return TF_OK;
}

/* `in_order`: rank 0's first call returns before the others make theirs, or never. */
static enum tf_status run_chain(struct rank_job *job, struct tf_nccl_communicator *comm,
	struct rank_chain *chain, int in_order, int *out_first_result, struct tf_error *err)
{
	int is_first = tf_link_rank(job->link) == 0;

	TF_TRY(rank_chain_open(job, chain, err));
	if (in_order && !is_first)
		TF_TRY(rank_job_meet(job, err));
	TF_TRY(sum_once(job, comm, chain, 0, err));
	*out_first_result = tf_nccl_communicator_facts(comm)->last_result;
	if (in_order && is_first)
		TF_TRY(rank_job_meet(job, err));
	for (unsigned turn = 1; turn < CHAIN; turn++)
		TF_TRY(sum_once(job, comm, chain, turn, err));
	TF_TRY(tf_nccl_communicator_wait(comm, job->timeout_ns, rank_device_wait, &job->device, err));
	return check_chain(job, chain, err);
}

static enum tf_status sum_with(struct rank_job *job, struct tf_nccl_communicator *comm,
	int must_be_one_host, struct tf_error *err)
{
	const struct tf_nccl_facts *facts = tf_nccl_communicator_facts(comm);
	struct rank_chain chain = {{NULL, NULL}, {0}};
	enum tf_status status;
	int result = -1;

	if (facts->one_host != must_be_one_host)
		return TF_FAIL(err, TF_E_MISMATCH, "the ranks are %s, which is wrong: %s",
			facts->one_host ? "on one host" : "apart", facts->why_apart);
	status = run_chain(job, comm, &chain, must_be_one_host, &result, err);
	rank_chain_close(job, &chain);
	TF_TRY(status);
	if (must_be_one_host && result != TF_NCCL_SUCCESS)
		return TF_FAIL(
			err, TF_E_MISMATCH, "a collective on one host returned %d, not enqueued (0)", result);
	if (!must_be_one_host && strstr(facts->runtime_connect, "set here"))
		return TF_FAIL(
			err, TF_E_MISMATCH, "NCCL_RUNTIME_CONNECT was set, although the ranks are apart");
	return TF_OK;
}

enum tf_status rank_mode_sum(struct rank_job *job, int keep_apart, struct tf_error *err)
{
	uint64_t before = rank_device_used_bytes(&job->device), used;
	struct tf_nccl_communicator *comm = NULL;
	const struct tf_nccl_facts *facts;
	char version[TF_NCCL_VERSION_BYTES];
	int one_host = !job->across && !strcmp(job->mode, "sum");

	TF_TRY(rank_job_open_comm(job, keep_apart, NULL, &comm, err));
	TF_TRY(sum_with(job, comm, one_host, err));
	facts = tf_nccl_communicator_facts(comm);
	used = rank_device_used_bytes(&job->device);
	(void)rank_job_tell(job,
		"NCCL %s, %s%s%s, %u chained sums exact, open %.1f ms, device memory %" PRIu64
		" MiB, NCCL_RUNTIME_CONNECT %s",
		tf_nccl_version_text(facts->version, version), facts->one_host ? "split" : "parent",
		facts->one_host ? "" : ": ", facts->why_apart, CHAIN, rank_job_ms(facts->open_ns),
		used > before ? (used - before) >> 20 : 0, facts->runtime_connect);
	return rank_job_close_comm(job, comm, err);
}
