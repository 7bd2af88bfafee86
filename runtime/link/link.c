/* SPDX-License-Identifier: Apache-2.0 */
/* A link's life: pairs made in one process, attaching, the health check, abort and close. */
#include "runtime/link/link.h"
#include "base/alloc.h"
#include "runtime/link/star.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

enum tf_status tf_link_create_pairs(
	uint32_t world, struct tf_link_ends *out_ends, struct tf_error *err)
{
	struct tf_link_ends ends = {.world = world};

	if (world < TF_WORLD_MIN || world > TF_WORLD_MAX)
		return TF_FAIL(err, TF_E_USAGE, "world of %u ranks, between %d and %d are supported", world,
			TF_WORLD_MIN, TF_WORLD_MAX);
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		ends.root_fds[r] = ends.peer_fds[r] = -1;
	for (uint32_t r = 1; r < world; r++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
			enum tf_status status = TF_FAIL_ERRNO(err, "cannot make the socket pair of rank %u", r);

			tf_link_ends_fini(&ends);
			return status;
		}
		ends.root_fds[r] = pair[0];
		ends.peer_fds[r] = pair[1];
	}
	*out_ends = ends;
	return TF_OK;
}

void tf_link_ends_keep(struct tf_link_ends *ends, uint32_t rank)
{
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
		if (rank != 0)
			close_end(&ends->root_fds[r]);
		if (rank != r)
			close_end(&ends->peer_fds[r]);
	}
}

void tf_link_ends_fini(struct tf_link_ends *ends)
{
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
		close_end(&ends->root_fds[r]);
		close_end(&ends->peer_fds[r]);
	}
}

/* The link takes one end, or the end is closed when there is no link. */
static void take_end(int *fd, struct tf_link *link, uint32_t rank)
{
	if (!link) {
		close_end(fd);
		return;
	}
	tf_star_connect(link, rank, *fd);
	*fd = -1;
}

enum tf_status tf_link_attach(
	struct tf_link_ends *ends, uint32_t rank, struct tf_link **out_link, struct tf_error *err)
{
	struct tf_link *link = NULL;
	enum tf_status status;

	if (rank >= ends->world)
		return TF_FAIL(err, TF_E_USAGE, "rank %u of a world of %u", rank, ends->world);
	if ((rank == 0 ? ends->root_fds[1] : ends->peer_fds[rank]) < 0)
		return TF_FAIL(err, TF_E_USAGE, "rank %u is already attached", rank);
	status = tf_star_create(rank, ends->world, &link, err);
	if (rank == 0)
		for (uint32_t r = 1; r < ends->world; r++)
			take_end(&ends->root_fds[r], link, r);
	else
		take_end(&ends->peer_fds[rank], link, 0);
	if (status != TF_OK)
		return status;
	link->local = 1;
	*out_link = link;
	return TF_OK;
}

void tf_link_close(struct tf_link *link)
{
	if (!link)
		return;
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
		struct tf_link_peer *peer = &link->peers[r];

		close_end(&peer->fd);
		tf_frame_reader_fini(&peer->in);
		tf_frame_reader_fini(&peer->late);
	}
	tf_bytes_fini(&link->answer);
	tf_free(link);
}

uint32_t tf_link_rank(const struct tf_link *link)
{
	return link->rank;
}

uint32_t tf_link_world(const struct tf_link *link)
{
	return link->world;
}

int tf_link_is_local(const struct tf_link *link)
{
	return link->local;
}

void tf_link_abort(struct tf_link *link, const char *reason)
{
	struct tf_error own;
	struct tf_error said;

	if (link->fault.status != TF_OK)
		return;
	TF_FAIL(&own, TF_E_ABORTED, "rank %u aborted: %s", link->rank, reason);
	TF_FAIL(&said, TF_E_ABORTED, "%s", reason);
	/*
	 * Rank 0 names the rank in its own words for everyone, so the others send it the bare reason.
	 */
	tf_star_fail(link, link->rank == 0 ? &own : &said, TF_STAR_COMMON, 0, NULL);
	link->fault = own;
}

enum tf_status tf_link_poll_departed(struct tf_link *link, struct tf_error *err)
{
	struct pollfd watch[TF_WORLD_MAX];
	int ready = 1;

	if (link->fault.status != TF_OK) {
		if (err)
			*err = link->fault;
		return link->fault.status;
	}
	/* A connection may hold a request, a fault and its end: one is taken in each turn. */
	for (int turn = 0; turn < 3 && ready > 0; turn++) {
		for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
			watch[r] = (struct pollfd){.fd = link->peers[r].fd, .events = POLLIN};
		ready = poll(watch, TF_WORLD_MAX, 0);
		for (uint32_t r = 0; ready > 0 && r < TF_WORLD_MAX; r++)
			if (watch[r].revents)
				TF_TRY(tf_star_pump(link, r, err));
	}
	return TF_OK;
}

unsigned tf_link_fds(const struct tf_link *link, int *out_fds)
{
	unsigned count = 0;

	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		if (link->peers[r].fd >= 0)
			out_fds[count++] = link->peers[r].fd;
	return count;
}
