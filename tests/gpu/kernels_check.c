/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA kernels against the reference, byte by byte: every part on every world, on one device
 * and on two.
 *
 *   matrix    every kernel, worlds, dtypes, sizes, fills, alignments
 *   sequence  launches back to back without a wait, of mixed kernels and of one kernel with sizes
 *             that go up and down, from epochs near 2^30, 2^31 and 2^32
 *   faults    a peer that never comes, arguments that do not fit, a mask that is off
 *   copies    the two kernels of copy_engine, with copies between them
 *   startup   the sampling kernels, and select against the host's selection
 */
#include "tests/gpu/kernels_check.h"

#include <stdio.h>

#include "tests/gpu/kernels_compare.h"
#include "tests/gpu/kernels_parts.h"

/* One device; two that do not use each other's memory; two that do. */
enum dealing { DEALING_ONE = 0, DEALING_PARTED, DEALING_PEERS, DEALING_COUNT };

static void check_world(enum dealing dealing, uint32_t devices, uint32_t world, uint32_t one_in)
{
	struct rig_options options = {.world = world,
		.device_count = devices,
		.areas = AREAS,
		.in_bytes = COUNT_MAX * 4,
		.ll_bytes = COUNT_MAX * 4,
		.groups = STARTUP_GROUPS,
		.slots = STARTUP_SLOTS,
		.parted = dealing == DEALING_PARTED};
	struct rig rig;

	rig_init(&rig, &options);
	rig_reset(&rig, TIMEOUT_NS, 0);
	kernels_matrix(&rig, one_in);
	kernels_sequences(&rig, one_in);
	if (!rig.parted) {
		kernels_counters(&rig);
		kernels_masked(&rig);
		kernels_copies(&rig);
		kernels_startup(&rig);
	}
	if (world == 2 && !rig.parted)
		kernels_refused(&rig);
	for (int kernel = 0; world == 2 && kernel < 2 * RIG_WRITERS; kernel++) {
		if (kernels_may_run(&rig, kernel % RIG_WRITERS))
			kernels_absent_peer(&rig, kernel);
	}
	rig_fini(&rig);
}

int kernels_check(uint32_t device_count, uint64_t deadline_ns, uint32_t one_in)
{
	uint32_t worlds = 0;

	for (int dealing = 0; dealing < DEALING_COUNT; dealing++) {
		uint32_t devices = dealing == DEALING_ONE ? 1 : 2;

		/* on one device the parted ranks are tested as well where there is no second */
		if (dealing == DEALING_PARTED && device_count < 2)
			devices = 1;
		if (devices > device_count || (dealing == DEALING_PEERS && !rig_enable_peers(devices)))
			continue;
		for (uint32_t world = 2; world <= TF_WORLD_MAX; world++) {
			const char *how = dealing == DEALING_PARTED ? " without peer access" : "";

			if (rig_now_ns() > deadline_ns) {
				printf("out of time before world %u on %u devices%s\n", world, devices, how);
				kernels_tally.failures++;
				break;
			}
			printf("world %u on %u device(s)%s\n", world, devices, how);
			check_world((enum dealing)dealing, devices, world, one_in);
			worlds++;
			printf("world %u on %u device(s)%s: %u failures so far\n", world, devices, how,
				kernels_tally.failures);
			fflush(stdout);
		}
	}
	printf("check: %u worlds, %u comparisons, %u failures\n", worlds, kernels_tally.cases,
		kernels_tally.failures);
	return kernels_tally.failures || !worlds;
}
