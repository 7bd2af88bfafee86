/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the startup graph: startup.c for GPUs, with its invariants 1 to 4. One CTA of up
 * to 1024 threads each; launched without programmatic edges, so a sample begins when its stamp is
 * taken and ends when the candidate has ended.
 *
 * Rendezvous: thread k stores the rank's epoch on its line at the k-th peer (release, after a CTA
 * barrier: all that the rank wrote is covered), then polls the peer's line at home, fences
 * (acquire) and meets the others at a CTA barrier. It waits for peers alone, after it has told
 * them.
 *
 * Durations of peers are read over the link between two rendezvous; maxima, statistics and picks
 * are made by each rank from the same numbers, with the integer arithmetic of select.c.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_STARTUP_KERNELS_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_STARTUP_KERNELS_CUH

#include "catalog/program.h"
#include "runtime/collective/cuda/device_wait.cuh"
#include "runtime/collective/flags.h"
#include "runtime/collective/startup.h"
#include "runtime/collective/startup_host.h"
#include "runtime/collective/wait.h"

#define TF_DIRTY_AHEAD 8 /* lines in flight a thread */

struct tf_store {
	struct tf_startup_header *header;
	uint32_t *mask;                  /* (slots) */
	uint64_t *ns;                    /* (launches, slots, passes) */
	uint64_t *maximum;               /* (2, slots, passes) */
	uint8_t *slowest;                /* (2, slots, passes) */
	struct tf_startup_group *groups; /* (groups) */
};

TF_FN uint8_t *tf_store_next(uint8_t *at, uint64_t bytes)
{
	return at + (bytes + TF_LINE_BYTES - 1) / TF_LINE_BYTES * TF_LINE_BYTES;
}

/* The storage of the rank that stands `k` after ours; counts are ours, which all ranks share. */
TF_FN tf_store tf_store_at(const tf_startup_args &args, uint32_t k)
{
	const struct tf_startup_header *own =
		(const struct tf_startup_header *)((const uint8_t *)args.control[0] + args.startup_off);
	uint8_t *at = (uint8_t *)args.control[k] + args.startup_off;
	const uint64_t slots = own->slot_count, cells = slots * TF_PASSES;
	tf_store store;

	store.header = (struct tf_startup_header *)at;
	at = tf_store_next(at, sizeof(struct tf_startup_header));
	store.mask = (uint32_t *)at;
	at = tf_store_next(at, slots * sizeof(uint32_t));
	store.ns = (uint64_t *)at;
	at = tf_store_next(at, TF_LAUNCHES * cells * sizeof(uint64_t));
	store.maximum = (uint64_t *)at;
	at = tf_store_next(at, 2 * cells * sizeof(uint64_t));
	store.slowest = at;
	at = tf_store_next(at, 2 * cells);
	store.groups = (struct tf_startup_group *)at;
	return store;
}

/* Of `ns` by launch, of `maximum` and `slowest` by stage; both count from 1. */
TF_FN uint64_t tf_store_cell(const tf_store &store, uint32_t turn, uint32_t slot, uint32_t pass)
{
	return ((uint64_t)(turn - 1) * store.header->slot_count + slot) * TF_PASSES + pass;
}

TF_FN bool tf_startup_faulted(const tf_startup_args &args)
{
	return tf_load_gpu(&args.control[0]->fault.code) != TF_FAULT_NONE;
}

/* All threads; the same answer for all. False: a fault. */
TF_FN bool tf_rendezvous(const tf_startup_args &args)
{
	struct tf_control *own = args.control[0];
	const tf_blame blame = {
		args.control, args.rank, args.world, TF_PROGRAM_NONE, TF_WRITER_BARRIER};
	const uint32_t epoch = tf_epoch_next(tf_load_gpu(&own->barrier_epoch)), k = threadIdx.x;
	bool bad = false;

	/* All have read the epoch, and what they wrote before goes out with the flags. */
	__syncthreads();
	if (k == 0) {
		own->barrier_epoch = epoch;
		own->barriers++;
	}
	if (k >= 1 && k < args.world) {
		uint32_t peer = (args.rank + k) % args.world;

		tf_store_release(&args.control[k]->barrier[args.rank].epoch, epoch);
		bad = !tf_wait_flag(blame, &own->barrier[peer].epoch, epoch, peer);
	}
	return !__syncthreads_or(bad);
}

/* Rewrites every line, as the kernel before would in an engine (startup.c). */
TF_FN void tf_dirty(uint8_t *input, uint64_t bytes)
{
	const uint64_t lines = (bytes + TF_LINE_BYTES - 1) / TF_LINE_BYTES;

	for (uint64_t i = threadIdx.x; i < lines; i += TF_DIRTY_AHEAD * blockDim.x) {
		uint8_t byte[TF_DIRTY_AHEAD];

#pragma unroll
		for (uint32_t u = 0; u < TF_DIRTY_AHEAD; u++) {
			if (i + u * blockDim.x < lines)
				byte[u] = ((volatile uint8_t *)input)[(i + u * blockDim.x) * TF_LINE_BYTES];
		}
#pragma unroll
		for (uint32_t u = 0; u < TF_DIRTY_AHEAD; u++) {
			if (i + u * blockDim.x < lines)
				((volatile uint8_t *)input)[(i + u * blockDim.x) * TF_LINE_BYTES] = byte[u];
		}
	}
}

/* Maximum over ranks of one look at one sample; one that any rank lacks stays lacking. */
TF_FN uint64_t tf_maximum_of(const tf_startup_args &args, uint64_t index, uint8_t *out_slowest)
{
	uint64_t maximum = 0;

	for (uint32_t rank = 0; rank < args.world; rank++) {
		uint32_t k = (rank + args.world - args.rank) % args.world;
		uint64_t ns = tf_load_sys(tf_store_at(args, k).ns + index);

		if (rank == 0 || ns > maximum) {
			maximum = ns;
			*out_slowest = (uint8_t)rank;
		}
	}
	return maximum;
}

TF_FN uint64_t tf_bounded(uint64_t ns)
{
	return ns < TF_NS_MOST ? ns : TF_NS_MOST;
}

/* Puts `ns` into its place among the `count` sorted before it. */
TF_FN void tf_insert(uint64_t *sorted, int count, uint64_t ns)
{
	int at = count;

	for (; at > 0 && sorted[at - 1] > ns; at--)
		sorted[at] = sorted[at - 1];
	sorted[at] = ns;
}

/* tf_sample_of_looks, with the looks at one sample. */
TF_FN uint64_t tf_looks_sample(
	const tf_startup_args &args, uint64_t cells, uint64_t i, uint8_t *slowest)
{
	uint64_t sorted[TF_LOOKS], sum = 0;

	for (int look = 0; look < TF_LOOKS; look++)
		tf_insert(sorted, look, tf_maximum_of(args, (1 + look) * cells + i, slowest));
	if (sorted[TF_LOOKS - 1] == TF_NS_NONE)
		return TF_NS_NONE;
	for (int kept = 0; kept < TF_LOOKS_KEPT; kept++)
		sum += tf_bounded(sorted[kept]);
	return sum / TF_LOOKS_KEPT;
}

/* The samples of a stage, from the durations of all ranks in the launches that belong to it. */
TF_FN void tf_gather_samples(const tf_startup_args &args, const tf_store &own, uint32_t stage)
{
	const uint64_t first = tf_store_cell(own, stage, 0, 0), cells = tf_store_cell(own, 2, 0, 0);

	for (uint64_t i = threadIdx.x; i < cells; i += blockDim.x) {
		uint8_t slowest = 0;

		own.maximum[first + i] = stage == 1 ? tf_maximum_of(args, i, &slowest)
											: tf_looks_sample(args, cells, i, &slowest);
		own.slowest[first + i] = slowest;
	}
}

struct tf_statistics {
	uint64_t median, low, high, value; /* TF_NS_NONE: does not compete */
};

/* tf_order_statistics and tf_select_value of one row, by insertion sort. */
TF_FN tf_statistics tf_statistics_of(const uint64_t *row)
{
	uint64_t sorted[TF_PASSES], value = 0;

	for (int pass = 0; pass < TF_PASSES; pass++)
		tf_insert(sorted, pass, row[pass]);
	if (sorted[TF_PASSES - 1] == TF_NS_NONE)
		return {TF_NS_NONE, TF_NS_NONE, TF_NS_NONE, TF_NS_NONE};
	for (int i = TF_ORDER_LOW - 1; i < TF_ORDER_HIGH; i++)
		value += tf_bounded(sorted[i]);
	return {sorted[TF_PASSES / 2], sorted[TF_ORDER_LOW - 1], sorted[TF_ORDER_HIGH - 1], value};
}

/* tf_select_beats, with the values at hand. */
TF_FN bool tf_beats(
	const uint64_t *challenger, uint64_t fast, const uint64_t *holder, uint64_t slow)
{
	int wins = 0;

	if (fast * 100 >= slow * (100 - TF_TIE_PERCENT))
		return false;
	for (int pass = 0; pass < TF_PASSES; pass++)
		wins += challenger[pass] < holder[pass];
	return wins >= TF_WINS_MIN;
}

TF_FN bool tf_is_near(uint64_t median, uint64_t best)
{
	return tf_bounded(median) * 100 <= tf_bounded(best) * (100 + TF_NEAR_PERCENT);
}

/* tf_select_survivors for one group. */
TF_FN void tf_mark_survivors(
	const tf_store &store, const struct tf_startup_group &group, const tf_statistics *of)
{
	for (uint32_t i = threadIdx.x; i < group.slot_count; i += blockDim.x) {
		uint64_t best = TF_NS_NONE, best_high = 0;
		uint32_t place = 0;

		for (uint32_t j = 0; j < group.slot_count; j++) {
			if (of[j].median < best) {
				best = of[j].median;
				best_high = of[j].high;
			}
			place += of[j].median < of[i].median || (of[j].median == of[i].median && j < i);
		}
		store.mask[group.first_slot + i] = of[i].median != TF_NS_NONE &&
			(of[i].low <= best_high || tf_is_near(of[i].median, best)) && place < TF_SURVIVORS_MAX;
	}
}

/* tf_select_pick for one group. */
TF_FN void tf_pick(const tf_store &store, struct tf_startup_group *group, const tf_statistics *of,
	uint32_t *choice)
{
	const uint64_t *rows = store.maximum + tf_store_cell(store, 2, group->first_slot, 0);

	if (threadIdx.x == 0)
		*choice = UINT32_MAX;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < group->slot_count; i += blockDim.x) {
		bool beaten = of[i].median == TF_NS_NONE;

		for (uint32_t j = 0; j < group->slot_count && !beaten; j++)
			beaten = j != i && of[j].median != TF_NS_NONE &&
				tf_beats(rows + j * TF_PASSES, of[j].value, rows + i * TF_PASSES, of[i].value);
		if (!beaten)
			atomicMin(choice, i);
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		group->selector = *choice == UINT32_MAX ? UINT32_MAX : group->first_slot + *choice;
		group->status = *choice == UINT32_MAX ? TF_STARTUP_NO_SAMPLES : TF_STARTUP_OK;
	}
}

/* Group by group, the threads sharing its candidates. */
TF_FN void tf_decide(const tf_store &store, uint32_t stage)
{
	__shared__ tf_statistics of[TF_SLOTS_PER_GROUP_MAX];
	__shared__ uint32_t choice;
	uint32_t aggregate = TF_STARTUP_OK;

	for (uint32_t g = 0; g < store.header->group_count; g++) {
		struct tf_startup_group *group = &store.groups[g];
		const uint64_t *rows = store.maximum + tf_store_cell(store, stage, group->first_slot, 0);

		__syncthreads();
		for (uint32_t i = threadIdx.x; i < group->slot_count; i += blockDim.x)
			of[i] = tf_statistics_of(rows + i * TF_PASSES);
		__syncthreads();
		if (stage == 1)
			tf_mark_survivors(store, *group, of);
		else
			tf_pick(store, group, of, &choice);
		if (threadIdx.x == 0 && stage == 2 && !aggregate)
			aggregate = group->status;
	}
	__syncthreads();
	if (threadIdx.x == 0)
		store.header->aggregate = stage == 2 ? aggregate : TF_STARTUP_PENDING;
}

TF_FN void tf_fail_all(const tf_store &store)
{
	__syncthreads();
	for (uint32_t g = threadIdx.x; g < store.header->group_count; g += blockDim.x)
		store.groups[g].status = TF_STARTUP_FAULT;
	if (threadIdx.x == 0)
		store.header->aggregate = TF_STARTUP_FAULT;
}

/* A group with more candidates than a ladder has rungs would not fit the shared statistics. */
TF_FN bool tf_groups_fit(const tf_store &store)
{
	bool bad = false;

	for (uint32_t g = threadIdx.x; g < store.header->group_count; g += blockDim.x)
		bad |= store.groups[g].slot_count > TF_SLOTS_PER_GROUP_MAX;
	return !__syncthreads_or(bad);
}

/* A look that is not the last decides nothing: its durations are read after the last. */
TF_FN bool tf_select_launch(const tf_startup_args &args, const tf_store &store, uint32_t launch)
{
	const uint32_t stage = launch == 1 ? 1 : 2;

	if (__syncthreads_or(tf_startup_faulted(args)) || !tf_groups_fit(store))
		return false;
	if (launch > 1 && launch < TF_LAUNCHES)
		return true;
	if (!tf_rendezvous(args))
		return false;
	tf_gather_samples(args, store, stage);
	if (!tf_rendezvous(args))
		return false;
	tf_decide(store, stage);
	return true;
}

TF_FN void tf_select(const tf_startup_args &args)
{
	const tf_store store = tf_store_at(args, 0);
	const uint32_t launch = store.header->launch;

	if (launch > TF_LAUNCHES)
		return;
	if (!tf_select_launch(args, store, launch)) {
		tf_fail_all(store);
		return;
	}
	__syncthreads();
	if (threadIdx.x == 0)
		store.header->launch = launch + 1;
}

#endif
