/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the window and places of a program: one the inverse of the other. */
#ifndef TF_RUNTIME_GRAPH_LOCATE_H
#define TF_RUNTIME_GRAPH_LOCATE_H

#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A window as one rank sees it. */
struct tf_window_view {
	uint64_t base, stride;
	uint32_t rank, world; /* rank < world */
};

/* The address of `segment_off` in the segment of rank (rank + peer) mod world; peer < world. */
uint64_t tf_window_address(const struct tf_window_view *view, uint32_t peer, uint64_t segment_off);

/*
 * The place of an address: what tf_window_address turns back into it. TF_E_INVALID: outside the
 * window, with the address and the range.
 */
TF_WARN_UNUSED enum tf_status tf_window_locate(const struct tf_window_view *view, uint64_t address,
	uint32_t *out_peer, uint64_t *out_segment_off, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
