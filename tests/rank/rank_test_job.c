/* SPDX-License-Identifier: Apache-2.0 */
/* A communicator that a job opens enters the job's device, and tells its peers before it ends. */
#include "tests/rank/rank_test_job.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/deadline.h"

int rank_job_is_odd_one(const struct rank_job *job)
{
	return tf_link_rank(job->link) == tf_link_world(job->link) - 1;
}

double rank_job_ms(int64_t ns)
{
	return (double)ns / (double)TF_NS_PER_MS;
}

static enum tf_status enter_device(void *user, struct tf_error *err)
{
	struct rank_job *job = user;

	return rank_device_enter(&job->device, err);
}

/* The link is this thread's for as long: the job's is inside NCCL, or waits for the end. */
static void tell_peers(void *user)
{
	struct rank_job *job = user;

	tf_link_abort(job->link, "its collective did not end");
}

enum tf_status rank_job_open_comm(struct rank_job *job, int keep_apart,
	void (*before)(void *, enum tf_nccl_step), struct tf_nccl_communicator **out,
	struct tf_error *err)
{
	struct tf_nccl_communicator_options options = {.size = sizeof(options),
		.link = job->link,
		.timeout_ns = job->timeout_ns,
		.keep_apart = keep_apart,
		.enter = enter_device,
		.ending = tell_peers,
		.before = before,
		.user = job};

	return tf_nccl_communicator_open(&options, out, err);
}

enum tf_status rank_job_meet(struct rank_job *job, struct tf_error *err)
{
	return tf_link_barrier(job->link, tf_deadline_after(4 * job->timeout_ns), err);
}

enum tf_status rank_job_close_comm(
	struct rank_job *job, struct tf_nccl_communicator *comm, struct tf_error *err)
{
	TF_TRY(rank_job_meet(job, err));
	return tf_nccl_communicator_close(comm, err);
}

enum tf_status rank_job_tell(struct rank_job *job, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printf("rank %u: %s: %s\n", tf_link_rank(job->link), job->mode, text);
	fflush(stdout);
	return TF_OK;
}
