/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank's clock over emulated links (runtime/collective/virtual_clock.h).
 *
 * It holds the times of all ranks. A rendezvous replaces them by what each rank's clock showed
 * when it came, and moves all to the time at which the last arrival has reached everybody. A
 * collective moves all of them by the model. So all ranks hold the same times, and a sample's
 * stamps are differences of model time. The key of a collective is the latest of the times at
 * which ranks enter it.
 */
#ifndef TF_PREPARE_LINKS_LINK_CLOCK_H
#define TF_PREPARE_LINKS_LINK_CLOCK_H

#include "prepare/links/links.h"
#include "runtime/collective/virtual_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_link_clock;

/* Rank's clock in a group of `world` (at most the links'), at 0; copies `links`. */
TF_WARN_UNUSED enum tf_status tf_link_clock_create(const struct tf_links *links, uint32_t rank,
	uint32_t world, struct tf_link_clock **out, struct tf_error *err);
void tf_link_clock_destroy(struct tf_link_clock *clock); /* takes NULL; detached by then */

/* To be attached to the thread that runs the rank; lives as long as the clock. */
struct tf_virtual_clock *tf_link_clock_virtual(struct tf_link_clock *clock);

#ifdef __cplusplus
}
#endif
#endif
