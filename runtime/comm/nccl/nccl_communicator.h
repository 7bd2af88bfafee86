/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communicator of NCCL's whose every wait is bounded.
 *
 * A non-blocking parent (blocking = 0) is bounded by polling it. NCCL starts each of its calls on
 * a thread, which costs a collective several times its own time, so on one host, agreed by all
 * ranks (host_agreement.h), a blocking split of the parent, which shares its resources, carries
 * every collective: a call returns once it is enqueued. Across hosts the parent carries them.
 *
 *   opening --open--> open --close--> gone
 *      |                |  a call or a wait is late, fails, or the link says that a peer is gone
 *      +----> ended <---+          ended --close--> gone
 *
 * What bounds what:
 *   start-up     2 * timeout_ns for all of it. Each of its NCCL calls runs on a thread of its own,
 *                because a call may hang before there is anything to abort. A split of a
 *                non-blocking parent returns at once and is polled; should it hang all the same,
 *                the parent is aborted under it.
 *   a call       timeout_ns. A call on the split may block inside NCCL (a full queue, a peer that
 *                is connected lazily): the communicator's own thread sees it late and aborts, which
 *                makes NCCL give the call back. A hand-over to another thread would cost more than
 *                the call. It looks every sixteenth of the timeout, so a late call ends at most so
 *                much after its deadline.
 *   a wait       its caller's bound, looking at the link and at NCCL's errors meanwhile. A peer's
 *                departure ends it after TF_NCCL_LEFT_NS, an abort at once.
 *   the end      TF_NCCL_END_NS. What NCCL does not give back by then is left behind, with its
 *                memory, and said (TF_E_TIMEOUT).
 *
 * The end. The parent is aborted first: the family shares one abort flag, so whoever is inside a
 * call on the split is sent back. Only once nobody is inside any call the split is aborted, which
 * frees it. Then every use returns the first cause again: nothing is opened anew.
 *
 * A kernel of NCCL's that is aborted no longer waits for its peers, and sends them what it has. A
 * peer that comes late may find it, and its collective is then done, with wrong bytes and without
 * an error (seen on two H200, NCCL 2.28.3). So before the abort a rank tells its peers (`ending`),
 * and a collective counts only on a rank that was not told.
 *
 * Graphs. A captured collective points into the communicator, which NCCL keeps alive for it. A
 * graph that holds collectives is counted (graph_ref) and destroyed before close, which refuses
 * until then. Where the communicator ends under its graphs, its abort lets a running one end, and
 * destroying them lets the abort end.
 *
 * What is set for captures. Of NCCL's variables these are set, only where all ranks are on one host
 * and only where the environment does not hold them, before NCCL's first call of this process,
 * after which NCCL does not read them again:
 *   NCCL_RUNTIME_CONNECT=0  peers connect in the start-up, which is bounded as a whole, and not in
 *                           the first call, which would wait for its peers and must not do so in a
 *                           capture
 *   NCCL_GRAPH_REGISTER=0   a capture registers no buffers: that is an exchange with the peers
 *                           inside a launch, for buffers that the package's window already maps
 * Graph usage stays at "mixed" (the default): the same communicator runs eagerly, to verify, and
 * in graphs. The configuration is that of 2.18, which has no member for it.
 *
 * Used by one thread at a time, the link's.
 */
#ifndef TF_RUNTIME_COMM_NCCL_NCCL_COMMUNICATOR_H
#define TF_RUNTIME_COMM_NCCL_NCCL_COMMUNICATOR_H

#include "base/dtype.h"
#include "runtime/comm/nccl/nccl_api.h"
#include "runtime/link/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Far above what an abort takes (tens of ms), below what an operator waits for. */
#define TF_NCCL_END_NS (5 * TF_NS_PER_S)

/*
 * How long a wait goes on behind a peer's departure. A rank may close once its own wait is over,
 * and another one's stream may then still work on what it sent, which takes it microseconds; the
 * rest is for a machine that is busy.
 */
#define TF_NCCL_LEFT_NS (500 * TF_NS_PER_MS)

struct tf_nccl_communicator;

enum tf_nccl_step { TF_NCCL_STEP_ID = 0, TF_NCCL_STEP_PARENT, TF_NCCL_STEP_SPLIT };

struct tf_nccl_communicator_options {
	size_t size;          /* sizeof(struct tf_nccl_communicator_options) */
	struct tf_link *link; /* borrowed until close */
	int64_t timeout_ns;   /* a rank's timeout, the same on all ranks; at least 1 ms */
	int keep_apart;       /* on any rank: the parent carries, as it does across hosts */
	/* Makes the device's primary context current on a thread of the communicator's; may be NULL. */
	enum tf_status (*enter)(void *user, struct tf_error *err);
	/*
	 * Once, before NCCL is aborted under collectives that may run: tells the peers that what they
	 * get of this rank no longer counts. On a thread of the communicator's; must not wait for a
	 * peer. Does not begin once close was called. NULL: whoever waits finds out otherwise.
	 */
	void (*ending)(void *user);
	/* Test hook: before each NCCL call of the start-up, on the thread that opens; may be NULL. */
	void (*before)(void *user, enum tf_nccl_step step);
	void *user;
};

#define TF_NCCL_SETTING_BYTES 64

/* Constant after open, but for last_result. */
struct tf_nccl_facts {
	int version;         /* TF_NCCL_VERSION; the same on all ranks; part of an identity */
	int one_host;        /* all ranks say so: the split carries */
	char why_apart[128]; /* or "" */
	char runtime_connect[TF_NCCL_SETTING_BYTES]; /* "0 (set here)", "1 (environment)", "unset" */
	char graph_register[TF_NCCL_SETTING_BYTES];
	int64_t open_ns; /* what the start-up took */
	int last_result; /* enum tf_nccl_result of the last collective's call itself */
};

/*
 * Collective. On failure all that was opened is aborted, on every rank, and the cause is the same
 * where the link can carry it.
 * TF_E_USAGE: options. TF_E_UNAVAILABLE: no NCCL on some rank. TF_E_MISMATCH: other versions.
 * TF_E_INVALID: a malformed answer or id. TF_E_TIMEOUT, TF_E_DISCONNECTED, TF_E_ABORTED: a rank is
 * silent, gone, or ended the link. TF_E_SYSTEM: a call of NCCL's failed. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_communicator_open(
	const struct tf_nccl_communicator_options *options, struct tf_nccl_communicator **out,
	struct tf_error *err);

const struct tf_nccl_facts *tf_nccl_communicator_facts(const struct tf_nccl_communicator *comm);

struct tf_nccl_collective {
	enum tf_op op;
	enum tf_dtype dtype;
	uint64_t count;   /* elements of the input; reduce-scatter: a multiple of the world */
	const void *from; /* all_gather: (count); the device's memory */
	void *to;         /* all_gather: (world, count); reduce_scatter: (count / world) */
};

/*
 * Enqueues on `stream`, whose context is current on this thread. On the split it returns once
 * enqueued; on the parent once the parent is ready again. Captures too, on the split.
 * TF_E_USAGE: the collective cannot be (nothing ended). TF_E_TIMEOUT, TF_E_DISCONNECTED,
 * TF_E_ABORTED, TF_E_SYSTEM: the communicator has ended, now or before.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_communicator_enqueue(struct tf_nccl_communicator *comm,
	const struct tf_nccl_collective *what, struct CUstream_st *stream, struct tf_error *err);

/* Waits for a stream until a deadline: TF_OK, or TF_E_TIMEOUT and may be asked again. */
typedef enum tf_status (*tf_nccl_stream_wait_fn)(
	void *user, int64_t deadline_ns, struct tf_error *err);

/*
 * Waits until what was enqueued is done, at most `bound_ns` from now. On any failure the
 * communicator has ended, and the stream's work with it. Statuses as enqueue's, and the stream's.
 * TF_OK: the work is done, and counts if no peer told of its end (`ending`) until then.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_communicator_wait(struct tf_nccl_communicator *comm,
	int64_t bound_ns, tf_nccl_stream_wait_fn wait, void *user, struct tf_error *err);

/* A graph that holds collectives of this communicator was made; it was destroyed. */
void tf_nccl_communicator_graph_ref(struct tf_nccl_communicator *comm);
void tf_nccl_communicator_graph_unref(struct tf_nccl_communicator *comm);

/*
 * Ends it for a reason of the caller's (a failed step, a signal): parent first, then the split.
 * Every later use returns `why`. Waits at most TF_NCCL_END_NS, and not for graphs.
 */
void tf_nccl_communicator_abort(struct tf_nccl_communicator *comm, const struct tf_error *why);

/*
 * Takes NULL. An open one is finalised and destroyed, the split before the parent; an ended one is
 * freed. TF_E_USAGE: graphs are alive, by number; nothing happened. TF_E_TIMEOUT: NCCL gave
 * something not back within TF_NCCL_END_NS; `comm` is gone and its inside left behind: a thread of
 * it may still be in `ending`, and a kernel of NCCL's in the memory of a collective, so what they
 * use stays until the process ends. TF_E_SYSTEM: a call failed; `comm` is gone.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_communicator_close(
	struct tf_nccl_communicator *comm, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
