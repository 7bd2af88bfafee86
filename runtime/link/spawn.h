/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of one host as child processes, their links wired. The parent is not a rank: it
 * supervises, speaks to each rank over a command socket (channel.h), and no child outlives it.
 */
#ifndef TF_RUNTIME_LINK_SPAWN_H
#define TF_RUNTIME_LINK_SPAWN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "runtime/link/link.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_ranks;

/*
 * A rank's work, in its own process. `link` is closed and `command_fd` with it when it returns;
 * its value, 0 to 255, is the process's exit code.
 */
typedef int (*tf_rank_fn)(void *user, uint32_t rank, struct tf_link *link, int command_fd);

/* How a rank ended: by a signal (`signal` not 0) or with an exit code. */
struct tf_rank_exit {
	int code;
	int signal;
};

/*
 * Forks `world` ranks. The caller must be single-threaded; buffered output is flushed first. A
 * child has default signal dispositions, but that SIGHUP and SIGXFSZ stay ignored where they are,
 * and an empty mask, is killed when the forking thread ends, and holds its own link and command
 * socket alone; other descriptors of the caller are inherited. It leaves by _exit: no exit handlers
 * run. A world of 1 is a process beside the ranks: it has no link (NULL).
 * TF_E_USAGE: world out of range.
 * TF_E_SYSTEM, TF_E_NO_MEMORY: nothing is left behind.
 */
TF_WARN_UNUSED enum tf_status tf_ranks_spawn(
	uint32_t world, tf_rank_fn run, void *user, struct tf_ranks **out_ranks, struct tf_error *err);

/* The rank's process id; 0 once its end was taken note of. */
pid_t tf_ranks_pid(const struct tf_ranks *ranks, uint32_t rank);

/* The parent's end of the rank's command socket; borrowed. */
int tf_ranks_command_fd(const struct tf_ranks *ranks, uint32_t rank);

/*
 * Readable once the rank ended, for an event loop; borrowed. -1 where the kernel has no such
 * thing.
 */
int tf_ranks_pidfd(const struct tf_ranks *ranks, uint32_t rank);

/* Whether the rank ended, without waiting; then *out_exit says how. */
int tf_ranks_has_ended(struct tf_ranks *ranks, uint32_t rank, struct tf_rank_exit *out_exit);

/*
 * Waits until every rank ended. out_exits (world) is set then.
 * TF_E_TIMEOUT names the ranks that still run; it may be called again.
 */
TF_WARN_UNUSED enum tf_status tf_ranks_wait(struct tf_ranks *ranks, int64_t deadline_ns,
	struct tf_rank_exit *out_exits, struct tf_error *err);

/*
 * Kills every rank that still runs and waits for its end, at most TF_RANKS_KILL_NS. TF_E_TIMEOUT
 * names those that the kernel does not let go, such as one inside a driver.
 */
#define TF_RANKS_KILL_NS (5 * TF_NS_PER_S)
TF_WARN_UNUSED enum tf_status tf_ranks_kill(struct tf_ranks *ranks, struct tf_error *err);

/*
 * In a process that was forked beside them: closes its copies of their descriptors, so that each
 * end stays in one process. No other call may follow there. Takes NULL.
 */
void tf_ranks_let_go(struct tf_ranks *ranks);

/* Kills what still runs and frees all. Takes NULL. */
void tf_ranks_destroy(struct tf_ranks *ranks);

/* "rank 2 was killed by signal 9 (Killed)", "rank 1 exited with code 3". Returns `out`. */
#define TF_RANK_EXIT_TEXT_BYTES 96
const char *tf_rank_exit_describe(
	uint32_t rank, const struct tf_rank_exit *how, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
