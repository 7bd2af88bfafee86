/* SPDX-License-Identifier: Apache-2.0 */
/* Drift: when a pick holds, when it is beaten, and by whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/collective/startup.h"
#include "runtime/serve/drift_compare.h"

#define CANDIDATES 5

/*
 * Candidates 0..2 belong to group 0, whose pick is 1; candidates 3 and 4 to group 1, whose pick is
 * 3.
 */
struct fixture {
	struct tf_program program;
	struct tf_group_candidate candidates[CANDIDATES];
	uint32_t selectors[2];
	uint64_t samples[CANDIDATES * TF_PASSES];
};

static void set(struct fixture *fixture, uint32_t candidate, uint64_t ns)
{
	for (int pass = 0; pass < TF_PASSES; pass++)
		fixture->samples[candidate * TF_PASSES + pass] =
			ns == TF_NS_NONE ? ns : ns + (uint64_t)pass;
}

static void fill(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	for (uint32_t i = 0; i < CANDIDATES; i++) {
		fixture->candidates[i].group = i >= 3;
		fixture->candidates[i].stage_median_ns[0] = 1000;
		fixture->candidates[i].stage_low_ns[0] = 990;
		fixture->candidates[i].stage_high_ns[0] = 1015;
		set(fixture, i, 1000);
	}
	fixture->selectors[0] = 1;
	fixture->selectors[1] = 3;
	fixture->program.candidates = fixture->candidates;
	fixture->program.candidate_count = CANDIDATES;
	fixture->program.selectors = fixture->selectors;
	fixture->program.group_count = 2;
}

static struct tf_drift_row compare(const struct fixture *fixture, uint32_t group)
{
	struct tf_drift_row row;

	tf_drift_compare(&fixture->program, fixture->samples, "monotonic", group, &row);
	return row;
}

static void an_equal_machine_holds(void **state)
{
	struct fixture fixture;
	struct tf_drift_row row;

	(void)state;
	fill(&fixture);
	row = compare(&fixture, 0);
	assert_int_equal(row.picked, 1);
	assert_int_equal(row.winner, TF_PROGRAM_NONE);
	assert_int_equal(row.packaged_ns, 1000);
	assert_int_equal(row.measured_ns, 1010);
	assert_true(row.ratio > 1.0099 && row.ratio < 1.0101);
}

/* set() spreads: median ns + 10, interval ns + 5 to ns + 15. */
static void a_change_needs_more_than_a_tie_and_no_overlap(void **state)
{
	struct fixture fixture;
	struct tf_drift_row row;

	(void)state;
	fill(&fixture);
	row = compare(&fixture, 0);
	assert_int_equal(row.measured_low_ns, 1005);
	assert_int_equal(row.measured_high_ns, 1015);
	assert_int_equal(row.packaged_low_ns, 990);
	assert_int_equal(row.packaged_high_ns, 1015);
	assert_int_equal(row.change, TF_DRIFT_ALIKE);
	set(&fixture, 1, 1010); /* 2 % above, touching */
	assert_int_equal(compare(&fixture, 0).change, TF_DRIFT_ALIKE);
	set(&fixture, 1, 1011); /* 2.1 % above, one ns beyond the packaged interval */
	assert_int_equal(compare(&fixture, 0).change, TF_DRIFT_SLOWER);
	fixture.candidates[1].stage_high_ns[0] = 1016;
	assert_int_equal(compare(&fixture, 0).change, TF_DRIFT_ALIKE);
	set(&fixture, 1, 969); /* 2.1 % below; ends at 984 */
	assert_int_equal(compare(&fixture, 0).change, TF_DRIFT_FASTER);
	fixture.candidates[1].stage_low_ns[0] = 984;
	assert_int_equal(compare(&fixture, 0).change, TF_DRIFT_ALIKE);
	assert_string_equal(tf_drift_change_name(TF_DRIFT_SLOWER), "slower");
}

static void the_lowest_of_the_winners_is_named(void **state)
{
	struct fixture fixture;
	struct tf_drift_row row;

	(void)state;
	fill(&fixture);
	set(&fixture, 0, 800);
	set(&fixture, 2, 700);
	set(&fixture, 4, 100); /* of the other group */
	row = compare(&fixture, 0);
	assert_int_equal(row.winner, 2);
	assert_int_equal(row.winner_ns, 710);
	set(&fixture, 0, 600);
	row = compare(&fixture, 0);
	assert_int_equal(row.winner, 0);
}

static void a_tie_holds(void **state)
{
	struct fixture fixture;

	(void)state;
	fill(&fixture);
	set(&fixture, 0, 985);
	assert_int_equal(compare(&fixture, 0).winner, TF_PROGRAM_NONE);
}

static void what_was_struck_takes_no_part(void **state)
{
	struct fixture fixture;
	struct tf_drift_row row;

	(void)state;
	fill(&fixture);
	set(&fixture, 4, TF_NS_NONE);
	assert_int_equal(compare(&fixture, 1).winner, TF_PROGRAM_NONE);
	set(&fixture, 4, 100);
	set(&fixture, 3, TF_NS_NONE);
	row = compare(&fixture, 1);
	assert_true(row.measured_ns == TF_NS_NONE);
	assert_int_equal(row.winner, TF_PROGRAM_NONE);
	assert_true(row.ratio == 0);
	assert_int_equal(row.change, TF_DRIFT_UNKNOWN);
}

static void nothing_packaged_gives_no_ratio(void **state)
{
	struct fixture fixture;

	(void)state;
	fill(&fixture);
	fixture.candidates[1].stage_median_ns[0] = -1;
	assert_true(compare(&fixture, 0).ratio == 0);
	assert_int_equal(compare(&fixture, 0).change, TF_DRIFT_UNKNOWN);
}

/* CPU time against the time of day: who beats whom here is known, how the pick changed is not. */
static void two_clocks_are_not_compared(void **state)
{
	struct tf_identity clock = {.key = "samples.clock", .value = (char *)(uintptr_t) "monotonic"};
	struct fixture fixture;
	struct tf_drift_row row;

	(void)state;
	fill(&fixture);
	fixture.program.identity = &clock;
	fixture.program.identity_count = 1;
	set(&fixture, 1, 9000);
	assert_int_equal(compare(&fixture, 0).change, TF_DRIFT_SLOWER);
	assert_null(tf_drift_other_clock(&fixture.program, "monotonic"));
	clock.value = (char *)(uintptr_t) "thread-cpu";
	assert_string_equal(tf_drift_other_clock(&fixture.program, "monotonic"), "thread-cpu");
	row = compare(&fixture, 0);
	assert_int_equal(row.change, TF_DRIFT_UNKNOWN);
	assert_true(row.ratio == 0);
	assert_int_equal(row.packaged_ns, 1000);
	assert_int_equal(row.measured_ns, 9010);
	assert_int_equal(row.winner, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_equal_machine_holds),
		cmocka_unit_test(a_change_needs_more_than_a_tie_and_no_overlap),
		cmocka_unit_test(the_lowest_of_the_winners_is_named),
		cmocka_unit_test(a_tie_holds),
		cmocka_unit_test(what_was_struck_takes_no_part),
		cmocka_unit_test(nothing_packaged_gives_no_ratio),
		cmocka_unit_test(two_clocks_are_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
