/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of a link: its state, the two halves of an operation, and how a failure becomes common.
 *
 *   rank 0                              rank r
 *   tf_star_gather: a request of        tf_star_ask: sends the request,
 *     every rank is held                  waits until the answer is held
 *   tf_star_answer, tf_star_flush
 *   tf_star_done                        tf_star_done
 *
 * 1. A rank has at most one request open, so rank 0 holds at most one frame a rank; behind it can
 *    only come a fault or the end of the stream.
 * 2. Rank 0 sends an answer for a request or a fault, nothing else.
 * 3. The first failure goes into `fault`, is told to the others once, and stays; but where the
 *    clock of another rank than 0 ran out first, rank 0's word takes its place.
 */
#ifndef TF_RUNTIME_LINK_STAR_H
#define TF_RUNTIME_LINK_STAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "runtime/link/link.h"
#include "runtime/link/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_link_peer {
	int fd;                      /* -1: no connection to this rank */
	int held;                    /* `in` holds a whole frame that is not used up */
	struct tf_frame_reader in;   /* requests at rank 0, answers elsewhere; faults at both */
	struct tf_frame_reader late; /* what comes behind a held frame: a fault or the end */
	struct tf_frame_writer out;
};

struct tf_link {
	uint32_t rank;
	uint32_t world;
	uint32_t tag;                            /* of the operation under way, or the last one */
	int local;                               /* Unix sockets */
	struct tf_error fault;                   /* why the link is poisoned, or {0} */
	struct tf_bytes answer;                  /* rank 0 puts its answer together here */
	struct tf_link_peer peers[TF_WORLD_MAX]; /* by rank: at rank 0 all others, elsewhere rank 0 */
};

enum tf_star_whose {
	TF_STAR_COMMON, /* the text names the rank at fault: everyone reports it as it is */
	TF_STAR_OWN     /* this rank's own trouble: the others hear "rank N failed: TEXT" */
};

/* A link without connections. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_star_create(
	uint32_t rank, uint32_t world, struct tf_link **out_link, struct tf_error *err);

/* Gives the link its connection to `rank`; takes `fd`. */
void tf_star_connect(struct tf_link *link, uint32_t rank, int fd);

/* Starts an operation: the fault if there is one, else a new tag. */
TF_WARN_UNUSED enum tf_status tf_star_begin(struct tf_link *link, struct tf_error *err);

/* Rank 0: waits until every other rank's request of this type and the link's tag is held. */
TF_WARN_UNUSED enum tf_status tf_star_gather(
	struct tf_link *link, uint16_t type, int64_t deadline_ns, struct tf_error *err);

/* Rank 0: starts the answer to one rank; `payload` is borrowed until tf_star_flush returned. */
void tf_star_answer(struct tf_link *link, uint32_t rank, uint16_t type, const void *payload,
	size_t bytes, const int *fds, unsigned fd_count);

/* Rank 0: waits until every answer is out. */
TF_WARN_UNUSED enum tf_status tf_star_flush(
	struct tf_link *link, uint16_t type, int64_t deadline_ns, struct tf_error *err);

/*
 * Other ranks: sends the request and waits until its answer is held. `fd` is borrowed, -1 for
 * none.
 */
TF_WARN_UNUSED enum tf_status tf_star_ask(struct tf_link *link, uint16_t type, const void *payload,
	size_t bytes, int fd, int64_t deadline_ns, struct tf_error *err);

/* Other ranks: waits for a frame of rank 0 that needs no request. */
TF_WARN_UNUSED enum tf_status tf_star_await(
	struct tf_link *link, uint16_t type, int64_t deadline_ns, struct tf_error *err);

/* Lets go of the held frames. */
void tf_star_done(struct tf_link *link);

/*
 * Takes what the connection to `rank` has without waiting: holds a frame, or turns a fault, a
 * departure or a bad frame into the link's failure.
 */
TF_WARN_UNUSED enum tf_status tf_star_pump(
	struct tf_link *link, uint32_t rank, struct tf_error *err);

/*
 * Poisons the link with `fault`, tells every rank but those in `skip_ranks` (bits), copies the
 * fault to `err` and returns its status. `fault` and `err` may be the same.
 */
enum tf_status tf_star_fail(struct tf_link *link, const struct tf_error *fault,
	enum tf_star_whose whose, uint32_t skip_ranks, struct tf_error *err);

/*
 * A wait ended by its clock: "TYPE TAG timed out: WHAT ranks 1 and 2" (`ranks`: bits). On another
 * rank than 0 that may be because rank 0 still waits for a third one: it is told, and asked for at
 * most the grace, who.
 */
enum tf_status tf_star_timed_out(
	struct tf_link *link, uint16_t type, const char *what, uint32_t ranks, struct tf_error *err);

/* "rank 2", "ranks 1, 2 and 3" from bits; cut if `size` is short. Returns `out`. */
const char *tf_star_rank_list(uint32_t ranks, char *out, size_t size);
#define TF_STAR_LIST_BYTES 64

/* Nine tenths of the time left: when rank 0 gives up. */
int64_t tf_star_give_up_ns(int64_t deadline_ns);

#ifdef __cplusplus
}
#endif
#endif
