/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuning over emulated links, a thread a rank: the samples are the model's and not this machine's,
 * slow and jittering ranks do not split the picks, and what is wrong or late is struck out all the
 * same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "prepare/links/link_model.h"
#include "runtime/collective/startup.h"
#include "tests/prepare/bench_rig.h"
#include "tests/prepare/planted.h"

#define SHORT_TIMEOUT_NS (300 * TF_NS_PER_MS)

static const char sums[] = "name: sums\nsummary: Three.\ncapacities: [1, 4]\ngroups:\n"
						   "  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 4096}\n"
						   "  - {name: gather, op: all_gather, dtype: bf16, row_elements: 16384}\n";

#define RUNG(algorithm, writer, ctas, ops)                                                         \
	"  - {algorithm: " algorithm ", writer: " writer ", threads: 512, ctas: " ctas ", ops: " ops   \
	", world: [2, 8], bytes: [1, 64MiB], reason: \"For the test.\"}\n"
#define ALL "[all_reduce, all_gather]"
static const char ladder[] =
	"topology: host-bridge\nsummary: Some.\nrungs:\n" RUNG("one_shot", "ll", "2", ALL)
		RUNG("one_shot", "direct", "8", ALL) RUNG("one_shot", "serial", "8", ALL)
			RUNG("one_shot", "pull", "2", ALL) RUNG("one_shot", "pull", "16", ALL)
				RUNG("two_shot", "serial", "16", "[all_reduce]");

static struct tf_links load(const char *name)
{
	struct tf_links links;
	struct tf_error err = {0};

	if (tf_links_load(name, &links, &err) != TF_OK)
		fail_msg("%s", err.text);
	return links;
}

static void tune(struct bench *bench, uint32_t world, const struct tf_links *links)
{
	bench_init(bench, world, sums, ladder);
	bench->links = links;
	bench_tune(bench);
	assert_true(bench_is_ok(bench));
	for (uint32_t r = 1; r < world; r++) {
		assert_int_equal(bench->catalogs[r].size, bench->catalogs[0].size);
		assert_memory_equal(
			bench->catalogs[r].data, bench->catalogs[0].data, bench->catalogs[0].size);
	}
}

static atomic_int stop;

static void *burn(void *user)
{
	(void)user;
	while (!atomic_load(&stop))
		;
	return NULL;
}

/* Byte for byte the same catalog, whatever else runs; another with another seed. */
static void test_load_does_not_count(void **state)
{
	struct tf_links links = load("host-bridge-4");
	struct bench quiet, busy, other;
	pthread_t burners[2];

	(void)state;
	tune(&quiet, 4, &links);
	atomic_store(&stop, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&burners[i], NULL, burn, NULL), 0);
	tune(&busy, 4, &links);
	atomic_store(&stop, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(burners[i], NULL);
	assert_int_equal(quiet.catalogs[0].size, busy.catalogs[0].size);
	assert_memory_equal(quiet.catalogs[0].data, busy.catalogs[0].data, quiet.catalogs[0].size);
	links.seed = 77;
	tune(&other, 4, &links);
	assert_int_equal(quiet.programs[0].sample_count > 0, 1);
	assert_true(quiet.programs[0].samples[0].ns != other.programs[0].samples[0].ns);
	for (uint32_t g = 0; g < quiet.programs[0].group_count; g++)
		assert_int_equal(quiet.programs[0].selectors[g], other.programs[0].selectors[g]);
	bench_fini(&quiet);
	bench_fini(&busy);
	bench_fini(&other);
}

/* Without jitter every sample is what the model says of that candidate. */
static void test_samples_are_the_models(void **state)
{
	struct tf_links links = load("host-bridge-4");
	struct tf_link_model *model = NULL;
	const struct tf_program *program;
	struct bench bench;

	(void)state;
	links.jitter_percent = 0;
	tune(&bench, 3, &links);
	program = &bench.programs[0];
	assert_int_equal(tf_link_model_create(&links, &model, NULL), TF_OK);
	for (uint32_t i = 0; i < program->sample_count; i++) {
		const struct tf_group_candidate *entry =
			&program->candidates[program->samples[i].group_candidate];
		const struct tf_group *group = &program->groups[entry->group];
		struct tf_link_call call = {.op = group->op,
			.candidate = entry->candidate,
			.world = 3,
			.count = tf_group_input_count(group),
			.element_bytes = 2};
		uint64_t entry_ns[TF_WORLD_MAX] = {0}, done[TF_WORLD_MAX], longest = 0;

		tf_link_model_run(model, &call, entry_ns, 1, done);
		for (uint32_t r = 0; r < 3; r++)
			longest = done[r] > longest ? done[r] : longest;
		assert_int_equal(program->samples[i].ns, longest);
	}
	assert_true(program->sample_count >= TF_PASSES * program->candidate_count);
	tf_link_model_destroy(model);
	bench_fini(&bench);
}

/* One rank works at a fifth of the others' pace, or at a pace that changes fourfold. */
static void test_odd_ranks_do_not_split_the_picks(void **state)
{
	(void)state;
	for (int odd = 0; odd < 2; odd++) {
		struct tf_links links = load("host-bridge-4");
		struct bench bench;

		if (odd)
			links.ranks[2].jitter_percent = 300;
		else
			links.ranks[2].slow = 5;
		tune(&bench, 4, &links);
		bench_fini(&bench);
	}
}

static void test_identity(void **state)
{
	struct tf_links links = load("host-bridge-4");
	const struct tf_program *program;
	struct bench bench;

	(void)state;
	tune(&bench, 2, &links);
	program = &bench.programs[0];
	assert_string_equal(tf_program_identity(program, "samples.clock"), "virtual");
	assert_non_null(
		strstr(tf_program_identity(program, "topology.signature"), ";emulated=host-bridge-4"));
	assert_string_equal(tf_program_identity(program, "links"), "host-bridge-4");
	assert_string_equal(tf_program_identity(program, "links.seed"), "1");
	assert_int_equal(strlen(tf_program_identity(program, "links.sha256")), 64);
	bench_fini(&bench);
}

/* The links' word is the ladder's: who cannot be read is not pulled from. */
static void test_capabilities_are_the_links(void **state)
{
	struct tf_links links = load("fabric-4");
	struct bench bench;

	(void)state;
	tune(&bench, 2, &links);
	for (uint32_t i = 0; i < bench.programs[0].candidate_count; i++)
		assert_int_not_equal(bench.programs[0].candidates[i].candidate.writer, TF_WRITER_PULL);
	bench_fini(&bench);
}

static void test_fewer_ranks_than_asked(void **state)
{
	struct tf_links links = load("ring-3");
	struct bench bench;

	(void)state;
	bench_init(&bench, 4, sums, ladder);
	bench.links = &links;
	bench.timeout_ns = SHORT_TIMEOUT_NS;
	bench_tune(&bench);
	assert_int_equal(bench.errors[0].status, TF_E_MISFIT);
	assert_non_null(strstr(bench.errors[0].text, "the links 'ring-3' have 3 ranks"));
	bench_fini(&bench);
}

static enum tf_status plant(struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench;
	TF_TRY(planted_swap(rank, "planted_silent", err));
	TF_TRY(planted_swap(rank, "planted_flip_serial", err));
	return TF_OK;
}

/* Late and wrong ones on one rank, under emulation as without it. */
static void test_strikes(void **state)
{
	struct tf_links links = load("host-bridge-4");
	uint32_t struck = 0;
	struct bench bench;

	(void)state;
	planted_rank = 1;
	bench_init(&bench, 2, sums, ladder);
	bench.links = &links;
	bench.timeout_ns = SHORT_TIMEOUT_NS;
	bench.hook = plant;
	bench_tune(&bench);
	assert_true(bench_is_ok(&bench));
	assert_memory_equal(bench.catalogs[0].data, bench.catalogs[1].data, bench.catalogs[0].size);
	for (uint32_t i = 0; i < bench.programs[0].candidate_count; i++) {
		const struct tf_group_candidate *entry = &bench.programs[0].candidates[i];

		if (entry->state != TF_CANDIDATE_STRUCK)
			continue;
		struck++;
		assert_non_null(strstr(entry->reason,
			entry->candidate.writer == TF_WRITER_DIRECT ? "late on rank"
														: "wrong bytes on rank 1"));
	}
	assert_int_equal(struck, 4); /* two of the sum, at two capacities */
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_does_not_count),
		cmocka_unit_test(test_samples_are_the_models),
		cmocka_unit_test(test_odd_ranks_do_not_split_the_picks),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_capabilities_are_the_links),
		cmocka_unit_test(test_fewer_ranks_than_asked),
		cmocka_unit_test(test_strikes),
	};

	planted_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
