/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads: what the built-in ones hold, and the exact message of every kind of bad one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "ladders/yaml_tree.h"
#include "prepare/workload/workload.h"

#define HEAD        "name: mine\nsummary: for tests\ncapacities: [1, 2, 8]\ngroups:\n"
#define GROUP(more) "  - {name: a, op: all_reduce, dtype: bf16, row_elements: 64" more "}\n"
#define KEYS                                                                                       \
	"name, op, dtype, row_elements, times, buffer_pairs, numerics, capacities, input, output"
#define BUILTINS "decode-window, startup-81, dense-8b, dense-70b, mixture"
#define NAMES    BUILTINS ", or a file ('./x.yaml')"

struct bad {
	const char *text;
	const char *message;
};

static enum tf_status parse(const char *text, struct tf_workload *out, struct tf_error *err)
{
	return tf_workload_parse(text, strlen(text), "w.yaml", out, err);
}

static void refuse(const char *text, const char *message)
{
	struct tf_workload workload;
	struct tf_workload untouched;
	struct tf_error err = {0};

	memset(&workload, 0x5a, sizeof(workload));
	untouched = workload;
	assert_int_equal(parse(text, &workload, &err), TF_E_INVALID);
	assert_string_equal(err.text, message);
	assert_memory_equal(&workload, &untouched, sizeof(workload));
	assert_int_equal(parse(text, &workload, NULL), TF_E_INVALID);
}

#define REFUSE_ALL(cases)                                                                          \
	for (size_t i = 0; i < sizeof(cases) / sizeof((cases)[0]); i++)                                \
	refuse(cases[i].text, cases[i].message)

static struct tf_workload load(const char *name)
{
	struct tf_workload workload = {0};
	struct tf_error err = {0};

	if (tf_workload_load(name, &workload, &err) != TF_OK)
		fail_msg("%s", err.text);
	return workload;
}

static void reads_and_expands(void **state)
{
	static const char text[] = HEAD GROUP(
		", times: 7") "  - {name: b.c_D-9, op: reduce_scatter, dtype: f32, row_elements: 3,"
					  " times: 9, buffer_pairs: 9, capacities: [2]}\n";
	static const struct {
		const char *name;
		uint32_t capacity;
	} want[] = {{"a", 1}, {"a", 2}, {"b.c_D-9", 2}, {"a", 8}};
	struct tf_workload workload = {0};

	(void)state;
	assert_int_equal(parse(text, &workload, NULL), TF_OK);
	assert_string_equal(workload.name, "mine");
	assert_string_equal(workload.summary, "for tests");
	assert_int_equal(workload.capacity_count, 3);
	assert_int_equal(workload.capacities[2], 8);
	assert_int_equal(workload.group_count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(workload.groups[i].name, want[i].name);
		assert_int_equal(workload.groups[i].capacity, want[i].capacity);
	}
	assert_int_equal(workload.groups[0].op, TF_OP_ALL_REDUCE);
	assert_int_equal(workload.groups[0].dtype, TF_DTYPE_BF16);
	assert_int_equal(workload.groups[0].row_elements, 64);
	assert_int_equal(workload.groups[0].times, 7);
	assert_int_equal(workload.groups[0].buffer_pairs, 4);
	assert_int_equal(workload.groups[2].op, TF_OP_REDUCE_SCATTER);
	assert_int_equal(workload.groups[2].dtype, TF_DTYPE_F32);
	assert_int_equal(workload.groups[2].buffer_pairs, 9);
	tf_workload_fini(&workload);
	assert_null(workload.groups);
	tf_workload_fini(NULL);
}

static void pairs_default_to_at_most_four(void **state)
{
	struct tf_workload workload = {0};

	(void)state;
	assert_int_equal(parse(HEAD GROUP(", times: 3"), &workload, NULL), TF_OK);
	assert_int_equal(workload.groups[0].buffer_pairs, 3);
	tf_workload_fini(&workload);
	assert_int_equal(parse(HEAD GROUP(""), &workload, NULL), TF_OK);
	assert_int_equal(workload.groups[0].times, 1);
	assert_int_equal(workload.groups[0].buffer_pairs, 1);
	tf_workload_fini(&workload);
}

/* Each word of base/dtype.h is read as itself. */
static void knows_every_word(void **state)
{
	(void)state;
	for (int op = 0; op < TF_OP_COUNT; op++) {
		for (int dtype = 0; dtype < TF_DTYPE_COUNT; dtype++) {
			struct tf_workload workload = {0};
			char text[256];

			snprintf(text, sizeof(text), HEAD "  - {name: a, op: %s, dtype: %s, row_elements: 1}\n",
				tf_op_name((enum tf_op)op), tf_dtype_name((enum tf_dtype)dtype));
			assert_int_equal(parse(text, &workload, NULL), TF_OK);
			assert_int_equal(workload.groups[0].op, op);
			assert_int_equal(workload.groups[0].dtype, dtype);
			tf_workload_fini(&workload);
		}
	}
}

struct expected {
	const char *name;
	uint32_t capacities, groups;
	uint32_t times;
	uint64_t row_elements; /* of the last group */
	uint32_t pairs;
};

static void builtins(void **state)
{
	static const struct expected all[] = {
		{"decode-window", 4, 4, 86, 4096, 86},
		{"startup-81", 9, 81, 1, 8192, 1},
		{"dense-8b", 7, 14, 32, 4096, 4},
		{"dense-70b", 7, 14, 80, 8192, 4},
		{"mixture", 7, 14, 61, 1792, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct tf_workload workload = load(all[i].name);
		const struct tf_group *last = &workload.groups[workload.group_count - 1];

		assert_string_equal(workload.name, all[i].name);
		assert_true(strlen(workload.summary) > 20);
		assert_int_equal(workload.capacity_count, all[i].capacities);
		assert_int_equal(workload.group_count, all[i].groups);
		assert_int_equal(last->row_elements, all[i].row_elements);
		assert_int_equal(last->times, all[i].times);
		assert_int_equal(last->buffer_pairs, all[i].pairs);
		for (uint32_t g = 0; g < workload.group_count; g++)
			assert_int_equal(workload.groups[g].dtype, TF_DTYPE_BF16);
		tf_workload_fini(&workload);
	}
}

static void decode_window_is_what_it_says(void **state)
{
	static const uint32_t capacities[] = {1, 2, 4, 8};
	struct tf_workload workload = load("decode-window");

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(workload.capacities[i], capacities[i]);
		assert_string_equal(workload.groups[i].name, "exchange");
		assert_int_equal(workload.groups[i].op, TF_OP_ALL_GATHER);
		assert_int_equal(tf_group_input_bytes(&workload.groups[i]), 8192 * capacities[i]);
	}
	tf_workload_fini(&workload);
}

/* 81 different shapes: nine of each operation and hidden size. */
static void startup_81_has_81_shapes(void **state)
{
	struct tf_workload workload = load("startup-81");

	(void)state;
	for (uint32_t i = 0; i < workload.group_count; i++) {
		const struct tf_group *a = &workload.groups[i];

		for (uint32_t k = 0; k < i; k++) {
			const struct tf_group *b = &workload.groups[k];

			assert_false(
				a->op == b->op && a->row_elements == b->row_elements && a->capacity == b->capacity);
			assert_false(a->capacity == b->capacity && !strcmp(a->name, b->name));
		}
		assert_true(i == 0 || a->capacity >= workload.groups[i - 1].capacity);
	}
	tf_workload_fini(&workload);
}

static void marks_other_numerics(void **state)
{
	static const char text[] =
		HEAD "  - {name: a, op: all_reduce, dtype: bf16, row_elements: 64, numerics: any}\n"
			 "  - {name: b, op: all_reduce, dtype: bf16, row_elements: 64, numerics: rank_order}\n"
			 "  - {name: c, op: reduce_scatter, dtype: bf16, row_elements: 64, numerics: any}\n";
	struct tf_workload workload = {0};

	(void)state;
	assert_int_equal(parse(text, &workload, NULL), TF_OK);
	assert_string_equal(workload.any_numerics, "a c");
	tf_workload_fini(&workload);
	assert_int_equal(parse(HEAD GROUP(""), &workload, NULL), TF_OK);
	assert_null(workload.any_numerics);
	tf_workload_fini(&workload);
}

static void refuses_keys_words_and_types(void **state)
{
	static const struct bad cases[] = {
		{HEAD GROUP(", row_elments: 4"),
			"w.yaml:5: groups[0].row_elments: unknown key, did you mean "
			"'row_elements', allowed: " KEYS},
		{"nmae: x\n",
			"w.yaml:1: nmae: unknown key, did you mean 'name', allowed: "
			"name, summary, capacities, groups, buffers, modules, kernels, step, repeat"},
		{HEAD "  - {name: a, dtype: bf16, row_elements: 4}\n",
			"w.yaml:5: groups[0]: required key 'op' is missing"},
		{"name: a\nsummary: s\ncapacities: [1]\n", "w.yaml:1: required key 'groups' is missing"},
		{HEAD "  - {name: a, op: allreduce, dtype: bf16, row_elements: 4}\n",
			"w.yaml:5: groups[0].op: found 'allreduce', allowed: "
			"all_reduce, all_gather, reduce_scatter"},
		{HEAD "  - {name: a, op: all_reduce, dtype: fp8, row_elements: 4}\n",
			"w.yaml:5: groups[0].dtype: found 'fp8', allowed: bf16, f16, f32"},
		{HEAD GROUP(", numerics: exact"),
			"w.yaml:5: groups[0].numerics: found 'exact', allowed: rank_order, any"},
		{HEAD "  - {name: a, op: all_gather, dtype: bf16, row_elements: 4, numerics: any}\n",
			"w.yaml:5: groups[0].numerics: all_gather sums nothing: it copies"},
		{HEAD GROUP(", times: [1]"),
			"w.yaml:5: groups[0].times: found a list, allowed: a number from 1 to 65536"},
		{HEAD "  a: b\n",
			"w.yaml:4: groups: found a mapping, allowed: a list of 1 to 4096 collectives"},
		{HEAD, "w.yaml:4: groups: found '', allowed: a list of 1 to 4096 collectives"},
		{"name: a\nsummary: s\ncapacities: [1]\ngroups: []\n",
			"w.yaml:4: groups: found 0 entries, allowed: 1 to 4096"},
		{HEAD "  - {name: a b, op: all_reduce, dtype: bf16, row_elements: 4}\n",
			"w.yaml:5: groups[0].name: found 'a b', allowed: 1 to 63 of A-Z a-z 0-9 . _ -"},
		{"name: a/b\nsummary: s\ncapacities: [1]\ngroups:\n" GROUP(""),
			"w.yaml:1: name: found 'a/b', allowed: 1 to 63 of A-Z a-z 0-9 . _ -"},
		{HEAD GROUP("") GROUP(""),
			"w.yaml:6: groups[1].name: 'a' is the name of groups[0] already"},
		{"", "w.yaml: the file is empty"},
		{"a: *b\n", "w.yaml:1: anchors, aliases and tags are not allowed"},
	};

	(void)state;
	REFUSE_ALL(cases);
}

static void refuses_numbers(void **state)
{
	static const struct bad cases[] = {
		{HEAD GROUP(", times: 0"),
			"w.yaml:5: groups[0].times: found '0', allowed: a number from 1 to 65536"},
		{HEAD GROUP(", times: 65537"),
			"w.yaml:5: groups[0].times: found '65537', allowed: a number from 1 to 65536"},
		{HEAD GROUP(", times: 2, buffer_pairs: 3"),
			"w.yaml:5: groups[0].buffer_pairs: found '3', allowed: a number from 1 to times"},
		{HEAD GROUP(", buffer_pairs: 0"),
			"w.yaml:5: groups[0].buffer_pairs: found '0', allowed: a number from 1 to times"},
		{HEAD "  - {name: a, op: all_reduce, dtype: bf16, row_elements: 4k}\n",
			"w.yaml:5: groups[0].row_elements: found '4k', allowed: a number from 1 to 16777216"},
		{HEAD "  - {name: a, op: all_reduce, dtype: bf16, row_elements: -4}\n",
			"w.yaml:5: groups[0].row_elements: found '-4', allowed: a number from 1 to 16777216"},
		{HEAD "  - {name: a, op: all_reduce, dtype: f32, row_elements: 16777216}\n",
			"w.yaml:5: groups[0].row_elements: capacity 8 makes 536870912 bytes a rank, "
			"allowed: at most 67108864"},
	};

	(void)state;
	REFUSE_ALL(cases);
}

#define WITH(capacities) "name: a\nsummary: s\ncapacities: " capacities "\ngroups:\n" GROUP("")

static void refuses_capacities(void **state)
{
	static const struct bad cases[] = {
		{WITH("[1, 4, 2]"), "w.yaml:3: capacities[2]: 2 follows 4, capacities must rise"},
		{WITH("[1, 2, 2]"), "w.yaml:3: capacities[2]: 2 follows 2, capacities must rise"},
		{WITH("[0, 2]"),
			"w.yaml:3: capacities[0]: found '0', allowed: a number of rows from 1 to 65536"},
		{WITH("[1, 65537]"),
			"w.yaml:3: capacities[1]: found '65537', allowed: a number of rows from 1 to 65536"},
		{WITH("[1, x]"),
			"w.yaml:3: capacities[1]: found 'x', allowed: a number of rows from 1 to 65536"},
		{WITH("[]"), "w.yaml:3: capacities: found 0 entries, allowed: 1 to 32"},
		{WITH("1"),
			"w.yaml:3: capacities: found '1', allowed: a list of 1 to 32 rising numbers of rows"},
		{WITH(
			 "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,"
			 "32,33]"),
			"w.yaml:3: capacities: found 33 entries, allowed: 1 to 32"},
		{HEAD GROUP(", capacities: [1, 4]"),
			"w.yaml:5: groups[0].capacities: 4 is not among the workload's capacities"},
		{HEAD GROUP(", capacities: [2, 1]"),
			"w.yaml:5: groups[0].capacities[1]: 1 follows 2, capacities must rise"},
		{HEAD GROUP(", capacities: [1, 8]"), "w.yaml:3: capacities[1]: no group has capacity 2"},
	};

	(void)state;
	REFUSE_ALL(cases);
}

static void refuses_too_many_groups(void **state)
{
	struct tf_bytes text = {0};

	(void)state;
	assert_int_equal(tf_bytes_printf(&text, NULL, "%s", HEAD), TF_OK);
	for (unsigned i = 0; i < 1366; i++)
		assert_int_equal(tf_bytes_printf(&text, NULL,
							 "  - {name: g%u, op: all_reduce, dtype: bf16, row_elements: 1}\n", i),
			TF_OK);
	refuse((const char *)text.data,
		"w.yaml:4: groups: 4098 groups over all capacities, allowed: at most 4096");
	tf_bytes_fini(&text);
}

static void finds_builtins_and_files(void **state)
{
	struct tf_workload workload = {0};
	struct tf_error err = {0};
	char path[] = "/tmp/tf-workload-XXXXXX.yaml";
	int fd = mkstemps(path, 5);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, HEAD GROUP(""), strlen(HEAD GROUP(""))), strlen(HEAD GROUP("")));
	close(fd);
	assert_int_equal(tf_workload_load(path, &workload, &err), TF_OK);
	assert_int_equal(workload.group_count, 3);
	tf_workload_fini(&workload);
	unlink(path);

	assert_int_equal(tf_workload_load("decode-windw", &workload, &err), TF_E_NOT_FOUND);
	assert_string_equal(err.text,
		"no built-in workload 'decode-windw', did you mean "
		"'decode-window', allowed: " NAMES);
	assert_int_equal(tf_workload_load("", &workload, &err), TF_E_NOT_FOUND);
	assert_string_equal(err.text, "no built-in workload '', allowed: " NAMES);
	assert_int_equal(tf_workload_load("./none.yaml", &workload, &err), TF_E_NOT_FOUND);
	assert_string_equal(err.text, "cannot read './none.yaml': there is no such file");
	assert_int_equal(tf_workload_load("/", &workload, &err), TF_E_INVALID);
	assert_string_equal(err.text, "cannot read '/': it is a directory");
}

static void restricts_to_capacities(void **state)
{
	struct tf_workload workload = load("startup-81");

	(void)state;
	assert_int_equal(tf_workload_restrict(&workload, "32,1,8", NULL), TF_OK);
	assert_int_equal(workload.capacity_count, 3);
	assert_int_equal(workload.capacities[0], 1);
	assert_int_equal(workload.capacities[1], 8);
	assert_int_equal(workload.capacities[2], 32);
	assert_int_equal(workload.group_count, 27);
	for (uint32_t i = 0; i < 27; i++)
		assert_int_equal(workload.groups[i].capacity, workload.capacities[i / 9]);
	assert_string_equal(workload.groups[26].name, "reduce-scatter-8192");
	assert_int_equal(tf_workload_restrict(&workload, "8", NULL), TF_OK);
	assert_int_equal(workload.group_count, 9);
	tf_workload_fini(&workload);
}

static void refuses_restrictions(void **state)
{
	static const struct bad cases[] = {
		{"3", "workload 'dense-8b' has no capacity '3', allowed: 1, 2, 4, 8, 16, 32, 64"},
		{"1,128", "workload 'dense-8b' has no capacity '128', allowed: 1, 2, 4, 8, 16, 32, 64"},
		{"", "workload 'dense-8b' has no capacity '', allowed: 1, 2, 4, 8, 16, 32, 64"},
		{"1,,2", "workload 'dense-8b' has no capacity '', allowed: 1, 2, 4, 8, 16, 32, 64"},
		{"1,", "workload 'dense-8b' has no capacity '', allowed: 1, 2, 4, 8, 16, 32, 64"},
		{"1, 2", "workload 'dense-8b' has no capacity ' 2', allowed: 1, 2, 4, 8, 16, 32, 64"},
		{"01", "workload 'dense-8b' has no capacity '01', allowed: 1, 2, 4, 8, 16, 32, 64"},
		{"4,4", "capacity '4' is given twice"},
	};
	struct tf_workload workload = load("dense-8b");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tf_error err = {0};

		assert_int_equal(tf_workload_restrict(&workload, cases[i].text, &err), TF_E_USAGE);
		assert_string_equal(err.text, cases[i].message);
		assert_int_equal(workload.capacity_count, 7);
		assert_int_equal(workload.group_count, 14);
	}
	tf_workload_fini(&workload);
}

static void survives_every_failed_allocation(void **state)
{
	struct tf_workload workload = {0};
	struct tf_error err = {0};
	enum tf_status status = TF_E_NO_MEMORY;
	unsigned nth = 1;

	(void)state;
	for (; status != TF_OK && nth < 1000; nth++) {
		tf_alloc_fail_at(nth);
		status = parse(HEAD GROUP(", times: 4, capacities: [1, 2, 8]"), &workload, &err);
		tf_alloc_fail_at(0);
		if (status != TF_OK) {
			assert_int_equal(status, TF_E_NO_MEMORY);
			assert_null(workload.groups);
			assert_non_null(strstr(err.text, "no memory"));
		}
	}
	assert_int_equal(status, TF_OK);
	assert_true(nth > 20);
	tf_workload_fini(&workload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_expands),
		cmocka_unit_test(pairs_default_to_at_most_four),
		cmocka_unit_test(knows_every_word),
		cmocka_unit_test(builtins),
		cmocka_unit_test(decode_window_is_what_it_says),
		cmocka_unit_test(startup_81_has_81_shapes),
		cmocka_unit_test(marks_other_numerics),
		cmocka_unit_test(refuses_keys_words_and_types),
		cmocka_unit_test(refuses_numbers),
		cmocka_unit_test(refuses_capacities),
		cmocka_unit_test(refuses_too_many_groups),
		cmocka_unit_test(finds_builtins_and_files),
		cmocka_unit_test(restricts_to_capacities),
		cmocka_unit_test(refuses_restrictions),
		cmocka_unit_test(survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
