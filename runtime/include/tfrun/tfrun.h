/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtfrun: load a prepared package (.tfp) and run its steps inside an engine's own processes.
 *
 * One session a rank. The ranks of a group may be processes or threads; each opens the same
 * package with its own rank and they meet over a link. A session never tunes, captures, compiles
 * or writes a file, and a step allocates nothing.
 *
 *     struct tfrun_options options = {
 *             .size = sizeof(options), .rank = r, .world = n, .address = "unix:@my-engine"};
 *     struct tfrun_session *session;
 *     struct tfrun_error error = {0};
 *     if (tfrun_open("model.tfp", &options, &session, &error) != TFRUN_OK)
 *             die(error.text);
 *     tfrun_step_enqueue(session, rows, stream, &error);
 *     ...
 *     tfrun_close(session);
 *
 * A session is used by one thread at a time; different sessions are independent. All functions
 * return TFRUN_OK or a status, with the reason in `error` (which may be NULL), outermost first.
 *
 * On GPUs a session is a guest: it is opened in the context that the calling thread has current,
 * which it borrows until tfrun_close and neither retains, resets nor destroys; without one, in the
 * device's primary context, which it retains until tfrun_close. Every call leaves the thread's
 * current context as it found it, and may come from any thread.
 */
#ifndef TFRUN_TFRUN_H
#define TFRUN_TFRUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TFRUN_VERSION_MAJOR 0
#define TFRUN_VERSION_MINOR 1
#define TFRUN_VERSION_PATCH 0

#if defined(__GNUC__)
#define TFRUN_API      __attribute__((visibility("default"))) __attribute__((warn_unused_result))
#define TFRUN_API_VOID __attribute__((visibility("default")))
#else
#define TFRUN_API
#define TFRUN_API_VOID
#endif

enum tfrun_status {
	TFRUN_OK = 0,
	TFRUN_USAGE,     /* an argument is out of its range; the session goes on */
	TFRUN_INVALID,   /* the package is malformed */
	TFRUN_DAMAGED,   /* the package contradicts its own digests */
	TFRUN_VERSION,   /* the package is of a format this library does not read */
	TFRUN_MISFIT,    /* the package is not for this machine or group; the text lists every misfit */
	TFRUN_NOT_FOUND, /* no such file, buffer or group */
	TFRUN_UNAVAILABLE, /* a library, driver or device is absent */
	TFRUN_NO_MEMORY,
	TFRUN_TIMEOUT,      /* a peer was silent for longer than the bound; the session is over */
	TFRUN_DISCONNECTED, /* a peer departed; the session is over */
	TFRUN_ABORTED,      /* another rank failed first; the session is over */
	TFRUN_MISMATCH,     /* bytes that must be equal are not */
	TFRUN_SYSTEM,
	TFRUN_INTERNAL
};

struct tfrun_error {
	enum tfrun_status status;
	int native; /* errno or a library's own code, 0 if none */
	char text[1024];
};

/*
 * Zero means the default for every field but size, world and one of address, link_fds.
 *
 * Ranks of one host meet at "unix:PATH" or "unix:@NAME" (abstract). "tcp:HOST:PORT" with a secret
 * of 16 bytes or more is for several hosts: such ranks meet, but no device of this version carries
 * payloads between hosts, so they are all refused with TFRUN_UNAVAILABLE.
 */
struct tfrun_options {
	size_t size;          /* sizeof(struct tfrun_options) */
	uint32_t rank, world; /* world must be the package's */
	const char *address;  /* where the ranks meet, rank 0 listens there; borrowed */
	const char *secret;   /* shared between hosts; required with tcp; borrowed */
	const int *link_fds;  /* instead of address: this rank's row of tfrun_link_pairs */
	/*
	 * "auto" (default: what the package was made for), "host", "cuda", or a GPU by name: "cuda:1",
	 * as the driver counts in this process, or "cuda:GPU-<UUID>". If the calling thread's current
	 * context is of the GPU named, it is used; without a name any current context is, and without a
	 * context it is GPU 0. Borrowed.
	 */
	const char *device;
	uint32_t timeout_ms;   /* bound of every wait for a peer; default 2000, at most 600000 */
	uint32_t capacity_max; /* load only capacities up to this; 0 = all */
	int strict;            /* anything unused or missing is an error */
	int no_peer_access;    /* ranks may not use each other's device memory; fits packages made so */
};

struct tfrun_session;

/*
 * What torchrun, or a launcher that sets the same environment, told this process: RANK, WORLD_SIZE,
 * LOCAL_RANK, MASTER_ADDR, MASTER_PORT. `address` is one that the ranks of this host can meet at.
 */
struct tfrun_launch {
	size_t size; /* in: sizeof(struct tfrun_launch) */
	uint32_t rank, world, local_rank;
	char address[104]; /* for tfrun_options.address */
};

/*
 * TFRUN_NOT_FOUND: no launcher set RANK and WORLD_SIZE; TFRUN_USAGE: a variable is no number of
 * its range; TFRUN_UNAVAILABLE: the ranks are on several hosts, which no device of this version
 * serves.
 */
TFRUN_API enum tfrun_status tfrun_launch_read(
	struct tfrun_launch *launch, struct tfrun_error *error);

/*
 * Sockets for ranks that share an origin (threads, or children about to be forked). `ends` is
 * (world, 8): row r is what rank r passes as options.link_fds; -1 where there is no socket. The
 * caller owns a row until tfrun_open takes it. TFRUN_USAGE: a world below 2 or above 8.
 */
TFRUN_API enum tfrun_status tfrun_link_pairs(
	uint32_t world, int (*ends)[8], struct tfrun_error *error);

/*
 * Blocks until the whole group is ready or refuses together: at most five timeouts to meet, and
 * five to load, on top of which a GPU's driver may take 15 s and NCCL's start-up four timeouts;
 * then peer access is proven and every capacity probed, each wait with its bound. *out_session is
 * set only on success. The descriptors of options.link_fds are taken, also on failure, unless the
 * options themselves are refused with TFRUN_USAGE.
 */
TFRUN_API enum tfrun_status tfrun_open(const char *package_path,
	const struct tfrun_options *options, struct tfrun_session **out_session,
	struct tfrun_error *error);

/*
 * Every rank calls it, once its own streams have run what the session enqueued and no graph of the
 * caller's holds a step any more. Takes NULL. Waits for no peer: only for a step of its own that a
 * timeout has left running on the GPU, 10 s at most, and for NCCL's end, 5 s at most.
 */
TFRUN_API_VOID void tfrun_close(struct tfrun_session *session);

enum tfrun_role { TFRUN_INPUT = 0, TFRUN_OUTPUT };

/*
 * A buffer that steps read or write, in place. A step of r rows runs the graph of the smallest
 * capacity >= r, on the buffers of that capacity: write the first r rows of each input, read the
 * first r of each output; what the others hold is of no account. An input, and an output of
 * all_reduce, is (capacity, elements); an output of all_gather is (world, capacity, elements); one
 * of reduce_scatter has one dimension, this rank's share of the elements of all rows.
 *
 * On a GPU, write and read on the stream that the step is enqueued on, before and behind it; for
 * tfrun_step, finish writing before the call. Buffers of other capacities stay as they are.
 */
struct tfrun_buffer {
	size_t size;      /* in: sizeof(struct tfrun_buffer) */
	const char *name; /* "exchange.c1.in.0": group, capacity, role, pair; valid until close */
	enum tfrun_role role;
	const char *dtype; /* "bf16", "f16", "f32" */
	uint32_t capacity; /* rows of the graph that it belongs to */
	uint32_t dims_count;
	uint64_t dims[4]; /* elements, outermost first; row-major, without gaps */
	size_t bytes;
	void *data; /* valid until close; a device pointer on a GPU */
	int32_t
		cuda_device; /* the GPU that holds it, as its driver counts here; -1: the CPU's memory */
};

TFRUN_API_VOID uint32_t tfrun_buffer_count(const struct tfrun_session *session);
TFRUN_API enum tfrun_status tfrun_buffer_at(struct tfrun_session *session, uint32_t index,
	struct tfrun_buffer *out, struct tfrun_error *error);
TFRUN_API enum tfrun_status tfrun_buffer_find(struct tfrun_session *session, const char *name,
	struct tfrun_buffer *out, struct tfrun_error *error);

/* The smallest loaded capacity >= rows; TFRUN_USAGE for 0 or above the largest. */
TFRUN_API enum tfrun_status tfrun_capacity_for(const struct tfrun_session *session, uint64_t rows,
	uint32_t *out_capacity, struct tfrun_error *error);

/*
 * Runs the step graph for `rows` rows on a stream of the session's own and waits for it. All ranks
 * call it with the same rows. No allocation, lock or log.
 * TFRUN_TIMEOUT and TFRUN_ABORTED name group, rank and peer and end the session.
 */
TFRUN_API enum tfrun_status tfrun_step(
	struct tfrun_session *session, uint64_t rows, struct tfrun_error *error);

/*
 * Puts the step graph for `rows` rows on the caller's stream and returns: it runs after what the
 * stream holds and before what comes. All ranks enqueue the same steps in the same order, each on
 * one stream at a time. No allocation, lock or log. How it ended is told by tfrun_step_status; a
 * wait in the step is bounded by options.timeout_ms, so a lost peer ends it, and what is enqueued
 * behind a failed step returns at once.
 *
 * `stream` is a CUstream (cudaStream_t) of the session's context. NULL and CU_STREAM_LEGACY mean
 * the legacy default stream, which is refused while several ranks of the group share the
 * context: in one queue they would wait for each other. CU_STREAM_PER_THREAD is the calling
 * thread's. Default streams are those of the context that the thread has current, which must be
 * the session's then; for other streams none need be. While the stream is being captured, the step
 * becomes a child node of the capture, as often as its graph is launched; all ranks launch theirs
 * equally often, and none after tfrun_close. On the host device `stream` is NULL, and the step runs
 * in tfrun_step_status, to be asked at least every 64 steps, or the queue grows.
 *
 * TFRUN_USAGE: rows are 0 or above the largest capacity, or such a stream; nothing was enqueued and
 * the session goes on. TFRUN_UNAVAILABLE: the step calls NCCL, whose calls nothing on a stream of
 * the caller's bounds; nothing was enqueued either, and tfrun_step runs it. Else what ended the
 * session before, or what the driver says.
 */
TFRUN_API enum tfrun_status tfrun_step_enqueue(
	struct tfrun_session *session, uint64_t rows, void *stream, struct tfrun_error *error);

/*
 * How the steps that have run so far ended. Reads a few bytes of the GPU, on a stream of its own,
 * and never waits for the caller's: synchronise with your stream first (cuStreamSynchronize, or an
 * event recorded behind the step), or the answer may be of an earlier step. It may be asked once
 * for many steps: the first fault stays. TFRUN_OK, or as tfrun_step, and then the session is over.
 */
TFRUN_API enum tfrun_status tfrun_step_status(
	struct tfrun_session *session, struct tfrun_error *error);

/*
 * Fills the inputs of a capacity with generated operands, runs a step, compares every output
 * bytewise with the reference. Collective: all ranks return the same. What one of them cannot begin
 * with (TFRUN_USAGE: the rows; TFRUN_NO_MEMORY) is told to all, nothing runs, and the session goes
 * on. TFRUN_MISMATCH names buffer, element and both values. Else as tfrun_step.
 */
TFRUN_API enum tfrun_status tfrun_check(
	struct tfrun_session *session, uint64_t rows, struct tfrun_error *error);

struct tfrun_info {
	size_t size; /* in: sizeof(struct tfrun_info) */
	uint32_t rank, world;
	uint32_t groups, capacities, largest_capacity;
	uint64_t steps;     /* run or enqueued since open; a captured one counts once */
	uint64_t tunings;   /* always 0: a session never tunes */
	uint64_t captures;  /* always 0: a session never captures */
	uint64_t relocated; /* 1 if no preferred window base was free */
	uint64_t load_ns;   /* from tfrun_open's start to ready */
	uint64_t window_base;
	char package_sha256[65];
	int32_t cuda_device; /* as of struct tfrun_buffer */
};

TFRUN_API enum tfrun_status tfrun_get_info(
	const struct tfrun_session *session, struct tfrun_info *info, struct tfrun_error *error);

/* "0.1.0" */
TFRUN_API_VOID const char *tfrun_version(void);

#ifdef __cplusplus
}
#endif
#endif
