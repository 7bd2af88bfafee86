/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rank's states:
 *
 *   opening --run--> waiting --obey--> (an order) --> waiting --DRAIN--> closed
 *      any failure --tf_rank_loop--> FAILED is said, the session closed, the process ends
 *
 * 1. Signals that a terminal or a service manager sends to the whole process group are the
 *    supervisor's to act on.
 * 2. A failed order is the end: the group's protocol state is not known any more.
 */
#include "runtime/serve/rank_loop.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/collective/startup.h"
#include "runtime/link/channel.h"
#include "runtime/serve/command.h"
#include "runtime/serve/rank_steps.h"
#include "runtime/serve/rank_voice.h"
#include "runtime/session/session_private.h"

struct rank_state {
	const struct tf_rank_plan *plan;
	struct tf_link *link;
	struct tf_session *session;
	struct tf_rank_voice voice;
	struct tf_bytes word;
	int64_t timeout_ns;
	int drained;
};

static enum tf_status say(
	struct rank_state *state, uint16_t type, const void *data, size_t bytes, struct tf_error *err)
{
	return tf_rank_voice_say(&state->voice, type, data, bytes, state->timeout_ns, err);
}

static enum tf_status say_ready(struct rank_state *state, struct tf_error *err)
{
	struct tf_session *session = state->session;
	struct tf_rank_ready ready;

	memset(&ready, 0, sizeof(ready));
	for (int phase = 0; phase < TF_PHASE_COUNT; phase++)
		ready.phase_ns[phase] = tf_session_phase_ns(session, (enum tf_session_phase)phase);
	ready.base = tf_session_base(session);
	ready.relocated = (uint32_t)tf_session_relocated(session);
	memcpy(ready.digest, tf_session_digest(session), sizeof(ready.digest));
	tf_rank_counters_read(session, &ready.counters);
	return say(state, TF_COMMAND_READY, &ready, sizeof(ready), err);
}

static enum tf_status obey_step(struct rank_state *state, struct tf_error *err)
{
	struct tf_step_order order;
	struct tf_step_report report;

	if (state->word.size != sizeof(order))
		return TF_FAIL(err, TF_E_INTERNAL, "an order to step has %zu bytes", state->word.size);
	memcpy(&order, state->word.data, sizeof(order));
	TF_TRY(tf_rank_steps_run(state->session, &order, &state->voice, &report, err));
	return say(state, TF_COMMAND_STEPPED, &report, sizeof(report), err);
}

/* The place in the window that an order means, if it lies inside the buffer. */
static enum tf_status find_tensor(const struct rank_state *state, struct tf_tensor_order *order,
	uint8_t **out_place, struct tf_error *err)
{
	const struct tf_program *program = tf_session_program(state->session);

	if (state->word.size < sizeof(*order))
		return TF_FAIL(err, TF_E_INTERNAL, "an order for a tensor has %zu bytes", state->word.size);
	memcpy(order, state->word.data, sizeof(*order));
	if (order->buffer >= program->buffer_count || order->bytes > TF_TENSOR_GET_BYTES ||
		order->off > program->buffers[order->buffer].bytes ||
		order->bytes > program->buffers[order->buffer].bytes - order->off)
		return TF_FAIL(
			err, TF_E_INTERNAL, "an order for bytes outside of buffer %u", order->buffer);
	*out_place = (uint8_t *)tf_session_buffer_data(state->session, order->buffer) + order->off;
	return TF_OK;
}

static enum tf_status obey_get(struct rank_state *state, struct tf_error *err)
{
	struct tf_session *session = state->session;
	struct tf_tensor_order order;
	enum tf_status status;
	uint8_t *place, *copy;

	TF_TRY(find_tensor(state, &order, &place, err));
	copy = tf_calloc(1, order.bytes);
	if (!copy)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a piece of a tensor");
	status = session->ops->read(session->device, copy, place, order.bytes, err);
	if (status == TF_OK)
		status = say(state, TF_COMMAND_TENSOR, copy, order.bytes, err);
	tf_free(copy);
	return status;
}

static enum tf_status obey_put(struct rank_state *state, struct tf_error *err)
{
	struct tf_session *session = state->session;
	struct tf_tensor_order order;
	uint8_t *place;

	TF_TRY(find_tensor(state, &order, &place, err));
	if (state->word.size != sizeof(order) + order.bytes)
		return TF_FAIL(err, TF_E_INTERNAL, "an order to fill a tensor lacks bytes");
	TF_TRY(session->ops->write(
		session->device, place, state->word.data + sizeof(order), order.bytes, err));
	return say(state, TF_COMMAND_TENSOR, NULL, 0, err);
}

/* Every rank holds the same samples; rank 0 hands them over. */
static enum tf_status say_samples(
	struct rank_state *state, const uint64_t *samples, struct tf_error *err)
{
	uint32_t total = tf_session_program(state->session)->candidate_count;
	struct tf_bytes word = {0};
	enum tf_status status = TF_OK;

	for (uint32_t first = 0; status == TF_OK && first < total; first += TF_SAMPLES_A_WORD) {
		struct tf_samples_head head = {.first = first, .count = total - first};

		if (head.count > TF_SAMPLES_A_WORD)
			head.count = TF_SAMPLES_A_WORD;
		word.size = 0;
		status = tf_bytes_append(&word, &head, sizeof(head), err);
		if (status == TF_OK)
			status = tf_bytes_append(&word, samples + (size_t)first * TF_PASSES,
				(size_t)head.count * TF_PASSES * sizeof(samples[0]), err);
		if (status == TF_OK)
			status = say(state, TF_COMMAND_SAMPLES, word.data, word.size, err);
	}
	tf_bytes_fini(&word);
	return status;
}

static enum tf_status obey_drift(struct rank_state *state, struct tf_error *err)
{
	size_t count = (size_t)tf_session_program(state->session)->candidate_count * TF_PASSES;
	uint64_t *samples = tf_calloc(count, sizeof(samples[0]));
	enum tf_status status;

	if (!samples)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %zu samples", count);
	status = tf_session_drift(state->session, samples, err);
	if (status == TF_OK && tf_session_rank(state->session) == 0)
		status = say_samples(state, samples, err);
	if (status == TF_OK)
		status = say(state, TF_COMMAND_DRIFTED, NULL, 0, err);
	tf_free(samples);
	return status;
}

static enum tf_status obey(struct rank_state *state, uint16_t type, struct tf_error *err)
{
	switch (type) {
	case TF_COMMAND_STEP:
		return obey_step(state, err);
	case TF_COMMAND_TENSOR_GET:
		return obey_get(state, err);
	case TF_COMMAND_TENSOR_PUT:
		return obey_put(state, err);
	case TF_COMMAND_DRIFT:
		return obey_drift(state, err);
	case TF_COMMAND_DRAIN:
		state->drained = 1;
		return TF_OK;
	default:
		return TF_FAIL(err, TF_E_INTERNAL, "no order is numbered %u", type);
	}
}

static enum tf_status run(struct rank_state *state, int command_fd, struct tf_error *err)
{
	TF_TRY(tf_session_open(&state->plan->session, state->link, &state->session, err));
	TF_TRY(say_ready(state, err));
	while (!state->drained) {
		uint16_t type;
		uint32_t tag;

		TF_TRY(tf_channel_recv(command_fd, &type, &tag, &state->word, TF_DEADLINE_NEVER, err));
		TF_TRY(obey(state, type, err));
	}
	return TF_OK;
}

void tf_rank_leave_signals(void)
{
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
}

int tf_rank_loop(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	struct rank_state state;
	struct tf_error err = {0};
	enum tf_status status;

	(void)rank;
	tf_rank_leave_signals();
	memset(&state, 0, sizeof(state));
	state.plan = user;
	state.link = link;
	state.timeout_ns = state.plan->session.timeout_ns;
	if (state.plan->listen_fd >= 0)
		close(state.plan->listen_fd);
	tf_ranks_let_go(state.plan->beside);
	status =
		tf_rank_voice_start(&state.voice, command_fd, state.timeout_ns / TF_BEATS_A_TIMEOUT, &err);
	if (status != TF_OK) {
		(void)!tf_channel_send(command_fd, TF_COMMAND_FAILED, 0, &err, sizeof(err),
			tf_deadline_after(state.timeout_ns), NULL);
		return tf_status_exit(status);
	}
	status = run(&state, command_fd, &err);
	if (status != TF_OK)
		(void)!say(&state, TF_COMMAND_FAILED, &err, sizeof(err), NULL);
	tf_rank_voice_stop(&state.voice);
	tf_session_close(state.session);
	tf_bytes_fini(&state.word);
	return tf_status_exit(status);
}
