/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rendezvous: each rank stores its epoch on its line at every peer (release), then waits for
 * every peer's line at home (acquire). One set of lines is enough: a peer may be one barrier
 * ahead, never two, and arrival is "not older".
 *
 * Where a virtual clock is attached, each rank's time travels on its line, stored before the
 * epoch. Of a peer that is one barrier ahead it lies in the other of the two places.
 */
#include "runtime/collective/barrier.h"

#include "runtime/collective/flags.h"
#include "runtime/collective/virtual_clock.h"
#include "runtime/collective/wait.h"

static void tell_clock(struct tf_control *const control[TF_WORLD_MAX], uint32_t rank,
	uint32_t world, uint32_t epoch, uint64_t now_ns)
{
	for (uint32_t k = 0; k < world; k++)
		__atomic_store_n(&control[k]->barrier[rank].clock_ns[epoch & 1], now_ns, __ATOMIC_RELAXED);
}

static void meet(
	struct tf_virtual_clock *clock, const struct tf_control *own, uint32_t world, uint32_t epoch)
{
	uint64_t arrivals[TF_WORLD_MAX];

	for (uint32_t r = 0; r < world; r++)
		arrivals[r] = __atomic_load_n(&own->barrier[r].clock_ns[epoch & 1], __ATOMIC_RELAXED);
	clock->meet(clock, arrivals, world);
}

int tf_barrier(
	struct tf_control *const control[TF_WORLD_MAX], uint32_t rank, uint32_t world, uint32_t group)
{
	struct tf_virtual_clock *clock = tf_virtual_clock_here();
	struct tf_control *own = control[0];
	uint32_t earlier = __atomic_load_n(&own->fault.code, __ATOMIC_ACQUIRE);
	struct tf_waiter waiter = {.control = control,
		.rank = rank,
		.world = world,
		.group = group,
		.writer = TF_WRITER_BARRIER,
		.epoch = tf_epoch_next(own->barrier_epoch)};

	if (earlier)
		return (int)earlier;
	if (clock)
		tell_clock(control, rank, world, waiter.epoch, clock->now(clock));
	for (uint32_t k = 1; k < world; k++)
		__atomic_store_n(&control[k]->barrier[rank].epoch, waiter.epoch, __ATOMIC_RELEASE);
	for (uint32_t k = 1; k < world; k++) {
		uint32_t peer = (rank + k) % world;
		int code = tf_wait_flag(&waiter, &own->barrier[peer].epoch, peer);

		if (code)
			return code;
	}
	if (clock)
		meet(clock, own, world, waiter.epoch);
	own->barrier_epoch = waiter.epoch;
	own->barriers++;
	return 0;
}
