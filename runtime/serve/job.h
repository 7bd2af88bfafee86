/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: what the ranks do together, one at a time, in the order of asking. A job is a step request,
 * a piece of a tensor, a bench or a drift; its ops say how it begins, what it hears from the ranks,
 * and how it ends.
 */
#ifndef TF_RUNTIME_SERVE_JOB_H
#define TF_RUNTIME_SERVE_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Clients that wait beyond this wait for nothing: each job may take seconds. */
#define TF_JOBS_WAITING_MAX 64

struct tf_job;
struct tf_supervisor;

struct tf_job_ops {
	const char *doing; /* "during a step" */
	/* Gives the ranks their orders. */
	void (*begin)(struct tf_job *job);
	/* A rank's word. Nonzero once the job is done. */
	int (*hear)(struct tf_job *job, uint32_t rank, uint16_t type, const void *data, size_t bytes);
	/* Whether anybody still wants it, asked when its turn comes after a wait; NULL: always. */
	int (*is_wanted)(const struct tf_job *job);
	/*
	 * Takes the job: answers whoever asked and frees it. `cause` is NULL when it was done, else why
	 * it was not (it may never have begun).
	 */
	void (*end)(struct tf_job *job, const struct tf_error *cause);
};

/* The first member of each kind of job. */
struct tf_job {
	const struct tf_job_ops *ops;
	struct tf_supervisor *supervisor;
	struct tf_job *next;
	uint32_t heard; /* bits: ranks that answered */
	int begun;
};

/* {0} is empty. */
struct tf_jobs {
	struct tf_job *running, *first, *last;
	uint32_t waiting;
};

/*
 * Takes the job and begins it when its turn comes; TF_E_LIMIT: too many wait (the job stays the
 * caller's).
 */
TF_WARN_UNUSED enum tf_status tf_jobs_add(
	struct tf_supervisor *supervisor, struct tf_job *job, struct tf_error *err);

/* Hands a word to the running job; when that ends it the next one that is wanted begins. */
void tf_jobs_hear(
	struct tf_supervisor *supervisor, uint32_t rank, uint16_t type, const void *data, size_t bytes);

/* Ends those that wait, or all, with `cause`. */
void tf_jobs_refuse_waiting(struct tf_supervisor *supervisor, const struct tf_error *cause);
void tf_jobs_end_all(struct tf_supervisor *supervisor, const struct tf_error *cause);

/* Notes that a rank answered; nonzero once all have. */
int tf_job_heard_all(struct tf_job *job, uint32_t rank);

#ifdef __cplusplus
}
#endif
#endif
