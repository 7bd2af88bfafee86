/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep bench` on GPUs, with a driver (tests/device), an NVML (tests/topology) and an NCCL
 * (tests/nccl) of our own: what is printed, what is said of what is missing, every call of NCCL's
 * that fails, and those that never return.
 */
#include "tests/verbs/verb_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prepare/bench/bench.h"

/* A small run: one operation, one size. */
#define SMALL "bench", "--device=cuda", "--sizes=64", "--ops=all_reduce"

static int set_up(void **state)
{
	static const char *const names[] = {"FAKE_NCCL_VERSION", "FAKE_NCCL_FAIL", "FAKE_NCCL_HANG",
		"FAKE_NCCL_LATE", "FAKE_NCCL_NO_WINDOW", "FAKE_NCCL_BITS", "FAKE_CUDA_FAIL",
		"FAKE_CUDA_DEVICES"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	return 0;
}

static void assert_side(const json_t *entry, const char *name, json_int_t outputs)
{
	const json_t *side = json_object_get(entry, name), *round, *launch;
	size_t i, k;

	assert_int_equal(json_integer_value(json_object_get(side, "outputs_checked")), outputs);
	assert_int_equal(json_integer_value(json_object_get(side, "outputs_equal")), outputs);
	assert_int_equal(json_array_size(json_object_get(side, "chain_ns")), TF_BENCH_ROUNDS);
	json_array_foreach(json_object_get(side, "chain_ns"), i, round)
	{
		assert_int_equal(json_array_size(round), TF_BENCH_LAUNCHES);
		json_array_foreach(round, k, launch) assert_true(json_integer_value(launch) > 0);
	}
}

static void assert_ratio(const json_t *entry, const char *name)
{
	const json_t *ratio = json_object_get(entry, name);
	double least = json_real_value(json_object_get(ratio, "least"));
	double median = json_real_value(json_object_get(ratio, "median"));

	assert_true(least > 0 && least <= median);
	assert_true(median <= json_real_value(json_object_get(ratio, "most")));
}

/* Every number becomes 0, the pick a word; launches are counted above. */
static json_t *mask(const json_t *value)
{
	const char *key;
	json_t *out, *part;
	size_t i;

	if (json_is_number(value))
		return json_integer(0);
	if (json_is_array(value)) {
		out = json_array();
		json_array_foreach(value, i, part) if (i < 1)
			assert_int_equal(json_array_append_new(out, mask(part)), 0);
		return out;
	}
	if (!json_is_object(value))
		return json_deep_copy(value);
	if (json_object_get(value, "algorithm"))
		return json_string("PICK");
	out = json_object();
	json_object_foreach((json_t *)(uintptr_t)value, key, part)
		assert_int_equal(json_object_set_new(out, key, mask(part)), 0);
	return out;
}

static void test_json(void **state)
{
	json_t *root, *cases, *masked;

	(void)state;
	assert_int_equal(tf_verb_run("bench", "--device=cuda", "--sizes=64,96", "--json", NULL), 0);
	root = tf_verb_json();
	cases = json_object_get(root, "cases");
	assert_int_equal(json_array_size(cases), 6);
	for (size_t i = 0; i < 6; i++) {
		const json_t *entry = json_array_get(cases, i);

		assert_int_equal(json_integer_value(json_object_get(entry, "calls")), TF_BENCH_CALLS_MAX);
		assert_side(entry, "ours", (json_int_t)2 * TF_BENCH_CALLS_MAX);
		assert_side(entry, "nccl", (json_int_t)2 * TF_BENCH_CALLS_MAX);
		assert_side(entry, "nccl_symmetric", (json_int_t)2 * TF_BENCH_CALLS_MAX);
		assert_ratio(entry, "ours_over_nccl");
		assert_ratio(entry, "ours_over_nccl_symmetric");
	}
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(cases, 5), "op")), "reduce_scatter");
	masked = mask(root);
	free(tf_verb_out);
	tf_verb_out = json_dumps(masked, JSON_INDENT(2));
	tf_verb_assert_golden("bench_gpu_json.txt");
	json_decref(masked);
	json_decref(root);
}

static void test_table(void **state)
{
	(void)state;
	assert_int_equal(tf_verb_run("bench", "--sizes=64", "--dtype=f32", NULL), 0);
	tf_verb_assert_golden("bench_gpu.txt");
}

static void test_steps(void **state)
{
	static const char text[] =
		"name: two\n"
		"summary: Two groups at one capacity, one of them alone at another.\n"
		"capacities: [1, 2]\n"
		"groups:\n"
		"  - {name: sum, op: all_reduce, dtype: f16, row_elements: 32, times: 3}\n"
		"  - {name: rows, op: all_gather, dtype: bf16, row_elements: 16,\n"
		"     times: 2, capacities: [2]}\n";
	const char *path = tf_verb_path("two.yaml");

	(void)state;
	tf_verb_store(path, text, strlen(text));
	assert_int_equal(tf_verb_run("bench", "--device=cuda", "--workload", path, NULL), 0);
	tf_verb_assert_golden("bench_gpu_steps.txt");
	tf_verb_assert_refused(
		tf_verb_run("bench", "--device=cuda", "--workload", path, "--ops=all_gather", NULL), 2,
		"'--workload' has sizes, operations and types of its own: leave '--ops' out");
}

static void test_words(void **state)
{
	(void)state;
	tf_verb_assert_refused(tf_verb_run(SMALL, "--seconds=5", NULL), 2,
		"'--seconds' is for the host: on GPUs a chain has 86 calls");
	tf_verb_assert_refused(
		tf_verb_run("bench", "--device=cuda", "--sizes=66", "--ops=reduce_scatter", NULL), 2,
		"NCCL's reduce_scatter takes a multiple of 2 elements, not 33; '--against none' does");
	tf_verb_assert_refused(tf_verb_run(SMALL, "--topology=host-bridge", NULL), 3, "host-bridge");
	tf_verb_assert_refused(
		tf_verb_run("bench", "--device=cuda", "--workload=nothing", NULL), 3, "nothing");
	assert_int_equal(tf_verb_run("bench", "--device=cuda", "--against=none", "--sizes=66",
						 "--ops=reduce_scatter", NULL),
		0);
	assert_non_null(strstr(tf_verb_out, "\nours: all 172 outputs equal the reference in every"));
	assert_null(strstr(tf_verb_out, "NCCL"));
}

/* What is missing is said, and asked for by name it is an error. */
static void test_missing(void **state)
{
	(void)state;
	setenv("FAKE_NCCL_VERSION", "21803", 1);
	assert_int_equal(tf_verb_run(SMALL, NULL), 0);
	assert_non_null(strstr(tf_verb_out,
		"\nwithout NCCL: rank 0: NCCL is of version 2.18.3, this build needs 2.19.0 or newer\n"));
	assert_null(strstr(tf_verb_out, "ours/NCCL"));
	tf_verb_assert_refused(tf_verb_run(SMALL, "--against=nccl", NULL), 4,
		"NCCL is missing: rank 0: NCCL is of version 2.18.3");
	setenv("FAKE_NCCL_VERSION", "22605", 1);
	assert_int_equal(tf_verb_run(SMALL, "--against=nccl", NULL), 0);
	assert_non_null(strstr(tf_verb_out,
		"\nwithout symmetric windows: NCCL 2.26.5 has no symmetric windows, 2.27 has\n"));
	assert_non_null(strstr(tf_verb_out, "ours/NCCL"));
	assert_null(strstr(tf_verb_out, "ours/symmetric"));
	unsetenv("FAKE_NCCL_VERSION");
	setenv("FAKE_NCCL_NO_WINDOW", "1", 1);
	assert_int_equal(tf_verb_run(SMALL, NULL), 0);
	assert_non_null(strstr(tf_verb_out, "NCCL 2.28.9 gives no symmetric window on this machine\n"));
}

/* A file that is no library, under both names, stands for a machine without one. */
static void test_absent(void **state)
{
	char *path = strdup(getenv("LD_LIBRARY_PATH")), text[2048];
	const char *folder = tf_verb_path("no-nccl");

	(void)state;
	assert_int_equal(mkdir(folder, 0700), 0);
	tf_verb_store(tf_verb_path("no-nccl/libnccl.so.2"), "no library\n", 11);
	tf_verb_store(tf_verb_path("no-nccl/libnccl.so"), "no library\n", 11);
	snprintf(text, sizeof(text), "%s:%s", folder, path);
	setenv("LD_LIBRARY_PATH", text, 1);
	assert_int_equal(tf_verb_run(SMALL, NULL), 0);
	assert_non_null(strstr(tf_verb_out, "\nwithout NCCL: rank 0: cannot open 'libnccl.so.2': "));
	tf_verb_assert_refused(
		tf_verb_run(SMALL, "--against=nccl", NULL), 4, "NCCL is missing: rank 0: cannot open");
	setenv("LD_LIBRARY_PATH", path, 1);
	free(path);
}

static void test_results(void **state)
{
	(void)state;
	setenv("FAKE_NCCL_BITS", "1", 1);
	assert_int_equal(tf_verb_run(SMALL, NULL), 0);
	assert_non_null(strstr(tf_verb_out,
		"\nNCCL: 0 of 172 outputs equal the reference in every byte, the others differ by "
		"rounding\n"));
	setenv("FAKE_NCCL_BITS", "64", 1);
	tf_verb_assert_refused(
		tf_verb_run(SMALL, NULL), 1, "NCCL, group 'all_reduce-64', rank 0: element 0 is");
}

static void test_failing_calls(void **state)
{
	static const char *const calls[] = {"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclMemAlloc",
		"ncclCommWindowRegister", "ncclAllReduce", "ncclCommGetAsyncError",
		"ncclCommWindowDeregister", "ncclMemFree", "ncclCommFinalize", "ncclCommDestroy"};
	char asked[64], text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		snprintf(asked, sizeof(asked), "%s:3", calls[i]);
		setenv("FAKE_NCCL_FAIL", asked, 1);
		snprintf(text, sizeof(text), "%s(", calls[i]);
		tf_verb_assert_refused(tf_verb_run(SMALL, NULL), 1, text);
		assert_non_null(strstr(tf_verb_err, ") failed: internal error (3): it was told to"));
	}
	setenv("FAKE_NCCL_FAIL", "later:3", 1);
	tf_verb_assert_refused(tf_verb_run(SMALL, NULL), 1, "a call of NCCL's failed: internal error");
	setenv("FAKE_NCCL_FAIL", "ncclAllGather:3", 1);
	tf_verb_assert_refused(
		tf_verb_run("bench", "--device=cuda", "--sizes=64", "--ops=all_gather", NULL), 1,
		"all_gather of 64 bytes: NCCL: rank 0: ncclAllGather(");
	setenv("FAKE_NCCL_FAIL", "ncclReduceScatter:3", 1);
	tf_verb_assert_refused(
		tf_verb_run("bench", "--device=cuda", "--sizes=64", "--ops=reduce_scatter", NULL), 1,
		"reduce_scatter of 64 bytes: NCCL: rank 0: ncclReduceScatter(");
}

static void test_failing_driver(void **state)
{
	static const char *const calls[] = {"cuMemAlloc", "cuStreamBeginCapture", "cuStreamEndCapture"};
	char asked[64];

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		snprintf(asked, sizeof(asked), "%s:1", calls[i]);
		setenv("FAKE_CUDA_FAIL", asked, 1);
		tf_verb_assert_refused(tf_verb_run(SMALL, NULL), 1, calls[i]);
		assert_non_null(strstr(tf_verb_err, "failed: CUDA_ERROR_INVALID_VALUE (1)"));
	}
}

/*
 * A call, or work, that never ends is ended, and it is told where. The bound is far above what the
 * rest of the run needs on a busy machine, which has to come as far as NCCL.
 */
static void test_hanging(void **state)
{
	static const struct {
		const char *variable, *value, *text;
	} cases[] = {
		{"FAKE_NCCL_HANG", "ncclCommInitRankConfig", "opening NCCL: not finished within the bound"},
		{"FAKE_NCCL_LATE", "1", "measuring all_reduce of 64 bytes: not finished within the bound"},
		{"FAKE_NCCL_HANG", "ncclCommDestroy", "closing NCCL: not finished within the bound"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(NULL);
		setenv(cases[i].variable, cases[i].value, 1);
		tf_verb_assert_refused(tf_verb_run(SMALL, "--timeout=500", NULL), 1, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_json, set_up),
		cmocka_unit_test_setup(test_table, set_up),
		cmocka_unit_test_setup(test_steps, set_up),
		cmocka_unit_test_setup(test_words, set_up),
		cmocka_unit_test_setup(test_missing, set_up),
		cmocka_unit_test_setup(test_absent, set_up),
		cmocka_unit_test_setup(test_results, set_up),
		cmocka_unit_test_setup(test_failing_calls, set_up),
		cmocka_unit_test_setup(test_failing_driver, set_up),
		cmocka_unit_test_setup(test_hanging, set_up),
	};

	return cmocka_run_group_tests(tests, tf_verb_set_up, tf_verb_tear_down);
}
