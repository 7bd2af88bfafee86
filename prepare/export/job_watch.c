/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. Every rank ends in exactly one of: DONE, FAILED, or a closed socket (it died).
 * 2. A rank that died is the cause, whatever the others say; else the lowest-ranked failure that
 *    is not the loss of a peer.
 * 3. After the first end that is not DONE the others get one grace, then SIGKILL.
 */
#include "prepare/export/job_watch.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "runtime/link/channel.h"

#define GRACE_NS   (2 * TF_NS_PER_S)
#define TICK_NS    (TF_NS_PER_S / 10) /* how soon an interrupt is noticed */
#define WORD_BOUND (2 * TF_NS_PER_S)

enum rank_end { RANK_RUNNING = 0, RANK_DONE, RANK_FAILED, RANK_DIED };

struct watch {
	struct tf_ranks *ranks;
	uint32_t world;
	enum rank_end ends[TF_WORLD_MAX];
	struct tf_error errors[TF_WORLD_MAX];
	struct tf_bytes word;
	tf_progress_fn progress;
	void *progress_user;
	void *done;
	size_t done_bytes;
};

static void take_failure(struct watch *watch, uint32_t rank)
{
	struct tf_error *error = &watch->errors[rank];

	watch->ends[rank] = RANK_FAILED;
	if (watch->word.size == sizeof(*error)) {
		memcpy(error, watch->word.data, sizeof(*error));
		tf_error_adopt(error);
		return;
	}
	(void)!TF_FAIL(error, TF_E_INTERNAL, "rank %u failed without saying why", rank);
}

static void take_word(struct watch *watch, uint32_t rank, uint16_t type)
{
	struct tf_job_progress progress;

	switch (type) {
	case TF_JOB_PROGRESS:
		if (watch->word.size != sizeof(progress) || !watch->progress)
			return;
		memcpy(&progress, watch->word.data, sizeof(progress));
		progress.what[sizeof(progress.what) - 1] = '\0';
		watch->progress(watch->progress_user, progress.what, progress.done, progress.total);
		return;
	case TF_JOB_DONE:
		watch->ends[rank] = RANK_DONE;
		if (rank == 0 && watch->word.size == watch->done_bytes)
			memcpy(watch->done, watch->word.data, watch->done_bytes);
		return;
	default:
		take_failure(watch, rank);
	}
}

/* One readable socket: a word, or its end. */
static void hear(struct watch *watch, uint32_t rank)
{
	uint16_t type;
	uint32_t tag;
	struct tf_error error = {0};
	enum tf_status status = tf_channel_recv(tf_ranks_command_fd(watch->ranks, rank), &type, &tag,
		&watch->word, tf_deadline_after(WORD_BOUND), &error);

	if (status == TF_OK) {
		take_word(watch, rank, type);
		return;
	}
	if (status == TF_E_TIMEOUT)
		return;
	watch->ends[rank] = RANK_DIED;
	watch->errors[rank] = error;
}

static int all_ended(const struct watch *watch)
{
	for (uint32_t rank = 0; rank < watch->world; rank++) {
		if (watch->ends[rank] == RANK_RUNNING)
			return 0;
	}
	return 1;
}

static int any_failed(const struct watch *watch)
{
	for (uint32_t rank = 0; rank < watch->world; rank++) {
		if (watch->ends[rank] == RANK_FAILED || watch->ends[rank] == RANK_DIED)
			return 1;
	}
	return 0;
}

static void hear_ready(struct watch *watch, int64_t until_ns)
{
	struct pollfd polls[TF_WORLD_MAX];

	for (uint32_t rank = 0; rank < watch->world; rank++) {
		polls[rank].fd =
			watch->ends[rank] == RANK_RUNNING ? tf_ranks_command_fd(watch->ranks, rank) : -1;
		polls[rank].events = POLLIN;
		polls[rank].revents = 0;
	}
	if (poll(polls, watch->world, tf_deadline_poll_ms(until_ns)) <= 0)
		return;
	for (uint32_t rank = 0; rank < watch->world; rank++) {
		if (polls[rank].revents)
			hear(watch, rank);
	}
}

static enum tf_status name_the_late(const struct watch *watch, struct tf_error *err)
{
	char names[8 * TF_WORLD_MAX] = "";
	size_t used = 0;

	for (uint32_t rank = 0; rank < watch->world; rank++) {
		if (watch->ends[rank] == RANK_RUNNING)
			used += (size_t)snprintf(
				names + used, sizeof(names) - used, "%s%u", used ? ", " : "", rank);
	}
	return TF_FAIL(err, TF_E_TIMEOUT, "not finished within the bound: rank %s", names);
}

static enum tf_status hear_out(
	struct watch *watch, int64_t deadline_ns, const volatile int *interrupted, struct tf_error *err)
{
	while (!all_ended(watch)) {
		int64_t tick = tf_deadline_after(TICK_NS);

		if (interrupted && *interrupted)
			return TF_FAIL(err, TF_E_ABORTED, "interrupted");
		if (tf_deadline_passed(deadline_ns))
			return name_the_late(watch, err);
		if (any_failed(watch) && deadline_ns > tf_deadline_after(GRACE_NS))
			deadline_ns = tf_deadline_after(GRACE_NS);
		hear_ready(watch, tick < deadline_ns ? tick : deadline_ns);
	}
	return TF_OK;
}

static int only_lost_a_peer(enum tf_status status)
{
	return status == TF_E_DISCONNECTED || status == TF_E_ABORTED || status == TF_E_TIMEOUT;
}

static enum tf_status describe_death(struct watch *watch, uint32_t rank, struct tf_error *err)
{
	char text[TF_RANK_EXIT_TEXT_BYTES];
	struct tf_rank_exit how;

	if (!tf_ranks_has_ended(watch->ranks, rank, &how))
		return TF_FAIL(err, TF_E_DISCONNECTED, "rank %u broke off without a word", rank);
	tf_rank_exit_describe(rank, &how, text, sizeof(text));
	return TF_FAIL(err, TF_E_DISCONNECTED, "%s", text);
}

/* The cause among all ends: a death, then a failure of one's own, then whatever there is. */
static enum tf_status blame(struct watch *watch, struct tf_error *err)
{
	for (uint32_t rank = 0; rank < watch->world; rank++) {
		if (watch->ends[rank] == RANK_DIED)
			return describe_death(watch, rank, err);
	}
	for (int own = 1; own >= 0; own--) {
		for (uint32_t rank = 0; rank < watch->world; rank++) {
			if (watch->ends[rank] != RANK_FAILED ||
				(own && only_lost_a_peer(watch->errors[rank].status)))
				continue;
			if (err)
				*err = watch->errors[rank];
			return watch->errors[rank].status;
		}
	}
	return TF_OK;
}

enum tf_status tf_job_run(uint32_t world, tf_rank_fn run, void *user, int64_t deadline_ns,
	tf_progress_fn progress, void *progress_user, const volatile int *interrupted, void *out_done,
	size_t done_bytes, struct tf_error *err)
{
	struct watch watch = {
		.world = world,
		.progress = progress,
		.progress_user = progress_user,
		.done = out_done,
		.done_bytes = done_bytes,
	};
	struct tf_rank_exit exits[TF_WORLD_MAX];
	struct tf_error local = {0};
	enum tf_status status;

	TF_TRY(tf_ranks_spawn(world, run, user, &watch.ranks, err));
	status = hear_out(&watch, deadline_ns, interrupted, &local);
	/* An interrupt from a terminal ends the ranks too: they are not the cause. */
	if (interrupted && *interrupted)
		status = TF_FAIL(&local, TF_E_ABORTED, "interrupted");
	/*
	 * Ranks that said their last word, or lost it, end by themselves; whoever does not is killed
	 * below.
	 */
	if (status == TF_OK)
		(void)!tf_ranks_wait(watch.ranks, tf_deadline_after(GRACE_NS), exits, NULL);
	if (status == TF_OK || status == TF_E_TIMEOUT) {
		enum tf_status cause = blame(&watch, err);

		if (cause != TF_OK)
			status = cause;
		else if (status != TF_OK && err)
			*err = local;
	} else if (err) {
		*err = local;
	}
	tf_bytes_fini(&watch.word);
	tf_ranks_destroy(watch.ranks);
	return status;
}
