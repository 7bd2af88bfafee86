/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-gather of descriptors. A request carries none or one. The answer's payload is one byte a
 * rank, whether it gave one; the descriptors follow in the order of ranks, without the receiver's
 * own.
 */
#include "runtime/link/link.h"
#include "runtime/link/star.h"

/* What each rank gave, at rank 0; borrowed from the readers. */
static enum tf_status collect(struct tf_link *link, int mine, int *out_given, struct tf_error *err)
{
	out_given[0] = mine;
	for (uint32_t r = 1; r < link->world; r++) {
		const struct tf_frame_reader *in = &link->peers[r].in;
		struct tf_error fault;

		if (in->fd_count > 1) {
			TF_FAIL(&fault, TF_E_INVALID,
				"rank %u sent a bad frame: %u file descriptors, at most 1 belongs there", r,
				in->fd_count);
			return tf_star_fail(link, &fault, TF_STAR_COMMON, 0, err);
		}
		out_given[r] = in->fd_count ? in->fds[0] : -1;
	}
	return TF_OK;
}

static enum tf_status relay(
	struct tf_link *link, int mine, int *out_fds, int64_t deadline_ns, struct tf_error *err)
{
	uint8_t gave[TF_WORLD_MAX];
	int given[TF_WORLD_MAX];

	TF_TRY(tf_star_gather(link, TF_FRAME_FDS, deadline_ns, err));
	TF_TRY(collect(link, mine, given, err));
	for (uint32_t r = 0; r < link->world && r < TF_WORLD_MAX; r++)
		gave[r] = given[r] >= 0;
	for (uint32_t to = 1; to < link->world; to++) {
		int fds[TF_WORLD_MAX];
		unsigned count = 0;

		for (uint32_t r = 0; r < link->world; r++)
			if (r != to && gave[r])
				fds[count++] = given[r];
		tf_star_answer(link, to, TF_FRAME_FDS, gave, link->world, fds, count);
	}
	TF_TRY(tf_star_flush(link, TF_FRAME_FDS, deadline_ns, err));
	out_fds[0] = -1;
	for (uint32_t r = 1; r < link->world; r++)
		out_fds[r] = gave[r] ? tf_frame_reader_take_fd(&link->peers[r].in, 0) : -1;
	return TF_OK;
}

static enum tf_status receive(
	struct tf_link *link, int mine, int *out_fds, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_frame_reader *in = &link->peers[0].in;
	struct tf_error fault;
	unsigned expected = 0;
	unsigned next = 0;

	TF_TRY(tf_star_ask(link, TF_FRAME_FDS, NULL, 0, mine, deadline_ns, err));
	for (uint32_t r = 0; r < link->world && in->payload.size == link->world; r++)
		expected += r != link->rank && in->payload.data[r];
	if (in->payload.size != link->world || in->fd_count != expected) {
		TF_FAIL(&fault, TF_E_INVALID,
			"rank 0 sent a bad frame: %zu marks and %u file descriptors for %u ranks",
			in->payload.size, in->fd_count, link->world);
		return tf_star_fail(link, &fault, TF_STAR_COMMON, 0, err);
	}
	for (uint32_t r = 0; r < link->world; r++) {
		int here = r != link->rank && in->payload.data[r];

		out_fds[r] = here ? tf_frame_reader_take_fd(in, next++) : -1;
	}
	return TF_OK;
}

enum tf_status tf_link_exchange_fds(
	struct tf_link *link, int mine, int *out_fds, int64_t deadline_ns, struct tf_error *err)
{
	enum tf_status status;

	if (!link->local)
		return TF_FAIL(err, TF_E_UNSUPPORTED,
			"file descriptors cannot be exchanged between hosts, the link of rank %u is TCP",
			link->rank);
	TF_TRY(tf_star_begin(link, err));
	if (link->rank == 0)
		status = relay(link, mine, out_fds, deadline_ns, err);
	else
		status = receive(link, mine, out_fds, deadline_ns, err);
	tf_star_done(link);
	return status;
}
