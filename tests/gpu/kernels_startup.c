/* SPDX-License-Identifier: Apache-2.0 */
/* The sampling kernels, and select against the host's selection. */
#include "tests/gpu/kernels_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/program.h"
#include "tests/gpu/kernels_compare.h"

#define FIRST_SLOTS 3 /* of the first group; the others are the second's */

/* Where things are in a rank's startup storage. */
struct places {
	uint64_t mask_off, ns_off, maximum_off, slowest_off, groups_off, bytes;
};

static void startup_launch(struct rig *rig)
{
	for (uint32_t pass = 0; pass < TF_PASSES; pass++) {
		for (uint32_t r = 0; r < rig->world; r++)
			rig_launch_startup(rig, r, "pass_begin", 0, pass, NULL, 0);
		for (uint32_t slot = 0; slot < STARTUP_SLOTS; slot++) {
			struct rig_call call = {.op = TF_OP_ALL_REDUCE,
				.writer = (enum tf_writer)slot,
				.count = 1024,
				.ctas = 2,
				.threads = 128};

			for (uint32_t r = 0; r < rig->world; r++) {
				const uint8_t *storage = rig->segment[r] + rig->layout.startup_off;
				uint64_t mask_off;

				tf_startup_places(STARTUP_GROUPS, STARTUP_SLOTS, &mask_off, NULL, NULL, NULL, NULL);
				call.mask = (const uint32_t *)(const void *)(storage + mask_off) + slot;
				rig_launch_startup(rig, r, "sample_begin", slot, 0, rig_input(rig, r, 0), 2048);
				rig_launch(rig, r, &call);
				rig_launch_startup(rig, r, "sample_end", slot, 0, NULL, 0);
			}
		}
	}
	for (uint32_t r = 0; r < rig->world; r++)
		rig_launch_startup(rig, r, "select", 0, 0, NULL, 0);
}

static void startup_say(const struct rig *rig, const char *why)
{
	if (kernels_tally.failures++ < MESSAGES)
		printf("FAIL startup world %u: %s\n", rig->world, why);
}

/* The longest of the ranks' durations in one launch; which rank it was. */
static uint64_t startup_longest(const struct rig *rig, const struct places *at,
	uint8_t *const *stores, uint32_t launch, uint32_t i, uint64_t *out_of_slowest, uint8_t slowest)
{
	uint64_t most = 0;

	for (uint32_t r = 0; r < rig->world; r++) {
		const uint64_t *ns = (uint64_t *)(void *)(stores[r] + at->ns_off);
		uint64_t one = ns[(launch - 1) * STARTUP_SLOTS * TF_PASSES + i];

		most = one > most ? one : most;
		if (r == slowest)
			*out_of_slowest = one;
	}
	return most;
}

/* The samples of a stage are those that the ranks' durations give on the host. */
static void startup_samples(
	const struct rig *rig, const struct places *at, uint8_t *const *stores, uint32_t stage)
{
	for (uint32_t i = 0; i < STARTUP_SLOTS * TF_PASSES; i++) {
		uint32_t cell = (stage - 1) * STARTUP_SLOTS * TF_PASSES + i;

		for (uint32_t r = 0; r < rig->world; r++) {
			uint64_t said = ((uint64_t *)(void *)(stores[r] + at->maximum_off))[cell];
			uint8_t slowest = stores[r][at->slowest_off + cell];
			uint64_t looks[TF_LOOKS], wanted, of_slowest = 0;

			if (stage == 1) {
				wanted = startup_longest(rig, at, stores, 1, i, &of_slowest, slowest);
			} else {
				for (uint32_t look = 0; look < TF_LOOKS; look++)
					looks[look] =
						startup_longest(rig, at, stores, 2 + look, i, &of_slowest, slowest);
				wanted = tf_sample_of_looks(looks);
			}
			if (said != wanted || slowest >= rig->world ||
				of_slowest != (stage == 1 ? wanted : looks[TF_LOOKS - 1]))
				startup_say(rig, "a sample is not that of the ranks");
		}
	}
}

/* What a rank's storage says of its launch, its groups and its slots. */
static void startup_rank(
	const struct rig *rig, const struct places *at, uint8_t *store, uint32_t launch)
{
	const uint32_t stage = launch == 1 ? 1 : 2;
	const uint64_t *rows =
		(uint64_t *)(void *)(store + at->maximum_off) + (stage - 1) * STARTUP_SLOTS * TF_PASSES;
	const struct tf_startup_header *header = (void *)store;
	const struct tf_startup_group *said = (void *)(store + at->groups_off);
	const uint32_t *mask = (void *)(store + at->mask_off);
	uint8_t survivors[STARTUP_SLOTS];

	kernels_tally.cases++;
	for (uint32_t g = 0; g < STARTUP_GROUPS; g++) {
		uint32_t first = g ? FIRST_SLOTS : 0;
		uint32_t count = g ? STARTUP_SLOTS - FIRST_SLOTS : FIRST_SLOTS;
		uint32_t choice = tf_select_pick(rows + first * TF_PASSES, count);

		if (stage == 2 && (said[g].status || said[g].selector != first + choice))
			startup_say(rig, "the pick is not the host's");
		tf_select_survivors(rows + first * TF_PASSES, count, survivors + first);
	}
	for (uint32_t i = 0; i < STARTUP_SLOTS && stage == 1; i++) {
		if (mask[i] != survivors[i])
			startup_say(rig, "the survivors are not the host's");
	}
	if (header->launch != launch + 1 ||
		header->aggregate != (stage == 2 ? TF_STARTUP_OK : TF_STARTUP_PENDING))
		startup_say(rig, "launch or aggregate");
}

/* Storage of two groups on every rank; `stores` gets copies, to be freed. */
static void startup_prepare(struct rig *rig, const struct places *at, uint8_t **stores)
{
	struct tf_group groups[STARTUP_GROUPS];
	struct tf_group_candidate candidates[STARTUP_SLOTS];
	struct tf_program program = {.groups = groups,
		.group_count = STARTUP_GROUPS,
		.candidates = candidates,
		.candidate_count = STARTUP_SLOTS};

	memset(groups, 0, sizeof(groups));
	memset(candidates, 0, sizeof(candidates));
	for (uint32_t i = 0; i < STARTUP_SLOTS; i++)
		candidates[i].group = i < FIRST_SLOTS ? 0 : 1;
	rig_reset(rig, TIMEOUT_NS, 0);
	for (uint32_t r = 0; r < rig->world; r++) {
		stores[r] = calloc(1, at->bytes);
		if (!stores[r])
			_exit(1);
		tf_startup_prepare(stores[r], &program);
		CHECK(cudaMemcpy(rig->segment[r] + rig->layout.startup_off, stores[r], at->bytes,
			cudaMemcpyHostToDevice));
	}
}

/* One launch, and what it left where a stage ended; 0 if there was a fault. */
static int startup_step(
	struct rig *rig, const struct places *at, uint8_t *const *stores, uint32_t launch)
{
	startup_launch(rig);
	if (kernels_settle(rig, "startup", 0))
		return 0;
	if (launch > 1 && launch < TF_LAUNCHES)
		return 1;
	for (uint32_t r = 0; r < rig->world; r++)
		CHECK(cudaMemcpy(stores[r], rig->segment[r] + rig->layout.startup_off, at->bytes,
			cudaMemcpyDeviceToHost));
	startup_samples(rig, at, stores, launch == 1 ? 1 : 2);
	for (uint32_t r = 0; r < rig->world; r++)
		startup_rank(rig, at, stores[r], launch);
	return 1;
}

void kernels_startup(struct rig *rig)
{
	uint8_t *stores[TF_WORLD_MAX];
	struct places at;
	uint32_t launch = 1;

	at.bytes = tf_startup_places(STARTUP_GROUPS, STARTUP_SLOTS, &at.mask_off, &at.ns_off,
		&at.maximum_off, &at.slowest_off, &at.groups_off);
	startup_prepare(rig, &at, stores);
	while (launch <= TF_LAUNCHES && startup_step(rig, &at, stores, launch))
		launch++;
	for (uint32_t r = 0; r < rig->world; r++)
		free(stores[r]);
	if (launch > TF_LAUNCHES)
		printf("startup world %u done\n", rig->world);
}
