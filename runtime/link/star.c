/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers over the star. star.h states the invariants; fault.c tells failures. */
#include "runtime/link/star.h"
#include "base/alloc.h"
#include "base/deadline.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ONLY_RANK(r) (UINT32_C(1) << (r))

enum tf_status tf_star_create(
	uint32_t rank, uint32_t world, struct tf_link **out_link, struct tf_error *err)
{
	struct tf_link *link = tf_calloc(1, sizeof(*link));

	if (!link)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the link of rank %u", rank);
	link->rank = rank;
	link->world = world;
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
		link->peers[r].fd = -1;
		link->peers[r].in.payload_max = rank == 0 ? TF_FRAME_RECORD_MAX : TF_FRAME_PAYLOAD_MAX;
		link->peers[r].late.payload_max = TF_FRAME_NOTE_MAX;
	}
	*out_link = link;
	return TF_OK;
}

void tf_star_connect(struct tf_link *link, uint32_t rank, int fd)
{
	link->peers[rank].fd = fd;
}

enum tf_status tf_star_begin(struct tf_link *link, struct tf_error *err)
{
	if (link->fault.status != TF_OK) {
		if (err)
			*err = link->fault;
		return link->fault.status;
	}
	link->tag++;
	return TF_OK;
}

int64_t tf_star_give_up_ns(int64_t deadline_ns)
{
	int64_t left;

	if (deadline_ns == TF_DEADLINE_NEVER)
		return deadline_ns;
	left = tf_deadline_left_ns(deadline_ns);
	return deadline_ns - left / 10;
}

const char *tf_star_rank_list(uint32_t ranks, char *out, size_t size)
{
	int count = __builtin_popcount(ranks);
	int used = snprintf(out, size, count == 1 ? "rank" : "ranks");

	for (int i = 0; ranks; i++, ranks &= ranks - 1) {
		const char *before = i == 0 ? " " : i == count - 1 ? " and " : ", ";

		if (used >= 0 && (size_t)used < size)
			used += snprintf(out + used, size - (size_t)used, "%s%d", before, __builtin_ctz(ranks));
	}
	return out;
}

/*
 * This rank's clock ran out first. Where rank 0 waits too it knows who is missing and says so at
 * once; what else it says comes of this rank's own word.
 */
static void hear_verdict(struct tf_link *link, int64_t deadline_ns)
{
	struct pollfd watch = {.fd = link->peers[0].fd, .events = POLLIN};
	struct tf_error own = link->fault, said = {0};

	while (tf_star_pump(link, 0, &said) == TF_OK && !tf_deadline_passed(deadline_ns))
		(void)poll(&watch, 1, tf_deadline_poll_ms(deadline_ns));
	link->fault = said.status == TF_E_TIMEOUT ? said : own;
}

enum tf_status tf_star_timed_out(
	struct tf_link *link, uint16_t type, const char *what, uint32_t ranks, struct tf_error *err)
{
	int64_t grace = tf_deadline_after(TF_LINK_GRACE_NS);
	char list[TF_STAR_LIST_BYTES];
	char operation[32];
	struct tf_error fault;

	if (type == TF_FRAME_WELCOME)
		snprintf(operation, sizeof(operation), "rendezvous");
	else
		snprintf(operation, sizeof(operation), "%s %u", tf_frame_type_name(type), link->tag);
	TF_FAIL(&fault, TF_E_TIMEOUT, "%s timed out: %s %s", operation, what,
		tf_star_rank_list(ranks, list, sizeof(list)));
	(void)tf_star_fail(link, &fault, TF_STAR_COMMON, 0, NULL);
	if (link->rank != 0)
		hear_verdict(link, grace);
	if (err)
		*err = link->fault;
	return link->fault.status;
}

static enum tf_status poll_failed(struct tf_link *link, struct tf_error *err)
{
	struct tf_error fault;

	TF_FAIL_ERRNO(&fault, "cannot wait for the other ranks");
	return tf_star_fail(link, &fault, TF_STAR_OWN, 0, err);
}

/*
 * Waits until a connection has something (or, for those in `want_out`, takes something), then
 * takes what is there. 0 in *out_ready: time is up, also where a peer trickles for ever.
 */
static enum tf_status wait_and_pump(struct tf_link *link, uint32_t want_out, int64_t deadline_ns,
	int *out_ready, struct tf_error *err)
{
	struct pollfd watch[TF_WORLD_MAX];

	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		watch[r] = (struct pollfd){
			.fd = link->peers[r].fd,
			.events = (short)(POLLIN | (want_out & ONLY_RANK(r) ? POLLOUT : 0)),
		};
	*out_ready = poll(watch, TF_WORLD_MAX, tf_deadline_poll_ms(deadline_ns));
	if (*out_ready < 0 && errno != EINTR)
		return poll_failed(link, err);
	for (uint32_t r = 0; *out_ready > 0 && r < TF_WORLD_MAX; r++)
		if (watch[r].revents & ~POLLOUT)
			TF_TRY(tf_star_pump(link, r, err));
	if (tf_deadline_passed(deadline_ns))
		*out_ready = 0;
	return TF_OK;
}

/* The held frame of `rank` must belong to this operation. */
static enum tf_status check_held(
	struct tf_link *link, uint32_t rank, uint16_t type, struct tf_error *err)
{
	const struct tf_frame *frame = &link->peers[rank].in.frame;
	struct tf_error fault;
	enum tf_status status = tf_frame_expect(frame, type, link->tag, &fault);

	if (status == TF_OK && frame->fd_count && type != TF_FRAME_FDS)
		status = TF_FAIL(&fault, TF_E_INVALID,
			"frame '%s' carries %u file descriptors, none belong there", tf_frame_type_name(type),
			frame->fd_count);
	if (status == TF_OK && frame->sender != rank)
		status = TF_FAIL(&fault, TF_E_INVALID, "frame '%s' says it is from rank %u",
			tf_frame_type_name(type), frame->sender);
	if (status == TF_OK)
		return TF_OK;
	tf_error_prefix(&fault, "rank %u sent a bad frame", rank);
	return tf_star_fail(link, &fault, TF_STAR_COMMON, 0, err);
}

enum tf_status tf_star_gather(
	struct tf_link *link, uint16_t type, int64_t deadline_ns, struct tf_error *err)
{
	int64_t give_up = tf_star_give_up_ns(deadline_ns);
	int ready = 1;

	for (;;) {
		uint32_t missing = 0;

		for (uint32_t r = 1; r < link->world; r++)
			if (!link->peers[r].held)
				missing |= ONLY_RANK(r);
		if (!missing)
			break;
		if (ready == 0)
			return tf_star_timed_out(link, type, "no word from", missing, err);
		TF_TRY(wait_and_pump(link, 0, give_up, &ready, err));
	}
	for (uint32_t r = 1; r < link->world; r++)
		TF_TRY(check_held(link, r, type, err));
	return TF_OK;
}

void tf_star_answer(struct tf_link *link, uint32_t rank, uint16_t type, const void *payload,
	size_t bytes, const int *fds, unsigned fd_count)
{
	struct tf_frame frame = {
		.type = type,
		.fd_count = (uint16_t)fd_count,
		.sender = link->rank,
		.tag = link->tag,
		.length = (uint32_t)bytes,
	};

	tf_frame_writer_begin(&link->peers[rank].out, &frame, payload, fds);
}

/* Sends what the socket of `rank` takes. A closed one may hold the reason in what it sent last. */
static enum tf_status push(struct tf_link *link, uint32_t rank, struct tf_error *err)
{
	struct tf_link_peer *peer = &link->peers[rank];
	struct tf_error fault;
	enum tf_status status = tf_frame_writer_step(&peer->out, peer->fd, &fault);

	if (status == TF_OK)
		return TF_OK;
	if (status != TF_E_DISCONNECTED)
		return tf_star_fail(link, &fault, TF_STAR_OWN, 0, err);
	/* At most a request, a fault and the end lie there (invariant 1). */
	for (int i = 0; i < 3; i++)
		TF_TRY(tf_star_pump(link, rank, err));
	TF_FAIL(&fault, TF_E_DISCONNECTED, "rank %u departed", rank);
	return tf_star_fail(link, &fault, TF_STAR_COMMON, ONLY_RANK(rank), err);
}

static enum tf_status push_all(struct tf_link *link, uint32_t *out_pending, struct tf_error *err)
{
	uint32_t pending = 0;

	for (uint32_t r = 0; r < link->world; r++) {
		if (link->peers[r].fd < 0 || tf_frame_writer_is_done(&link->peers[r].out))
			continue;
		TF_TRY(push(link, r, err));
		if (!tf_frame_writer_is_done(&link->peers[r].out))
			pending |= ONLY_RANK(r);
	}
	*out_pending = pending;
	return TF_OK;
}

/*
 * Only connections with something left to send are watched: a rank that has its answer may close,
 * and go unnoticed until the next operation.
 */
enum tf_status tf_star_flush(
	struct tf_link *link, uint16_t type, int64_t deadline_ns, struct tf_error *err)
{
	int ready = 1;

	for (;;) {
		struct pollfd watch[TF_WORLD_MAX];
		uint32_t pending;

		TF_TRY(push_all(link, &pending, err));
		if (!pending)
			return TF_OK;
		if (ready == 0)
			return tf_star_timed_out(link, type, "the answer was not taken by", pending, err);
		for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
			watch[r] = (struct pollfd){
				.fd = pending & ONLY_RANK(r) ? link->peers[r].fd : -1,
				.events = POLLOUT,
			};
		ready = poll(watch, TF_WORLD_MAX, tf_deadline_poll_ms(deadline_ns));
		if (ready < 0 && errno != EINTR)
			return poll_failed(link, err);
		if (tf_deadline_passed(deadline_ns))
			ready = 0;
	}
}

static enum tf_status wait_answer(
	struct tf_link *link, uint16_t type, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_link_peer *root = &link->peers[0];
	int ready = 1;

	while (!root->held) {
		int sending;

		if (!tf_frame_writer_is_done(&root->out))
			TF_TRY(push(link, 0, err));
		sending = !tf_frame_writer_is_done(&root->out);
		if (ready == 0)
			return tf_star_timed_out(link, type,
				sending ? "the request was not taken by" : "no word from", ONLY_RANK(0), err);
		TF_TRY(wait_and_pump(link, sending ? ONLY_RANK(0) : 0, deadline_ns, &ready, err));
	}
	return check_held(link, 0, type, err);
}

enum tf_status tf_star_ask(struct tf_link *link, uint16_t type, const void *payload, size_t bytes,
	int fd, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_error fault;
	enum tf_status status;

	tf_star_answer(link, 0, type, payload, bytes, &fd, fd >= 0);
	status = wait_answer(link, type, deadline_ns, err);
	if (status != TF_OK || tf_frame_writer_is_done(&link->peers[0].out))
		return status;
	TF_FAIL(&fault, TF_E_INVALID, "rank 0 answered %s %u before the request was out",
		tf_frame_type_name(type), link->tag);
	return tf_star_fail(link, &fault, TF_STAR_COMMON, 0, err);
}

enum tf_status tf_star_await(
	struct tf_link *link, uint16_t type, int64_t deadline_ns, struct tf_error *err)
{
	return wait_answer(link, type, deadline_ns, err);
}

void tf_star_done(struct tf_link *link)
{
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
		link->peers[r].held = 0;
		tf_frame_reader_reset(&link->peers[r].in);
	}
}
