/* SPDX-License-Identifier: Apache-2.0 */
/* A peer that stalls, leaves or stays away: modes timeout, eof and missing. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/deadline.h"
#include "tests/rank/rank_chain.h"
#include "tests/rank/rank_modes.h"

/* Without a word and past all handlers, as a process that is killed. */
static void leave(void)
{
	fflush(stdout);
	syscall(SYS_exit_group, 0);
}

static enum tf_status scatter_or_sum(struct rank_job *job, struct tf_nccl_communicator *comm,
	const struct rank_chain *chain, struct tf_error *err)
{
	struct tf_nccl_collective what = {
		.op = strstr(job->mode, "scatter") ? TF_OP_REDUCE_SCATTER : TF_OP_ALL_REDUCE,
		.dtype = TF_DTYPE_F32,
		.count = RANK_CHAIN_SIZE - RANK_CHAIN_SIZE % tf_link_world(job->link),
		.from = chain->at[0],
		.to = chain->at[1]};
	enum tf_status status;

	TF_TRY(tf_nccl_communicator_enqueue(comm, &what, job->device.stream, err));
	TF_TRY(tf_nccl_communicator_wait(comm, job->timeout_ns, rank_device_wait, &job->device, err));
	/* Whoever comes late may find what an aborted peer had, as if it were a sum. */
	status = tf_link_poll_departed(job->link, err);
	if (status != TF_OK)
		tf_nccl_communicator_abort(comm, err);
	return status;
}

/* The communicator has ended and says so for ever. */
static enum tf_status check_refusal(struct rank_job *job, struct tf_nccl_communicator *comm,
	const struct rank_chain *chain, enum tf_status expected, struct tf_error *err)
{
	struct tf_error again = {0};

	if (scatter_or_sum(job, comm, chain, &again) != expected)
		return TF_FAIL(err, TF_E_MISMATCH, "an ended communicator was used again: %s", again.text);
	return tf_nccl_communicator_close(comm, err);
}

/* Stalls until the others say that they gave up, however long a busy machine takes for that. */
static void stall(struct rank_job *job)
{
	int64_t deadline = tf_deadline_after(10 * job->timeout_ns);

	while (tf_link_poll_departed(job->link, NULL) == TF_OK && !tf_deadline_passed(deadline))
		usleep(1000);
}

enum tf_status rank_mode_lose_peer(struct rank_job *job, int leaves, struct tf_error *err)
{
	struct tf_nccl_communicator *comm = NULL;
	enum tf_status status, expected = leaves ? TF_E_DISCONNECTED : TF_E_TIMEOUT;
	struct rank_chain chain = {{NULL, NULL}, {0}};
	struct tf_error seen = {0};
	int64_t began;

	TF_TRY(rank_job_open_comm(job, job->across, NULL, &comm, err));
	TF_TRY(rank_chain_open(job, &chain, err));
	TF_TRY(scatter_or_sum(job, comm, &chain, err));
	TF_TRY(rank_job_meet(job, err));
	if (rank_job_is_odd_one(job) && leaves)
		leave();
	if (rank_job_is_odd_one(job))
		stall(job);
	began = tf_now_ns();
	status = scatter_or_sum(job, comm, &chain, &seen);
	/* Who stalled comes late: the others are gone, or say that they gave up. */
	if (status != expected &&
		!((status == TF_E_DISCONNECTED || status == TF_E_ABORTED) && !leaves &&
			(rank_job_is_odd_one(job) || tf_link_world(job->link) > 2)))
		return TF_FAIL(err, TF_E_MISMATCH, "the collective ended as '%s' (%s), not '%s'",
			tf_status_name(status), seen.text, tf_status_name(expected));
	(void)rank_job_tell(job, "ended as '%s' after %.1f ms of a bound of %.0f ms: %s",
		tf_status_name(status), rank_job_ms(tf_now_ns() - began), rank_job_ms(job->timeout_ns),
		seen.text);
	TF_TRY(check_refusal(job, comm, &chain, status, err));
	rank_chain_close(job, &chain);
	return TF_OK;
}

static int64_t stay_away_ns;

static void stay_away(void *user, enum tf_nccl_step step)
{
	(void)user;
	if (step != TF_NCCL_STEP_PARENT)
		return;
	usleep((useconds_t)(stay_away_ns / 1000));
	leave();
}

enum tf_status rank_mode_missing(struct rank_job *job, struct tf_error *err)
{
	struct tf_nccl_communicator *comm = NULL;
	int64_t began = tf_now_ns();
	struct tf_error seen = {0};
	enum tf_status status;

	stay_away_ns = 3 * job->timeout_ns; /* the start-up is bounded by twice the timeout */
	status = rank_job_open_comm(
		job, job->across, rank_job_is_odd_one(job) ? stay_away : NULL, &comm, &seen);
	if (status != TF_E_TIMEOUT)
		return TF_FAIL(err, TF_E_MISMATCH, "the start-up ended as '%s' (%s), not 'timeout'",
			tf_status_name(status), seen.text);
	return rank_job_tell(job, "start-up ended as '%s' after %.1f ms of a bound of %.0f ms: %s",
		tf_status_name(status), rank_job_ms(tf_now_ns() - began), rank_job_ms(2 * job->timeout_ns),
		seen.text);
}
