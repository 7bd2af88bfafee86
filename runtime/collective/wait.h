/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded waits, and the faults in which they end.
 *
 * A wait spins for a short while, then yields; with more ranks than CPUs it yields almost at
 * once. It is bounded by elapsed time (control.timeout_ns), never by a count of polls, and ends
 * early when a peer has raised our abort word. Whoever times out raises the abort word of every
 * peer, so that all ranks end within one bound.
 */
#ifndef TF_RUNTIME_COLLECTIVE_WAIT_H
#define TF_RUNTIME_COLLECTIVE_WAIT_H

#include <stdint.h>

#include "runtime/collective/control.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_WRITER_BARRIER TF_WRITER_COUNT /* fault.writer of a wait that belongs to no writer */

/* Who waits: what a fault records. control[k] is the segment of rank (rank + k) mod world. */
struct tf_waiter {
	struct tf_control *const *control;
	uint32_t rank, world, group, writer, epoch;
};

/* One wait; zero-initialised. Zero it again when something has arrived. */
struct tf_wait {
	int64_t start_ns;
	uint32_t steps;
};

/*
 * Whether `world` ranks outnumber the CPUs that this process may use. Never changes in a process.
 */
int tf_ranks_share_cpus(uint32_t world);

/*
 * Waits one step for `peer`. 0: look again; else the fault's code, already recorded and told to
 * the peers.
 */
int tf_wait_step(const struct tf_waiter *waiter, struct tf_wait *wait, uint32_t peer);

/* The slow part of tf_wait_flag. */
int tf_wait_flag_slow(const struct tf_waiter *waiter, const uint32_t *flag, uint32_t peer);

static inline int tf_flag_arrived(const uint32_t *flag, uint32_t epoch)
{
	return (int32_t)(__atomic_load_n(flag, __ATOMIC_ACQUIRE) - epoch) >= 0;
}

/* Waits until the flag holds the waiter's epoch (acquire). 0, or the fault's code. */
static inline int tf_wait_flag(const struct tf_waiter *waiter, const uint32_t *flag, uint32_t peer)
{
	if (__builtin_expect(tf_flag_arrived(flag, waiter->epoch), 1))
		return 0;
	return tf_wait_flag_slow(waiter, flag, peer);
}

/*
 * Records the rank's first fault (code last) and, unless it was told by a peer, raises the peers'
 * abort words.
 */
void tf_fault_record(const struct tf_waiter *waiter, enum tf_fault_code code, uint32_t peer);

#ifdef __cplusplus
}
#endif
#endif
