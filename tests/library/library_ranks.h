/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that use libtfrun as an engine does: only through the installed header, a thread or a
 * process each.
 */
#ifndef TF_TESTS_LIBRARY_LIBRARY_RANKS_H
#define TF_TESTS_LIBRARY_LIBRARY_RANKS_H

#include <stdint.h>
#include <sys/types.h>
#include <tfrun/tfrun.h>

#define LIBRARY_WORLD_MAX 8

/* For ranks that are to succeed: under a sanitizer, on a busy machine, more ranks than cores. */
#define LIBRARY_TIMEOUT_MS 60000
/* For ranks that open and then lose a peer; their test takes as long. */
#define LIBRARY_LOSS_MS 5000

struct library_rank;

/* What a rank does with its open session; cmocka must not be called from here. */
typedef enum tfrun_status (*library_body)(struct tfrun_session *session, struct library_rank *rank);

/* What a rank's thread does before it opens and after it has closed. */
typedef enum tfrun_status (*library_hook)(struct library_rank *rank);

/* Leaves a body or hook at the first thing that is not as it must be; the text says which. */
#define LIBRARY_CHECK(rank, condition)                                                             \
	do {                                                                                           \
		if (!(condition))                                                                          \
			return library_rank_complain((rank), __LINE__, #condition);                            \
	} while (0)

enum tfrun_status library_rank_complain(struct library_rank *rank, int line, const char *condition);

struct library_rank {
	const char *path;
	struct tfrun_options options;
	library_body body;          /* NULL: only open and close */
	library_hook before, after; /* NULL: nothing; `after` only if all went well so far */
	void *user;                 /* borrowed; for the body */
	enum tfrun_status status;
	struct tfrun_error error;
};

/* Ranks of `world` on `path`, joined by socket pairs. `out_ranks` has LIBRARY_WORLD_MAX entries. */
void library_ranks_init(struct library_rank *out_ranks, uint32_t world, const char *path,
	library_body body, int (*ends)[LIBRARY_WORLD_MAX]);

/* Opens, runs the body, closes: all ranks as threads, at once. */
void library_ranks_run(struct library_rank *ranks, uint32_t world);

/* One rank in the calling thread. */
void library_rank_run(struct library_rank *rank);

/* A rank in a process of its own, which prints what went wrong and exits with its tfrun_status. */
pid_t library_rank_fork(struct library_rank *rank);

/* The exit code of such a process; 128 + the signal's number if it was killed. */
int library_rank_wait(pid_t pid);

/* The rank ended with this status, and its text holds `part`. */
void library_assert_refused(
	const struct library_rank *rank, enum tfrun_status status, const char *part);
void library_assert_all_ok(const struct library_rank *ranks, uint32_t world);

#endif
