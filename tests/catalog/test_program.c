/* SPDX-License-Identifier: Apache-2.0 */
/* Identity, names, counts and texts of a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "catalog/program.h"
#include "catalog/program_names.h"

static void identity_stays_ordered(void **state)
{
	static const char *const keys[] = {"m", "a", "z", "b", "m", "y"};
	struct tf_program program = {0};
	struct tf_error err = {0};
	char longest[TF_IDENTITY_KEY_BYTES + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(
			tf_program_set_identity(&program, keys[i], i == 4 ? "new" : "old", &err), TF_OK);
	assert_int_equal(program.identity_count, 5);
	for (uint32_t i = 1; i < program.identity_count; i++)
		assert_true(strcmp(program.identity[i - 1].key, program.identity[i].key) < 0);
	assert_string_equal(tf_program_identity(&program, "m"), "new");
	assert_string_equal(tf_program_identity(&program, "a"), "old");
	assert_null(tf_program_identity(&program, "c"));
	assert_null(tf_program_identity(&program, "zz"));
	memset(longest, 'k', sizeof(longest));
	longest[TF_IDENTITY_KEY_BYTES] = '\0';
	assert_int_equal(tf_program_set_identity(&program, longest, "", &err), TF_E_LIMIT);
	longest[TF_IDENTITY_KEY_BYTES - 1] = '\0';
	assert_int_equal(tf_program_set_identity(&program, longest, "", &err), TF_OK);
	tf_program_fini(&program);
	assert_null(tf_program_identity(&program, "a"));
	tf_program_fini(NULL);
}

static void identity_survives_short_memory(void **state)
{
	struct tf_program program = {0};

	(void)state;
	assert_int_equal(tf_program_set_identity(&program, "b", "1", NULL), TF_OK);
	for (uint64_t n = 1; n <= 2; n++) {
		tf_alloc_fail_at(n);
		assert_int_equal(tf_program_set_identity(&program, "a", "2", NULL), TF_E_NO_MEMORY);
		tf_alloc_fail_at(0);
		assert_int_equal(program.identity_count, 1);
		assert_string_equal(tf_program_identity(&program, "b"), "1");
	}
	tf_program_fini(&program);
}

static void candidates_have_names(void **state)
{
	struct tf_candidate a = {TF_ALGORITHM_ONE_SHOT, TF_WRITER_LL, 256, 4, 0};
	struct tf_candidate b = {TF_ALGORITHM_TWO_SHOT, TF_WRITER_QUEUED, 512, 16, 65536};
	struct tf_candidate longest = {
		TF_ALGORITHM_TWO_SHOT, TF_WRITER_COPY_ENGINE, UINT32_MAX, UINT32_MAX, UINT64_MAX};
	char name[TF_CANDIDATE_NAME_BYTES];

	(void)state;
	assert_string_equal(tf_candidate_name(&a, name), "one_shot/ll/t256/c4");
	assert_string_equal(tf_candidate_name(&b, name), "two_shot/queued/t512/c16/k65536");
	assert_string_equal(tf_candidate_name(&longest, name),
		"two_shot/copy_engine/t4294967295/c4294967295/k18446744073709551615");
	assert_true(tf_candidate_equal(&a, &a));
	assert_false(tf_candidate_equal(&a, &b));
	b = a;
	b.chunk_bytes = 1;
	assert_false(tf_candidate_equal(&a, &b));
}

static void groups_count_their_bytes(void **state)
{
	struct tf_group group = {"g", TF_OP_ALL_REDUCE, TF_DTYPE_F32, 50, 8, 1, 1};

	(void)state;
	assert_int_equal(tf_group_input_count(&group), 400);
	assert_int_equal(tf_group_output_count(&group, 3), 400);
	assert_int_equal(tf_group_input_bytes(&group), 1600);
	group.op = TF_OP_ALL_GATHER;
	assert_int_equal(tf_group_output_count(&group, 3), 1200);
	group.op = TF_OP_REDUCE_SCATTER;
	group.dtype = TF_DTYPE_F16;
	assert_int_equal(tf_group_output_count(&group, 3), 134);
	assert_int_equal(tf_group_output_bytes(&group, 3), 268);
	assert_int_equal(tf_shard_count(0, 3), 0);
	assert_int_equal(tf_shard_count(1, 8), 1);
	assert_int_equal(tf_shard_count(16, 8), 2);
	assert_int_equal(tf_shard_count(UINT64_MAX, 2), (UINT64_C(1) << 63));
}

static void kinds_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(
			tf_candidate_state_parse(tf_candidate_state_name((enum tf_candidate_state)i)), i);
	for (int i = 0; i < 5; i++)
		assert_int_equal(tf_buffer_role_parse(tf_buffer_role_name((enum tf_buffer_role)i)), i);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tf_module_kind_parse(tf_module_kind_name((enum tf_module_kind)i)), i);
		assert_int_equal(tf_graph_kind_parse(tf_graph_kind_name((enum tf_graph_kind)i)), i);
	}
	assert_null(tf_candidate_state_name((enum tf_candidate_state)4));
	assert_null(tf_buffer_role_name((enum tf_buffer_role)5));
	assert_null(tf_node_kind_name((enum tf_node_kind)5));
	assert_null(tf_word_kind_name((enum tf_word_kind)2));
	assert_string_equal(tf_node_kind_name(TF_NODE_COMM), "comm");
	assert_int_equal(tf_buffer_role_parse("Input"), -1);
	assert_int_equal(tf_buffer_role_parse(""), -1);
}

/* Names are matched whole, wherever they stand. */
static void other_numerics_are_allowed_by_name(void **state)
{
	struct tf_group groups[] = {{.name = "mlp"}, {.name = "mlp2"}, {.name = "attention"}};
	struct tf_group_candidate candidates[] = {
		{.candidate = {TF_ALGORITHM_LIBRARY, TF_WRITER_NCCL, 0, 0, 0}},
		{.group = 1, .candidate = {TF_ALGORITHM_ONE_SHOT, TF_WRITER_LL, 32, 1, 0}}};
	uint32_t selectors[] = {0, 1, 0};
	struct tf_program program = {.groups = groups,
		.group_count = 3,
		.candidates = candidates,
		.candidate_count = 2,
		.selectors = selectors};

	(void)state;
	assert_true(tf_program_tries_library(&program));
	for (uint32_t g = 0; g < 3; g++)
		assert_false(tf_program_allows_any(&program, g));
	assert_int_equal(
		tf_program_set_identity(&program, TF_NUMERICS_ANY_KEY, "mlp2 attention", NULL), TF_OK);
	assert_false(tf_program_allows_any(&program, 0));
	assert_true(tf_program_allows_any(&program, 1));
	assert_true(tf_program_allows_any(&program, 2));
	assert_false(tf_program_rounds(&program, 0));
	assert_false(tf_program_rounds(&program, 1)); /* its pick is ours */
	assert_true(tf_program_rounds(&program, 2));
	tf_free(program.identity[0].value);
	tf_free(program.identity);
}

static void texts_are_judged(void **state)
{
	static const char *const names[] = {"a", "A.b_c-9", "..", NULL};
	static const char *const not_names[] = {"", "a+b", "a b", "a/b", "\xc3\xa9", "a\n", NULL};
	static const char *const paths[] = {"a", "a/b.c", "a/..b/c", "...", "c++/x+y", NULL};
	static const char *const not_paths[] = {
		"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a b", "a\\b", NULL};
	static const char *const plain[] = {
		"", "a \xc2\xb5s", "\xf0\x9f\x98\x80", "\xef\xbf\xbf", NULL};
	static const char *const not_plain[] = {"\t", "a\x1b[31m", "\x7f", "\xc0\x80", "\xed\xa0\x80",
		"\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xff", "\xe0\x80\xaf", "\xf5\x80\x80\x80", NULL};

	(void)state;
	for (int i = 0; names[i]; i++)
		assert_true(tf_text_is_name(names[i], 64));
	for (int i = 0; not_names[i]; i++)
		assert_false(tf_text_is_name(not_names[i], 64));
	for (int i = 0; paths[i]; i++)
		assert_true(tf_text_is_path(paths[i], 64));
	for (int i = 0; not_paths[i]; i++)
		assert_false(tf_text_is_path(not_paths[i], 64));
	for (int i = 0; plain[i]; i++)
		assert_true(tf_text_is_plain(plain[i], 64));
	for (int i = 0; not_plain[i]; i++)
		assert_false(tf_text_is_plain(not_plain[i], 64));
	assert_false(tf_text_is_name("abc", 3));
	assert_true(tf_text_is_name("abc", 4));
	assert_false(tf_text_is_path("abc", 3));
	assert_false(tf_text_is_plain("abc", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity_stays_ordered),
		cmocka_unit_test(identity_survives_short_memory),
		cmocka_unit_test(candidates_have_names),
		cmocka_unit_test(groups_count_their_bytes),
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test(other_numerics_are_allowed_by_name),
		cmocka_unit_test(texts_are_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
