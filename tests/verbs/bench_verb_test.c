/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep bench` on tiny sizes, and with an MPI that is missing, silent, wrong or right. */
#include "tests/verbs/verb_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prepare/bench/bench.h"

static void assert_case(const json_t *entry, const char *op, long long bytes)
{
	const json_t *ours = json_object_get(entry, "ours"), *round, *launch;
	size_t i, k;

	assert_string_equal(json_string_value(json_object_get(entry, "op")), op);
	assert_int_equal(json_integer_value(json_object_get(entry, "bytes")), bytes);
	assert_in_range(json_integer_value(json_object_get(entry, "calls")), TF_BENCH_CALLS_MIN,
		TF_BENCH_CALLS_MAX);
	assert_int_equal(json_array_size(json_object_get(ours, "chain_ns")), TF_BENCH_ROUNDS);
	json_array_foreach(json_object_get(ours, "chain_ns"), i, round)
	{
		assert_int_equal(json_array_size(round), TF_BENCH_LAUNCHES);
		json_array_foreach(round, k, launch) assert_true(json_integer_value(launch) > 0);
	}
	assert_true(json_real_value(json_object_get(ours, "call_low_ns")) <=
		json_real_value(json_object_get(ours, "call_median_ns")));
}

static void test_smoke(void **state)
{
	json_t *root, *cases;

	(void)state;
	assert_int_equal(tf_verb_run("bench", "--device", "host", "--sizes", "64,1KiB", "--seconds",
						 "1", "--json", NULL),
		0);
	root = tf_verb_json();
	cases = json_object_get(root, "cases");
	assert_int_equal(json_array_size(cases), 4);
	assert_case(json_array_get(cases, 0), "all_reduce", 64);
	assert_case(json_array_get(cases, 3), "all_gather", 1024);
	assert_true(json_is_null(json_object_get(json_array_get(cases, 0), "mpi")));
	assert_true(json_is_null(json_object_get(json_array_get(cases, 0), "ours_over_mpi")));
	json_decref(root);
	assert_int_equal(tf_verb_run("bench", "--device=host", "--sizes=64", "--ops=reduce_scatter",
						 "--dtype=bf16", "--tp=3", "--seconds=1", NULL),
		0);
	assert_non_null(strstr(tf_verb_out, "3 ranks on the host device, bf16"));
	assert_non_null(strstr(tf_verb_out, "ours us"));
	assert_null(strstr(tf_verb_out, "MPI"));
}

static void test_words(void **state)
{
	static const struct {
		const char *option, *text;
	} words[] = {
		{"--sizes=8KB", "size '8KB' is not a number of bytes"},
		{"--sizes=", "size '' is not a number"},
		{"--sizes=8KiB,", "size '' is not a number"},
		{"--sizes=0", "size '0' is 0 bytes"},
		{"--sizes=6", "size '6' is 6 bytes, not a multiple of 4"},
		{"--sizes=65MiB", "to 67108864"},
		{"--sizes=99999999999999999999", "is not a number of bytes"},
		{"--sizes=8,8", "size 8 is given twice"},
		{"--sizes=8K,4KiB..16KiB", "size 8192 is given twice"},
		{"--sizes=1MiB..8KiB", "sizes '1MiB..8KiB' do not rise"},
		{"--sizes=8KiB..", "size '' is not a number"},
		{"--ops=reduce", "operation 'reduce' is unknown, allowed: all_reduce, all_gather, reduce_"},
		{"--ops=all_gather,all_gather", "operation 'all_gather' is given twice"},
		{"--ops=all", "operation 'all' is unknown"},
		{"--dtype=f64", "f64"},
		{"--tp=9", "9"},
		{"--against=nccl", "'--against nccl' takes '--device cuda'"},
		{"--against=gloo", "gloo"},
		{"--agianst=mpi", "unknown option '--agianst', did you mean '--against'?"},
		{"--workload=decode-window", "'--workload' is measured on GPUs"},
		{"--timeout=9", "9"},
		{"--topology=mesh", "mesh"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		tf_verb_assert_refused(
			tf_verb_run("bench", "--device=host", words[i].option, NULL), 2, words[i].text);
	tf_verb_assert_refused(
		tf_verb_run("bench", "--against=mpi", "--dtype=bf16", NULL), 2, "MPI has no sum of 'bf16'");
	tf_verb_assert_refused(tf_verb_run("bench", "--against=mpi", "--ops=reduce_scatter", NULL), 2,
		"'--against mpi' takes '--ops' all_reduce and all_gather");
	tf_verb_assert_refused(tf_verb_run("bench", "--against=mpi", "--device=cuda", NULL), 2,
		"'--against mpi' takes '--device host'");
}

static void write_script(const char *name, const char *text)
{
	const char *path = tf_verb_path(name);

	tf_verb_store(path, text, strlen(text));
	assert_int_equal(chmod(path, 0700), 0);
}

/* A tfprep of one's own: what stands beside it and in PATH is the test's. */
static int run_alone(void)
{
	return tf_verb_run_program(tf_verb_path("tfprep"), "bench", "--against=mpi", "--sizes=64",
		"--ops=all_gather", "--seconds=1", NULL);
}

/* Answers as the helper does, with chains of `ns`; $8 is the only case, OP:BYTES:CALLS. */
#define ANSWER                                                                                     \
	"#!/bin/sh\n"                                                                                  \
	"for last; do :; done\n"                                                                       \
	"printf '{\"library\": \"Some MPI\"}\\n{\"op\": \"all_gather\", \"bytes\": 64, \"calls\": "    \
	"%s, \"chain_ns\": [' ${last##*:}\n"                                                           \
	"printf '1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, '\n"                      \
	"printf '1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000]}\\n'\n"

static void test_mpi(void **state)
{
	char *path = strdup(getenv("PATH"));

	(void)state;
	if (link(TF_TFPREP, tf_verb_path("tfprep")))
		skip();
	tf_verb_assert_refused(run_alone(), 4, "'tfprep-mpi-bench' is missing: it is neither in '");
	write_script("tfprep-mpi-bench", "#!/bin/sh\n");
	assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
	tf_verb_assert_refused(run_alone(), 4, "'mpirun' is missing: it is in no folder of PATH");
	assert_int_equal(setenv("PATH", tf_verb_folder, 1), 0);
	write_script("mpirun", "#!/bin/sh\necho no slots here >&2\necho ----- >&2\nexit 5\n");
	tf_verb_assert_refused(run_alone(), 1, "it exited with code 5: no slots here");
	write_script("mpirun", "#!/bin/sh\nkill -9 $$\n");
	tf_verb_assert_refused(run_alone(), 1, "it was ended by signal 9");
	write_script("mpirun", "#!/bin/sh\n");
	tf_verb_assert_refused(run_alone(), 3, "it answered 0 of 1 cases");
	write_script("mpirun", "#!/bin/sh\necho '{\"library\": \"x\"}'\necho nonsense\n");
	tf_verb_assert_refused(run_alone(), 3, "line 2 of its answer is not what was asked for");
	write_script("mpirun", ANSWER);
	assert_int_equal(run_alone(), 0);
	assert_non_null(strstr(tf_verb_out, "MPI is Some MPI\n"));
	assert_non_null(strstr(tf_verb_out, "ours/MPI"));
	write_script("mpirun", ANSWER "printf '{\"op\": \"all_gather\"}\\n'\n");
	tf_verb_assert_refused(run_alone(), 3, "line 3 of its answer");
	assert_int_equal(setenv("PATH", path, 1), 0);
	free(path);
}

/* The real one, where it was built. */
static void test_real_mpi(void **state)
{
	json_t *root, *first;

	(void)state;
	if (access(TF_MPI_BENCH, X_OK) || system("mpirun --version >/dev/null 2>&1"))
		skip();
	/* What MPI itself leaves allocated is no finding of ours. */
	assert_int_equal(setenv("ASAN_OPTIONS", "detect_leaks=0", 1), 0);
	assert_int_equal(
		tf_verb_run("bench", "--against=mpi", "--sizes=64", "--seconds=1", "--json", NULL), 0);
	root = tf_verb_json();
	first = json_array_get(json_object_get(root, "cases"), 0);
	assert_true(json_is_string(json_object_get(root, "mpi")));
	assert_int_equal(json_array_size(json_object_get(json_object_get(first, "mpi"), "chain_ns")),
		TF_BENCH_ROUNDS);
	assert_true(
		json_real_value(json_object_get(json_object_get(first, "ours_over_mpi"), "median")) > 0);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smoke),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_mpi),
		cmocka_unit_test(test_real_mpi),
	};

	return cmocka_run_group_tests(tests, tf_verb_set_up, tf_verb_tear_down);
}
