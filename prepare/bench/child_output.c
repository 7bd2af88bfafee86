/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   spawned --both pipes end--> reaped, its group killed
 *      |  deadline, interrupt, too much output
 *      +--> told to end (SIGTERM) --grace--> killed --> reaped, its group killed
 */
#include "prepare/bench/child_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/deadline.h"

#define OUTPUT_MAX ((size_t)1 << 20) /* a thousand times what a round answers */
#define GRACE_NS   (2 * TF_NS_PER_S)
#define TICK_NS    (TF_NS_PER_S / 10)
#define NAP_US     2000

extern char **environ;

struct child {
	pid_t pid;
	int fds[2]; /* what it writes to stdout and stderr; -1 once ended */
	int status;
	int reaped;
};

static enum tf_status start(char *const *argv, const int ends[2], pid_t *pid, struct tf_error *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int code;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[0], 1);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	code = posix_spawn(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	errno = code;
	return code ? TF_FAIL_ERRNO(err, "cannot run '%s'", argv[0]) : TF_OK;
}

static enum tf_status spawn(char *const *argv, struct child *child, struct tf_error *err)
{
	int pipes[2][2] = {{-1, -1}, {-1, -1}}, ends[2];
	enum tf_status status;

	if (pipe2(pipes[0], O_CLOEXEC) || pipe2(pipes[1], O_CLOEXEC)) {
		status = TF_FAIL_ERRNO(err, "cannot make a pipe");
	} else {
		ends[0] = pipes[0][1];
		ends[1] = pipes[1][1];
		status = start(argv, ends, &child->pid, err);
	}
	for (int i = 0; i < 2; i++) {
		if (pipes[i][1] >= 0)
			close(pipes[i][1]);
		child->fds[i] = pipes[i][0];
	}
	return status;
}

static enum tf_status take(int *fd, struct tf_bytes *to, struct tf_error *err)
{
	char piece[4096];
	ssize_t got = read(*fd, piece, sizeof(piece));

	if (got < 0 && errno == EINTR)
		return TF_OK;
	if (got <= 0) {
		close(*fd);
		*fd = -1;
		return TF_OK;
	}
	if (to->size + (size_t)got > OUTPUT_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "it wrote more than %zu bytes", OUTPUT_MAX);
	return tf_bytes_append(to, piece, (size_t)got, err);
}

static enum tf_status collect(struct child *child, int64_t deadline_ns,
	const volatile int *interrupted, struct tf_bytes *const to[2], struct tf_error *err)
{
	while (child->fds[0] >= 0 || child->fds[1] >= 0) {
		struct pollfd polls[2] = {
			{.fd = child->fds[0], .events = POLLIN}, {.fd = child->fds[1], .events = POLLIN}};
		int64_t tick = tf_deadline_after(TICK_NS);

		if (interrupted && *interrupted)
			return TF_FAIL(err, TF_E_ABORTED, "interrupted");
		if (tf_deadline_passed(deadline_ns))
			return TF_FAIL(err, TF_E_TIMEOUT, "it did not end within its bound");
		if (poll(polls, 2, tf_deadline_poll_ms(tick < deadline_ns ? tick : deadline_ns)) <= 0)
			continue;
		for (int i = 0; i < 2; i++) {
			if (polls[i].revents)
				TF_TRY(take(&child->fds[i], to[i], err));
		}
	}
	return TF_OK;
}

/*
 * Once the child has ended, and while its number is still held by it, what it left in its group is
 * killed.
 */
static int reap(struct child *child, int64_t deadline_ns)
{
	while (!child->reaped) {
		siginfo_t info = {.si_pid = 0};
		int code = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);

		if (code && errno != EINTR)
			child->reaped = 1; /* not ours any more; nothing is known about its end */
		if (!code && info.si_pid) {
			kill(-child->pid, SIGKILL);
			child->reaped = waitpid(child->pid, &child->status, 0) == child->pid;
		}
		if (child->reaped || tf_deadline_passed(deadline_ns))
			break;
		usleep(NAP_US);
	}
	return child->reaped;
}

/* Told first, so that it can end what it has started elsewhere. */
static void end(struct child *child)
{
	kill(child->pid, SIGTERM);
	if (reap(child, tf_deadline_after(GRACE_NS)))
		return;
	kill(-child->pid, SIGKILL);
	(void)reap(child, tf_deadline_after(GRACE_NS));
}

static const char *last_line(struct tf_bytes *errors)
{
	char *text = (char *)errors->data, *line;

	while (errors->size && strchr(" \n-", text[errors->size - 1]))
		text[--errors->size] = '\0';
	line = text ? strrchr(text, '\n') : NULL;
	return line ? line + 1 : text ? text : "";
}

static enum tf_status judge(
	const struct child *child, struct tf_bytes *errors, struct tf_error *err)
{
	if (WIFEXITED(child->status) && !WEXITSTATUS(child->status))
		return TF_OK;
	if (WIFEXITED(child->status))
		return TF_FAIL(err, TF_E_SYSTEM, "it exited with code %d: %.300s",
			WEXITSTATUS(child->status), last_line(errors));
	return TF_FAIL(err, TF_E_SYSTEM, "it was ended by signal %d: %.300s", WTERMSIG(child->status),
		last_line(errors));
}

enum tf_status tf_child_output(char *const *argv, int64_t deadline_ns,
	const volatile int *interrupted, struct tf_bytes *out, struct tf_bytes *errors,
	struct tf_error *err)
{
	struct tf_bytes *const to[2] = {out, errors};
	struct child child = {.fds = {-1, -1}};
	enum tf_status status = spawn(argv, &child, err);

	if (status == TF_OK) {
		status = collect(&child, deadline_ns, interrupted, to, err);
		if (status == TF_OK && !reap(&child, deadline_ns))
			status = TF_FAIL(err, TF_E_TIMEOUT, "it did not end within its bound");
		if (!child.reaped)
			end(&child);
	}
	for (int i = 0; i < 2; i++) {
		if (child.fds[i] >= 0)
			close(child.fds[i]);
		if (status == TF_OK)
			status = tf_bytes_printf(to[i], err, "%s", "");
	}
	return status == TF_OK ? judge(&child, errors, err) : status;
}
