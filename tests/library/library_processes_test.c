/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that are processes and meet at an address, also in a locked-down container. */
#include "tests/library/library_ranks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SECRET "a secret of some length"

static char *package_tp2, *package_tp4; /* absolute */

static enum tfrun_status steps_and_check(struct tfrun_session *session, struct library_rank *rank)
{
	enum tfrun_status status = TFRUN_OK;

	for (unsigned i = 0; status == TFRUN_OK && i < 20; i++)
		status = tfrun_step(session, 1 + i % 8, &rank->error);
	return status == TFRUN_OK ? tfrun_check(session, 2, &rank->error) : status;
}

static struct library_rank rank_at(
	const char *path, uint32_t number, uint32_t world, const char *address, const char *secret)
{
	return (struct library_rank){
		.path = path,
		.body = steps_and_check,
		.options = {.size = sizeof(struct tfrun_options),
			.rank = number,
			.world = world,
			.address = address,
			.secret = secret,
			.timeout_ms = LIBRARY_TIMEOUT_MS},
	};
}

static void meet(const char *path, uint32_t world, const char *address)
{
	pid_t pids[LIBRARY_WORLD_MAX];

	for (uint32_t r = 0; r < world; r++) {
		struct library_rank rank = rank_at(path, r, world, address, NULL);

		pids[r] = library_rank_fork(&rank);
	}
	for (uint32_t r = 0; r < world; r++)
		assert_int_equal(library_rank_wait(pids[r]), 0);
}

static void processes_meet_at_an_abstract_socket(void **state)
{
	char address[64];

	(void)state;
	snprintf(address, sizeof(address), "unix:@tfrun-test-%d", (int)getpid());
	meet(package_tp2, 2, address);
	meet(package_tp4, 4, address);
}

/* A port that was free a moment ago. */
static int free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	close(fd);
	return ntohs(address.sin_port);
}

/* They meet, since the secret fits; but no memory can be shared over TCP, and all ranks say so. */
static void ranks_that_meet_at_a_port_share_no_memory(void **state)
{
	struct library_rank first, second;
	char address[64];
	pid_t pid;

	(void)state;
	snprintf(address, sizeof(address), "tcp:127.0.0.1:%d", free_port());
	first = rank_at(package_tp2, 0, 2, address, SECRET);
	second = rank_at(package_tp2, 1, 2, address, SECRET);
	pid = library_rank_fork(&first);
	library_rank_run(&second);
	library_assert_refused(&second, TFRUN_UNAVAILABLE, "the link of rank 1 is TCP");
	assert_int_equal(library_rank_wait(pid), TFRUN_UNAVAILABLE);
}

static void another_secret_is_refused(void **state)
{
	struct library_rank first, second;
	char address[64];
	pid_t pid;

	(void)state;
	snprintf(address, sizeof(address), "tcp:127.0.0.1:%d", free_port());
	first = rank_at(package_tp2, 0, 2, address, SECRET);
	first.options.timeout_ms = 1000;
	second = rank_at(package_tp2, 1, 2, address, "a secret of another kind");
	second.options.timeout_ms = 1000;
	pid = library_rank_fork(&first);
	library_rank_run(&second);
	library_assert_refused(&second, TFRUN_MISFIT, "secret");
	assert_int_equal(library_rank_wait(pid), TFRUN_TIMEOUT);
}

static void nothing_of_the_surroundings_is_needed(void **state)
{
	char before[4096];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir("/proc"), 0); /* nobody, root included, can write a file here */
	clearenv();
	meet(package_tp2, 2, "unix:@tfrun-test-bare");
	assert_int_equal(chdir(before), 0);
}

static enum tfrun_status die_in_the_third_step(
	struct tfrun_session *session, struct library_rank *rank)
{
	enum tfrun_status status = TFRUN_OK;

	for (unsigned i = 0; status == TFRUN_OK && i < 10; i++) {
		if (i == 2 && rank->options.rank == 1)
			raise(SIGKILL);
		status = tfrun_step(session, 1, &rank->error);
	}
	return status;
}

static void a_killed_rank_ends_the_others(void **state)
{
	struct library_rank survivor, victim;
	pid_t pid;

	(void)state;
	survivor = rank_at(package_tp2, 0, 2, "unix:@tfrun-test-victim", NULL);
	victim = rank_at(package_tp2, 1, 2, "unix:@tfrun-test-victim", NULL);
	survivor.body = victim.body = die_in_the_third_step;
	survivor.options.timeout_ms = victim.options.timeout_ms = LIBRARY_LOSS_MS;
	pid = library_rank_fork(&victim);
	library_rank_run(&survivor);
	assert_int_equal(library_rank_wait(pid), 128 + SIGKILL);
	assert_true(survivor.status == TFRUN_TIMEOUT || survivor.status == TFRUN_DISCONNECTED);
	library_assert_refused(&survivor, survivor.status, "rank 1");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_meet_at_an_abstract_socket),
		cmocka_unit_test(ranks_that_meet_at_a_port_share_no_memory),
		cmocka_unit_test(another_secret_is_refused),
		cmocka_unit_test(a_killed_rank_ends_the_others),
		cmocka_unit_test(nothing_of_the_surroundings_is_needed),
	};
	int failed;

	if (argc != 3)
		return 2;
	package_tp2 = realpath(argv[1], NULL);
	package_tp4 = realpath(argv[2], NULL);
	if (!package_tp2 || !package_tp4)
		return 2;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(package_tp2);
	free(package_tp4);
	return failed;
}
