/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded waits of the kernels, and the faults in which they end: wait.c for GPUs.
 *
 * 1. Every poll loop looks once in TF_POLLS_PER_LOOK polls. A look reads the rank's fault,
 *    its abort word and %globaltimer; the count of polls bounds nothing.
 * 2. The first thread that takes fault_claim records the fault, code last, and raises the abort
 *    words of all peers; every other wait of the rank then ends at its next look.
 * 3. An abort word is a plain store: peers need no atomics over the link, and any rank's number
 *    ends the wait.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_DEVICE_WAIT_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_DEVICE_WAIT_CUH

#include "runtime/collective/control.h"
#include "runtime/collective/cuda/device_words.cuh"

#define TF_POLLS_PER_LOOK 256
#define TF_TICK_SHIFT     10 /* clock of the waits: 1.024 us, 32 bits */
#define TF_TICKS_MAX      0x7fffffffu

/* Who waits, for what a fault records; control as in tf_collective_args. */
struct tf_blame {
	struct tf_control *const *control;
	uint32_t rank, world, group, writer;
};

/* One wait; zero-initialised. */
struct tf_spin {
	uint32_t polls, start;
};

static __device__ __noinline__ void tf_fault_raise(
	struct tf_blame blame, uint32_t epoch, uint32_t code, uint32_t peer)
{
	struct tf_control *own = blame.control[0];

	if (atomicCAS(&own->fault_claim, 0, 1) != 0)
		return;
	own->fault.group = blame.group;
	own->fault.peer = peer;
	own->fault.epoch = epoch;
	own->fault.writer = blame.writer;
	own->fault.call = tf_load_gpu(&own->calls);
	tf_store_release(&own->fault.code, code);
	if (code == TF_FAULT_ABORTED)
		return;
	for (uint32_t k = 1; k < blame.world; k++)
		tf_store_release(&blame.control[k]->abort, 1 + blame.rank);
}

/*
 * Counts a poll that found nothing. False: the wait has to end; the fault is recorded. Nothing
 * that a wait holds in registers is needed after that, so the call costs the loop none.
 */
TF_FN bool tf_spin_on(tf_spin &spin, const tf_blame &blame, uint32_t epoch, uint32_t peer)
{
	struct tf_control *own = blame.control[0];
	uint32_t raised, now, limit;

	if (++spin.polls % TF_POLLS_PER_LOOK)
		return true;
	if (tf_load_gpu(&own->fault.code) != TF_FAULT_NONE)
		return false;
	raised = tf_load_sys(&own->abort);
	now = (uint32_t)(tf_device_ns() >> TF_TICK_SHIFT) | 1;
	limit = (uint32_t)min(tf_load_sys(&own->timeout_ns) >> TF_TICK_SHIFT, (uint64_t)TF_TICKS_MAX);
	if (!spin.start)
		spin.start = now;
	if (!raised && now - spin.start <= limit)
		return true;
	tf_fault_raise(
		blame, epoch, raised ? TF_FAULT_ABORTED : TF_FAULT_TIMEOUT, raised ? raised - 1 : peer);
	return false;
}

TF_FN bool tf_flag_at(const uint32_t *flag, uint32_t epoch)
{
	return (int32_t)(tf_load_sys(flag) - epoch) >= 0;
}

/* Waits until the flag holds the epoch (acquire). False: a fault, recorded. */
TF_FN bool tf_wait_flag(const tf_blame &blame, const uint32_t *flag, uint32_t epoch, uint32_t peer)
{
	tf_spin spin = {};

	while (!tf_flag_at(flag, epoch)) {
		if (!tf_spin_on(spin, blame, epoch, peer))
			return false;
	}
	tf_fence_sys();
	return true;
}

#endif
