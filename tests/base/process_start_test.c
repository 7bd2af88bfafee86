/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of a tool's process. Each case runs in a child, which tells by its exit code: its own
 * streams are what is closed.
 */
#include "base/process_start.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit code of a child that runs `body`, or -1 if a signal ended it. */
static int run_in_child(int (*body)(void))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* 0, or the number of the first thing that is not as it should be. */
static int closed_streams(void)
{
	char byte = 0;
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		close(fd);
	tf_process_start();
	for (fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) != 0)
			return 1; /* closed still, or not there for a child */
		if (write(fd, &byte, 1) != -1 || errno != EBADF)
			return 2;
		if (read(fd, &byte, 1) != -1 || errno != EBADF)
			return 3;
	}
	return open("/", O_RDONLY) > STDERR_FILENO ? 0 : 4;
}

static int open_streams(void)
{
	int pipe_fds[2];
	char byte = 'x';

	if (pipe(pipe_fds) || dup2(pipe_fds[1], STDOUT_FILENO) != STDOUT_FILENO)
		return 1;
	close(STDERR_FILENO);
	tf_process_start();
	if (write(STDOUT_FILENO, &byte, 1) != 1)
		return 2;
	return write(STDERR_FILENO, &byte, 1) == -1 && errno == EBADF ? 0 : 3;
}

static int file_too_large(void)
{
	struct rlimit limit = {.rlim_cur = 4, .rlim_max = 4};
	int fd;

	tf_process_start();
	fd = memfd_create("limited", MFD_CLOEXEC);
	if (fd < 0 || setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	return ftruncate(fd, 8) == -1 && errno == EFBIG ? 0 : 2;
}

static int ignored_children(void)
{
	int status = 0;
	pid_t pid;

	(void)signal(SIGCHLD, SIG_IGN);
	tf_process_start();
	pid = fork();
	if (!pid)
		_exit(7);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

static void closed_streams_are_held(void **state)
{
	assert_int_equal(run_in_child(closed_streams), 0);
	(void)state;
}

static void open_streams_stay(void **state)
{
	assert_int_equal(run_in_child(open_streams), 0);
	(void)state;
}

static void a_limit_of_size_is_an_error(void **state)
{
	assert_int_equal(run_in_child(file_too_large), 0);
	(void)state;
}

static void children_are_waited_for(void **state)
{
	assert_int_equal(run_in_child(ignored_children), 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_streams_are_held),
		cmocka_unit_test(open_streams_stay),
		cmocka_unit_test(a_limit_of_size_is_an_error),
		cmocka_unit_test(children_are_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
