/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam at which a rank's time may be a computed one: a clock that its owner attaches to the
 * thread that runs the rank's stream on the host device. Without one, time is the machine's.
 *
 * 1. Data moves and ranks wait as ever; only stamps are read from the attached clock.
 * 2. A rendezvous carries each rank's time to every peer beside the epoch; all ranks then hold the
 *    same times of all ranks.
 * 3. A collective that ended well is told to the clock after it; one that failed is not.
 * A clock is used by one thread at a time. What it computes is its owner's affair.
 */
#ifndef TF_RUNTIME_COLLECTIVE_VIRTUAL_CLOCK_H
#define TF_RUNTIME_COLLECTIVE_VIRTUAL_CLOCK_H

#include <stdint.h>

#include "runtime/collective/collective.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_virtual_clock {
	/* This rank's time in ns; never runs backwards. */
	uint64_t (*now)(const struct tf_virtual_clock *clock);
	/* `world` ranks have met; arrivals[r] is what rank r's clock showed when it came. */
	void (*meet)(struct tf_virtual_clock *clock, const uint64_t *arrivals, uint32_t world);
	/* This rank has carried out a collective, as all others did or will; borrowed. */
	void (*collective)(struct tf_virtual_clock *clock, const struct tf_collective_args *args,
		enum tf_op op, enum tf_algorithm algorithm, enum tf_writer writer);
};

/* Borrows `clock` for this thread until another, or NULL, is attached. */
void tf_virtual_clock_attach(struct tf_virtual_clock *clock);

/* This thread's clock, or NULL. */
struct tf_virtual_clock *tf_virtual_clock_here(void);

/*
 * Tells this thread's clock, if there is one, of a collective that this rank has carried out. One
 * that nobody tells of gets no sample, as its time would be none.
 */
void tf_virtual_clock_tell(const struct tf_collective_args *args, enum tf_op op,
	enum tf_algorithm algorithm, enum tf_writer writer);

#ifdef __cplusplus
}
#endif
#endif
