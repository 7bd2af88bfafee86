/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forking, watching and ending the ranks of one host.
 *
 * 1. A pid is signalled only before its end was taken note of, so it cannot belong to someone else.
 * 2. After the forks each end of each socket exists in one process, so that a death closes it.
 */
#include "runtime/link/spawn.h"
#include "base/alloc.h"
#include "base/log.h"
#include "runtime/link/star.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS (5 * TF_NS_PER_MS) /* between two looks where there is no pidfd */

struct child {
	pid_t pid; /* 0: none, or its end was taken note of */
	int command_fd;
	int pidfd;
	struct tf_rank_exit how;
};

struct tf_ranks {
	uint32_t world;
	struct child children[TF_WORLD_MAX];
};

/* What the forks share; the parent has none of it left afterwards. */
struct wiring {
	struct tf_link_ends ends;
	int command_fds[TF_WORLD_MAX]; /* the children's ends */
};

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void wiring_fini(struct wiring *wiring)
{
	tf_link_ends_fini(&wiring->ends);
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		close_one(&wiring->command_fds[r]);
}

static enum tf_status wire(struct tf_ranks *ranks, struct wiring *out_wiring, struct tf_error *err)
{
	struct wiring wiring;

	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		wiring.ends.root_fds[r] = wiring.ends.peer_fds[r] = -1;
	if (ranks->world != 1)
		TF_TRY(tf_link_create_pairs(ranks->world, &wiring.ends, err));
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		wiring.command_fds[r] = -1;
	for (uint32_t r = 0; r < ranks->world; r++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
			enum tf_status status =
				TF_FAIL_ERRNO(err, "cannot make the command socket of rank %u", r);

			wiring_fini(&wiring);
			return status;
		}
		ranks->children[r].command_fd = pair[0];
		wiring.command_fds[r] = pair[1];
	}
	*out_wiring = wiring;
	return TF_OK;
}

/*
 * Handlers are the parent's. To live on when the terminal is closed (nohup) or a file has grown
 * too large is meant for the ranks as well.
 */
static void reset_signal(int sig)
{
	struct sigaction was;

	if ((sig == SIGHUP || sig == SIGXFSZ) && !sigaction(sig, NULL, &was) &&
		was.sa_handler == SIG_IGN)
		return;
	(void)signal(sig, SIG_DFL);
}

/* A child begins as a fresh process would, and dies with its parent. */
static void begin_child(pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(TF_EXIT_FAILED); /* the parent was gone before the line above */
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		reset_signal(sig);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Keeps what is this rank's own; returns its command socket. */
static int keep_own(struct tf_ranks *ranks, struct wiring *wiring, uint32_t rank)
{
	int command_fd = wiring->command_fds[rank];

	tf_link_ends_keep(&wiring->ends, rank);
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
		close_one(&ranks->children[r].command_fd);
		close_one(&ranks->children[r].pidfd);
		if (r != rank)
			close_one(&wiring->command_fds[r]);
	}
	return command_fd;
}

static _Noreturn void run_child(struct tf_ranks *ranks, struct wiring *wiring, uint32_t rank,
	tf_rank_fn run, void *user, pid_t parent)
{
	struct tf_link *link = NULL;
	struct tf_error err;
	int code = TF_EXIT_FAILED;
	int command_fd;

	begin_child(parent);
	command_fd = keep_own(ranks, wiring, rank);
	if (ranks->world == 1 || tf_link_attach(&wiring->ends, rank, &link, &err) == TF_OK)
		code = run(user, rank, link, command_fd);
	else
		tf_log(TF_LOG_ERROR, "rank %u cannot attach: %s", rank, err.text);
	tf_link_close(link);
	close(command_fd);
	fflush(NULL);
	_exit(code & 0xff);
}

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static enum tf_status fork_all(
	struct tf_ranks *ranks, struct wiring *wiring, tf_rank_fn run, void *user, struct tf_error *err)
{
	pid_t parent = getpid();

	fflush(NULL);
	for (uint32_t r = 0; r < ranks->world; r++) {
		pid_t pid = fork();

		if (pid == 0)
			run_child(ranks, wiring, r, run, user, parent);
		if (pid < 0)
			return TF_FAIL_ERRNO(err, "cannot start rank %u", r);
		ranks->children[r].pid = pid;
		ranks->children[r].pidfd = open_pidfd(pid);
	}
	return TF_OK;
}

enum tf_status tf_ranks_spawn(
	uint32_t world, tf_rank_fn run, void *user, struct tf_ranks **out_ranks, struct tf_error *err)
{
	struct tf_ranks *ranks = tf_calloc(1, sizeof(*ranks));
	struct wiring wiring;
	enum tf_status status;

	if (!ranks)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to start %u ranks", world);
	ranks->world = world;
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		ranks->children[r].command_fd = ranks->children[r].pidfd = -1;
	status = wire(ranks, &wiring, err);
	if (status == TF_OK) {
		status = fork_all(ranks, &wiring, run, user, err);
		wiring_fini(&wiring);
	}
	if (status != TF_OK) {
		tf_ranks_destroy(ranks);
		return status;
	}
	*out_ranks = ranks;
	return TF_OK;
}

pid_t tf_ranks_pid(const struct tf_ranks *ranks, uint32_t rank)
{
	return ranks->children[rank].pid;
}

int tf_ranks_command_fd(const struct tf_ranks *ranks, uint32_t rank)
{
	return ranks->children[rank].command_fd;
}

int tf_ranks_pidfd(const struct tf_ranks *ranks, uint32_t rank)
{
	return ranks->children[rank].pidfd;
}

int tf_ranks_has_ended(struct tf_ranks *ranks, uint32_t rank, struct tf_rank_exit *out_exit)
{
	struct child *child = &ranks->children[rank];

	if (child->pid) {
		int how = 0;
		pid_t ended;

		do {
			ended = waitpid(child->pid, &how, WNOHANG);
		} while (ended < 0 && errno == EINTR);
		if (ended == 0)
			return 0;
		/* ECHILD: someone else took its end; all that is known is that it is over. */
		child->how.code = ended > 0 && WIFEXITED(how) ? WEXITSTATUS(how) : TF_EXIT_FAILED;
		child->how.signal = ended > 0 && WIFSIGNALED(how) ? WTERMSIG(how) : 0;
		child->pid = 0;
	}
	*out_exit = child->how;
	return 1;
}

/* Sleeps until a rank may have ended. */
static void watch(const struct tf_ranks *ranks, uint32_t running, int64_t deadline_ns)
{
	struct pollfd fds[TF_WORLD_MAX];
	int64_t until = deadline_ns;

	for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
		int runs = (running >> r) & 1;

		fds[r] = (struct pollfd){.fd = runs ? ranks->children[r].pidfd : -1, .events = POLLIN};
		if (runs && ranks->children[r].pidfd < 0 && tf_deadline_after(NAP_NS) < until)
			until = tf_deadline_after(NAP_NS);
	}
	(void)poll(fds, TF_WORLD_MAX, tf_deadline_poll_ms(until));
}

enum tf_status tf_ranks_wait(struct tf_ranks *ranks, int64_t deadline_ns,
	struct tf_rank_exit *out_exits, struct tf_error *err)
{
	for (;;) {
		struct tf_rank_exit exits[TF_WORLD_MAX] = {0};
		char list[TF_STAR_LIST_BYTES];
		uint32_t running = 0;

		for (uint32_t r = 0; r < ranks->world; r++)
			if (!tf_ranks_has_ended(ranks, r, &exits[r]))
				running |= UINT32_C(1) << r;
		if (!running) {
			memcpy(out_exits, exits, ranks->world * sizeof(exits[0]));
			return TF_OK;
		}
		if (tf_deadline_passed(deadline_ns))
			return TF_FAIL(err, TF_E_TIMEOUT, "%s still %s",
				tf_star_rank_list(running, list, sizeof(list)),
				running & (running - 1) ? "run" : "runs");
		watch(ranks, running, deadline_ns);
	}
}

enum tf_status tf_ranks_kill(struct tf_ranks *ranks, struct tf_error *err)
{
	struct tf_rank_exit exits[TF_WORLD_MAX];

	for (uint32_t r = 0; r < ranks->world; r++)
		if (!tf_ranks_has_ended(ranks, r, &exits[r]))
			(void)kill(ranks->children[r].pid, SIGKILL);
	TF_TRY(tf_ranks_wait(ranks, tf_deadline_after(TF_RANKS_KILL_NS), exits, err));
	return TF_OK;
}

void tf_ranks_let_go(struct tf_ranks *ranks)
{
	for (uint32_t r = 0; ranks && r < TF_WORLD_MAX; r++) {
		close_one(&ranks->children[r].command_fd);
		close_one(&ranks->children[r].pidfd);
	}
}

void tf_ranks_destroy(struct tf_ranks *ranks)
{
	struct tf_error err;

	if (!ranks)
		return;
	if (ranks->world <= TF_WORLD_MAX && tf_ranks_kill(ranks, &err) != TF_OK)
		tf_log(TF_LOG_ERROR, "cannot end the ranks: %s", err.text);
	tf_ranks_let_go(ranks);
	tf_free(ranks);
}

const char *tf_rank_exit_describe(
	uint32_t rank, const struct tf_rank_exit *how, char *out, size_t size)
{
	if (how->signal) {
		const char *words = sigdescr_np(how->signal);

		snprintf(out, size, "rank %u was killed by signal %d (%s)", rank, how->signal,
			words ? words : "unknown");
	} else {
		snprintf(out, size, "rank %u exited with code %d", rank, how->code);
	}
	return out;
}
