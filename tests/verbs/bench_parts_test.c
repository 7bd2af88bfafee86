/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the benchmark: the interval of a median, ratios, sizes, a child's bounded output. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/deadline.h"
#include "prepare/bench/bench.h"
#include "prepare/bench/bench_sizes.h"
#include "prepare/bench/child_output.h"
#include "runtime/collective/output_check.h"
#include "prepare/bench/step_calls.h"
#include "prepare/text_table.h"

/* Ranks for 97 %, from tables of the binomial distribution. */
static void test_rank(void **state)
{
	(void)state;
	assert_int_equal(tf_order_rank(1), 1);
	assert_int_equal(tf_order_rank(5), 1);
	assert_int_equal(tf_order_rank(6), 1);
	assert_int_equal(tf_order_rank(21), 6);
	assert_int_equal(tf_order_rank(105), 41);
}

static void test_interval(void **state)
{
	double values[21], pair[2] = {3, 1};
	struct tf_interval interval;

	(void)state;
	for (int i = 0; i < 21; i++)
		values[i] = (i * 8) % 21 + 1; /* 1..21 in another order */
	interval = tf_order_interval(values, 21);
	assert_true(interval.median == 11 && interval.low == 6 && interval.high == 16);
	interval = tf_order_interval(pair, 2);
	assert_true(interval.median == 2 && interval.low == 1 && interval.high == 3);
}

static void test_ratio(void **state)
{
	struct tf_bench_times ours, mpi;
	double low, high, ratio;

	(void)state;
	for (int round = 0; round < TF_BENCH_ROUNDS; round++) {
		for (int i = 0; i < TF_BENCH_LAUNCHES; i++) {
			ours.chain_ns[round][i] = 1000 * (round + 1);
			mpi.chain_ns[round][i] = 2000;
		}
	}
	ratio = tf_bench_ratio(&ours, &mpi, &low, &high);
	assert_true(ratio == 1.5 && low == 0.5 && high == 2.5);
	assert_true(tf_bench_call(&ours, 10).median == 300);
}

static void test_sizes(void **state)
{
	struct tf_bench_options options = {.dtype = TF_DTYPE_F32};

	(void)state;
	assert_int_equal(
		tf_bench_cases(TF_BENCH_OPS_DEFAULT, TF_BENCH_SIZES_DEFAULT, &options, NULL), TF_OK);
	assert_int_equal(options.case_count, 16);
	assert_int_equal(options.cases[0].bytes, 8192);
	assert_int_equal(options.cases[7].bytes, 1048576);
	assert_int_equal(options.cases[7].op, TF_OP_ALL_REDUCE);
	assert_int_equal(options.cases[8].op, TF_OP_ALL_GATHER);
	assert_int_equal(tf_bench_cases("all_gather", "3K..20K,1M,4", &options, NULL), TF_OK);
	assert_int_equal(options.case_count, 5);
	assert_int_equal(tf_bench_calls_max(8192), TF_BENCH_CALLS_MAX);
	assert_int_equal(tf_bench_calls_max(131072), 32);
	assert_int_equal(tf_bench_calls_max(64 << 20), TF_BENCH_CALLS_MIN);
	assert_int_equal(options.cases[2].bytes, 12288);
	assert_int_equal(options.cases[4].bytes, 4);
	assert_int_equal(tf_bench_cases("all_gather", "4..64MiB", &options, NULL), TF_OK);
	assert_int_equal(options.case_count, 25);
	assert_int_equal(
		tf_bench_cases("all_gather", "4..64MiB,12..12MiB", &options, NULL), TF_E_USAGE);
	options.dtype = TF_DTYPE_BF16;
	assert_int_equal(
		tf_bench_cases(TF_BENCH_GPU_OPS_DEFAULT, TF_BENCH_GPU_SIZES_DEFAULT, &options, NULL),
		TF_OK);
	assert_int_equal(options.case_count, 42);
	assert_int_equal(options.cases[41].bytes, 16 << 20);
	assert_int_equal(options.cases[41].op, TF_OP_REDUCE_SCATTER);
}

/* What a walk over a step saw: "GROUP.PAIR " a call. */
static enum tf_status note_call(void *user, uint32_t group, uint32_t pair, struct tf_error *err)
{
	char *text = user;

	snprintf(text + strlen(text), 8, "%u.%u ", group, pair);
	if (strlen(text) > 64)
		return TF_FAIL(err, TF_E_LIMIT, "enough");
	return TF_OK;
}

static void test_step(void **state)
{
	struct tf_group groups[3] = {
		{.times = 9, .buffer_pairs = 9},
		{.times = 3, .buffer_pairs = 2},
		{.times = 1, .buffer_pairs = 1},
	};
	struct tf_program program = {.groups = groups, .group_count = 3};
	char text[128] = "";

	(void)state;
	assert_int_equal(tf_step_calls(&program, 1, 2, note_call, text, NULL), TF_OK);
	assert_string_equal(text, "1.0 2.0 1.1 1.0 ");
	assert_int_equal(tf_step_calls_count(&program, 1, 2), 4);
	groups[0].times = 1000;
	assert_int_equal(tf_step_calls(&program, 0, 1, note_call, text, NULL), TF_E_LIMIT);
}

/* Three ranks' sums: equal, differing by what rounding explains, and by more. */
static void test_output(void **state)
{
	const float a[4] = {1, 2, 3, 4}, b[4] = {1, 1, 1, 1}, c[4] = {-2, 0, 0, 8};
	const void *inputs[3] = {a, b, c};
	const float expected[4] = {0, 3, 4, 13};
	float found[4] = {0, 3, 4, 13};
	struct tf_group group = {
		.op = TF_OP_ALL_REDUCE, .dtype = TF_DTYPE_F32, .row_elements = 4, .capacity = 1};
	uint64_t element = 99;

	(void)state;
	assert_int_equal(
		tf_output_check(&group, 3, 0, inputs, expected, found, &element), TF_OUTPUT_EQUAL);
	found[3] = 13 + 0x1p-20f;
	found[0] = 0x1p-22f; /* cancelled: the bound is that of the magnitudes, 4 */
	assert_int_equal(
		tf_output_check(&group, 3, 0, inputs, expected, found, &element), TF_OUTPUT_ROUNDED);
	found[2] = 4.5f;
	assert_int_equal(
		tf_output_check(&group, 3, 0, inputs, expected, found, &element), TF_OUTPUT_WRONG);
	assert_int_equal(element, 2);
	found[2] = NAN;
	assert_int_equal(
		tf_output_check(&group, 3, 0, inputs, expected, found, &element), TF_OUTPUT_WRONG);
	/* A gathered byte is never rounded; a shard is looked at only as far as it is owned. */
	group.op = TF_OP_ALL_GATHER;
	group.row_elements = 1;
	found[2] = 4;
	assert_int_equal(
		tf_output_check(&group, 3, 0, inputs, expected, found, &element), TF_OUTPUT_WRONG);
	assert_int_equal(element, 0);
	group.op = TF_OP_REDUCE_SCATTER;
	group.row_elements = 4;
	found[0] = 3 + 0x1p-21f; /* element 2 of the whole, rank 1's first of two */
	found[1] = -1;
	assert_int_equal(
		tf_output_check(&group, 3, 1, inputs, (const float[2]){3, -1}, found, &element),
		TF_OUTPUT_ROUNDED);
	assert_int_equal(
		tf_output_check(&group, 3, 2, inputs, expected, found, &element), TF_OUTPUT_EQUAL);
}

static void test_elements(void **state)
{
	const uint16_t halves[2] = {0x3c00, 0x3f80};
	const float whole = 1.5f;

	(void)state;
	assert_true(tf_output_element(TF_DTYPE_F16, halves, 0) == 1.0);
	assert_true(tf_output_element(TF_DTYPE_BF16, halves, 1) == 1.0);
	assert_true(tf_output_element(TF_DTYPE_F32, &whole, 0) == 1.5);
}

static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

static enum tf_status run_shell(const char *script, int64_t bound_ns, const volatile int *stop,
	struct tf_bytes *out, struct tf_error *err)
{
	char *argv[] = {word("/bin/sh"), word("-c"), word(script), NULL};
	struct tf_bytes errors = {0};
	enum tf_status status =
		tf_child_output(argv, tf_deadline_after(bound_ns), stop, out, &errors, err);

	tf_bytes_fini(&errors);
	return status;
}

/* The process whose number was printed; its parent is another one, so it may take a moment. */
static void assert_gone(struct tf_bytes *out)
{
	int64_t deadline = tf_deadline_after(10 * TF_NS_PER_S);
	pid_t pid = (pid_t)strtol((char *)out->data, NULL, 10);

	assert_true(pid > 1);
	while (!kill(pid, 0) && !tf_deadline_passed(deadline))
		usleep(1000);
	assert_int_equal(kill(pid, 0), -1);
	tf_bytes_fini(out);
	memset(out, 0, sizeof(*out));
}

static void test_child(void **state)
{
	struct tf_bytes out = {0};
	struct tf_error err = {0};
	char *argv[] = {word("/nonexistent/program"), NULL};
	volatile int stop = 1;

	(void)state;
	assert_int_equal(run_shell("cat; echo a; echo b", 10 * TF_NS_PER_S, NULL, &out, &err), TF_OK);
	assert_string_equal((char *)out.data, "a\nb\n");
	tf_bytes_fini(&out);
	memset(&out, 0, sizeof(out));
	assert_int_equal(run_shell(":", 10 * TF_NS_PER_S, NULL, &out, &err), TF_OK);
	assert_string_equal((char *)out.data, "");
	assert_int_equal(
		run_shell("sleep 600 & echo $!; wait", TF_NS_PER_S / 5, NULL, &out, &err), TF_E_TIMEOUT);
	assert_gone(&out);
	assert_int_equal(
		run_shell("sleep 600 >/dev/null 2>&1 & echo $!", 60 * TF_NS_PER_S, NULL, &out, &err),
		TF_OK);
	assert_gone(&out);
	assert_int_equal(
		run_shell("trap '' TERM; sleep 600; sleep 600", TF_NS_PER_S / 5, NULL, &out, &err),
		TF_E_TIMEOUT);
	assert_int_equal(run_shell("sleep 600", 600 * TF_NS_PER_S, &stop, &out, &err), TF_E_ABORTED);
	assert_int_equal(
		run_shell("exec cat /dev/zero", 60 * TF_NS_PER_S, NULL, &out, &err), TF_E_LIMIT);
	assert_int_equal(
		tf_child_output(argv, tf_deadline_after(TF_NS_PER_S), NULL, &out, &out, &err), TF_E_SYSTEM);
	assert_non_null(strstr(err.text, "cannot run '/nonexistent/program'"));
	tf_bytes_fini(&out);
}

static void test_table(void **state)
{
	struct tf_text_table table = {.align = "lrl"};
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_non_null(to);
	for (int i = 0; i < 2; i++) {
		tf_text_table_cell(&table, i ? "longer" : "a");
		tf_text_table_cell(&table, "%d", i ? 7 : 1234);
		tf_text_table_cell(&table, i ? "" : "end");
	}
	assert_int_equal(tf_text_table_print(&table, to, "> ", NULL), TF_OK);
	tf_text_table_cell(&table, "half a row");
	assert_int_equal(tf_text_table_print(&table, to, "", NULL), TF_E_INTERNAL);
	tf_text_table_fini(&table);
	fclose(to);
	assert_string_equal(text, "> a       1234  end\n> longer     7\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rank),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
