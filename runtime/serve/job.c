/* SPDX-License-Identifier: Apache-2.0 */
/* 1. One job runs at a time. 2. Every job that was taken ends exactly once. */
#include "runtime/serve/job.h"

#include "runtime/serve/supervisor.h"

static struct tf_job *take_first(struct tf_jobs *jobs)
{
	struct tf_job *job = jobs->first;

	jobs->first = job->next;
	if (!jobs->first)
		jobs->last = NULL;
	jobs->waiting--;
	job->next = NULL;
	return job;
}

/* The first that is wanted; those before it end. */
static struct tf_job *take_wanted(struct tf_jobs *jobs)
{
	while (jobs->first) {
		struct tf_job *job = take_first(jobs);
		struct tf_error cause = {0};

		if (!job->ops->is_wanted || job->ops->is_wanted(job))
			return job;
		(void)!TF_FAIL(&cause, TF_E_DISCONNECTED, "the client left before its turn came");
		job->ops->end(job, &cause);
	}
	return NULL;
}

static void begin(struct tf_supervisor *supervisor, struct tf_job *job)
{
	job->begun = 1;
	supervisor->jobs.running = job;
	supervisor->crew.doing = job->ops->doing;
	if (supervisor->state == TF_STATE_READY)
		supervisor->state = TF_STATE_BUSY;
	job->ops->begin(job);
}

enum tf_status tf_jobs_add(
	struct tf_supervisor *supervisor, struct tf_job *job, struct tf_error *err)
{
	struct tf_jobs *jobs = &supervisor->jobs;

	job->supervisor = supervisor;
	if (!jobs->running && !jobs->first) {
		begin(supervisor, job);
		return TF_OK;
	}
	if (jobs->waiting >= TF_JOBS_WAITING_MAX)
		return TF_FAIL(
			err, TF_E_LIMIT, "%u requests wait already, no more are taken", jobs->waiting);
	if (jobs->last)
		jobs->last->next = job;
	else
		jobs->first = job;
	jobs->last = job;
	jobs->waiting++;
	return TF_OK;
}

void tf_jobs_hear(
	struct tf_supervisor *supervisor, uint32_t rank, uint16_t type, const void *data, size_t bytes)
{
	struct tf_jobs *jobs = &supervisor->jobs;
	struct tf_job *job = jobs->running, *next;

	if (!job || !job->ops->hear(job, rank, type, data, bytes))
		return;
	jobs->running = NULL;
	supervisor->crew.doing = tf_crew_idle;
	if (supervisor->state == TF_STATE_BUSY)
		supervisor->state = TF_STATE_READY;
	job->ops->end(job, NULL);
	next = take_wanted(jobs);
	if (next)
		begin(supervisor, next);
}

void tf_jobs_refuse_waiting(struct tf_supervisor *supervisor, const struct tf_error *cause)
{
	struct tf_jobs *jobs = &supervisor->jobs;

	while (jobs->first) {
		struct tf_job *job = take_first(jobs);

		job->ops->end(job, cause);
	}
}

void tf_jobs_end_all(struct tf_supervisor *supervisor, const struct tf_error *cause)
{
	struct tf_job *running = supervisor->jobs.running;

	supervisor->jobs.running = NULL;
	if (running)
		running->ops->end(running, cause);
	tf_jobs_refuse_waiting(supervisor, cause);
}

int tf_job_heard_all(struct tf_job *job, uint32_t rank)
{
	job->heard |= UINT32_C(1) << rank;
	return job->heard == (UINT32_C(1) << job->supervisor->crew.world) - 1;
}
