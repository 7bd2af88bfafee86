/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's answers from a child process, over a pipe: one write, one bounded read. Whoever asks
 * may be killed meanwhile; the child, which may hang in the driver, then ends with it.
 */
#include "runtime/device/cuda/cuda_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct answer {
	enum tf_status status;
	int native;
	struct tf_cuda_probe probe;
	char text[TF_ERROR_TEXT_BYTES];
};

_Static_assert(sizeof(struct answer) <= PIPE_BUF, "an answer is written in one piece");

static void run_child(int fd, pid_t parent)
{
	struct tf_error error = {0};
	struct answer answer = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* it was gone before the line above */
	answer.status = tf_cuda_probe(&answer.probe, &error);
	answer.native = error.native;
	memcpy(answer.text, error.text, sizeof(answer.text));
	_exit(write(fd, &answer, sizeof(answer)) == (ssize_t)sizeof(answer) ? 0 : 1);
}

/* Whether a whole answer came; if not, whether that is because the bound has passed. */
static int read_answer(int fd, struct answer *out, int *out_was_late)
{
	int64_t deadline_ns = tf_deadline_after(TF_CUDA_PROBE_NS);
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int events;

	do
		events = poll(&ready, 1, tf_deadline_poll_ms(deadline_ns));
	while (events < 0 && errno == EINTR);
	*out_was_late = events == 0;
	return events == 1 && read(fd, out, sizeof(*out)) == (ssize_t)sizeof(*out);
}

/* How it ended; 0 where that is not known. */
static int end_child(pid_t child, int has_answered)
{
	int how = 0;

	if (!has_answered)
		kill(child, SIGKILL);
	while (waitpid(child, &how, 0) < 0)
		if (errno != EINTR)
			return 0;
	return how;
}

/* The child dies in the driver, or is still in it at the bound. */
static enum tf_status fail_without_answer(int was_late, int how, struct tf_error *err)
{
	if (was_late)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "the driver gave no answer in %d s",
			(int)(TF_CUDA_PROBE_NS / TF_NS_PER_S));
	if (WIFSIGNALED(how))
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"the process that asked the driver was killed by signal %d", WTERMSIG(how));
	return TF_FAIL(err, TF_E_UNAVAILABLE,
		"the process that asked the driver ended with code %d and no answer", WEXITSTATUS(how));
}

static enum tf_status take_answer(
	const struct answer *answer, struct tf_cuda_probe *out, struct tf_error *err)
{
	if (answer->status != TF_OK)
		return tf_error_set(err, answer->status, answer->native ? "cuda" : NULL, answer->native,
			__FILE__, __LINE__, "%.*s", (int)sizeof(answer->text) - 1, answer->text);
	*out = answer->probe;
	return TF_OK;
}

enum tf_status tf_cuda_probe_apart(struct tf_cuda_probe *out, struct tf_error *err)
{
	struct answer answer;
	int pipe_fds[2], has_answered, was_late, how;
	pid_t parent = getpid(), child;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return TF_FAIL_ERRNO(err, "cannot ask the driver in a child process: pipe");
	child = fork();
	if (child < 0) {
		enum tf_status status = TF_FAIL_ERRNO(err, "cannot ask the driver in a child process");

		close(pipe_fds[0]);
		close(pipe_fds[1]);
		return status;
	}
	if (child == 0)
		run_child(pipe_fds[1], parent);
	close(pipe_fds[1]);
	has_answered = read_answer(pipe_fds[0], &answer, &was_late);
	close(pipe_fds[0]);
	how = end_child(child, has_answered);
	if (!has_answered)
		return fail_without_answer(was_late, how, err);
	return take_answer(&answer, out, err);
}
