/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are ranks. Nothing here asserts in a thread: outcomes are judged by the test
 * itself.
 */
#include "tests/link/rank_threads.h"
#include "runtime/link/frame.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct job {
	uint32_t rank;
	struct tf_link_ends *ends;             /* attach, or */
	const struct tf_link_options *options; /* connect */
	rank_body body;
	void *user;
	struct tf_error *err;
};

static void *run_one(void *arg)
{
	struct job *job = arg;
	struct tf_link *link = NULL;
	enum tf_status status;

	memset(job->err, 0, sizeof(*job->err));
	if (job->ends)
		status = tf_link_attach(job->ends, job->rank, &link, job->err);
	else
		status = tf_link_connect(job->options, &link, job->err);
	if (status == TF_OK)
		status = job->body(job->user, link, job->err);
	/* A body that returns a failure without saying why must not pass for success. */
	job->err->status = status;
	tf_link_close(link);
	return NULL;
}

static void run_jobs(struct job *jobs, uint32_t world)
{
	pthread_t threads[TF_WORLD_MAX];

	for (uint32_t r = 0; r < world; r++)
		if (pthread_create(&threads[r], NULL, run_one, &jobs[r]) != 0)
			abort();
	for (uint32_t r = 0; r < world; r++)
		pthread_join(threads[r], NULL);
}

void run_ranks(uint32_t world, rank_body body, void *user, struct tf_error *out_errs)
{
	struct job jobs[TF_WORLD_MAX];
	struct tf_link_ends ends;

	if (tf_link_create_pairs(world, &ends, NULL) != TF_OK)
		abort();
	for (uint32_t r = 0; r < world; r++)
		jobs[r] = (struct job){r, &ends, NULL, body, user, &out_errs[r]};
	run_jobs(jobs, world);
	tf_link_ends_fini(&ends);
}

void run_connected(uint32_t world, const struct tf_link_options *options, rank_body body,
	void *user, struct tf_error *out_errs)
{
	struct job jobs[TF_WORLD_MAX];

	for (uint32_t r = 0; r < world; r++)
		jobs[r] = (struct job){r, NULL, &options[r], body, user, &out_errs[r]};
	run_jobs(jobs, world);
}

unsigned count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	if (!folder)
		abort();
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

void send_raw(int fd, const void *data, size_t bytes, const int *fds, unsigned fd_count)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(16 * sizeof(int))];
	} control = {0};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd_count) {
		struct cmsghdr *c;

		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, fd_count * sizeof(int));
	}
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) != (ssize_t)bytes)
		abort();
}

size_t make_frame(
	uint8_t *out, uint16_t type, uint32_t sender, uint32_t tag, const void *payload, uint32_t bytes)
{
	struct tf_frame frame = {.type = type, .sender = sender, .tag = tag, .length = bytes};

	tf_frame_encode(&frame, out);
	if (bytes)
		memcpy(out + TF_FRAME_HEADER_BYTES, payload, bytes);
	return TF_FRAME_HEADER_BYTES + bytes;
}
