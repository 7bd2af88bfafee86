/* SPDX-License-Identifier: Apache-2.0 */
/* Peers are counted from the rank itself, so that one program serves all ranks. */
#include "runtime/graph/locate.h"

#include <inttypes.h>

uint64_t tf_window_address(const struct tf_window_view *view, uint32_t peer, uint64_t segment_off)
{
	return view->base + (view->rank + peer) % view->world * view->stride + segment_off;
}

enum tf_status tf_window_locate(const struct tf_window_view *view, uint64_t address,
	uint32_t *out_peer, uint64_t *out_segment_off, struct tf_error *err)
{
	uint64_t bytes = view->world * view->stride;
	uint64_t off = address - view->base;
	uint32_t owner;

	if (address < view->base || off >= bytes)
		return TF_FAIL(err, TF_E_INVALID,
			"address 0x%" PRIx64 " lies outside the window, 0x%" PRIx64 " to 0x%" PRIx64, address,
			view->base, view->base + bytes);
	owner = (uint32_t)(off / view->stride);
	*out_peer = (owner + view->world - view->rank) % view->world;
	*out_segment_off = off % view->stride;
	return TF_OK;
}
