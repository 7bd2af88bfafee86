/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps, and proving their bytes.
 *
 * 1. A step allocates nothing, takes no lock, writes no log (tests count); nor does putting one on
 *    a caller's stream.
 * 2. The first failure ends the session: the protocol's epochs of the ranks may differ after it.
 * 3. Expected outputs are computed from the operands of all ranks by the reference, never read
 *    from a peer.
 */
#include "runtime/session/session_private.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"

/*
 * Kernels bound their own waits; a step holds many of them, so the queue's own bound is only the
 * last resort.
 */
#define STEP_TIMEOUTS 30
/* A captured call of NCCL's has no bound of its own: the whole step, or startup graph, has one. */
#define LIBRARY_TIMEOUTS 2
#define PROBE_SEED       UINT64_C(0x7466707265700001)
#define POISON_BYTE      0xa5

uint32_t tf_session_graph_of(const struct tf_session *session, uint32_t capacity)
{
	for (uint32_t i = 0; i < session->package.program.graph_count; i++) {
		const struct tf_graph *graph = &session->package.program.graphs[i];

		if (graph->kind == TF_GRAPH_STEP && graph->capacity == capacity && session->execs[i])
			return i;
	}
	return TF_PROGRAM_NONE;
}

enum tf_status tf_session_capacity_for(
	const struct tf_session *session, uint64_t rows, uint32_t *out_capacity, struct tf_error *err)
{
	uint32_t best = 0, largest = 0;

	for (uint32_t i = 0; i < session->package.program.graph_count; i++) {
		uint32_t capacity = session->package.program.graphs[i].capacity;

		if (session->package.program.graphs[i].kind != TF_GRAPH_STEP || !session->execs[i])
			continue;
		if (capacity > largest)
			largest = capacity;
		if (capacity >= rows && (!best || capacity < best))
			best = capacity;
	}
	if (!rows)
		return TF_FAIL(err, TF_E_USAGE, "a step of 0 rows is not allowed; 1 to %u are", largest);
	if (!best)
		return TF_FAIL(err, TF_E_USAGE,
			"a step of %llu rows is above the largest loaded capacity, %u",
			(unsigned long long)rows, largest);
	*out_capacity = best;
	return TF_OK;
}

/* Keeps the first failure, which says what the later ones only follow from. */
static enum tf_status fail(struct tf_session *session, enum tf_status status, struct tf_error *err)
{
	tf_error_prefix(err, "rank %u", session->rank);
	if (session->failed.status == TF_OK && err)
		session->failed = *err;
	else if (session->failed.status == TF_OK)
		session->failed.status = status;
	return status;
}

/* The rank that made this one end, or the world where none did. */
static uint32_t ended_by(const struct tf_control *control, uint32_t world)
{
	uint32_t code = __atomic_load_n(&control->fault.code, __ATOMIC_ACQUIRE);
	uint32_t raised = __atomic_load_n(&control->abort, __ATOMIC_ACQUIRE);

	if (code == TF_FAULT_ABORTED && control->fault.peer < world)
		return control->fault.peer;
	return code == TF_FAULT_NONE && raised && raised <= world ? raised - 1 : world;
}

/*
 * A peer that ended the call had a reason, which stands in its own control words: followed from
 * rank to rank, it names the one that is missing.
 */
static void add_cause(const struct tf_session *session, struct tf_error *err)
{
	const struct tf_control *control = tf_session_control(session);
	char text[TF_ERROR_TEXT_BYTES];
	struct tf_error cause = {0};
	uint32_t rank = session->rank;

	for (uint32_t hop = 0; hop < session->world; hop++) {
		uint32_t by = ended_by(control, session->world);

		if (by == session->world)
			break;
		rank = by;
		control = tf_rank_memory_control(&session->memory,
			(rank + session->world - session->rank) % session->world, session->control_copy);
	}
	if (rank == session->rank ||
		tf_fault_to_error(control, &session->package.program, &cause) == TF_OK)
		return;
	memcpy(text, err->text, sizeof(text));
	(void)!TF_FAIL(err, err->status, "%s; rank %u: %s", text, rank, cause.text);
}

static int is_addressable(const struct tf_session *session)
{
	return (session->properties.capabilities & TF_DEVICE_ADDRESSABLE) != 0;
}

static enum tf_status check_alive(const struct tf_session *session, struct tf_error *err)
{
	if (session->failed.status != TF_OK && err)
		*err = session->failed;
	return session->failed.status;
}

/* All control words are read only where the verdict says that there is something to tell. */
static enum tf_status judge(struct tf_session *session, int counts, struct tf_error *err)
{
	if (counts)
		return TF_OK;
	TF_TRY(tf_fault_to_error(tf_session_control(session), &session->package.program, err));
	return TF_FAIL(err, TF_E_SYSTEM, "the rank's control words could not be read for a moment");
}

/* The first failure ends the session on all ranks. */
static enum tf_status end_session(
	struct tf_session *session, enum tf_status status, struct tf_error *local, struct tf_error *err)
{
	tf_rank_memory_abort(&session->memory);
	tf_nccl_caller_abort(session->nccl, local);
	add_cause(session, local);
	fail(session, status, local);
	if (err)
		*err = *local;
	return status;
}

static enum tf_status wait_for_stream(
	struct tf_session *session, int64_t deadline_ns, struct tf_error *err)
{
	int64_t bound = LIBRARY_TIMEOUTS * session->timeout_ns;

	if (!session->nccl || is_addressable(session))
		return session->ops->stream_wait(session->stream, deadline_ns, err);
	return tf_nccl_caller_wait(session->nccl, session->stream, bound, err);
}

/*
 * Launches and waits. The verdict comes home behind the graph, in the same queue, so that one wait
 * is for both.
 */
static enum tf_status launch_and_wait(
	struct tf_session *session, struct tf_exec *exec, int64_t deadline_ns, struct tf_error *err)
{
	const void *control = tf_rank_window_at(&session->window, 0, 0);
	const struct tf_verdict *verdict = NULL;

	TF_TRY(session->ops->stream_graph(session->stream, exec, err));
	TF_TRY(session->ops->stream_note(session->stream,
		(const uint8_t *)control + offsetof(struct tf_control, abort), sizeof(*verdict),
		(const void **)&verdict, err));
	TF_TRY(wait_for_stream(session, deadline_ns, err));
	return judge(session, tf_verdict_counts(verdict), err);
}

enum tf_status tf_session_run(
	struct tf_session *session, struct tf_exec *exec, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_error local = {0};
	enum tf_status status;

	TF_TRY(check_alive(session, err));
	status = launch_and_wait(session, exec, deadline_ns, &local);
	session->enqueued = 0;
	return status == TF_OK ? TF_OK : end_session(session, status, &local, err);
}

/* For the steps that wait in the queue and one more: each has its own share. */
static int64_t step_deadline(const struct tf_session *session)
{
	int64_t bound;

	if (__builtin_mul_overflow(
			STEP_TIMEOUTS * session->timeout_ns, (int64_t)session->enqueued + 1, &bound))
		bound = INT64_MAX;
	return tf_deadline_after(bound);
}

enum tf_status tf_session_step(struct tf_session *session, uint64_t rows, struct tf_error *err)
{
	uint32_t capacity;

	TF_TRY(tf_session_capacity_for(session, rows, &capacity, err));
	TF_TRY(tf_session_run(session, session->execs[tf_session_graph_of(session, capacity)],
		step_deadline(session), err));
	session->steps++;
	return TF_OK;
}

static enum tf_status check_stream(
	const struct tf_session *session, const void *stream, struct tf_error *err)
{
	if (session->context_ranks > 1 && tf_stream_is_legacy(stream))
		return TF_FAIL(err, TF_E_USAGE,
			"the legacy default stream is one for all %u ranks of this context, which would wait "
			"for each other; each needs a stream of its own",
			session->context_ranks);
	return TF_OK;
}

enum tf_status tf_session_enqueue(
	struct tf_session *session, uint64_t rows, void *stream, struct tf_error *err)
{
	uint32_t capacity, graph;
	struct tf_exec *exec;

	TF_TRY(tf_session_capacity_for(session, rows, &capacity, err));
	TF_TRY(check_alive(session, err));
	graph = tf_session_graph_of(session, capacity);
	exec = session->execs[graph];
	if (is_addressable(session) && !stream) {
		TF_TRY(session->ops->stream_graph(session->stream, exec, err));
		session->enqueued++;
	} else if (session->calls_nccl[graph]) {
		return TF_FAIL(err, TF_E_UNSUPPORTED,
			"capacity %u calls NCCL, whose calls would have no bound on a stream of the caller's; "
			"a step that is waited for has one (tfrun_step)",
			capacity);
	} else {
		TF_TRY(check_stream(session, stream, err));
		TF_TRY(session->ops->graph_enqueue(exec, stream, err));
	}
	session->steps++;
	return TF_OK;
}

enum tf_status tf_session_status(struct tf_session *session, struct tf_error *err)
{
	struct tf_error local = {0};
	enum tf_status status = TF_OK;

	TF_TRY(check_alive(session, err));
	if (session->enqueued)
		status = session->ops->stream_wait(session->stream, step_deadline(session), &local);
	session->enqueued = 0;
	if (status == TF_OK)
		status = judge(session, tf_rank_memory_counts(&session->memory), &local);
	return status == TF_OK ? TF_OK : end_session(session, status, &local, err);
}

struct tf_layout tf_session_layout_in_use(const struct tf_session *session)
{
	return session->startup_loaded ? session->package.program.layout
								   : tf_protocol_in_use(&session->package.program);
}

enum tf_status tf_session_reset_protocol(
	struct tf_session *session, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_layout layout;

	/* Nobody clears while a peer still waits on the old state. */
	TF_TRY(tf_link_barrier(session->link, deadline_ns, err));
	layout = tf_session_layout_in_use(session);
	TF_TRY(tf_rank_memory_reset(&session->memory, &layout, session->timeout_ns, err));
	return tf_link_barrier(session->link, deadline_ns, err);
}

/* A wait that ended by its bound used up a timeout; its reason must still reach all. */
static enum tf_status agree(
	const struct tf_session *session, const struct tf_error *local, struct tf_error *err)
{
	return tf_link_agree_ok(session->link, local, tf_deadline_after(2 * session->timeout_ns), err);
}

/* A refusal ends nothing; without a peer the session is over, as behind a step that missed it. */
static enum tf_status agree_to_begin(
	struct tf_session *session, const struct tf_error *local, struct tf_error *err)
{
	enum tf_status status = agree(session, local, err);
	struct tf_error lost = {0};

	if (status == TF_OK || session->failed.status != TF_OK ||
		tf_link_poll_departed(session->link, &lost) == TF_OK)
		return status;
	return end_session(session, lost.status, &lost, err);
}

/*
 * What a rank cannot begin with is told before any waits for it in a step, which would end the
 * session with the wait for a reason.
 */
enum tf_status tf_session_check(struct tf_session *session, uint64_t rows, struct tf_error *err)
{
	struct tf_error local = {0};

	if (check_alive(session, &local) == TF_OK)
		(void)!tf_session_fill(session, rows, PROBE_SEED + session->steps, &local);
	TF_TRY(agree_to_begin(session, &local, err));
	tf_session_poison(session, rows);
	if (tf_session_step(session, rows, &local) == TF_OK)
		(void)!tf_session_compare(session, rows, &local);
	return agree(session, &local, err);
}

void tf_session_capacities(
	const struct tf_session *session, uint32_t *out_count, uint32_t *out_largest)
{
	*out_count = 0;
	*out_largest = 0;
	for (uint32_t i = 0; i < session->package.program.graph_count; i++) {
		const struct tf_graph *graph = &session->package.program.graphs[i];

		if (graph->kind != TF_GRAPH_STEP || !session->execs[i])
			continue;
		*out_count += 1;
		if (graph->capacity > *out_largest)
			*out_largest = graph->capacity;
	}
}

/*
 * A rank that finds wrong bytes still takes part in the remaining steps, so that its peers need
 * not wait out their bound.
 */
static enum tf_status probe(struct tf_session *session, struct tf_error *err)
{
	enum tf_status first = TF_OK;

	for (uint32_t i = session->package.program.graph_count; i-- > 0;) {
		uint32_t capacity = session->package.program.graphs[i].capacity;
		enum tf_status status;

		if (session->package.program.graphs[i].kind != TF_GRAPH_STEP || !session->execs[i])
			continue;
		if (session->expected_capacity != capacity)
			TF_TRY(tf_session_fill(session, capacity, PROBE_SEED, err));
		tf_session_poison(session, capacity);
		TF_TRY(tf_session_step(session, capacity, err));
		status = tf_session_compare(session, capacity, first == TF_OK ? err : NULL);
		if (first == TF_OK)
			first = status;
	}
	return first;
}

enum tf_status tf_session_probe(struct tf_session *session, int is_wanted, struct tf_error *err)
{
	struct tf_error local = {0};
	uint32_t count, largest;

	/* The largest capacity first, so that the operands' memory is taken once. */
	tf_session_capacities(session, &count, &largest);
	if (is_wanted)
		(void)!tf_session_fill(session, largest, PROBE_SEED, &local);
	TF_TRY(agree(session, &local, err));
	if (is_wanted)
		(void)!probe(session, &local);
	return agree(session, &local, err);
}
