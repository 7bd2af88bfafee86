/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window of a rank group: the ranks agree on a base, create their segments, exchange and map
 * them. Used by the session and by preparation alike. Every step is all-or-none over the link.
 */
#ifndef TF_RUNTIME_SESSION_RANK_WINDOW_H
#define TF_RUNTIME_SESSION_RANK_WINDOW_H

#include "catalog/program.h"
#include "runtime/device/device.h"
#include "runtime/graph/locate.h"
#include "runtime/link/link.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_rank_window {
	const struct tf_device_ops *ops;
	struct tf_window *window;
	uint64_t base, stride;
	uint32_t rank, world;
	int relocated; /* no base of the list was free on every rank */
	int parted;    /* ranks share the first part of a segment alone (peer_access.h) */
};

/*
 * Reserves the window for layout->stride_bytes * world: bases of the list from index `base_first`
 * on (wrapping), then addresses that the ranks propose in turn. When nothing is free on all ranks,
 * all return why the last attempt failed on the lowest rank where it did: TF_E_MISFIT, or what
 * else its device says. Collective.
 */
TF_WARN_UNUSED enum tf_status tf_rank_window_reserve(const struct tf_device_ops *ops,
	struct tf_device *device, struct tf_link *link, const struct tf_layout *layout,
	uint32_t base_first, int64_t deadline_ns, struct tf_rank_window *out, struct tf_error *err);

/*
 * Creates this rank's segment, passes it to all, maps everyone's. Without `peer_access` it is made
 * of two parts, and only the one that all share is passed on. Collective.
 */
TF_WARN_UNUSED enum tf_status tf_rank_window_connect(struct tf_rank_window *window,
	struct tf_device *device, struct tf_link *link, const struct tf_layout *layout, int peer_access,
	int64_t deadline_ns, struct tf_error *err);

/*
 * Takes the pages of this rank's own segment that `layout` puts to use (lanes of no bytes are
 * left out), in one go instead of a fault each. A courtesy: kernels without the call, and devices
 * whose memory the CPU does not map, are left as they are.
 */
void tf_rank_window_populate(
	const struct tf_rank_window *window, uint32_t capabilities, const struct tf_layout *layout);

/* Address of (peer, offset): peer 0 is this rank's own segment. */
void *tf_rank_window_at(const struct tf_rank_window *window, uint32_t peer, uint64_t segment_off);

struct tf_window_view tf_rank_window_view(const struct tf_rank_window *window);

void tf_rank_window_close(struct tf_rank_window *window);

#ifdef __cplusplus
}
#endif
#endif
