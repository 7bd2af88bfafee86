/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rule of selection makes of the model, for every built-in links file and its ladder: the
 * same samples as a tuning takes, without processes. The picks are near the best of all candidates,
 * the same for every seed of the jitter, and of the kind that the links call for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ladders/ladder.h"
#include "prepare/links/link_model.h"
#include "prepare/workload/workload.h"
#include "runtime/collective/select.h"

#define SEEDS 3

struct rig {
	struct tf_workload workload;
	struct tf_ladder ladder;
	struct tf_links links;
	uint32_t world;
};

struct verdict {
	uint32_t groups, near, equal[SEEDS]; /* equal: to the picks of the next seed */
	uint32_t by_writer[TF_WRITER_COUNT];
	double worst;
};

static void rig_init(struct rig *rig, const char *links, uint32_t world)
{
	struct tf_error err = {0};

	memset(rig, 0, sizeof(*rig));
	if (tf_workload_load("startup-81", &rig->workload, &err) != TF_OK ||
		tf_links_load(links, &rig->links, &err) != TF_OK ||
		tf_ladder_builtin(rig->links.topology, &rig->ladder, &err) != TF_OK)
		fail_msg("%s", err.text);
	rig->world = world;
}

static void rig_fini(struct rig *rig)
{
	tf_workload_fini(&rig->workload);
	tf_ladder_fini(&rig->ladder);
}

static uint64_t sample(struct tf_link_model *model, const struct rig *rig,
	const struct tf_group *group, const struct tf_candidate *candidate, uint64_t key)
{
	struct tf_link_call call = {
		.op = group->op,
		.candidate = *candidate,
		.world = rig->world,
		.count = tf_group_input_count(group),
		.element_bytes = (uint32_t)tf_dtype_bytes(group->dtype),
	};
	uint64_t entry[TF_WORLD_MAX] = {0}, done[TF_WORLD_MAX], longest = 0;

	tf_link_model_run(model, &call, entry, key, done);
	for (uint32_t r = 0; r < rig->world; r++)
		longest = done[r] > longest ? done[r] : longest;
	return longest;
}

static void fill(struct tf_link_model *model, const struct rig *rig, const struct tf_group *group,
	const uint32_t *rungs, uint32_t count, const uint8_t *alive, uint64_t key,
	uint64_t (*rows)[TF_PASSES])
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint64_t pass = 0; pass < TF_PASSES; pass++)
			rows[i][pass] = alive && !alive[i]
				? TF_NS_NONE
				: sample(model, rig, group, &rig->ladder.rungs[rungs[i]].candidate,
					  key + 1000 * pass + i);
	}
}

/* Two stages, as the startup graph does; the place among `rungs`. */
static uint32_t tune(struct tf_link_model *model, const struct rig *rig,
	const struct tf_group *group, const uint32_t *rungs, uint32_t count)
{
	static uint64_t rows[TF_LADDER_RUNGS_MAX][TF_PASSES];
	static uint64_t looks[TF_LOOKS][TF_LADDER_RUNGS_MAX][TF_PASSES];
	uint8_t alive[TF_LADDER_RUNGS_MAX];

	fill(model, rig, group, rungs, count, NULL, 1000000, rows);
	tf_select_survivors(rows[0], count, alive);
	for (uint64_t look = 0; look < TF_LOOKS; look++)
		fill(model, rig, group, rungs, count, alive, 2000000 + 100000 * look, looks[look]);
	for (uint32_t i = 0; i < count; i++) {
		for (int pass = 0; pass < TF_PASSES; pass++) {
			uint64_t five[TF_LOOKS];

			for (uint32_t look = 0; look < TF_LOOKS; look++)
				five[look] = looks[look][i][pass];
			rows[i][pass] = tf_sample_of_looks(five);
		}
	}
	return tf_select_pick(rows[0], count);
}

static struct tf_link_model *model_of(const struct rig *rig, uint64_t seed)
{
	struct tf_links links = rig->links;
	struct tf_link_model *model = NULL;
	struct tf_error err = {0};

	links.seed = seed;
	if (tf_link_model_create(&links, &model, &err) != TF_OK)
		fail_msg("%s", err.text);
	return model;
}

/* How much the candidate at `place` is above the best of all, by fresh samples of all of them. */
static double above_best(struct tf_link_model *model, const struct rig *rig,
	const struct tf_group *group, const uint32_t *rungs, uint32_t count, uint32_t place)
{
	static uint64_t rows[TF_LADDER_RUNGS_MAX][TF_PASSES];
	double own = 0, best = 0;

	fill(model, rig, group, rungs, count, NULL, 3000000, rows);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t median, low, high;

		tf_order_statistics(rows[i], &median, &low, &high);
		if (!best || (double)median < best)
			best = (double)median;
		if (i == place)
			own = (double)median;
	}
	return own / best;
}

static void judge(const struct rig *rig, struct verdict *verdict)
{
	struct tf_link_model *models[SEEDS + 1];
	uint32_t capabilities = tf_links_capabilities(&rig->links, rig->world);

	memset(verdict, 0, sizeof(*verdict));
	for (uint32_t s = 0; s <= SEEDS; s++)
		models[s] = model_of(rig, 1 + s);
	for (uint32_t g = 0; g < rig->workload.group_count; g++) {
		const struct tf_group *group = &rig->workload.groups[g];
		uint32_t rungs[TF_LADDER_RUNGS_MAX], count, picks[SEEDS];
		struct tf_error err = {0};
		double ratio;

		if (tf_ladder_legal(&rig->ladder, group, rig->world, capabilities, rungs, &count, &err) !=
			TF_OK)
			fail_msg("%s", err.text);
		for (uint32_t s = 0; s < SEEDS; s++)
			picks[s] = tune(models[s], rig, group, rungs, count);
		ratio = above_best(models[SEEDS], rig, group, rungs, count, picks[0]);
		verdict->groups++;
		verdict->near += ratio <= 1.05;
		verdict->worst = ratio > verdict->worst ? ratio : verdict->worst;
		verdict->by_writer[rig->ladder.rungs[rungs[picks[0]]].candidate.writer]++;
		for (uint32_t s = 0; s < SEEDS; s++)
			verdict->equal[s] += picks[s] == picks[(s + 1) % SEEDS];
	}
	for (uint32_t s = 0; s <= SEEDS; s++)
		tf_link_model_destroy(models[s]);
}

/* `lacks`: capabilities that no pair has, whatever the file says. */
static void accept_lacking(
	const char *name, uint32_t world, uint32_t lacks, struct verdict *verdict)
{
	struct rig rig;

	rig_init(&rig, name, world);
	for (uint32_t a = 0; a < TF_WORLD_MAX; a++) {
		for (uint32_t b = 0; b < TF_WORLD_MAX; b++)
			rig.links.pairs[a][b].peer &= ~lacks;
	}
	judge(&rig, verdict);
	print_message("%s, world %u: %u of %u within 5 %%, worst %.3f; equal picks %u %u %u;", name,
		world, verdict->near, verdict->groups, verdict->worst, verdict->equal[0], verdict->equal[1],
		verdict->equal[2]);
	for (int w = 0; w < TF_WRITER_COUNT; w++) {
		if (verdict->by_writer[w])
			print_message(" %s %u", tf_writer_name((enum tf_writer)w), verdict->by_writer[w]);
	}
	print_message("\n");
	assert_true(100 * verdict->near >= 95 * verdict->groups);
	for (uint32_t s = 0; s < SEEDS; s++)
		assert_true(100 * verdict->equal[s] >= 98 * verdict->groups);
	rig_fini(&rig);
}

static void accept_links(const char *name, uint32_t world, struct verdict *verdict)
{
	accept_lacking(name, world, 0, verdict);
}

static void test_nvlink(void **state)
{
	struct verdict v;

	(void)state;
	for (uint32_t world = 2; world <= 8; world *= 2) {
		accept_links("nvlink-8", world, &v);
		assert_int_equal(v.by_writer[TF_WRITER_SERIAL], 0);
	}
}

static void test_pcie_switch(void **state)
{
	struct verdict v;

	(void)state;
	accept_links("pcie-switch-4", 4, &v);
}

/* Where two destinations at once collapse, who writes to all at once wins nothing large. */
static void test_host_bridge(void **state)
{
	struct verdict v;

	(void)state;
	accept_links("host-bridge-4", 4, &v);
	assert_true(v.by_writer[TF_WRITER_SERIAL] + v.by_writer[TF_WRITER_QUEUED] +
			v.by_writer[TF_WRITER_PULL] >=
		v.groups / 2);
	assert_int_equal(v.by_writer[TF_WRITER_DIRECT], 0);
	accept_links("host-bridge-8", 8, &v);
	assert_true(v.by_writer[TF_WRITER_SERIAL] + v.by_writer[TF_WRITER_QUEUED] +
			v.by_writer[TF_WRITER_PULL] >=
		v.groups / 2);
}

/* Where peers cannot be read besides, one destination after the other is what is left. */
static void test_host_bridge_without_reads(void **state)
{
	struct verdict v;

	(void)state;
	accept_lacking("host-bridge-4", 4, TF_LINK_PEER_READ, &v);
	assert_int_equal(v.by_writer[TF_WRITER_PULL], 0);
	assert_true(v.by_writer[TF_WRITER_SERIAL] + v.by_writer[TF_WRITER_QUEUED] >= v.groups / 2);
}

static void test_hosts(void **state)
{
	struct verdict v;

	(void)state;
	accept_links("ring-3", 3, &v);
	assert_int_equal(v.by_writer[TF_WRITER_PULL], 0);
	accept_links("fabric-4", 4, &v);
	assert_int_equal(v.by_writer[TF_WRITER_PULL], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nvlink),
		cmocka_unit_test(test_pcie_switch),
		cmocka_unit_test(test_host_bridge),
		cmocka_unit_test(test_host_bridge_without_reads),
		cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
