/* SPDX-License-Identifier: Apache-2.0 */
/* Each way a candidate can end, and the sentence for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prepare/tune/pick_reason.h"
#include "runtime/collective/select.h"

#define ROWS 10

struct fixture {
	struct tf_group_candidate entries[ROWS];
	uint64_t first[ROWS][TF_PASSES], fresh[ROWS][TF_PASSES];
	struct tf_group_outcome outcome;
	char text[160];
};

static void fill_row(uint64_t *row, uint64_t ns)
{
	for (int pass = 0; pass < TF_PASSES; pass++)
		row[pass] = ns;
}

/* Rung i has i + 1 CTAs, 2000 ns in both stages. */
static void fill(struct fixture *fixture, uint32_t count)
{
	memset(fixture, 0, sizeof(*fixture));
	for (uint32_t i = 0; i < ROWS; i++) {
		fixture->entries[i].candidate =
			(struct tf_candidate){TF_ALGORITHM_ONE_SHOT, TF_WRITER_LL, 32, i + 1, 0};
		fill_row(fixture->first[i], 2000);
		fill_row(fixture->fresh[i], 2000);
	}
	fixture->outcome = (struct tf_group_outcome){.entries = fixture->entries,
		.first = fixture->first[0],
		.fresh = fixture->fresh[0],
		.count = count};
}

/* The outcome's pick is what the rule gives. */
static const char *reason(struct fixture *fixture, uint32_t index)
{
	fixture->outcome.picked = tf_select_pick(fixture->fresh[0], fixture->outcome.count);
	tf_pick_reason(&fixture->outcome, index, fixture->text, sizeof(fixture->text));
	return fixture->text;
}

static void test_the_lowest_is_picked(void **state)
{
	struct fixture fixture;

	(void)state;
	fill(&fixture, 2);
	fill_row(fixture.fresh[1], 1900);
	assert_string_equal(
		reason(&fixture, 1), "picked: lowest; next is one_shot/ll/t32/c1, 5.26 % above");
	assert_string_equal(reason(&fixture, 0),
		"beaten by one_shot/ll/t32/c2, which is 5.00 % lower and won 21 of 21 passes");
}

static void test_a_tie_decides(void **state)
{
	struct fixture fixture;

	(void)state;
	fill(&fixture, 3);
	fill_row(fixture.fresh[1], 1970);
	assert_string_equal(reason(&fixture, 0),
		"picked: tie with one_shot/ll/t32/c2, which is 1.50 % lower: the earlier rung stays");
	assert_string_equal(reason(&fixture, 1), "tie with the pick, an earlier rung: 1.50 % lower");
	assert_string_equal(
		reason(&fixture, 2), "a later rung than the pick, and not lower: 0.00 % above");
	fill_row(fixture.fresh[1], 1960); /* 2 % to the nanosecond is a tie */
	assert_non_null(strstr(reason(&fixture, 0), "2.00 % lower: the earlier rung stays"));
}

static void test_too_few_passes_are_a_tie(void **state)
{
	struct fixture fixture;

	(void)state;
	fill(&fixture, 2);
	for (int pass = 0; pass < 15; pass++)
		fixture.fresh[1][pass] = 1800;
	assert_string_equal(reason(&fixture, 0),
		"picked: tie with one_shot/ll/t32/c2, which is 9.09 % lower but won 15 of 21 passes: the "
		"earlier rung stays");
	assert_string_equal(reason(&fixture, 1),
		"tie with the pick, an earlier rung: 9.09 % lower, but won 15 of 21 passes");
}

static void test_the_first_stage(void **state)
{
	struct fixture fixture;

	(void)state;
	fill(&fixture, 2);
	fill_row(fixture.first[1], 2100);
	fill_row(fixture.fresh[1], TF_NS_NONE);
	assert_string_equal(reason(&fixture, 0), "picked: no other survived the first stage");
	assert_string_equal(reason(&fixture, 1),
		"first stage: interval begins at 2.10 us, that of one_shot/ll/t32/c1 ends at 2.00 us");
	fill(&fixture, 9);
	fill_row(fixture.fresh[8], TF_NS_NONE);
	fill_row(fixture.first[8], TF_NS_NONE);
	assert_string_equal(reason(&fixture, 8), "not all of its samples were taken");
}

/* Where more stand near the best than go on: what is said of those before is so. */
static void test_too_many_before(void **state)
{
	struct fixture fixture;

	(void)state;
	fill(&fixture, 9);
	fill_row(fixture.fresh[8], TF_NS_NONE);
	assert_string_equal(reason(&fixture, 8),
		"first stage: overlaps the best, but 8 have medians as low or lower, the equal ones on "
		"earlier rungs");
	fixture.first[8][20] = 1000;
	for (int pass = 0; pass < 15; pass++)
		fixture.first[8][pass] = 2010; /* 15 of 21: the median, and not the lower bound */
	assert_string_equal(
		reason(&fixture, 8), "first stage: overlaps the best, but 8 have lower medians");
	fill_row(fixture.first[8], 2080); /* 4 % above all, whose intervals end at 2000 */
	assert_string_equal(
		reason(&fixture, 8), "first stage: within 4 % of the best, but 8 have lower medians");
	fill_row(fixture.first[7], 2080);
	assert_string_equal(reason(&fixture, 8),
		"first stage: within 4 % of the best, but 8 have medians as low or lower, the equal ones "
		"on earlier rungs");
}

/* The longest names that there are fit the catalog's 160 bytes, or are cut, and never overrun. */
static void test_long_names_are_cut(void **state)
{
	struct fixture fixture;

	(void)state;
	fill(&fixture, 2);
	fixture.entries[1].candidate = (struct tf_candidate){
		TF_ALGORITHM_TWO_SHOT, TF_WRITER_SENTINEL, UINT32_MAX, UINT32_MAX, UINT64_MAX};
	for (int pass = 0; pass < 15; pass++)
		fixture.fresh[1][pass] = 0;
	assert_true(strlen(reason(&fixture, 0)) < sizeof(fixture.text));
	assert_non_null(strstr(fixture.text, "two_shot/sentinel/t4294967295"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_lowest_is_picked),
		cmocka_unit_test(test_a_tie_decides),
		cmocka_unit_test(test_too_few_passes_are_a_tie),
		cmocka_unit_test(test_the_first_stage),
		cmocka_unit_test(test_too_many_before),
		cmocka_unit_test(test_long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
