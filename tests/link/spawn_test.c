/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks as processes: exchanges, command sockets, ranks that are killed, stopped or left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "runtime/link/channel.h"
#include "runtime/link/spawn.h"
#include "tests/link/rank_threads.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	WORD_STARTED = TF_FRAME_USER,
	WORD_ENDED, /* tag: a status; data: its text */
	WORD_GO
};

/* Tells the parent how this rank ended. */
static int say_end(int command_fd, enum tf_status status, const struct tf_error *err)
{
	const char *text = status == TF_OK ? "" : err->text;

	if (tf_channel_send(command_fd, WORD_ENDED, (uint32_t)status, text, strlen(text), SOON, NULL) !=
		TF_OK)
		return 9;
	return status == TF_OK ? 0 : 1;
}

/* The next word of a rank; its text with an end in `out`. */
static uint32_t hear(
	struct tf_ranks *ranks, uint32_t rank, uint16_t expected, char *out, size_t size)
{
	struct tf_bytes data = {0};
	struct tf_error err;
	uint16_t type;
	uint32_t tag;

	if (tf_channel_recv(tf_ranks_command_fd(ranks, rank), &type, &tag, &data, SOON, &err) != TF_OK)
		fail_msg("rank %u: %s", rank, err.text);
	assert_int_equal(type, expected);
	snprintf(out, size, "%.*s", (int)data.size, data.data ? (const char *)data.data : "");
	tf_bytes_fini(&data);
	return tag;
}

static void assert_ended(
	struct tf_ranks *ranks, uint32_t rank, enum tf_status status, const char *expected)
{
	char text[TF_ERROR_TEXT_BYTES];
	uint32_t said = hear(ranks, rank, WORD_ENDED, text, sizeof(text));

	assert_string_equal(text, expected);
	assert_int_equal(said, status);
}

static int exchange_run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	uint32_t mine[1000], all[TF_WORLD_MAX][1000];
	enum tf_status status = TF_OK;
	struct tf_error err;
	int fds[TF_WORLD_MAX];

	(void)user;
	for (uint32_t i = 0; i < 1000; i++)
		mine[i] = rank * 1000 + i;
	for (int turn = 0; turn < 10 && status == TF_OK; turn++)
		status = tf_link_exchange_fixed(link, mine, sizeof(mine), all, SOON, &err);
	for (uint32_t r = 0; r < tf_link_world(link) && status == TF_OK; r++)
		for (uint32_t i = 0; i < 1000; i++)
			if (all[r][i] != r * 1000 + i)
				status = TF_FAIL(&err, TF_E_INTERNAL, "record of rank %u differs at %u", r, i);
	if (status == TF_OK)
		status = tf_link_exchange_fds(link, STDERR_FILENO, fds, SOON, &err);
	return say_end(command_fd, status, &err);
}

static void test_exchange_in_every_world(void **state)
{
	unsigned before = count_fds();

	(void)state;
	for (uint32_t world = 2; world <= TF_WORLD_MAX; world++) {
		struct tf_rank_exit exits[TF_WORLD_MAX];
		struct tf_ranks *ranks;

		assert_int_equal(tf_ranks_spawn(world, exchange_run, NULL, &ranks, NULL), TF_OK);
		for (uint32_t r = 0; r < world; r++)
			assert_ended(ranks, r, TF_OK, "");
		assert_int_equal(tf_ranks_wait(ranks, SOON, exits, NULL), TF_OK);
		for (uint32_t r = 0; r < world; r++)
			assert_int_equal(exits[r].code + exits[r].signal, 0);
		tf_ranks_destroy(ranks);
	}
	assert_int_equal(count_fds(), before);
}

/* A rank has its own link and command socket open and nothing of the others. */
static int count_run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	unsigned links = rank == 0 ? tf_link_world(link) - 1 : 1;
	unsigned inherited = *(const unsigned *)user;

	(void)command_fd;
	return count_fds() == inherited + links + 1 ? 0 : 1;
}

static void test_ranks_hold_their_own_descriptors_only(void **state)
{
	struct tf_rank_exit exits[TF_WORLD_MAX];
	unsigned before = count_fds();
	struct tf_ranks *ranks;

	(void)state;
	assert_int_equal(tf_ranks_spawn(4, count_run, &before, &ranks, NULL), TF_OK);
	assert_int_equal(tf_ranks_wait(ranks, SOON, exits, NULL), TF_OK);
	for (uint32_t r = 0; r < 4; r++)
		assert_int_equal(exits[r].code, 0);
	tf_ranks_destroy(ranks);
	assert_int_equal(count_fds(), before);
}

struct loop {
	int64_t bound_ns;
};

/* Barriers until one fails. */
static int barrier_run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	const struct loop *loop = user;
	enum tf_status status = TF_OK;
	struct tf_error err;

	(void)rank;
	for (unsigned turn = 0; status == TF_OK; turn++) {
		status = tf_link_barrier(link, tf_deadline_after(loop->bound_ns), &err);
		if (turn == 3 && tf_channel_send(command_fd, WORD_STARTED, 0, NULL, 0, SOON, NULL) != TF_OK)
			return 9;
	}
	return say_end(command_fd, status, &err);
}

static struct tf_ranks *start_barriers(uint32_t world, struct loop *loop)
{
	struct tf_ranks *ranks;
	char text[8];

	assert_int_equal(tf_ranks_spawn(world, barrier_run, loop, &ranks, NULL), TF_OK);
	for (uint32_t r = 0; r < world; r++)
		hear(ranks, r, WORD_STARTED, text, sizeof(text));
	return ranks;
}

static void test_each_rank_killed(void **state)
{
	/*
	 * Long: whoever waits for its clock instead of the closed socket says TIMEOUT and fails the
	 * test.
	 */
	struct loop loop = {60 * TF_NS_PER_S};

	(void)state;
	for (uint32_t victim = 0; victim < 4; victim++) {
		struct tf_ranks *ranks = start_barriers(4, &loop);
		struct tf_rank_exit exits[TF_WORLD_MAX];
		char text[TF_RANK_EXIT_TEXT_BYTES];

		assert_int_equal(kill(tf_ranks_pid(ranks, victim), SIGKILL), 0);
		snprintf(text, sizeof(text), "rank %u departed", victim);
		for (uint32_t r = 0; r < 4; r++)
			if (r != victim)
				assert_ended(ranks, r, TF_E_DISCONNECTED, text);
		assert_int_equal(tf_ranks_wait(ranks, SOON, exits, NULL), TF_OK);
		snprintf(text, sizeof(text), "rank %u was killed by signal 9 (Killed)", victim);
		for (uint32_t r = 0; r < 4; r++) {
			char how[TF_RANK_EXIT_TEXT_BYTES];

			tf_rank_exit_describe(r, &exits[r], how, sizeof(how));
			if (r == victim)
				assert_string_equal(how, text);
			else
				assert_int_equal(exits[r].code, 1);
		}
		tf_ranks_destroy(ranks);
	}
}

static void assert_timed_out_on(struct tf_ranks *ranks, uint32_t rank, uint32_t silent)
{
	char text[TF_ERROR_TEXT_BYTES];
	char expected[64];
	uint32_t status = hear(ranks, rank, WORD_ENDED, text, sizeof(text));
	size_t length;

	snprintf(expected, sizeof(expected), " timed out: no word from rank %u", silent);
	length = strlen(expected);
	if (strlen(text) < length || strcmp(text + strlen(text) - length, expected) != 0)
		fail_msg("rank %u said: %s", rank, text);
	assert_int_equal(status, TF_E_TIMEOUT);
}

static void test_each_rank_stopped(void **state)
{
	struct loop loop = {3 * TF_NS_PER_S};
	struct tf_ranks *groups[3];

	(void)state;
	for (uint32_t silent = 0; silent < 3; silent++) {
		groups[silent] = start_barriers(3, &loop);
		assert_int_equal(kill(tf_ranks_pid(groups[silent], silent), SIGSTOP), 0);
	}
	for (uint32_t silent = 0; silent < 3; silent++) {
		for (uint32_t r = 0; r < 3; r++)
			if (r != silent)
				assert_timed_out_on(groups[silent], r, silent);
		/*
		 * Rank 0 woke up late: the first of the others gave up on it, and said so before it left.
		 */
		assert_int_equal(kill(tf_ranks_pid(groups[silent], silent), SIGCONT), 0);
		if (silent != 0)
			assert_timed_out_on(groups[silent], silent, silent);
		tf_ranks_destroy(groups[silent]);
	}
}

static int wait_run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	struct tf_bytes data = {0};
	uint16_t type;
	uint32_t tag;

	(void)user;
	(void)rank;
	(void)link;
	if (tf_channel_recv(command_fd, &type, &tag, &data, SOON, NULL) != TF_OK)
		return 9;
	tf_bytes_fini(&data);
	return type == WORD_GO ? (int)tag : 8;
}

static void test_words_exits_and_waiting(void **state)
{
	struct tf_rank_exit exits[TF_WORLD_MAX];
	char text[TF_RANK_EXIT_TEXT_BYTES];
	struct tf_ranks *ranks;
	struct tf_error err;
	struct pollfd watch;

	(void)state;
	assert_int_equal(tf_ranks_spawn(3, wait_run, NULL, &ranks, NULL), TF_OK);
	assert_false(tf_ranks_has_ended(ranks, 1, &exits[1]));
	assert_int_equal(
		tf_channel_send(tf_ranks_command_fd(ranks, 1), WORD_GO, 3, NULL, 0, SOON, NULL), TF_OK);
	watch = (struct pollfd){.fd = tf_ranks_pidfd(ranks, 1), .events = POLLIN};
	if (watch.fd >= 0)
		assert_int_equal(poll(&watch, 1, 60000), 1);
	while (!tf_ranks_has_ended(ranks, 1, &exits[1]))
		usleep(1000);
	assert_int_equal(tf_ranks_pid(ranks, 1), 0);
	assert_string_equal(
		tf_rank_exit_describe(1, &exits[1], text, sizeof(text)), "rank 1 exited with code 3");
	assert_int_equal(tf_ranks_wait(ranks, tf_now_ns(), exits, &err), TF_E_TIMEOUT);
	assert_string_equal(err.text, "ranks 0 and 2 still run");
	assert_int_equal(tf_ranks_kill(ranks, &err), TF_OK);
	assert_int_equal(tf_ranks_wait(ranks, SOON, exits, &err), TF_OK);
	assert_int_equal(exits[0].signal, SIGKILL);
	assert_int_equal(exits[1].code, 3);
	assert_int_equal(exits[2].signal, SIGKILL);
	tf_ranks_destroy(ranks);
	tf_ranks_destroy(NULL);
	assert_int_equal(tf_ranks_spawn(0, wait_run, NULL, &ranks, &err), TF_E_USAGE);
	assert_int_equal(tf_ranks_spawn(9, wait_run, NULL, &ranks, &err), TF_E_USAGE);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
}

static int alone_run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	(void)user;
	if (rank || link)
		return 1;
	return tf_channel_send(command_fd, WORD_GO, 5, NULL, 0, SOON, NULL) == TF_OK ? 0 : 2;
}

/* A process beside the ranks: a word of its own, and no link. */
static void test_alone(void **state)
{
	struct tf_bytes data = {0};
	struct tf_rank_exit how;
	struct tf_ranks *ranks;
	uint16_t type = 0;
	uint32_t tag = 0;

	(void)state;
	assert_int_equal(tf_ranks_spawn(1, alone_run, NULL, &ranks, NULL), TF_OK);
	assert_int_equal(
		tf_channel_recv(tf_ranks_command_fd(ranks, 0), &type, &tag, &data, SOON, NULL), TF_OK);
	assert_int_equal(type, WORD_GO);
	assert_int_equal(tag, 5);
	assert_int_equal(tf_ranks_wait(ranks, SOON, &how, NULL), TF_OK);
	assert_int_equal(how.code, 0);
	assert_int_equal(how.signal, 0);
	tf_ranks_destroy(ranks);
	tf_bytes_fini(&data);
}

/*
 * A child has the dispositions of a fresh process, whatever its parent ignores or blocks; but a
 * closed terminal that is nothing to the parent is nothing to it.
 */
static int signal_run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	struct sigaction action, hangup;
	sigset_t mask;

	(void)user;
	(void)rank;
	(void)link;
	(void)command_fd;
	sigaction(SIGPIPE, NULL, &action);
	sigaction(SIGHUP, NULL, &hangup);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (hangup.sa_handler != SIG_IGN)
		return 2;
	return action.sa_handler == SIG_DFL && !sigismember(&mask, SIGTERM) ? 0 : 1;
}

static void test_signals_of_children(void **state)
{
	struct tf_rank_exit exits[TF_WORLD_MAX];
	struct tf_ranks *ranks;
	sigset_t term, old;

	(void)state;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(tf_ranks_spawn(2, signal_run, NULL, &ranks, NULL), TF_OK);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(tf_ranks_wait(ranks, SOON, exits, NULL), TF_OK);
	assert_int_equal(exits[0].code + exits[1].code, 0);
	tf_ranks_destroy(ranks);
}

static int sleep_run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	(void)user;
	(void)rank;
	(void)link;
	(void)command_fd;
	while (pause() < 0) /* only a signal that kills ends it */
		continue;
	return 0;
}

/* Ranks hold the pipe's other end open: its end is theirs. */
static void test_ranks_die_with_their_parent(void **state)
{
	struct pollfd watch = {.events = POLLIN};
	struct tf_ranks *ranks;
	int fds[2];
	pid_t pid;
	char byte;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		if (tf_ranks_spawn(3, sleep_run, NULL, &ranks, NULL) != TF_OK)
			_exit(1);
		_exit(write(fds[1], "s", 1) == 1 ? 0 : 1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	watch.fd = fds[0];
	assert_int_equal(poll(&watch, 1, 60000), 1);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(fds[0]);
}

static void test_without_memory(void **state)
{
	struct tf_ranks *ranks = NULL;
	unsigned before = count_fds();
	struct tf_error err;

	(void)state;
	tf_alloc_fail_at(1);
	assert_int_equal(tf_ranks_spawn(2, sleep_run, NULL, &ranks, &err), TF_E_NO_MEMORY);
	tf_alloc_fail_at(0);
	assert_null(ranks);
	assert_int_equal(count_fds(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exchange_in_every_world),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_ranks_hold_their_own_descriptors_only),
		cmocka_unit_test(test_each_rank_killed),
		cmocka_unit_test(test_each_rank_stopped),
		cmocka_unit_test(test_words_exits_and_waiting),
		cmocka_unit_test(test_signals_of_children),
		cmocka_unit_test(test_ranks_die_with_their_parent),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
