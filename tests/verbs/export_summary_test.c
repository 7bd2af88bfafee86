/* SPDX-License-Identifier: Apache-2.0 */
/* What is summed up over the groups, on a program made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "prepare/export_summary.h"

#define GROUPS_MAX 3

/* Of a group: candidate 2 g is picked and takes picked_ns[g], 2 g + 1 is NCCL's and takes 1000. */
static json_t *summary_of(const int64_t *picked_ns, uint32_t groups)
{
	static struct tf_group_candidate candidates[2 * GROUPS_MAX];
	static struct tf_group group_rows[GROUPS_MAX];
	static uint32_t selectors[GROUPS_MAX];
	static struct tf_identity identity[] = {
		{.key = TF_NCCL_SAMPLES_KEY, .value = (char *)(uintptr_t) "2.28.9"},
		{.key = "workload", .value = (char *)(uintptr_t) "w"},
	};
	struct tf_export_result result = {.program = {.world = 2,
										  .identity = identity,
										  .identity_count = 2,
										  .groups = group_rows,
										  .group_count = groups,
										  .candidates = candidates,
										  .candidate_count = 2 * groups,
										  .selectors = selectors}};
	struct tf_error err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	json_t *root;

	for (uint32_t i = 0; i < 2 * groups; i++)
		candidates[i] = (struct tf_group_candidate){.group = i / 2,
			.rung = i % 2,
			.candidate = {.algorithm = i % 2 ? TF_ALGORITHM_LIBRARY : TF_ALGORITHM_ONE_SHOT,
				.writer = i % 2 ? TF_WRITER_NCCL : TF_WRITER_LL},
			.state = i % 2 ? TF_CANDIDATE_COMPETED : TF_CANDIDATE_PICKED,
			.stage_median_ns = {i % 2 ? 1000 : picked_ns[i / 2], 0}};
	for (uint32_t g = 0; g < groups; g++) {
		group_rows[g] = (struct tf_group){.name = "g", .capacity = g + 1};
		selectors[g] = 2 * g;
	}
	assert_non_null(to);
	assert_int_equal(tf_export_summary_print(to, &result, 1, &err), TF_OK);
	fclose(to);
	root = json_loadb(text, size, 0, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static double ratio_of(const int64_t *picked_ns, uint32_t groups)
{
	json_t *root = summary_of(picked_ns, groups);
	double ratio = json_real_value(json_object_get(json_object_get(root, "nccl"), "ratio"));

	json_decref(root);
	return ratio;
}

static void the_ratio_is_the_median_of_the_groups(void **state)
{
	static const int64_t three[] = {900, 300, 400}, two[] = {900, 300}, one[] = {250};
	double odd = ratio_of(three, 3), even = ratio_of(two, 2), single = ratio_of(one, 1);

	(void)state;
	assert_true(odd > 0.3999 && odd < 0.4001);
	assert_true(even > 0.5999 && even < 0.6001);
	assert_true(single > 0.2499 && single < 0.2501);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ratio_is_the_median_of_the_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
