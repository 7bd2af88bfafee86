/* SPDX-License-Identifier: Apache-2.0 */
/* The last gate before a package is published; also behind `tfprep verify --run`. */
#include "prepare/export/package_check.h"

#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "prepare/export/job_watch.h"
#include "runtime/link/channel.h"
#include "runtime/session/session.h"

#define CHECK_SEED     UINT64_C(0x7466707265700003)
#define CHECK_TIMEOUTS 60
#define WORD_BOUND     (2 * TF_NS_PER_S)

struct check {
	const char *path, *device;
	int64_t timeout_ns;
};

/*
 * Steps again on other operands; the second time round everything is warm, so nothing may be
 * allocated.
 */
static enum tf_status repeat_capacity(
	struct tf_session *session, uint32_t capacity, struct tf_error *err)
{
	uint64_t before;

	TF_TRY(tf_session_fill(session, capacity, CHECK_SEED, err));
	tf_session_poison(session, capacity);
	TF_TRY(tf_session_step(session, capacity, err));
	TF_TRY(tf_session_compare(session, capacity, err));
	/* A foreign kernel may work in place: its step is the same only from the same state. */
	if (tf_session_program(session)->proof_count) {
		TF_TRY(tf_session_fill(session, capacity, CHECK_SEED, err));
		tf_session_poison(session, capacity);
	}
	before = tf_alloc_count();
	TF_TRY(tf_session_step(session, capacity, err));
	if (tf_alloc_count() != before)
		return TF_FAIL(err, TF_E_INTERNAL, "a step of capacity %u allocated %llu times", capacity,
			(unsigned long long)(tf_alloc_count() - before));
	return tf_session_compare(session, capacity, err);
}

static enum tf_status check_rank(
	const struct check *check, struct tf_link *link, struct tf_error *err)
{
	struct tf_session_options options = {
		.path = check->path,
		.device = check->device,
		.spread = 1,
		.timeout_ns = check->timeout_ns,
		.base_first = 1,
		.probe = 1,
	};
	struct tf_session *session = NULL;
	enum tf_status status = tf_session_open(&options, link, &session, err);
	const struct tf_program *program;

	if (status != TF_OK)
		return status;
	program = tf_session_program(session);
	for (uint32_t i = 0; status == TF_OK && i < program->graph_count; i++) {
		if (program->graphs[i].kind == TF_GRAPH_STEP)
			status = repeat_capacity(session, program->graphs[i].capacity, err);
	}
	tf_session_close(session);
	return status;
}

static int run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	struct tf_error err = {0};
	enum tf_status status = check_rank(user, link, &err);
	uint8_t done = 1;

	(void)rank;
	if (status == TF_OK)
		status = tf_channel_send(
			command_fd, TF_JOB_DONE, 0, &done, sizeof(done), tf_deadline_after(WORD_BOUND), &err);
	else
		(void)!tf_channel_send(
			command_fd, TF_JOB_FAILED, 0, &err, sizeof(err), tf_deadline_after(WORD_BOUND), NULL);
	return tf_status_exit(status);
}

enum tf_status tf_package_check_fresh(const char *path, uint32_t world, const char *device,
	int64_t timeout_ns, const volatile int *interrupted, struct tf_error *err)
{
	struct check check = {.path = path, .device = device, .timeout_ns = timeout_ns};
	uint8_t done = 0;
	enum tf_status status =
		tf_job_run(world, run, &check, tf_deadline_after(CHECK_TIMEOUTS * timeout_ns), NULL, NULL,
			interrupted, &done, sizeof(done), err);

	if (status != TF_OK)
		tf_error_prefix(err, "check of the package in fresh processes");
	return status;
}
