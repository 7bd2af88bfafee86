/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host bodies of the startup graph's kernels (startup.h).
 *
 * 1. A rank writes only its own storage; peers read it between two rendezvous.
 * 2. `mask` is the same on every rank at every launch, so either all ranks meet at a sample or
 *    none does.
 * 3. `maximum`, and all that follows from it, is computed by every rank from the same numbers.
 * 4. After a fault nothing is stored; the aggregate then says so, and stays non-zero.
 */
#include "runtime/collective/startup.h"

#include <time.h>

#include "base/deadline.h"
#include "runtime/collective/barrier.h"
#include "runtime/collective/startup_host.h"
#include "runtime/collective/virtual_clock.h"
#include "runtime/collective/wait.h"

#define CACHE_LINE_BYTES 64

struct storage {
	struct tf_startup_header *header;
	uint32_t *mask;                  /* (slots) */
	uint64_t *ns;                    /* (launches, slots, passes) */
	uint64_t *maximum;               /* (2, slots, passes) */
	uint8_t *slowest;                /* (2, slots, passes) */
	struct tf_startup_group *groups; /* (groups) */
};

static uint64_t place(uint64_t *at, uint64_t bytes)
{
	uint64_t off = *at;

	*at = tf_align_up(off + bytes, TF_LINE_BYTES);
	return off;
}

uint64_t tf_startup_places(uint32_t groups, uint32_t slots, uint64_t *out_mask, uint64_t *out_ns,
	uint64_t *out_maximum, uint64_t *out_slowest, uint64_t *out_groups)
{
	uint64_t at = 0, cells = (uint64_t)slots * TF_PASSES;
	uint64_t offs[5];

	(void)place(&at, sizeof(struct tf_startup_header));
	offs[0] = place(&at, slots * sizeof(uint32_t));
	offs[1] = place(&at, TF_LAUNCHES * cells * sizeof(uint64_t));
	offs[2] = place(&at, 2 * cells * sizeof(uint64_t));
	offs[3] = place(&at, 2 * cells);
	offs[4] = place(&at, groups * sizeof(struct tf_startup_group));
	if (out_mask)
		*out_mask = offs[0];
	if (out_ns)
		*out_ns = offs[1];
	if (out_maximum)
		*out_maximum = offs[2];
	if (out_slowest)
		*out_slowest = offs[3];
	if (out_groups)
		*out_groups = offs[4];
	return at;
}

static struct storage storage_at(uint8_t *start)
{
	struct tf_startup_header *header = (struct tf_startup_header *)start;
	uint64_t mask, ns, maximum, slowest, groups;

	tf_startup_places(
		header->group_count, header->slot_count, &mask, &ns, &maximum, &slowest, &groups);
	return (struct storage){
		.header = header,
		.mask = (uint32_t *)(start + mask),
		.ns = (uint64_t *)(start + ns),
		.maximum = (uint64_t *)(start + maximum),
		.slowest = start + slowest,
		.groups = (struct tf_startup_group *)(start + groups),
	};
}

static struct storage storage_of(const struct tf_startup_args *args, uint32_t peer)
{
	return storage_at((uint8_t *)args->control[peer] + args->startup_off);
}

/* Of `ns` by launch, of `maximum` and `slowest` by stage; both count from 1. */
static size_t cell(const struct storage *store, uint32_t turn, uint32_t slot, uint32_t pass)
{
	return ((size_t)(turn - 1) * store->header->slot_count + slot) * TF_PASSES + pass;
}

void tf_startup_prepare(void *storage, const struct tf_program *program)
{
	struct tf_startup_header *header = storage;
	struct storage store;
	size_t cells;

	*header = (struct tf_startup_header){
		.group_count = program->group_count,
		.slot_count = program->candidate_count,
		.aggregate = TF_STARTUP_PENDING,
		.launch = 1,
	};
	store = storage_at(storage);
	cells = (size_t)header->slot_count * TF_PASSES;
	for (size_t i = 0; i < TF_LAUNCHES * cells; i++)
		store.ns[i] = TF_NS_NONE;
	for (size_t i = 0; i < 2 * cells; i++)
		store.maximum[i] = TF_NS_NONE;
	for (uint32_t g = 0; g < program->group_count; g++)
		store.groups[g] =
			(struct tf_startup_group){.selector = UINT32_MAX, .status = TF_STARTUP_PENDING};
	for (uint32_t slot = 0; slot < program->candidate_count; slot++) {
		struct tf_startup_group *group = &store.groups[program->candidates[slot].group];

		store.mask[slot] = program->candidates[slot].state != TF_CANDIDATE_STRUCK;
		if (!group->slot_count)
			group->first_slot = slot;
		group->slot_count++;
	}
}

static int faulted(const struct tf_startup_args *args)
{
	return args->control[0]->fault.code != TF_FAULT_NONE;
}

/*
 * Where ranks share CPUs, the time of day between two stamps is mostly the scheduler's: other
 * ranks' turns, and other processes'. There a rank's own time on a CPU is what its collective
 * costs. Where links are emulated, time is what their model says.
 */
static uint64_t stamp(uint32_t world)
{
	clockid_t clock = tf_ranks_share_cpus(world) ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	const struct tf_virtual_clock *virtual_clock = tf_virtual_clock_here();
	struct timespec now;

	if (virtual_clock)
		return virtual_clock->now(virtual_clock);
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * TF_NS_PER_S + (uint64_t)now.tv_nsec;
}

const char *tf_host_sample_clock(uint32_t world)
{
	if (tf_virtual_clock_here())
		return "virtual";
	return tf_ranks_share_cpus(world) ? "thread-cpu" : "monotonic";
}

void tf_host_pass_begin(const struct tf_launch_call *call)
{
	const struct tf_startup_args *args = call->args;

	args->control[0]->pass = args->pass;
}

/*
 * In an engine the input was just written by the kernel before. Unchanged inputs would still lie
 * in the peers' caches from the last sample and flatter whoever reads them there.
 */
static void dirty(volatile uint8_t *input, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += CACHE_LINE_BYTES)
		input[at] |= 0;
}

void tf_host_sample_begin(const struct tf_launch_call *call)
{
	const struct tf_startup_args *args = call->args;
	struct storage store = storage_of(args, 0);

	if (faulted(args) || !store.mask[args->slot])
		return;
	dirty(args->input, args->input_bytes);
	if (!tf_barrier(args->control, args->rank, args->world, TF_PROGRAM_NONE))
		store.header->begin_ns = stamp(args->world);
}

void tf_host_sample_end(const struct tf_launch_call *call)
{
	const struct tf_startup_args *args = call->args;
	struct storage store = storage_of(args, 0);
	uint64_t now = stamp(args->world);

	if (faulted(args) || !store.mask[args->slot] || store.header->launch > TF_LAUNCHES)
		return;
	/* nobody told the clock: no time is not a short one */
	if (tf_virtual_clock_here() && now == store.header->begin_ns)
		return;
	store.ns[cell(&store, store.header->launch, args->slot, args->control[0]->pass)] =
		now - store.header->begin_ns;
}

/* Maximum over ranks of one look at one sample; one that any rank lacks stays lacking. */
static uint64_t maximum_of(
	const struct storage *ranks, uint32_t world, size_t index, uint8_t *out_slowest)
{
	uint64_t maximum = 0;

	for (uint32_t rank = 0; rank < world; rank++) {
		if (rank && ranks[rank].ns[index] <= maximum)
			continue;
		maximum = ranks[rank].ns[index];
		*out_slowest = (uint8_t)rank;
	}
	return maximum;
}

/* The samples of a stage, from the durations of all ranks in the launches that belong to it. */
static void gather_samples(
	const struct tf_startup_args *args, const struct storage *own, uint32_t stage)
{
	size_t first = cell(own, stage, 0, 0), cells = cell(own, 2, 0, 0);
	struct storage ranks[TF_WORLD_MAX];

	for (uint32_t rank = 0; rank < args->world; rank++)
		ranks[rank] = storage_of(args, (rank + args->world - args->rank) % args->world);
	for (size_t i = 0; i < cells; i++) {
		uint8_t *slowest = &own->slowest[first + i];
		uint64_t looks[TF_LOOKS];

		if (stage == 1) {
			own->maximum[first + i] = maximum_of(ranks, args->world, i, slowest);
			continue;
		}
		for (uint32_t look = 0; look < TF_LOOKS; look++)
			looks[look] = maximum_of(ranks, args->world, (1 + look) * cells + i, slowest);
		own->maximum[first + i] = tf_sample_of_looks(looks);
	}
}

static void mark_survivors(const struct storage *store, const struct tf_startup_group *group)
{
	uint8_t survivors[TF_SLOTS_PER_GROUP_MAX];

	tf_select_survivors(
		store->maximum + cell(store, 1, group->first_slot, 0), group->slot_count, survivors);
	for (uint32_t i = 0; i < group->slot_count; i++)
		store->mask[group->first_slot + i] = survivors[i];
}

static void pick(const struct storage *store, struct tf_startup_group *group)
{
	uint32_t choice =
		tf_select_pick(store->maximum + cell(store, 2, group->first_slot, 0), group->slot_count);

	group->selector = choice == UINT32_MAX ? UINT32_MAX : group->first_slot + choice;
	group->status = choice == UINT32_MAX ? TF_STARTUP_NO_SAMPLES : TF_STARTUP_OK;
}

static void fail_all(const struct storage *store, enum tf_startup_status status)
{
	store->header->aggregate = status;
	for (uint32_t g = 0; g < store->header->group_count; g++)
		store->groups[g].status = status;
}

static void decide(const struct storage *store, uint32_t stage)
{
	uint32_t aggregate = TF_STARTUP_OK;

	for (uint32_t g = 0; g < store->header->group_count; g++) {
		struct tf_startup_group *group = &store->groups[g];

		if (stage == 1)
			mark_survivors(store, group);
		else
			pick(store, group);
		if (stage == 2 && !aggregate)
			aggregate = group->status;
	}
	store->header->aggregate = stage == 2 ? aggregate : TF_STARTUP_PENDING;
}

/*
 * Between the two rendezvous peers only read; the mask is rewritten after the second. A look that
 * is not the last decides nothing: its durations are read after the last.
 */
void tf_host_select(const struct tf_launch_call *call)
{
	const struct tf_startup_args *args = call->args;
	struct storage store = storage_of(args, 0);
	uint32_t launch = store.header->launch, stage = launch == 1 ? 1 : 2;
	int is_bad = faulted(args);

	if (launch > TF_LAUNCHES)
		return;
	if (!is_bad && (launch == 1 || launch == TF_LAUNCHES)) {
		is_bad = tf_barrier(args->control, args->rank, args->world, TF_PROGRAM_NONE);
		if (!is_bad) {
			gather_samples(args, &store, stage);
			is_bad = tf_barrier(args->control, args->rank, args->world, TF_PROGRAM_NONE);
		}
		if (!is_bad)
			decide(&store, stage);
	}
	if (is_bad)
		fail_all(&store, TF_STARTUP_FAULT);
	else
		store.header->launch = launch + 1;
}

#define CONTROL_WORD(k)                                                                            \
	{                                                                                              \
		.arg_off = offsetof(struct tf_startup_args, control) + 8 * (k), .kind = TF_WORD_ADDRESS,   \
		.nullable = (k) > 1, .name = "control[" #k "]"                                             \
	}

static const struct tf_kernel_word words[] = {
	CONTROL_WORD(0),
	CONTROL_WORD(1),
	CONTROL_WORD(2),
	CONTROL_WORD(3),
	CONTROL_WORD(4),
	CONTROL_WORD(5),
	CONTROL_WORD(6),
	CONTROL_WORD(7),
	{.arg_off = offsetof(struct tf_startup_args, input),
		.kind = TF_WORD_ADDRESS,
		.nullable = 1,
		.name = "input"},
	{.arg_off = offsetof(struct tf_startup_args, rank), .kind = TF_WORD_RANK, .name = "rank"},
};

const struct tf_kernel_word *tf_startup_words(uint32_t *out_count)
{
	*out_count = sizeof(words) / sizeof(words[0]);
	return words;
}

const char *const *tf_startup_kernel_names(uint32_t *out_count)
{
	static const char *const names[] = {"pass_begin", "sample_begin", "sample_end", "select"};

	*out_count = sizeof(names) / sizeof(names[0]);
	return names;
}
