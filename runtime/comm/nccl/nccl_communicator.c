/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, collectives, waits and closing of a communicator; nccl_ending.c has its end. */
#include "runtime/comm/nccl/nccl_communicator.h"

#include <assert.h>
#include <inttypes.h>
#include <sched.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/comm/nccl/nccl_ending.h"
#include "runtime/comm/nccl/nccl_start.h"

#define SPIN_NS  (2 * TF_NS_PER_MS) /* above a collective's start, below what a core is worth */
#define LOOK_NS  (5 * TF_NS_PER_MS) /* at the link, while a wait lasts */
#define SLEEP_US 50

static enum tf_status check_options(
	const struct tf_nccl_communicator_options *options, struct tf_error *err)
{
	if (options->size != sizeof(*options))
		return TF_FAIL(err, TF_E_USAGE, "options of a communicator have %zu bytes, not %zu",
			options->size, sizeof(*options));
	if (!options->link || options->timeout_ns < TF_NS_PER_MS)
		return TF_FAIL(err, TF_E_USAGE,
			"a communicator needs a link, and a timeout of 1 ms or more, not %" PRId64 " ns",
			options->timeout_ns);
	return TF_OK;
}

enum tf_status tf_nccl_communicator_open(const struct tf_nccl_communicator_options *options,
	struct tf_nccl_communicator **out, struct tf_error *err)
{
	int64_t began = tf_now_ns(), end;
	struct tf_nccl_communicator *comm;
	struct tf_error local = {0};

	TF_TRY(check_options(options, err));
	comm = tf_calloc(1, sizeof(*comm));
	if (!comm)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a communicator");
	comm->options = *options;
	comm->rank = (int)tf_link_rank(options->link);
	comm->world = (int)tf_link_world(options->link);
	if (tf_nccl_ending_init(comm, &local) == TF_OK)
		(void)!tf_nccl_start(comm, tf_deadline_after(2 * options->timeout_ns), &local);
	if (local.status == TF_OK) {
		comm->facts.open_ns = tf_now_ns() - began;
		pthread_mutex_lock(&comm->lock);
		comm->is_open = 1;
		pthread_mutex_unlock(&comm->lock);
		*out = comm;
		return TF_OK;
	}
	tf_error_prefix(&local, "cannot open NCCL");
	end = tf_deadline_after(TF_NCCL_END_NS);
	if (comm->watcher_runs)
		(void)!tf_nccl_ending_give_up(comm, &local, NULL);
	(void)tf_nccl_ending_fini(comm, end);
	if (err)
		*err = local;
	return local.status;
}

const struct tf_nccl_facts *tf_nccl_communicator_facts(const struct tf_nccl_communicator *comm)
{
	return &comm->facts;
}

static struct tf_nccl_comm *carrier(struct tf_nccl_communicator *comm)
{
	return __atomic_load_n(comm->facts.one_host ? &comm->split : &comm->parent, __ATOMIC_ACQUIRE);
}

static enum tf_status check_collective(const struct tf_nccl_communicator *comm,
	const struct tf_nccl_collective *what, struct tf_error *err)
{
	uint32_t world = (uint32_t)comm->world;

	if ((unsigned)what->op >= TF_OP_COUNT || (unsigned)what->dtype >= TF_DTYPE_COUNT)
		return TF_FAIL(err, TF_E_USAGE, "operation %d on type %d is none of NCCL's", (int)what->op,
			(int)what->dtype);
	if (!what->count || !what->from || !what->to)
		return TF_FAIL(
			err, TF_E_USAGE, "a collective of %" PRIu64 " elements without memory", what->count);
	if (what->op == TF_OP_REDUCE_SCATTER && what->count % world)
		return TF_FAIL(err, TF_E_USAGE,
			"NCCL's reduce-scatter takes a multiple of %u elements, not %" PRIu64, world,
			what->count);
	return TF_OK;
}

static int call_collective(struct tf_nccl_communicator *comm, struct tf_nccl_comm *on,
	const struct tf_nccl_collective *what, struct CUstream_st *stream)
{
	const struct tf_nccl_api *api = comm->api;
	int dtype = tf_nccl_dtype(what->dtype);

	if (what->op == TF_OP_ALL_REDUCE)
		return api->ncclAllReduce(
			what->from, what->to, what->count, dtype, TF_NCCL_SUM, on, stream);
	if (what->op == TF_OP_ALL_GATHER)
		return api->ncclAllGather(what->from, what->to, what->count, dtype, on, stream);
	return api->ncclReduceScatter(
		what->from, what->to, what->count / (uint64_t)comm->world, dtype, TF_NCCL_SUM, on, stream);
}

/*
 * Whether the link ends a wait. A peer that has its own result may leave while this rank still
 * works on what it sent: `*until` (0 at the start of a wait) is how long that may take.
 */
static enum tf_status check_link(
	struct tf_nccl_communicator *comm, int64_t deadline_ns, int64_t *until, struct tf_error *err)
{
	struct tf_error seen = {0};
	enum tf_status status = tf_link_poll_departed(comm->options.link, &seen);

	if (status == TF_E_DISCONNECTED && !*until) {
		*until = tf_deadline_after(TF_NCCL_LEFT_NS);
		if (*until > deadline_ns)
			*until = deadline_ns;
	}
	if (status == TF_OK || (status == TF_E_DISCONNECTED && !tf_deadline_passed(*until)))
		return TF_OK;
	if (err)
		*err = seen;
	return status;
}

/* The parent begins and says later how it went. */
static enum tf_status await_ready(struct tf_nccl_communicator *comm, struct tf_nccl_comm *on,
	int64_t deadline_ns, struct tf_error *err)
{
	int64_t spin_until = tf_deadline_after(SPIN_NS), look_at = spin_until, left_until = 0;
	int result = TF_NCCL_IN_PROGRESS;

	for (;;) {
		TF_TRY(tf_nccl_ending_poll(comm, on, &result, err));
		if (result != TF_NCCL_IN_PROGRESS)
			return TF_OK;
		if (tf_deadline_passed(deadline_ns))
			return TF_FAIL(err, TF_E_TIMEOUT,
				"NCCL's call timed out: it was not enqueued within %" PRId64 " ms",
				comm->options.timeout_ns / TF_NS_PER_MS);
		if (tf_deadline_passed(look_at)) {
			TF_TRY(check_link(comm, deadline_ns, &left_until, err));
			look_at = tf_deadline_after(LOOK_NS);
		}
		if (!tf_deadline_passed(spin_until))
			sched_yield();
		else
			usleep(SLEEP_US);
	}
}

static const char *call_name(enum tf_op op)
{
	return op == TF_OP_ALL_REDUCE ? "ncclAllReduce"
		: op == TF_OP_ALL_GATHER  ? "ncclAllGather"
								  : "ncclReduceScatter";
}

enum tf_status tf_nccl_communicator_enqueue(struct tf_nccl_communicator *comm,
	const struct tf_nccl_collective *what, struct CUstream_st *stream, struct tf_error *err)
{
	int64_t deadline = tf_deadline_after(comm->options.timeout_ns);
	struct tf_error local = {0};
	struct tf_nccl_comm *on;
	enum tf_status status;
	int result;

	TF_TRY(tf_nccl_ending_check(comm, err));
	TF_TRY(check_collective(comm, what, err));
	on = carrier(comm);
	__atomic_store_n(&comm->call_deadline_ns, deadline, __ATOMIC_RELEASE);
	result = call_collective(comm, on, what, stream);
	comm->facts.last_result = result;
	/* Still armed: the words of a failure are NCCL's too. */
	status = tf_nccl_check(comm->api, result, call_name(what->op), &local, __FILE__, __LINE__);
	__atomic_store_n(&comm->call_deadline_ns, TF_DEADLINE_NEVER, __ATOMIC_RELEASE);
	if (status == TF_OK && result == TF_NCCL_IN_PROGRESS)
		status = await_ready(comm, on, deadline, &local);
	/* A call that was late may have done all the same, or fails of the abort: the fault counts. */
	if (status == TF_OK && tf_nccl_ending_check(comm, err) == TF_OK)
		return TF_OK;
	return tf_nccl_ending_give_up(comm, &local, err);
}

enum tf_status tf_nccl_communicator_wait(struct tf_nccl_communicator *comm, int64_t bound_ns,
	tf_nccl_stream_wait_fn wait, void *user, struct tf_error *err)
{
	int64_t deadline = tf_deadline_after(bound_ns), left_until = 0;
	struct tf_error local = {0};
	enum tf_status status;
	int result, late;

	TF_TRY(tf_nccl_ending_check(comm, err));
	do {
		int64_t slice = tf_deadline_after(LOOK_NS);

		late = tf_deadline_passed(deadline);
		status = wait(user, slice < deadline ? slice : deadline, &local);
		if (status != TF_OK && status != TF_E_TIMEOUT)
			break;
		late = late && status == TF_E_TIMEOUT;
		if (tf_nccl_ending_poll(comm, carrier(comm), &result, &local) != TF_OK ||
			(status != TF_OK && check_link(comm, deadline, &left_until, &local) != TF_OK)) {
			status = local.status;
			late = 0;
			break;
		}
	} while (status == TF_E_TIMEOUT && !late);
	if (status == TF_OK)
		return TF_OK;
	if (late)
		(void)!TF_FAIL(&local, TF_E_TIMEOUT,
			"a collective of NCCL's timed out: it was not done within %" PRId64 " ms",
			bound_ns / TF_NS_PER_MS);
	return tf_nccl_ending_give_up(comm, &local, err);
}

void tf_nccl_communicator_graph_ref(struct tf_nccl_communicator *comm)
{
	pthread_mutex_lock(&comm->lock);
	comm->graphs++;
	pthread_mutex_unlock(&comm->lock);
}

void tf_nccl_communicator_graph_unref(struct tf_nccl_communicator *comm)
{
	pthread_mutex_lock(&comm->lock);
	assert(comm->graphs > 0);
	comm->graphs--;
	pthread_mutex_unlock(&comm->lock);
}

void tf_nccl_communicator_abort(struct tf_nccl_communicator *comm, const struct tf_error *why)
{
	(void)!tf_nccl_ending_give_up(comm, why, NULL);
}

/* Takes the communicator out first: who destroys it has it, an abort must not find it. */
static enum tf_status destroy_one(
	struct tf_nccl_communicator *comm, struct tf_nccl_comm **which, struct tf_error *err)
{
	struct tf_nccl_comm *own = __atomic_exchange_n(which, NULL, __ATOMIC_ACQ_REL);
	int result;

	if (!own)
		return TF_OK;
	result = comm->api->ncclCommFinalize(own);
	TF_TRY(tf_nccl_check(comm->api, result, "ncclCommFinalize", err, __FILE__, __LINE__));
	while (result == TF_NCCL_IN_PROGRESS) {
		TF_TRY(tf_nccl_ending_poll(comm, own, &result, err));
		if (result == TF_NCCL_IN_PROGRESS)
			usleep(SLEEP_US);
	}
	return TF_NCCL(comm->api, err, ncclCommDestroy(own));
}

static enum tf_status destroy_family(struct tf_nccl_communicator *comm, struct tf_error *err)
{
	TF_TRY(destroy_one(comm, &comm->split, err));
	return destroy_one(comm, &comm->parent, err);
}

enum tf_status tf_nccl_communicator_close(struct tf_nccl_communicator *comm, struct tf_error *err)
{
	int64_t deadline = tf_deadline_after(TF_NCCL_END_NS);
	enum tf_status status = TF_OK;

	if (!comm)
		return TF_OK;
	if (comm->graphs)
		return TF_FAIL(err, TF_E_USAGE,
			"%u graphs hold collectives of NCCL's: they are destroyed before it", comm->graphs);
	tf_nccl_ending_quiet(comm);
	if (tf_nccl_ending_check(comm, NULL) == TF_OK)
		status = tf_nccl_ending_call(comm, destroy_family,
			"NCCL's end timed out: its communicators were not given back", 0, deadline, err);
	/* Whatever failed: the caller must know that something of it still runs. */
	if (!tf_nccl_ending_fini(comm, deadline))
		status = TF_FAIL(err, TF_E_TIMEOUT,
			"NCCL did not give back a communicator within %d s: it is left behind",
			(int)(TF_NCCL_END_NS / TF_NS_PER_S));
	return status;
}
