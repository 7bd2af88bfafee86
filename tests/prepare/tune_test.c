/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuning with candidates that are wrong or never complete on one rank: struck out by name on all
 * ranks, the rest goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog_read.h"
#include "runtime/collective/startup.h"
#include "tests/prepare/bench_rig.h"
#include "tests/prepare/planted.h"

/*
 * Waited out once for each planted hang. It bounds the waits of sampling too, where ranks that are
 * only kept from their CPU must not pass for late.
 */
#define SHORT_TIMEOUT_NS (600 * TF_NS_PER_MS)

static const char two_sums[] =
	"name: sums\nsummary: Two sums.\ncapacities: [1, 2]\ngroups:\n"
	"  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 4099, times: 2}\n";

/* The planted direct is followed by three of its own protocol family. */
#define RUNG(algorithm, writer, more)                                                              \
	"  - {algorithm: " algorithm ", writer: " writer ", threads: 32, ctas: 1, " more               \
	"ops: [all_reduce], world: [2, 8], bytes: [1, 64MiB], reason: \"For the test.\"}\n"
static const char ladder[] = "topology: local\nsummary: Every family.\nrungs:\n" RUNG(
	"one_shot", "ll", "") RUNG("one_shot", "sentinel", "") RUNG("one_shot", "direct", "")
	RUNG("two_shot", "direct", "") RUNG("one_shot", "serial", "") RUNG("one_shot", "pull", "");

static const struct tf_group_candidate *candidate_of(const struct tf_program *program,
	uint32_t group, enum tf_algorithm algorithm, enum tf_writer writer)
{
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *entry = &program->candidates[i];

		if (entry->group == group && entry->candidate.algorithm == algorithm &&
			entry->candidate.writer == writer)
			return entry;
	}
	return NULL;
}

static uint32_t struck_in(const struct tf_program *program, uint32_t group)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < program->candidate_count; i++)
		count += program->candidates[i].group == group &&
			program->candidates[i].state == TF_CANDIDATE_STRUCK;
	return count;
}

/* Every rank ends with the same catalog, so with the same picks, strikes, reasons and samples. */
static void check_equal(const struct bench *bench)
{
	for (uint32_t r = 1; r < bench->world; r++) {
		assert_int_equal(bench->catalogs[r].size, bench->catalogs[0].size);
		assert_memory_equal(
			bench->catalogs[r].data, bench->catalogs[0].data, bench->catalogs[0].size);
	}
}

static void check_picks(const struct tf_program *program)
{
	for (uint32_t g = 0; g < program->group_count; g++) {
		const struct tf_group_candidate *picked = &program->candidates[program->selectors[g]];

		assert_int_equal(picked->group, g);
		assert_int_equal(picked->state, TF_CANDIDATE_PICKED);
		assert_true(picked->stage_median_ns[1] >= 0);
	}
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *entry = &program->candidates[i];

		assert_true(entry->reason[0] != '\0');
		assert_int_equal(entry->state == TF_CANDIDATE_STRUCK, entry->stage_median_ns[0] == -1);
	}
}

static void test_all_is_well(void **state)
{
	static const uint32_t worlds[] = {2, 3, 8};

	(void)state;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		struct bench bench;

		bench_init(&bench, worlds[i], two_sums, NULL);
		bench_tune(&bench);
		assert_true(bench_is_ok(&bench));
		check_equal(&bench);
		check_picks(&bench.programs[0]);
		for (uint32_t r = 0; r < bench.world; r++)
			assert_int_equal(bench.aggregates[r], TF_STARTUP_OK);
		for (uint32_t g = 0; g < bench.programs[0].group_count; g++)
			assert_int_equal(struck_in(&bench.programs[0], g), 0);
		bench_fini(&bench);
	}
}

static enum tf_status plant_flip(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench;
	return planted_swap(rank, "planted_flip", err);
}

static void test_one_wrong_bit_on_one_rank(void **state)
{
	(void)state;
	for (planted_rank = 0; planted_rank < 3; planted_rank++) {
		const struct tf_group_candidate *bad;
		struct bench bench;
		char text[64];

		bench_init(&bench, 3, two_sums, ladder);
		bench.hook = plant_flip;
		bench_tune(&bench);
		assert_true(bench_is_ok(&bench));
		check_equal(&bench);
		check_picks(&bench.programs[0]);
		snprintf(text, sizeof(text), "wrong bytes on rank %u", planted_rank);
		for (uint32_t g = 0; g < 2; g++) {
			assert_int_equal(struck_in(&bench.programs[0], g), 1);
			bad = candidate_of(&bench.programs[0], g, TF_ALGORITHM_ONE_SHOT, TF_WRITER_SENTINEL);
			assert_int_equal(bad->state, TF_CANDIDATE_STRUCK);
			assert_non_null(strstr(bad->reason, text));
		}
		bench_fini(&bench);
	}
}

static enum tf_status plant_corrupt(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench;
	return planted_swap(rank, "planted_corrupt", err);
}

/* One byte of a million on one rank: struck out by name everywhere, and a package comes of it. */
static void test_one_byte_of_a_million(void **state)
{
	static const char million[] =
		"name: large\nsummary: A MiB.\ncapacities: [1]\ngroups:\n"
		"  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 524288, buffer_pairs: 1}\n";
	struct tf_program loaded = {0};
	const struct tf_group_candidate *bad;
	struct bench bench;

	(void)state;
	planted_rank = 1;
	bench_init(&bench, 2, million,
		"topology: local\nsummary: Two.\nrungs:\n" RUNG("two_shot", "direct", "")
			RUNG("one_shot", "pull", ""));
	bench.hook = plant_corrupt;
	bench_tune(&bench);
	assert_true(bench_is_ok(&bench));
	check_equal(&bench);
	check_picks(&bench.programs[0]);
	assert_int_equal(tf_catalog_read(bench.catalogs[0].data, bench.catalogs[0].size,
						 TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES, &loaded, NULL),
		TF_OK);
	assert_int_equal(struck_in(&loaded, 0), 1);
	bad = candidate_of(&loaded, 0, TF_ALGORITHM_TWO_SHOT, TF_WRITER_DIRECT);
	assert_int_equal(bad->state, TF_CANDIDATE_STRUCK);
	assert_non_null(strstr(bad->reason, "wrong bytes on rank 1: element 262144 is 0x"));
	assert_int_equal(loaded.candidates[loaded.selectors[0]].candidate.writer, TF_WRITER_PULL);
	tf_program_fini(&loaded);
	bench_fini(&bench);
}

static enum tf_status plant_slow(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench;
	return planted_swap(rank, "planted_slow", err);
}

/* One rank is late in one candidate, always or at times: still one pick on all ranks. */
static void test_a_slow_rank(void **state)
{
	(void)state;
	for (planted_jitters = 0; planted_jitters < 2; planted_jitters++) {
		struct bench bench;

		planted_rank = 1;
		bench_init(&bench, 3, two_sums, ladder);
		bench.hook = plant_slow;
		bench_tune(&bench);
		assert_true(bench_is_ok(&bench));
		check_equal(&bench);
		check_picks(&bench.programs[0]);
		bench_fini(&bench);
	}
}

static enum tf_status plant_silent(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench;
	return planted_swap(rank, "planted_silent", err);
}

/*
 * The silent rank is at its next candidates at once; what it sends there must not pass for what it
 * owed here.
 */
static void test_a_silent_rank(void **state)
{
	(void)state;
	for (planted_rank = 0; planted_rank < 2; planted_rank++) {
		struct bench bench;

		bench_init(&bench, 2, two_sums, ladder);
		bench.timeout_ns = SHORT_TIMEOUT_NS;
		bench.hook = plant_silent;
		bench_tune(&bench);
		assert_true(bench_is_ok(&bench));
		check_equal(&bench);
		check_picks(&bench.programs[0]);
		for (uint32_t g = 0; g < 2; g++) {
			const struct tf_group_candidate *bad =
				candidate_of(&bench.programs[0], g, TF_ALGORITHM_ONE_SHOT, TF_WRITER_DIRECT);

			assert_int_equal(bad->state, TF_CANDIDATE_STRUCK);
			assert_int_equal(struck_in(&bench.programs[0], g), 1);
			assert_non_null(strstr(bad->reason, "struck out: late on rank"));
		}
		bench_fini(&bench);
	}
}

static enum tf_status plant_fault(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench;
	return planted_swap(rank, "planted_fault", err);
}

/* The first rung hangs on one rank until its bound: late, by name, everywhere. */
static void test_a_hanging_candidate(void **state)
{
	struct bench bench;

	(void)state;
	planted_rank = 2;
	bench_init(&bench, 3, two_sums, ladder);
	bench.timeout_ns = SHORT_TIMEOUT_NS;
	bench.hook = plant_fault;
	bench_tune(&bench);
	assert_true(bench_is_ok(&bench));
	check_equal(&bench);
	check_picks(&bench.programs[0]);
	for (uint32_t g = 0; g < 2; g++) {
		const struct tf_group_candidate *bad =
			candidate_of(&bench.programs[0], g, TF_ALGORITHM_ONE_SHOT, TF_WRITER_LL);

		assert_int_equal(struck_in(&bench.programs[0], g), 1);
		assert_int_equal(bad->state, TF_CANDIDATE_STRUCK);
		assert_non_null(strstr(bad->reason, "late on rank"));
		assert_non_null(strstr(bad->reason, "'sum'"));
		assert_non_null(strstr(bad->reason, "no arrival from rank"));
	}
	bench_fini(&bench);
}

static enum tf_status plant_three(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	TF_TRY(plant_flip(bench, rank, err));
	TF_TRY(plant_fault(bench, rank, err));
	return plant_silent(bench, rank, err);
}

static void test_three_bad_ones_at_once(void **state)
{
	struct bench bench;

	(void)state;
	planted_rank = 1;
	bench_init(&bench, 4, two_sums, ladder);
	bench.timeout_ns = SHORT_TIMEOUT_NS;
	bench.hook = plant_three;
	bench_tune(&bench);
	assert_true(bench_is_ok(&bench));
	check_equal(&bench);
	check_picks(&bench.programs[0]);
	assert_int_equal(struck_in(&bench.programs[0], 0), 3);
	assert_int_equal(struck_in(&bench.programs[0], 1), 3);
	bench_fini(&bench);
}

/* Where nothing is left, the group is named on every rank, with the first reason. */
static void test_nothing_left(void **state)
{
	struct bench bench;

	(void)state;
	planted_rank = 1;
	bench_init(&bench, 2, two_sums,
		"topology: local\nsummary: One.\nrungs:\n" RUNG("one_shot", "sentinel", ""));
	bench.hook = plant_flip;
	bench_tune(&bench);
	for (uint32_t r = 0; r < 2; r++) {
		assert_int_equal(bench.errors[r].status, TF_E_INVALID);
		assert_non_null(strstr(bench.errors[r].text, "group 'sum' at capacity 1"));
		assert_non_null(strstr(bench.errors[r].text, "wrong bytes on rank 1"));
		assert_int_not_equal(bench.aggregates[r], TF_STARTUP_OK);
	}
	bench_fini(&bench);
}

static enum tf_status plant_late(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench;
	return planted_swap(rank, "planted_late", err);
}

/*
 * Sound in verification, silent while it is sampled: all ranks fail, and no caller reads a zero for
 * success.
 */
static void test_a_fault_while_sampling(void **state)
{
	struct bench bench;

	(void)state;
	planted_rank = 1;
	planted_good_calls = 4 + 7; /* two fills of two groups, then seven samples */
	bench_init(&bench, 2, two_sums, ladder);
	bench.timeout_ns = SHORT_TIMEOUT_NS;
	bench.hook = plant_late;
	bench_tune(&bench);
	for (uint32_t r = 0; r < 2; r++) {
		assert_int_not_equal(bench.errors[r].status, TF_OK);
		assert_int_not_equal(bench.aggregates[r], TF_STARTUP_OK);
	}
	assert_string_equal(bench.errors[0].text, bench.errors[1].text);
	bench_fini(&bench);
}

static enum tf_status plant_watch(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench;
	return planted_swap(rank, "planted_watch", err);
}

/* The payload's own sentinels go the long way; only verification may hold any. */
static void test_samples_ordinary_values(void **state)
{
	struct bench bench;

	(void)state;
	planted_rank = 1;
	planted_sentinels = 0;
	bench_init(&bench, 2, two_sums, ladder);
	bench.hook = plant_watch;
	bench_tune(&bench);
	assert_true(bench_is_ok(&bench));
	assert_int_equal(planted_sentinels, 2); /* of two groups */
	bench_fini(&bench);
}

static struct tf_device_ops failing_ops;

static enum tf_status refuse_read(
	struct tf_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	(void)device, (void)to, (void)from, (void)bytes;
	return TF_FAIL(err, TF_E_SYSTEM, "planted failure");
}

static enum tf_status plant_device_failure(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err)
{
	(void)bench, (void)err;
	if (rank->window.rank != 1)
		return TF_OK;
	failing_ops = *rank->ops;
	failing_ops.read = refuse_read;
	rank->ops = &failing_ops;
	return TF_OK;
}

/*
 * A failure of one rank's device is no candidate's fault: all ranks end with it, none waits out its
 * bound of 20 s.
 */
static void test_a_rank_fails_by_itself(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, 3, two_sums, ladder);
	bench.hook = plant_device_failure;
	bench_tune(&bench);
	for (uint32_t r = 0; r < 3; r++) {
		assert_int_equal(bench.errors[r].status, TF_E_SYSTEM);
		assert_string_equal(bench.errors[r].text, "rank 1: planted failure");
		assert_int_not_equal(bench.aggregates[r], TF_STARTUP_OK);
	}
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_well),
		cmocka_unit_test(test_one_wrong_bit_on_one_rank),
		cmocka_unit_test(test_one_byte_of_a_million),
		cmocka_unit_test(test_a_slow_rank),
		cmocka_unit_test(test_a_silent_rank),
		cmocka_unit_test(test_a_hanging_candidate),
		cmocka_unit_test(test_three_bad_ones_at_once),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_a_fault_while_sampling),
		cmocka_unit_test(test_samples_ordinary_values),
		cmocka_unit_test(test_a_rank_fails_by_itself),
	};

	planted_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
