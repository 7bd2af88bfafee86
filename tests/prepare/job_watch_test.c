/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of a job: whose fault it was when ranks fail, die, hang or are interrupted, and
 * that none is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/deadline.h"
#include "prepare/export/job_watch.h"
#include "runtime/link/channel.h"

enum deed {
	DEED_DONE = 0,
	DEED_FAIL,      /* says a failure of its own */
	DEED_LOSE_PEER, /* says that it only lost a peer */
	DEED_DIE,       /* is killed without a word */
	DEED_EXIT,      /* leaves without a word */
	DEED_HANG,
	DEED_PROGRESS, /* tells progress, then is done */
	DEED_RUBBISH,  /* says a failure in the wrong shape */
};

struct scene {
	enum deed deeds[TF_WORLD_MAX];
	uint64_t progress_seen;
	volatile int interrupted;
};

static void say(int fd, uint16_t word, const void *data, size_t bytes)
{
	(void)!tf_channel_send(fd, word, 0, data, bytes, tf_deadline_after(TF_NS_PER_S), NULL);
}

static void fail_with(int fd, enum tf_status status, const char *text)
{
	struct tf_error err = {0};

	(void)!TF_FAIL(&err, status, "%s", text);
	say(fd, TF_JOB_FAILED, &err, sizeof(err));
}

static int act(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	const struct scene *scene = user;
	struct tf_job_progress progress = {.what = "verify", .done = 3, .total = 4};
	uint64_t done = 1000 + rank;

	(void)link;
	switch (scene->deeds[rank]) {
	case DEED_FAIL:
		fail_with(command_fd, TF_E_LIMIT, "my own fault");
		return 1;
	case DEED_LOSE_PEER:
		fail_with(command_fd, TF_E_DISCONNECTED, "a peer departed");
		return 1;
	case DEED_DIE:
		raise(SIGKILL);
		return 1;
	case DEED_EXIT:
		return 3;
	case DEED_HANG:
		for (;;)
			pause();
	case DEED_RUBBISH:
		say(command_fd, TF_JOB_FAILED, "?", 1);
		return 1;
	case DEED_PROGRESS:
		say(command_fd, TF_JOB_PROGRESS, &progress, sizeof(progress));
		break;
	case DEED_DONE:
		break;
	}
	say(command_fd, TF_JOB_DONE, &done, sizeof(done));
	return 0;
}

static void progress(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct scene *scene = user;

	if (!strcmp(what, "verify") && total == 4)
		scene->progress_seen = done;
}

static enum tf_status play(
	struct scene *scene, uint32_t world, int64_t bound_ns, uint64_t *done, struct tf_error *err)
{
	enum tf_status status;

	memset(err, 0, sizeof(*err));
	status = tf_job_run(world, act, scene, tf_deadline_after(bound_ns), progress, scene,
		&scene->interrupted, done, sizeof(*done), err);
	/* no child is left, not even one to be waited for */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return status;
}

#define LONG_NS (60 * TF_NS_PER_S)

static void test_all_done(void **state)
{
	struct scene scene = {.deeds = {DEED_PROGRESS, DEED_DONE, DEED_DONE}};
	struct tf_error err;
	uint64_t done = 0;

	(void)state;
	assert_int_equal(play(&scene, 3, LONG_NS, &done, &err), TF_OK);
	assert_int_equal(done, 1000); /* rank 0's */
	assert_int_equal(scene.progress_seen, 3);
}

static void test_the_cause_before_those_that_lost_a_peer(void **state)
{
	struct scene scene = {.deeds = {DEED_LOSE_PEER, DEED_LOSE_PEER, DEED_FAIL, DEED_DONE}};
	struct tf_error err;
	uint64_t done;

	(void)state;
	assert_int_equal(play(&scene, 4, LONG_NS, &done, &err), TF_E_LIMIT);
	assert_string_equal(err.text, "my own fault");
	scene.deeds[2] = DEED_LOSE_PEER;
	assert_int_equal(play(&scene, 4, LONG_NS, &done, &err), TF_E_DISCONNECTED);
	assert_string_equal(err.text, "a peer departed");
	scene.deeds[1] = DEED_RUBBISH;
	assert_int_equal(play(&scene, 4, LONG_NS, &done, &err), TF_E_INTERNAL);
	assert_non_null(strstr(err.text, "rank 1"));
}

static void test_a_death_is_told_with_its_signal(void **state)
{
	struct scene scene = {.deeds = {DEED_LOSE_PEER, DEED_DIE, DEED_LOSE_PEER}};
	struct tf_error err;
	uint64_t done;

	(void)state;
	assert_int_equal(play(&scene, 3, LONG_NS, &done, &err), TF_E_DISCONNECTED);
	assert_non_null(strstr(err.text, "rank 1 was killed by signal 9"));
	scene.deeds[1] = DEED_EXIT;
	assert_int_equal(play(&scene, 3, LONG_NS, &done, &err), TF_E_DISCONNECTED);
	assert_non_null(strstr(err.text, "rank 1 exited with code 3"));
}

/* The others hang: they are ended after a grace, and the dead one is still told as it died. */
static void test_a_death_while_others_hang(void **state)
{
	struct scene scene = {.deeds = {DEED_HANG, DEED_DIE, DEED_HANG}};
	struct tf_error err;
	uint64_t done;

	(void)state;
	assert_int_equal(play(&scene, 3, LONG_NS, &done, &err), TF_E_DISCONNECTED);
	assert_non_null(strstr(err.text, "rank 1 was killed by signal 9"));
}

static void test_a_hang_ends_by_the_bound(void **state)
{
	struct scene scene = {.deeds = {DEED_DONE, DEED_HANG}};
	struct tf_error err;
	uint64_t done;

	(void)state;
	assert_int_equal(play(&scene, 2, 300 * TF_NS_PER_MS, &done, &err), TF_E_TIMEOUT);
	assert_non_null(strstr(err.text, "rank 1"));
	assert_null(strstr(err.text, "rank 0"));
}

static void test_an_interrupt(void **state)
{
	struct scene scene = {.deeds = {DEED_HANG, DEED_HANG}, .interrupted = 1};
	struct tf_error err;
	uint64_t done;

	(void)state;
	assert_int_equal(play(&scene, 2, LONG_NS, &done, &err), TF_E_ABORTED);
	assert_non_null(strstr(err.text, "interrupted"));
	/* from a terminal it ends the ranks as well, and is still the cause */
	scene.deeds[0] = scene.deeds[1] = DEED_DIE;
	assert_int_equal(play(&scene, 2, LONG_NS, &done, &err), TF_E_ABORTED);
	assert_string_equal(err.text, "interrupted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_done),
		cmocka_unit_test(test_the_cause_before_those_that_lost_a_peer),
		cmocka_unit_test(test_a_death_is_told_with_its_signal),
		cmocka_unit_test(test_a_death_while_others_hang),
		cmocka_unit_test(test_a_hang_ends_by_the_bound),
		cmocka_unit_test(test_an_interrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
