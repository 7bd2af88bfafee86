/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep diff`: a package with itself, with changed copies, with another one. */
#include "tests/verbs/verb_run.h"

#include <stdio.h>
#include <string.h>

#include "prepare/package_diff.h"
#include "runtime/collective/startup.h"

/* Every sample of a candidate's stage becomes `ns`, and the statistics follow. */
static void set_samples(struct tf_program *program, uint32_t candidate, int64_t ns)
{
	for (uint32_t i = 0; i < program->sample_count; i++) {
		if (program->samples[i].group_candidate == candidate)
			program->samples[i].ns = ns;
	}
	for (int stage = 0; stage < 2; stage++) {
		struct tf_group_candidate *entry = &program->candidates[candidate];

		if (entry->stage_median_ns[stage] >= 0)
			entry->stage_median_ns[stage] = entry->stage_low_ns[stage] =
				entry->stage_high_ns[stage] = ns;
	}
}

/* The pick of group 0 goes to the group's first candidate that is not it. */
static uint32_t move_pick(struct tf_program *program)
{
	uint32_t old = program->selectors[0], next = old ? 0 : 1;

	assert_int_equal(program->candidates[next].group, 0);
	program->candidates[old].state = TF_CANDIDATE_SURVIVED;
	program->candidates[next].state = TF_CANDIDATE_PICKED;
	program->selectors[0] = next;
	return old;
}

static void test_itself(void **state)
{
	json_t *root;

	(void)state;
	assert_int_equal(tf_verb_run("diff", "--exit-code", TF_SMALL, TF_SMALL, NULL), 0);
	tf_verb_assert_golden("diff_itself.txt");
	assert_non_null(strstr(tf_verb_out, "4 of 4 picks equal (100.0 %)"));
	assert_int_equal(tf_verb_run("diff", "--json", TF_SMALL, TF_SMALL, NULL), 0);
	root = tf_verb_json();
	assert_int_equal(json_integer_value(json_object_get(root, "picks_equal")), 4);
	assert_int_equal(json_array_size(json_object_get(root, "changed")), 0);
	assert_int_equal(json_array_size(json_object_get(root, "identity")), 0);
	json_decref(root);
}

static void assert_changed(const char *outcome, const char *a, const char *b)
{
	json_t *root = tf_verb_json(), *changed = json_object_get(root, "changed"), *first;

	assert_int_equal(json_array_size(changed), 1);
	first = json_array_get(changed, 0);
	assert_string_equal(json_string_value(json_object_get(first, "outcome")), outcome);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(first, "a"), "verdict")), a);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(first, "b"), "verdict")), b);
	json_decref(root);
}

/* Both sides' samples are set so that each verdict is known. */
static void test_changed(void **state)
{
	struct tf_program a = {0}, b = {0};
	uint32_t pick, other;
	char left[400], right[400];

	(void)state;
	snprintf(left, sizeof(left), "%s", tf_verb_path("a.tfp"));
	snprintf(right, sizeof(right), "%s", tf_verb_path("b.tfp"));
	tf_verb_read_program(TF_SMALL, &a);
	tf_verb_read_program(TF_SMALL, &b);
	pick = move_pick(&b);
	other = b.selectors[0];
	set_samples(&a, pick, 1000);
	set_samples(&a, other, 2000);
	set_samples(&b, pick, 2000);
	set_samples(&b, other, 1000);
	tf_verb_pack(left, &a, NULL, NULL, 0);
	tf_verb_pack(right, &b, NULL, NULL, 0);
	assert_int_equal(tf_verb_run("diff", "--json", left, right, NULL), 0);
	assert_changed("justified", "justified", "justified");
	assert_int_equal(tf_verb_run("diff", "--exit-code", left, right, NULL), 1);
	assert_non_null(strstr(tf_verb_out, "3 of 4 picks equal (75.0 %); changed: 1 justified"));
	assert_int_equal(tf_verb_run("diff", left, right, NULL), 0);
	tf_verb_assert_golden("diff_changed.txt");
	set_samples(&b, other, 1990);
	tf_verb_pack(right, &b, NULL, NULL, 0);
	assert_int_equal(tf_verb_run("diff", "--json", left, right, NULL), 0);
	assert_changed("one-sided", "justified", "tie");
	set_samples(&a, other, 1010);
	set_samples(&b, other, 2500);
	tf_verb_pack(left, &a, NULL, NULL, 0);
	tf_verb_pack(right, &b, NULL, NULL, 0);
	assert_int_equal(tf_verb_run("diff", "--json", left, right, NULL), 0);
	assert_changed("tie", "tie", "beaten");
	tf_program_fini(&a);
	tf_program_fini(&b);
}

static void test_identity_and_groups(void **state)
{
	struct tf_program program = {0};
	const char *path = tf_verb_path("other.tfp");
	json_t *root;

	(void)state;
	tf_verb_read_program(TF_SMALL, &program);
	assert_int_equal(tf_program_set_identity(&program, "a.first", "1", NULL), TF_OK);
	assert_int_equal(tf_program_set_identity(&program, "ladder", "own", NULL), TF_OK);
	snprintf(program.groups[1].name, sizeof(program.groups[1].name), "renamed");
	tf_verb_pack(path, &program, NULL, NULL, 0);
	assert_int_equal(tf_verb_run("diff", TF_SMALL, path, NULL), 0);
	tf_verb_assert_golden("diff_other.txt");
	assert_int_equal(tf_verb_run("diff", "--exit-code", TF_SMALL, path, NULL), 1);
	assert_int_equal(tf_verb_run("diff", "--json", path, TF_SMALL, NULL), 0);
	root = tf_verb_json();
	assert_int_equal(json_array_size(json_object_get(root, "identity")), 2);
	assert_true(
		json_is_null(json_object_get(json_array_get(json_object_get(root, "identity"), 0), "b")));
	assert_int_equal(json_array_size(json_object_get(root, "only_in_a")), 1);
	assert_int_equal(json_array_size(json_object_get(root, "only_in_b")), 1);
	assert_int_equal(json_integer_value(json_object_get(root, "groups_in_both")), 3);
	json_decref(root);
	tf_program_fini(&program);
}

/* Verdicts that the fixture does not reach: other ladders, struck and unsampled candidates. */
static void test_verdicts(void **state)
{
	struct tf_program a = {0}, b = {0};
	struct tf_package_diff diff = {0};
	uint32_t pick, other;

	(void)state;
	tf_verb_read_program(TF_SMALL, &a);
	tf_verb_read_program(TF_SMALL, &b);
	pick = move_pick(&b);
	other = b.selectors[0];
	a.candidates[other].state = TF_CANDIDATE_STRUCK;
	b.candidates[pick].candidate.threads = 64;
	assert_int_equal(tf_package_diff(&a, &b, &diff, NULL), TF_OK);
	assert_int_equal(diff.pick_count, 1);
	assert_int_equal(diff.picks[0].side[0].verdict, TF_DIFF_STRUCK);
	assert_int_equal(diff.picks[0].side[1].verdict, TF_DIFF_ABSENT);
	assert_int_equal(diff.picks[0].outcome, TF_DIFF_OUTCOME_JUSTIFIED);
	tf_package_diff_fini(&diff);
	a.candidates[other].state = TF_CANDIDATE_COMPETED;
	a.sample_count = 0;
	assert_int_equal(tf_package_diff(&a, &b, &diff, NULL), TF_OK);
	assert_int_equal(diff.picks[0].side[0].verdict, TF_DIFF_UNSAMPLED);
	assert_int_equal(diff.picks[0].side[0].stage, -1);
	assert_int_equal(diff.picks[0].outcome, TF_DIFF_OUTCOME_ONE_SIDED);
	tf_package_diff_fini(&diff);
	tf_program_fini(&a);
	tf_program_fini(&b);
}

static void test_refusals(void **state)
{
	(void)state;
	tf_verb_assert_refused(tf_verb_run("diff", TF_SMALL, NULL), 2, "tfprep diff --help");
	tf_verb_assert_refused(
		tf_verb_run("diff", TF_SMALL, tf_verb_path("none.tfp"), NULL), 3, "none.tfp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_itself),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_identity_and_groups),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, tf_verb_set_up, tf_verb_tear_down);
}
