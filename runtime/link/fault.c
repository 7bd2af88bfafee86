/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one rank's failure becomes everyone's. A rank finds it in its own work or in what a
 * connection brought (tf_star_pump); rank 0 puts it into words for all and tells them before it
 * returns, within TF_LINK_GRACE_NS. Other ranks tell rank 0 alone, which passes it on when it
 * next looks.
 */
#include "runtime/link/star.h"
#include "base/deadline.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define ONLY_RANK(r) (UINT32_C(1) << (r))

/*
 * Finishes a frame that is half out, since nothing can be said in the middle of it, then the note.
 */
static int tell_step(struct tf_link_peer *peer, struct tf_frame_writer *note)
{
	if (tf_frame_writer_step(&peer->out, peer->fd, NULL) != TF_OK)
		return 1;
	if (!tf_frame_writer_is_done(&peer->out))
		return 0;
	if (tf_frame_writer_step(note, peer->fd, NULL) != TF_OK)
		return 1;
	return tf_frame_writer_is_done(note);
}

/* Tells the connected ranks in `listeners`; whoever cannot hear within the grace does not. */
static void tell(struct tf_link *link, enum tf_status status, const char *text, uint32_t listeners)
{
	int64_t deadline = tf_deadline_after(TF_LINK_GRACE_NS);
	struct tf_frame_writer notes[TF_WORLD_MAX];
	struct tf_frame frame = {.type = TF_FRAME_FAULT, .sender = link->rank, .tag = link->tag};
	uint8_t payload[TF_FRAME_NOTE_MAX];

	frame.length = (uint32_t)tf_frame_note_encode(status, text, payload);
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		tf_frame_writer_begin(&notes[r], &frame, payload, NULL);
	for (;;) {
		struct pollfd watch[TF_WORLD_MAX];

		for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
			int listens = (listeners & ONLY_RANK(r)) && link->peers[r].fd >= 0;

			if (!listens || tell_step(&link->peers[r], &notes[r]))
				listeners &= ~ONLY_RANK(r);
			watch[r] = (struct pollfd){.fd = -1, .events = POLLOUT};
			if (listeners & ONLY_RANK(r))
				watch[r].fd = link->peers[r].fd;
		}
		if (!listeners || tf_deadline_passed(deadline))
			return;
		(void)poll(watch, TF_WORLD_MAX, tf_deadline_poll_ms(deadline));
	}
}

enum tf_status tf_star_fail(struct tf_link *link, const struct tf_error *fault,
	enum tf_star_whose whose, uint32_t skip_ranks, struct tf_error *err)
{
	struct tf_error said = *fault;

	link->fault = *fault;
	if (link->rank == 0 && whose == TF_STAR_OWN) {
		tf_error_prefix(&said, "rank 0 failed");
		said.status = TF_E_ABORTED;
	}
	tell(link, said.status, said.text, ((UINT32_C(1) << TF_WORLD_MAX) - 1) & ~skip_ranks);
	if (err)
		*err = link->fault;
	return link->fault.status;
}

/*
 * What rank 0 itself still waits for while `rank` has done its part: ranks that never came, or
 * those without a request in the operation under way; else 0.
 */
static uint32_t missing_beside(const struct tf_link *link, uint32_t rank, uint16_t *out_type)
{
	const struct tf_link_peer *peer = &link->peers[rank];
	int is_waiting = peer->held && peer->in.frame.tag == link->tag;
	uint32_t absent = 0, silent = 0;

	for (uint32_t r = 1; r < link->world; r++) {
		if (link->peers[r].fd < 0)
			absent |= ONLY_RANK(r);
		else if (!link->peers[r].held)
			silent |= ONLY_RANK(r);
	}
	*out_type = absent ? TF_FRAME_WELCOME : peer->in.frame.type;
	return absent ? absent : is_waiting ? silent : 0;
}

/*
 * A fault came from `rank`. Rank 0's words are for everyone; another rank's are put into words
 * here.
 */
static enum tf_status adopt(
	struct tf_link *link, uint32_t rank, const struct tf_frame_reader *reader, struct tf_error *err)
{
	struct tf_error note;
	struct tf_error fault;
	uint32_t missing;
	uint16_t type;
	enum tf_status status =
		tf_frame_note_decode(reader->payload.data, reader->payload.size, &note, &fault);

	if (status != TF_OK) {
		tf_error_prefix(&fault, "rank %u sent a bad frame", rank);
		return tf_star_fail(link, &fault, TF_STAR_COMMON, ONLY_RANK(rank), err);
	}
	if (link->rank != 0)
		return tf_star_fail(link, &note, TF_STAR_COMMON, ONLY_RANK(0), err);
	/* It heard nothing because rank 0 waits as well: the missing ones are at fault. */
	missing = missing_beside(link, rank, &type);
	if (note.status == TF_E_TIMEOUT && missing)
		return tf_star_timed_out(link, type, "no word from", missing, err);
	fault = note;
	fault.status = TF_E_ABORTED;
	tf_error_prefix(&fault, "rank %u %s", rank, note.status == TF_E_ABORTED ? "aborted" : "failed");
	return tf_star_fail(link, &fault, TF_STAR_COMMON, ONLY_RANK(rank), err);
}

/* The stream of `rank` ended or makes no sense, or this process lacks the means to read it. */
static enum tf_status cannot_read(
	struct tf_link *link, uint32_t rank, const struct tf_error *cause, struct tf_error *err)
{
	struct tf_error fault = *cause;

	if (cause->status == TF_E_NO_MEMORY || cause->status == TF_E_SYSTEM)
		return tf_star_fail(link, &fault, TF_STAR_OWN, 0, err);
	if (cause->status == TF_E_DISCONNECTED) {
		TF_FAIL(&fault, TF_E_DISCONNECTED, "rank %u departed", rank);
		return tf_star_fail(link, &fault, TF_STAR_COMMON, ONLY_RANK(rank), err);
	}
	tf_error_prefix(&fault, "rank %u sent a bad frame", rank);
	return tf_star_fail(link, &fault, TF_STAR_COMMON, 0, err);
}

enum tf_status tf_star_pump(struct tf_link *link, uint32_t rank, struct tf_error *err)
{
	struct tf_link_peer *peer = &link->peers[rank];
	int behind = peer->held || tf_frame_reader_is_started(&peer->late);
	struct tf_frame_reader *reader = behind ? &peer->late : &peer->in;
	struct tf_error cause;
	int complete;

	if (tf_frame_reader_step(reader, peer->fd, &complete, &cause) != TF_OK)
		return cannot_read(link, rank, &cause, err);
	if (!complete)
		return TF_OK;
	if (reader->frame.type == TF_FRAME_FAULT)
		return adopt(link, rank, reader, err);
	if (behind) {
		TF_FAIL(&cause, TF_E_INVALID, "frame '%s' came before the one ahead of it was answered",
			tf_frame_type_name(reader->frame.type));
		return cannot_read(link, rank, &cause, err);
	}
	peer->held = 1;
	return TF_OK;
}
