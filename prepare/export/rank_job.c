/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. Every rank builds the whole program by itself; the catalogs' digests must be equal before
 *    rank 0's is taken.
 * 2. The preparation's memory is released, and the release timed, before the job reports done.
 */
#include "prepare/export/rank_job.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "catalog/catalog_write.h"
#include "prepare/capture/foreign_capture.h"
#include "prepare/links/links_attach.h"
#include "prepare/tune/plan.h"
#include "prepare/tune/plan_foreign.h"
#include "prepare/tune/prove.h"
#include "runtime/collective/collective.h"
#include "runtime/link/channel.h"
#include "runtime/session/peer_access.h"
#include "runtime/session/session.h"

#define WORD_TIMEOUT_NS (2 * TF_NS_PER_S)

struct job {
	const struct tf_rank_job *asked;
	struct tf_link *link;
	struct tf_link_clock *clock; /* where links are emulated */
	int command_fd;
	struct tf_device_properties properties;
	struct tf_program program;
	struct tf_bench_rank rank;
	struct tf_bytes catalog;
	struct tf_job_done done;
};

static enum tf_status say(
	int fd, enum tf_job_word word, const void *data, size_t bytes, struct tf_error *err)
{
	return tf_channel_send(
		fd, (uint16_t)word, 0, data, bytes, tf_deadline_after(WORD_TIMEOUT_NS), err);
}

/* Progress is a courtesy: a parent that does not read it must not fail the job. */
static void tell_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct job *job = user;
	struct tf_job_progress progress = {.done = done, .total = total};

	snprintf(progress.what, sizeof(progress.what), "%s", what);
	(void)!say(job->command_fd, TF_JOB_PROGRESS, &progress, sizeof(progress), NULL);
}

/* Rank r takes device r modulo the count; a job that counted none runs on the first. */
static uint32_t ordinal_of(const struct job *job)
{
	uint32_t count = job->asked->device_count;

	return count ? tf_link_rank(job->link) % count : 0;
}

/* What the device is, and what it may be used for. */
static enum tf_status open_device(struct job *job, struct tf_error *err)
{
	const char *why = NULL;

	tf_collective_register_host();
	TF_TRY(tf_device_ops_find(job->asked->device, &job->rank.ops, err));
	TF_TRY(job->rank.ops->open(ordinal_of(job), &job->rank.device, err));
	job->rank.ops->properties(job->rank.device, &job->properties);
	if (job->asked->links)
		TF_TRY(tf_links_attach(job->asked->links, tf_link_rank(job->link), tf_link_world(job->link),
			&job->properties, &job->clock, err));
	if (job->asked->nccl)
		job->properties.capabilities |= TF_DEVICE_LIBRARY;
	if (job->asked->no_peer_access)
		why = "switched off by option";
	else if (!tf_peer_access_is_offered(&job->properties))
		why = "a pair of devices has none";
	if (!why)
		return TF_OK;
	tf_peer_access_withdraw(&job->properties);
	snprintf(job->done.no_peer_access, sizeof(job->done.no_peer_access), "%s", why);
	return TF_OK;
}

static enum tf_status make_plan(struct job *job, struct tf_error *err)
{
	const char *const *row = job->asked->identity;
	enum tf_status status = tf_plan(job->asked->workload, job->asked->ladder, &job->properties,
		tf_link_world(job->link), &job->program, err);

	if (status != TF_OK && job->done.no_peer_access[0])
		tf_error_prefix(err, "without peer access (%s)", job->done.no_peer_access);
	TF_TRY(status);
	if (job->asked->links)
		TF_TRY(tf_links_describe(job->asked->links, &job->program, err));
	job->rank.foreign = job->asked->workload->foreign;
	if (job->rank.foreign)
		TF_TRY(tf_plan_foreign(
			job->rank.foreign, job->rank.ops, job->rank.device, &job->program, err));
	for (; row && row[0]; row += 2)
		TF_TRY(tf_program_set_identity(&job->program, row[0], row[1], err));
	job->done.segment_bytes = job->program.layout.segment_bytes;
	return TF_OK;
}

static enum tf_status agree(struct job *job, const struct tf_error *local, struct tf_error *err)
{
	int64_t bound =
		job->asked->timeout_ns + (strcmp(job->asked->device, "host") ? TF_DEVICE_OPEN_NS : 0);

	return tf_link_agree_ok(job->link, local, tf_deadline_after(bound), err);
}

/* All ranks come here, with the same text in `why`: the pair that failed, and how. */
static enum tf_status open_without_peers(
	struct job *job, const struct tf_error *why, struct tf_error *err)
{
	struct tf_error local = {0};

	snprintf(job->done.no_peer_access, sizeof(job->done.no_peer_access), "%.255s", why->text);
	tf_rank_window_close(&job->rank.window);
	tf_program_fini(&job->program);
	tf_peer_access_withdraw(&job->properties);
	(void)!make_plan(job, &local);
	TF_TRY(agree(job, &local, err));
	return tf_bench_rank_open(&job->rank, err);
}

static enum tf_status open_rank(struct job *job, struct tf_error *err)
{
	struct tf_error local = {0};
	int64_t begin = tf_now_ns();
	enum tf_status status;

	job->rank.link = job->link;
	job->rank.timeout_ns = job->asked->timeout_ns;
	job->rank.program = &job->program;
	job->rank.progress = tf_link_rank(job->link) == 0 ? tell_progress : NULL;
	job->rank.progress_user = job;
	if (open_device(job, &local) == TF_OK)
		(void)!make_plan(job, &local);
	TF_TRY(agree(job, &local, err));
	status = tf_bench_rank_open(&job->rank, &local);
	if (status != TF_OK && job->rank.unbelieved)
		status = open_without_peers(job, &local, err);
	else if (status != TF_OK && err)
		*err = local;
	job->done.open_ns = tf_now_ns() - begin;
	return status;
}

static enum tf_status capture_steps(struct job *job, struct tf_error *err)
{
	struct tf_error local = {0};
	int64_t begin = tf_now_ns();

	TF_TRY(tf_foreign_capture(&job->rank, err));
	(void)!tf_capture_step_graphs(&job->rank, &local);
	job->done.steps_capture_ns = tf_now_ns() - begin;
	TF_TRY(tf_link_agree_ok(job->link, &local, tf_deadline_after(job->asked->timeout_ns), err));
	return tf_prove_steps(&job->rank, err);
}

static enum tf_status write_all(int fd, const uint8_t *data, size_t size, struct tf_error *err)
{
	while (size) {
		ssize_t wrote = write(fd, data, size);

		if (wrote <= 0)
			return TF_FAIL_ERRNO(err, "cannot hand the catalog over");
		data += wrote;
		size -= (size_t)wrote;
	}
	return TF_OK;
}

static enum tf_status make_catalog(struct job *job, struct tf_error *err)
{
	uint8_t digest[TF_DIGEST_BYTES] = {0};
	struct tf_error local = {0};
	int64_t begin = tf_now_ns(), bound = 10 * job->asked->timeout_ns;

	if (tf_catalog_write(&job->program, &job->catalog, &local) == TF_OK)
		crypto_hash_sha256(digest, job->catalog.data, job->catalog.size);
	TF_TRY(tf_link_agree_ok(job->link, &local, tf_deadline_after(bound), err));
	TF_TRY(tf_link_agree_equal(
		job->link, "the catalog", digest, sizeof(digest), tf_deadline_after(bound), err));
	if (tf_link_rank(job->link) == 0) {
		TF_TRY(write_all(job->asked->catalog_fd, job->catalog.data, job->catalog.size, err));
		job->done.catalog_bytes = job->catalog.size;
	}
	job->done.catalog_ns = tf_now_ns() - begin;
	return TF_OK;
}

static enum tf_status run(struct job *job, struct tf_error *err)
{
	TF_TRY(open_rank(job, err));
	TF_TRY(tf_tune(&job->rank, &job->done.aggregate, &job->done.tune, err));
	TF_TRY(capture_steps(job, err));
	return make_catalog(job, err);
}

int tf_rank_job_run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	struct job job = {.asked = user, .link = link, .command_fd = command_fd};
	struct tf_error err = {0};
	enum tf_status status = run(&job, &err);
	int64_t begin = tf_now_ns();

	(void)rank;
	tf_bench_rank_close(&job.rank);
	tf_links_detach(job.clock);
	job.done.release_ns = tf_now_ns() - begin;
	tf_program_fini(&job.program);
	tf_bytes_fini(&job.catalog);
	if (status == TF_OK)
		status = say(command_fd, TF_JOB_DONE, &job.done, sizeof(job.done), &err);
	else
		(void)!say(command_fd, TF_JOB_FAILED, &err, sizeof(err), NULL);
	return tf_status_exit(status);
}
