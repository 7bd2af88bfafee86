/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded waits: spin, yield, look at the clock and at the abort word. */
#include "runtime/collective/wait.h"

#include <sched.h>

#include "base/deadline.h"

#define SPINS_ALONE    200 /* a few us: about what ranks in step wait for each other */
#define SPINS_CROWDED  8
#define SPINS_PER_LOOK 64

/*
 * CPUs this process may use; read once, since the affinity of a serving rank does not change. A
 * process that is bound to one CPU is taken for one that has it to itself.
 */
static uint32_t cpu_count(void)
{
	static uint32_t cached;
	uint32_t count = __atomic_load_n(&cached, __ATOMIC_RELAXED);

	if (!count) {
		cpu_set_t set;

		count = sched_getaffinity(0, sizeof(set), &set) ? CPU_SETSIZE : (uint32_t)CPU_COUNT(&set);
		if (count == 1)
			count = TF_WORLD_MAX;
		__atomic_store_n(&cached, count, __ATOMIC_RELAXED);
	}
	return count;
}

int tf_ranks_share_cpus(uint32_t world)
{
	return world > cpu_count();
}

static inline void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

void tf_fault_record(const struct tf_waiter *waiter, enum tf_fault_code code, uint32_t peer)
{
	struct tf_control *own = waiter->control[0];

	if (__atomic_load_n(&own->fault.code, __ATOMIC_RELAXED) != TF_FAULT_NONE)
		return;
	own->fault.group = waiter->group;
	own->fault.peer = peer;
	own->fault.epoch = waiter->epoch;
	own->fault.writer = waiter->writer;
	own->fault.call = own->calls;
	__atomic_store_n(&own->fault.code, (uint32_t)code, __ATOMIC_RELEASE);
	if (code == TF_FAULT_ABORTED)
		return;
	for (uint32_t k = 1; k < waiter->world; k++) {
		uint32_t none = 0;

		__atomic_compare_exchange_n(&waiter->control[k]->abort, &none, 1 + waiter->rank, 0,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}

static int look(const struct tf_waiter *waiter, struct tf_wait *wait, uint32_t peer)
{
	const struct tf_control *own = waiter->control[0];
	uint32_t raised = __atomic_load_n(&own->abort, __ATOMIC_ACQUIRE);
	int64_t now;

	if (raised) {
		tf_fault_record(waiter, TF_FAULT_ABORTED, raised - 1);
		return TF_FAULT_ABORTED;
	}
	now = tf_now_ns();
	if (!wait->start_ns) {
		wait->start_ns = now;
	} else if ((uint64_t)(now - wait->start_ns) > own->timeout_ns) {
		tf_fault_record(waiter, TF_FAULT_TIMEOUT, peer);
		return TF_FAULT_TIMEOUT;
	}
	return 0;
}

int tf_wait_step(const struct tf_waiter *waiter, struct tf_wait *wait, uint32_t peer)
{
	uint32_t spins = tf_ranks_share_cpus(waiter->world) ? SPINS_CROWDED : SPINS_ALONE;
	int code;

	if (wait->steps++ < spins) {
		pause_cpu();
		return wait->steps % SPINS_PER_LOOK == 0 ? look(waiter, wait, peer) : 0;
	}
	code = look(waiter, wait, peer);
	if (!code)
		sched_yield();
	return code;
}

int tf_wait_flag_slow(const struct tf_waiter *waiter, const uint32_t *flag, uint32_t peer)
{
	struct tf_wait wait = {0};

	while (!tf_flag_arrived(flag, waiter->epoch)) {
		int code = tf_wait_step(waiter, &wait, peer);

		if (code)
			return code;
	}
	return 0;
}
