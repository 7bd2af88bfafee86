/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreement on the window's base. A base counts only if every rank could reserve it; a rank that
 * could not makes all others let go of it, so the group never runs at two bases.
 */
#include "runtime/session/rank_window.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime/collective/collective.h"
#include "runtime/session/peer_access.h"

/*
 * The list of the device, without its last, which is "anywhere": that takes a proposal of a rank.
 */
#define BASE_COUNT (TF_WINDOW_BASE_COUNT - 1)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define PAGE_BYTES UINT64_C(4096)

struct proposal {
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	uint64_t base;
	uint32_t reserved; /* 1: this rank holds the range */
	uint32_t pad;
};

/*
 * Every rank reserves `base` (0: the proposer chose; see `mine`) and tells whether it could; why
 * this one could not is in `mine_why`.
 */
static enum tf_status agree_on(struct tf_rank_window *window, struct tf_device *device,
	struct tf_link *link, uint32_t proposer, struct proposal *mine, struct tf_error *mine_why,
	int64_t deadline_ns, int *out_agreed, struct tf_error *err)
{
	struct proposal all[TF_WORLD_MAX];

	*out_agreed = 1;
	*mine_why = (struct tf_error){0};
	if (window->rank == proposer &&
		window->ops->window_open(device, mine->token, mine->base, window->stride, window->world,
			&window->window, mine_why) == TF_OK) {
		mine->reserved = 1;
		mine->base = window->ops->window_base(window->window);
	}
	TF_TRY(tf_link_exchange_fixed(link, mine, sizeof(*mine), all, deadline_ns, err));
	if (window->rank != proposer && all[proposer].reserved) {
		mine->base = all[proposer].base;
		mine->reserved = window->ops->window_open(device, mine->token, mine->base, window->stride,
							 window->world, &window->window, mine_why) == TF_OK;
	}
	TF_TRY(tf_link_exchange_fixed(link, mine, sizeof(*mine), all, deadline_ns, err));
	for (uint32_t rank = 0; rank < window->world; rank++)
		*out_agreed &= all[rank].reserved == 1;
	return TF_OK;
}

static void let_go(struct tf_rank_window *window, struct proposal *mine)
{
	window->ops->window_close(window->window);
	window->window = NULL;
	mine->reserved = 0;
}

/*
 * One token for the group: rank 0's. A fresh one for each attempt, since a token names one
 * reservation.
 */
static enum tf_status share_token(
	struct tf_link *link, struct proposal *mine, int64_t deadline_ns, struct tf_error *err)
{
	struct proposal all[TF_WORLD_MAX];

	if (getrandom(mine->token, sizeof(mine->token), 0) != (ssize_t)sizeof(mine->token))
		return TF_FAIL_ERRNO(err, "cannot draw a token for the window");
	TF_TRY(tf_link_exchange_fixed(link, mine, sizeof(*mine), all, deadline_ns, err));
	memcpy(mine->token, all[0].token, sizeof(mine->token));
	return TF_OK;
}

/* All have come to the end of the list: of the last attempt they know why it failed. */
static enum tf_status refuse(const struct tf_rank_window *window, struct tf_link *link,
	const struct tf_error *mine_why, int64_t deadline_ns, struct tf_error *err)
{
	enum tf_status status = tf_link_agree_ok(link, mine_why, deadline_ns, err);

	if (status == TF_OK)
		return TF_FAIL(err, TF_E_INTERNAL, "a base that no rank refused was not agreed on");
	tf_error_prefix(err,
		"no base is free on every rank for a window of %u segments of %llu bytes; %d fixed ones "
		"and one proposal of each rank were tried, the last",
		window->world, (unsigned long long)window->stride, BASE_COUNT);
	return status;
}

enum tf_status tf_rank_window_reserve(const struct tf_device_ops *ops, struct tf_device *device,
	struct tf_link *link, const struct tf_layout *layout, uint32_t base_first, int64_t deadline_ns,
	struct tf_rank_window *out, struct tf_error *err)
{
	struct tf_rank_window window = {
		.ops = ops,
		.stride = layout->stride_bytes,
		.rank = tf_link_rank(link),
		.world = tf_link_world(link),
	};
	struct proposal mine = {0};
	struct tf_error why = {0};
	int agreed = 0;

	for (uint32_t i = 0; i < BASE_COUNT + window.world; i++) {
		uint32_t proposer = i < BASE_COUNT ? 0 : i - BASE_COUNT;
		enum tf_status status = share_token(link, &mine, deadline_ns, err);

		mine.base = i < BASE_COUNT ? tf_window_bases[(base_first + i) % BASE_COUNT] : 0;
		window.relocated = i >= BASE_COUNT;
		if (status == TF_OK)
			status =
				agree_on(&window, device, link, proposer, &mine, &why, deadline_ns, &agreed, err);
		if (status == TF_OK && agreed) {
			window.base = mine.base;
			*out = window;
			return TF_OK;
		}
		let_go(&window, &mine);
		TF_TRY(status);
	}
	return refuse(&window, link, &why, deadline_ns, err);
}

/* What one rank's segment is made of; descriptors are -1 where there is none. */
struct parts {
	uint64_t shared_bytes, own_bytes;
	int shared_fd, own_fd;
};

static enum tf_status create_parts(const struct tf_rank_window *window, struct tf_device *device,
	const struct tf_layout *layout, struct parts *parts, struct tf_error *err)
{
	struct tf_device_properties properties;

	parts->shared_bytes = layout->segment_bytes;
	if (!window->parted)
		return window->ops->segment_create(device, parts->shared_bytes, &parts->shared_fd, err);
	window->ops->properties(device, &properties);
	TF_TRY(tf_peer_access_shared_bytes(
		layout, properties.granularity_bytes, &parts->shared_bytes, err));
	parts->own_bytes = layout->segment_bytes - parts->shared_bytes;
	TF_TRY(window->ops->host_segment_create(device, parts->shared_bytes, &parts->shared_fd, err));
	return window->ops->segment_create(device, parts->own_bytes, &parts->own_fd, err);
}

static enum tf_status map_parts(const struct tf_rank_window *window, struct tf_device *device,
	const struct parts *parts, const int *fds, struct tf_error *err)
{
	for (uint32_t rank = 0; rank < window->world; rank++) {
		int fd = rank == window->rank ? parts->shared_fd : fds[rank];
		enum tf_status status =
			window->ops->window_map(window->window, rank, fd, parts->shared_bytes, err);

		if (status == TF_OK && rank == window->rank && parts->own_bytes)
			status = window->ops->window_map_own(window->window, device, rank, parts->shared_bytes,
				parts->own_fd, parts->own_bytes, err);
		if (status != TF_OK) {
			tf_error_prefix(err, "cannot map the segment of rank %u", rank);
			return status;
		}
	}
	return TF_OK;
}

enum tf_status tf_rank_window_connect(struct tf_rank_window *window, struct tf_device *device,
	struct tf_link *link, const struct tf_layout *layout, int peer_access, int64_t deadline_ns,
	struct tf_error *err)
{
	struct parts parts = {.shared_fd = -1, .own_fd = -1};
	struct tf_error local = {0};
	enum tf_status status;
	int fds[TF_WORLD_MAX];

	for (uint32_t rank = 0; rank < TF_WORLD_MAX; rank++)
		fds[rank] = -1;
	window->parted = !peer_access;
	(void)!create_parts(window, device, layout, &parts, &local);
	status = tf_link_agree_ok(link, &local, deadline_ns, err);
	if (status == TF_OK)
		status = tf_link_exchange_fds(link, parts.shared_fd, fds, deadline_ns, err);
	if (status == TF_OK) {
		(void)!map_parts(window, device, &parts, fds, &local);
		status = tf_link_agree_ok(link, &local, deadline_ns, err);
	}
	for (uint32_t rank = 0; rank < window->world; rank++) {
		if (fds[rank] >= 0 && fds[rank] != parts.shared_fd)
			close(fds[rank]);
	}
	if (parts.shared_fd >= 0)
		close(parts.shared_fd);
	if (parts.own_fd >= 0)
		close(parts.own_fd);
	return status;
}

static void populate(const struct tf_rank_window *window, uint64_t off, uint64_t bytes)
{
	uint64_t first = off / PAGE_BYTES * PAGE_BYTES;

	if (bytes)
		(void)madvise(tf_rank_window_at(window, 0, first),
			tf_align_up(off + bytes, PAGE_BYTES) - first, MADV_POPULATE_WRITE);
}

void tf_rank_window_populate(
	const struct tf_rank_window *window, uint32_t capabilities, const struct tf_layout *layout)
{
	uint64_t sources = window->world;

	if (!(capabilities & TF_DEVICE_ADDRESSABLE))
		return;
	populate(window, layout->control_off, layout->control_bytes);
	populate(window, layout->ll_off, TF_SLOTS_LL * sources * layout->ll_source_bytes);
	populate(
		window, layout->sentinel_off, TF_SLOTS_SENTINEL * sources * layout->sentinel_source_bytes);
	populate(window, layout->flag_off, layout->flag_bytes);
	populate(
		window, layout->staging_off, TF_SLOTS_STAGING * sources * layout->staging_source_bytes);
	populate(window, layout->exchange_off, layout->exchange_bytes);
}

void *tf_rank_window_at(const struct tf_rank_window *window, uint32_t peer, uint64_t segment_off)
{
	struct tf_window_view view = tf_rank_window_view(window);

	return (void *)(uintptr_t)tf_window_address(&view, peer, segment_off);
}

struct tf_window_view tf_rank_window_view(const struct tf_rank_window *window)
{
	return (struct tf_window_view){.base = window->base,
		.stride = window->stride,
		.rank = window->rank,
		.world = window->world};
}

void tf_rank_window_close(struct tf_rank_window *window)
{
	if (window->window)
		window->ops->window_close(window->window);
	window->window = NULL;
}
