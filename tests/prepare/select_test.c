/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of selection on samples whose answer is known, and properties over many generated
 * sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/collective/select.h"
#include "tests/prepare/recorded_samples.h"

#define ROWS 12

typedef uint64_t table[ROWS][TF_PASSES];

/* A small generator with a fixed start: the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void fill_row(uint64_t *row, uint64_t ns)
{
	for (int pass = 0; pass < TF_PASSES; pass++)
		row[pass] = ns;
}

/* 1000, 1001, ..., in an order that is not sorted. */
static void spread_row(uint64_t *row, uint64_t first, uint64_t step)
{
	for (uint64_t pass = 0; pass < TF_PASSES; pass++)
		row[pass] = first + step * (pass * 8 % TF_PASSES);
}

static void test_order_statistics(void **state)
{
	uint64_t row[TF_PASSES], before[TF_PASSES], median, low, high;

	(void)state;
	spread_row(row, 1, 1); /* 1..21 in some order: the n-th order statistic is n */
	memcpy(before, row, sizeof(row));
	tf_order_statistics(row, &median, &low, &high);
	assert_int_equal(median, 11);
	assert_int_equal(low, 6);
	assert_int_equal(high, 16);
	assert_memory_equal(row, before, sizeof(row));

	fill_row(row, 7);
	row[0] = 0;
	row[20] = UINT64_MAX - 1;
	tf_order_statistics(row, &median, &low, &high);
	assert_int_equal(median, 7);
	assert_int_equal(low, 7);
	assert_int_equal(high, 7);
}

/* The three shortest of five; a missing look makes the sample a missing one. */
static void test_looks(void **state)
{
	uint64_t looks[TF_LOOKS];

	(void)state;
	assert_int_equal(TF_LOOKS, 5);
	assert_int_equal(TF_LOOKS_KEPT, 3);
	memcpy(looks, (uint64_t[]){900000, 3040, 3008, 700000, 3072}, sizeof(looks));
	assert_int_equal(tf_sample_of_looks(looks), 3040);
	looks[1] = 3041; /* a third of a nanosecond is dropped */
	assert_int_equal(tf_sample_of_looks(looks), 3040);
	looks[1] = 3043;
	assert_int_equal(tf_sample_of_looks(looks), 3041);
	looks[3] = TF_NS_NONE; /* not one of the shortest, and still missing */
	assert_int_equal(tf_sample_of_looks(looks), TF_NS_NONE);
	for (int i = 0; i < TF_LOOKS; i++)
		looks[i] = UINT64_MAX - 1; /* no sum overflows */
	assert_int_equal(tf_sample_of_looks(looks), TF_NS_MOST);
}

/* The median moves by whole steps of the clock, the value in between. */
static void test_value_resolves_below_a_step(void **state)
{
	uint64_t row[TF_PASSES], median, low, high;

	(void)state;
	spread_row(row, 1, 1);
	assert_int_equal(tf_select_value(row), 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16);
	for (uint64_t above = 0; above <= TF_PASSES; above++) {
		uint64_t in_middle = above < 5 ? 0 : above > 16 ? 11 : above - 5;

		for (uint64_t pass = 0; pass < TF_PASSES; pass++)
			row[pass] = pass * 8 % TF_PASSES < above ? 3040 : 3008;
		tf_order_statistics(row, &median, &low, &high);
		assert_int_equal(median, above >= 11 ? 3040 : 3008);
		assert_int_equal(tf_select_value(row), 3008 * TF_VALUE_SAMPLES + 32 * in_middle);
	}
	fill_row(row, UINT64_MAX - 1);
	assert_int_equal(tf_select_value(row), TF_NS_MOST * TF_VALUE_SAMPLES);
}

/*
 * Where a clock's steps make intervals a point, what may be a tie is not struck out in the first
 * stage: two steps of 32 ns on 2.5 us.
 */
static void test_near_ones_survive(void **state)
{
	table samples;
	uint8_t survivors[3];

	(void)state;
	fill_row(samples[0], 2560);
	fill_row(samples[1], 2496); /* the best */
	fill_row(samples[2], 2592); /* 3.8 % above */
	assert_int_equal(tf_select_survivors(samples[0], 3, survivors), 3);
	fill_row(samples[2], 2496 * 104 / 100 + 1);
	assert_int_equal(tf_select_survivors(samples[0], 3, survivors), 2);
	assert_int_equal(survivors[2], 0);
	/* 2.5 % is no tie: the second stage tells them apart */
	assert_int_equal(tf_select_pick(samples[0], 3), 1);
}

/* Rows that a machine took: who survives, who is picked, and that this needs no luck. */
static void test_recorded(void **state)
{
	uint8_t survivors[8];

	(void)state;
	assert_int_equal(tf_select_survivors(small_stage1[0], 3, survivors), 3);
	/* 26.6 % lower, but in 15 passes of 21 */
	assert_true(tf_select_value(small_stage2[2]) * 100 < tf_select_value(small_stage2[0]) * 74);
	assert_false(tf_select_beats(small_stage2[2], small_stage2[0]));
	assert_true(tf_select_beats(small_stage2[2], small_stage2[1]));
	assert_int_equal(tf_select_pick(small_stage2[0], 3), 0);
	assert_int_equal(tf_select_survivors(large_stage1[0], 6, survivors), 2);
	assert_int_equal(survivors[1] + survivors[4], 2);
	assert_int_equal(tf_select_pick(large_stage2[0], 6), 1);
	for (int row = 0; row < 6; row++)
		assert_int_equal(tf_select_competes(large_stage2[row]), survivors[row]);
}

static void test_survivors_overlap(void **state)
{
	table samples;
	uint8_t survivors[4];

	(void)state;
	spread_row(samples[0], 1000, 10); /* interval 1050 to 1150 */
	spread_row(samples[1], 1100, 10); /* 1150 to 1250: touches the best's end */
	spread_row(samples[2], 1101, 10); /* 1151 to 1251: one ns above it */
	spread_row(samples[3], 990, 10);  /* the best: 1040 to 1140 */
	assert_int_equal(tf_select_survivors(samples[0], 3, survivors), 2);
	assert_int_equal(survivors[0], 1);
	assert_int_equal(survivors[1], 1);
	assert_int_equal(survivors[2], 0);
	/* with a faster best, its interval counts, not the first rung's */
	assert_int_equal(tf_select_survivors(samples[0], 4, survivors), 2);
	assert_int_equal(survivors[0], 1);
	assert_int_equal(survivors[1], 0);
	assert_int_equal(survivors[3], 1);
}

static void test_survivors_are_at_most_eight(void **state)
{
	table samples;
	uint8_t survivors[ROWS];

	(void)state;
	/* all overlap; medians fall with the rung, so the last eight are the fastest */
	for (uint64_t row = 0; row < ROWS; row++)
		spread_row(samples[row], 1000 - row, 50);
	assert_int_equal(tf_select_survivors(samples[0], ROWS, survivors), TF_SURVIVORS_MAX);
	for (uint64_t row = 0; row < ROWS; row++)
		assert_int_equal(survivors[row], row >= ROWS - TF_SURVIVORS_MAX);
	/* equal medians: ladder order decides */
	for (uint64_t row = 0; row < ROWS; row++)
		spread_row(samples[row], 1000, 50);
	assert_int_equal(tf_select_survivors(samples[0], ROWS, survivors), TF_SURVIVORS_MAX);
	for (uint64_t row = 0; row < ROWS; row++)
		assert_int_equal(survivors[row], row < TF_SURVIVORS_MAX);
}

static void test_tie_goes_to_the_earlier_rung(void **state)
{
	table samples;

	(void)state;
	fill_row(samples[0], 100000);
	fill_row(samples[1], 98000); /* 2 % lower in every pass: still a tie */
	assert_int_equal(tf_select_pick(samples[0], 2), 0);
	fill_row(samples[1], 97999);
	assert_int_equal(tf_select_pick(samples[0], 2), 1);
	/* the same numbers the other way round: the earlier rung is faster or tied, and stays */
	fill_row(samples[0], 97999);
	fill_row(samples[1], 100000);
	assert_int_equal(tf_select_pick(samples[0], 2), 0);
	/* a chain of ties does not add up to a win over the first */
	fill_row(samples[0], 100000);
	fill_row(samples[1], 99000);
	fill_row(samples[2], 98000);
	assert_int_equal(tf_select_pick(samples[0], 3), 0);
	/* zero nanoseconds everywhere is a tie as well */
	fill_row(samples[0], 0);
	fill_row(samples[1], 0);
	assert_int_equal(tf_select_pick(samples[0], 2), 0);
}

static void test_sixteen_of_twentyone(void **state)
{
	table samples;

	(void)state;
	fill_row(samples[0], 1000);
	for (int wins = 0; wins <= TF_PASSES; wins++) {
		for (int pass = 0; pass < TF_PASSES; pass++)
			samples[1][pass] = pass < wins ? 500 : 1001;
		assert_int_equal(tf_select_beats(samples[1], samples[0]), wins >= 16);
		assert_int_equal(tf_select_pick(samples[0], 2), wins >= 16);
	}
	/* an equal pass is not a win */
	for (int pass = 0; pass < TF_PASSES; pass++)
		samples[1][pass] = pass < 15 ? 500 : 1000;
	assert_int_equal(tf_select_beats(samples[1], samples[0]), 0);
}

static void test_missing_samples(void **state)
{
	table samples;
	uint8_t survivors[3];

	(void)state;
	fill_row(samples[0], 1000);
	fill_row(samples[1], 10);
	samples[1][20] = TF_NS_NONE; /* the fastest, but for one pass */
	fill_row(samples[2], 500);
	assert_int_equal(tf_select_survivors(samples[0], 3, survivors), 1);
	assert_int_equal(survivors[0] + survivors[1], 0);
	assert_int_equal(survivors[2], 1);
	assert_int_equal(tf_select_pick(samples[0], 3), 2);
	for (int row = 0; row < 3; row++)
		samples[row][row] = TF_NS_NONE;
	assert_int_equal(tf_select_survivors(samples[0], 3, survivors), 0);
	assert_int_equal(tf_select_pick(samples[0], 3), UINT32_MAX);
	assert_int_equal(tf_select_pick(samples[0], 0), UINT32_MAX);
}

/* Tails of a hundred times the time in a quarter of the passes move neither median nor pick. */
static void test_heavy_tails(void **state)
{
	uint64_t seed = 88172645463325252u;
	table samples;

	(void)state;
	for (int round = 0; round < 200; round++) {
		for (int pass = 0; pass < TF_PASSES; pass++) {
			samples[0][pass] = 1000 + next_random(&seed) % 8;
			samples[1][pass] = 800 + next_random(&seed) % 8;
		}
		for (int tail = 0; tail < 5; tail++)
			samples[1][next_random(&seed) % TF_PASSES] = 100000;
		assert_int_equal(tf_select_pick(samples[0], 2), 1);
		for (int tail = 0; tail < 5; tail++)
			samples[0][next_random(&seed) % TF_PASSES] = 100000;
		assert_int_equal(tf_select_beats(samples[0], samples[1]), 0);
	}
}

/* Two modes, 11 passes in the fast one: the median is fast, but 11 wins are not 16. */
static void test_bimodal(void **state)
{
	table samples;

	(void)state;
	fill_row(samples[0], 1000);
	for (int pass = 0; pass < TF_PASSES; pass++)
		samples[1][pass] = pass % 2 ? 3000 : 300;
	assert_int_equal(tf_select_pick(samples[0], 2), 0);
	/* as the earlier rung it loses only 10 passes to the steady one, and holds */
	memcpy(samples[2], samples[0], sizeof(samples[2]));
	assert_int_equal(tf_select_pick(samples[1], 2), 0);
}

/* A machine that slows down by half over the passes hits all candidates of a pass alike. */
static void test_drift(void **state)
{
	table samples;

	(void)state;
	for (uint64_t pass = 0; pass < TF_PASSES; pass++) {
		samples[0][pass] = 1000 + 50 * pass;
		samples[1][pass] = 990 + 50 * pass;             /* 1 % faster in every pass: a tie */
		samples[2][pass] = (1000 + 50 * pass) * 9 / 10; /* 10 % faster in every pass */
	}
	assert_int_equal(tf_select_pick(samples[0], 2), 0);
	assert_int_equal(tf_select_pick(samples[0], 3), 2);
}

/*
 * A sample is the maximum over ranks; whichever rank is the slow one, the maxima and so the picks
 * are the same.
 */
static void test_pick_does_not_depend_on_who_is_slow(void **state)
{
	uint64_t seed = 1234567;
	uint64_t ranks[4][3][TF_PASSES];
	uint32_t first = 0;

	(void)state;
	for (int row = 0; row < 3; row++)
		for (int pass = 0; pass < TF_PASSES; pass++)
			for (int rank = 0; rank < 4; rank++)
				ranks[rank][row][pass] =
					(rank ? 900 : 1400) - 150 * (uint64_t)row + next_random(&seed) % 40;
	for (int turn = 0; turn < 4; turn++) {
		uint64_t maxima[3][TF_PASSES] = {{0}};

		for (int rank = 0; rank < 4; rank++)
			for (int row = 0; row < 3; row++)
				for (int pass = 0; pass < TF_PASSES; pass++) {
					uint64_t ns = ranks[(rank + turn) % 4][row][pass];

					if (ns > maxima[row][pass])
						maxima[row][pass] = ns;
				}
		if (turn == 0)
			first = tf_select_pick(maxima[0], 3);
		assert_int_equal(tf_select_pick(maxima[0], 3), first);
	}
	assert_int_equal(first, 2);
}

/*
 * Over many sets of every shape: there is a pick where anyone competes, it competes, and nobody
 * beats it.
 */
static void test_a_pick_always_exists(void **state)
{
	uint64_t seed = 42;
	table samples;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint32_t rows = 1 + (uint32_t)(next_random(&seed) % ROWS);
		uint64_t spread = (uint64_t)1 << (next_random(&seed) % 63);
		uint32_t competing = 0, pick;

		for (uint32_t row = 0; row < rows; row++) {
			int whole = next_random(&seed) % 8 != 0;

			for (int pass = 0; pass < TF_PASSES; pass++)
				samples[row][pass] = next_random(&seed) % spread;
			if (!whole)
				samples[row][next_random(&seed) % TF_PASSES] = TF_NS_NONE;
			competing += (uint32_t)whole;
		}
		pick = tf_select_pick(samples[0], rows);
		if (!competing) {
			assert_int_equal(pick, UINT32_MAX);
			continue;
		}
		assert_true(pick < rows);
		for (int pass = 0; pass < TF_PASSES; pass++)
			assert_true(samples[pick][pass] != TF_NS_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_statistics),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_value_resolves_below_a_step),
		cmocka_unit_test(test_near_ones_survive),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_survivors_overlap),
		cmocka_unit_test(test_survivors_are_at_most_eight),
		cmocka_unit_test(test_tie_goes_to_the_earlier_rung),
		cmocka_unit_test(test_sixteen_of_twentyone),
		cmocka_unit_test(test_missing_samples),
		cmocka_unit_test(test_heavy_tails),
		cmocka_unit_test(test_bimodal),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_pick_does_not_depend_on_who_is_slow),
		cmocka_unit_test(test_a_pick_always_exists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
