/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control link between the ranks of a group: a star. Every rank but 0 has one stream socket
 * to rank 0, which collects what the others send and answers all of them. It carries records,
 * descriptors and agreements while a group starts and ends, never a step's payload.
 *
 * Operations (exchange, broadcast, barrier, descriptors, agreements) are collective: every rank
 * calls the same ones in the same order. A rank that calls another one is told so by name.
 *
 * Deadlines are absolute (base/deadline.h). Every rank passes about the same one. Rank 0 stops
 * waiting after nine tenths of its time and names the ranks that are missing, so that its word
 * reaches the others before their own clocks run out; a rank that hears nothing says "no word
 * from rank 0". Where another rank's clock runs out first and rank 0 waits as well, it names the
 * missing ranks then. A call returns by its deadline, plus at most TF_LINK_GRACE_NS for telling the
 * others when it fails.
 *
 * Failure is common. Rank 0 tells every other rank before it returns, so all ranks report one
 * cause:
 *   TF_E_DISCONNECTED  "rank 3 departed"; known at once, from its closed socket
 *   TF_E_TIMEOUT       "barrier 7 timed out: no word from rank 3"
 *   TF_E_ABORTED       "rank 1 aborted: REASON"; "rank 1 failed: CAUSE" from all but rank 1, which
 *                      alone has the cause and returns it
 *   TF_E_INVALID, TF_E_VERSION, TF_E_LIMIT
 *                      "rank 2 sent a bad frame: CAUSE"
 * After a failure the link is poisoned: every further call returns the same error. Outcomes of
 * the two agreement calls and arguments refused with TF_E_USAGE or TF_E_UNSUPPORTED are no
 * failure of the link. An operation may succeed on some ranks and fail on others when a rank is
 * lost while it ends; the next operation, or tf_link_poll_departed, then fails on all.
 *
 * A link is used by one thread at a time; different links of one process are independent.
 */
#ifndef TF_RUNTIME_LINK_LINK_H
#define TF_RUNTIME_LINK_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/deadline.h"
#include "base/dtype.h"
#include "base/error.h"
#include "runtime/link/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LINK_RECORD_MAX TF_FRAME_RECORD_MAX
#define TF_LINK_GROUP_MAX  127  /* bytes of a group's name: a job id with room */
#define TF_LINK_SECRET_MIN 16   /* bytes: 128 bits cannot be guessed */
#define TF_LINK_SECRET_MAX 4096 /* a key file, not a mistaken one */
#define TF_LINK_GRACE_NS   (100 * TF_NS_PER_MS)
#define TF_LINK_DIGEST_MAX 256 /* bytes of a value that ranks compare: a digest, a short identity */

struct tf_link;

/* ---- Links made in one process, for threads or before fork ---- */

/* The two ends of each connection; -1 where there is none or where it was taken. */
struct tf_link_ends {
	uint32_t world;
	int root_fds[TF_WORLD_MAX]; /* rank 0's end of the connection to each rank */
	int peer_fds[TF_WORLD_MAX]; /* each rank's end */
};

/* world - 1 socket pairs. TF_E_USAGE: world out of TF_WORLD_MIN..TF_WORLD_MAX. TF_E_SYSTEM. */
TF_WARN_UNUSED enum tf_status tf_link_create_pairs(
	uint32_t world, struct tf_link_ends *out_ends, struct tf_error *err);

/* In a process that is one rank: closes every end that is not this rank's. */
void tf_link_ends_keep(struct tf_link_ends *ends, uint32_t rank);

/* Closes what is left. */
void tf_link_ends_fini(struct tf_link_ends *ends);

/*
 * The link of one rank; takes that rank's descriptors out of `ends`, also on failure. Threads may
 * attach different ranks at once. Does not wait: a rank that never attaches shows in the first
 * operation. TF_E_USAGE: rank out of range or already taken. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_link_attach(
	struct tf_link_ends *ends, uint32_t rank, struct tf_link **out_link, struct tf_error *err);

/* ---- Links between processes that find each other ---- */

struct tf_link_options {
	size_t size; /* sizeof(struct tf_link_options) */
	/*
	 * "unix:PATH", "unix:@NAME" (abstract) or "tcp:HOST:PORT" ("tcp:[::1]:4000"). Rank 0 listens
	 * there, the others connect. Behind a published port rank 0 may listen at "tcp:0.0.0.0:PORT".
	 */
	const char *address;
	uint32_t rank;
	uint32_t world;
	const char *group; /* name of the group, the same on all ranks; NULL is "" */
	/*
	 * Shared by the ranks and nobody else, TF_LINK_SECRET_MIN bytes or more; required over TCP.
	 * Each end proves that it knows it; it never travels. It keeps strangers out; frames are
	 * neither encrypted nor sealed.
	 */
	const void *secret;
	size_t secret_bytes;
	int64_t deadline_ns;
};

/*
 * Meets the other ranks; returns once all came. On one host both ends must run under the same
 * user id. Strangers and ranks that do not fit are refused by name and do not disturb the others:
 * TF_E_MISFIT at the refused rank: another world, rank out of range, rank taken, another group,
 * another user, another secret; TF_E_VERSION: another version. TF_E_USAGE: options that cannot be
 * right, TCP without a secret among them. TF_E_TIMEOUT: on every rank that came, naming the ranks
 * that never came (and what was refused meanwhile); "no answer from rank 0" if it is the one.
 * TF_E_DISCONNECTED: a rank departed after it came. TF_E_NOT_FOUND: no such host. TF_E_SYSTEM,
 * TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_link_connect(
	const struct tf_link_options *options, struct tf_link **out_link, struct tf_error *err);

/* Closes the sockets; the other ranks see this rank depart. Takes NULL. */
void tf_link_close(struct tf_link *link);

uint32_t tf_link_rank(const struct tf_link *link);
uint32_t tf_link_world(const struct tf_link *link);

/* Whether all ranks are on one host, so that descriptors can travel. */
int tf_link_is_local(const struct tf_link *link);

/* ---- Operations. Each returns the common failures above; further ones are named. ---- */

/*
 * All-gather of records of up to TF_LINK_RECORD_MAX bytes, sizes may differ. `out_records` has
 * `world` entries, {0} or buffers whose content is replaced (own record included); the caller
 * finis them.
 */
TF_WARN_UNUSED enum tf_status tf_link_exchange(struct tf_link *link, const void *mine, size_t bytes,
	struct tf_bytes *out_records, int64_t deadline_ns, struct tf_error *err);

/*
 * The same for records of one size; `out_records` is (world, bytes). TF_E_MISMATCH: a rank sent
 * another size.
 */
TF_WARN_UNUSED enum tf_status tf_link_exchange_fixed(struct tf_link *link, const void *mine,
	size_t bytes, void *out_records, int64_t deadline_ns, struct tf_error *err);

/*
 * Rank 0's `bytes` of `data` to every rank; the others pass NULL and 0. `out_data` is {0} or a
 * buffer whose content is replaced; on rank 0 it may be NULL. Returns on rank 0 once every rank
 * asked.
 */
TF_WARN_UNUSED enum tf_status tf_link_broadcast(struct tf_link *link, const void *data,
	size_t bytes, struct tf_bytes *out_data, int64_t deadline_ns, struct tf_error *err);

/* Returns once every rank has called it. */
TF_WARN_UNUSED enum tf_status tf_link_barrier(
	struct tf_link *link, int64_t deadline_ns, struct tf_error *err);

/*
 * All-gather of one file descriptor a rank. `mine` is borrowed, or -1 to give none. out_fds
 * (world) receives new descriptors (close-on-exec) that the caller owns, -1 for ranks that gave
 * none and for the own entry: the caller has that one. TF_E_UNSUPPORTED: the ranks are on
 * different hosts.
 */
TF_WARN_UNUSED enum tf_status tf_link_exchange_fds(
	struct tf_link *link, int mine, int *out_fds, int64_t deadline_ns, struct tf_error *err);

/*
 * Whether `value` (1 to TF_LINK_DIGEST_MAX bytes) is the same on all ranks. TF_E_MISMATCH, with
 * the same text on all ranks: `what` (borrowed, a noun), the ranks that differ from the most
 * frequent value (from the lowest rank's among equals) and how each value begins.
 */
TF_WARN_UNUSED enum tf_status tf_link_agree_equal(struct tf_link *link, const char *what,
	const void *value, size_t bytes, int64_t deadline_ns, struct tf_error *err);

/*
 * All or none: TF_OK if every rank passes NULL or an error with status TF_OK. Otherwise every
 * rank returns the status of the lowest rank that failed, with the text "rank 2: TEXT".
 */
TF_WARN_UNUSED enum tf_status tf_link_agree_ok(
	struct tf_link *link, const struct tf_error *mine, int64_t deadline_ns, struct tf_error *err);

/*
 * Ends the link for everyone: the others return TF_E_ABORTED "rank 1 aborted: REASON". Waits at
 * most the grace.
 */
void tf_link_abort(struct tf_link *link, const char *reason);

/*
 * Between operations: whether a rank departed or ended the link. Does not wait, except to tell
 * the others what it found, at most the grace. TF_OK while all is well, else one of the common
 * failures.
 */
TF_WARN_UNUSED enum tf_status tf_link_poll_departed(struct tf_link *link, struct tf_error *err);

/*
 * The sockets, for an event loop: when one is readable between operations, call
 * tf_link_poll_departed. Stores at most TF_WORLD_MAX - 1 (borrowed) in `out_fds` and returns
 * their number.
 */
unsigned tf_link_fds(const struct tf_link *link, int *out_fds);

#ifdef __cplusplus
}
#endif
#endif
