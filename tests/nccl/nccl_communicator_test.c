/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communicator against the fake: what it asks of NCCL and in which order, and how it ends when
 * a call of NCCL's fails or hangs. How it ends when a peer stalls or leaves is the rank program's
 * (tests/rank). Arguments: a filter of tests, and for how long a scene may hang, in ms.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/nccl/nccl_scene.h"

static int check_facts(const struct act *act)
{
	const struct tf_nccl_facts *facts = tf_nccl_communicator_facts(act->comm);

	MUST(facts->one_host && facts->version == TF_NCCL_VERSION(2, 28, 9));
	MUST(facts->last_result == TF_NCCL_SUCCESS);
	MUST(strcmp(facts->runtime_connect, "0 (set here)") == 0);
	MUST(strcmp(facts->graph_register, "0 (set here)") == 0);
	return 0;
}

static void test_split_carries(void **state)
{
	const struct scene scene = {.also = check_facts};

	(void)state;
	run(&scene);
	assert_int_equal(count("NCCL_RUNTIME_CONNECT=0\n"), 2);
	assert_int_equal(count("ending"), 0);
	for (unsigned r = 0; r < 2; r++)
		assert_order(r, "destroy split", "destroy parent");
}

static int check_apart(const struct act *act)
{
	const struct tf_nccl_facts *facts = tf_nccl_communicator_facts(act->comm);

	MUST(!facts->one_host && facts->last_result == TF_NCCL_IN_PROGRESS);
	MUST(strcmp(facts->runtime_connect, "unset") == 0);
	return 0;
}

static void test_parent_carries_apart(void **state)
{
	const struct scene scene = {.also = check_apart, .keep_apart = 1};

	(void)state;
	run(&scene);
	assert_int_equal(count("NCCL_RUNTIME_CONNECT=\n"), 2);
	assert_int_equal(count("split"), 0);
}

/* What the user set stays as it is, right or wrong. */
static void test_environment_is_kept(void **state)
{
	const struct scene scene = {.connect = "1"};

	(void)state;
	run(&scene);
	assert_int_equal(count("NCCL_RUNTIME_CONNECT=1\n"), 2);
}

/* Every call of the start-up fails on one rank: both ranks fail alike, and all is aborted. */
static void test_failing_start(void **state)
{
	static const char *const fails[] = {"ncclGetUniqueId:2", "ncclCommInitRankConfig:3",
		"ncclCommSplit:3", "later:6", "ncclCommGetAsyncError:2"};

	(void)state;
	for (unsigned i = 0; i < sizeof(fails) / sizeof(fails[0]); i++) {
		struct scene scene = {.fail = fails[i],
			.timeout_ns = 2 * TF_NS_PER_S,
			.open = i == 3 ? TF_E_DISCONNECTED : TF_E_SYSTEM,
			.faulty = i == 0 ? 0 : 1,
			.text = i == 0 ? "ncclGetUniqueId"
				: i == 1   ? "ncclCommInitRankConfig failed"
				: i == 2   ? "ncclCommSplit failed"
				: i == 3   ? "an operation of NCCL's failed"
						   : "ncclCommGetAsyncError(which, &result) failed"};

		run(&scene);
		assert_int_equal(count("destroy"), 0);
		assert_int_equal(count("ending"), 0);
		assert_int_equal(count("abort parent"), i == 0 ? 0 : i == 1 ? 1 : 2);
	}
}

/* Calls that never return: the start-up ends within its bound, on both ranks. */
static void test_hanging_start(void **state)
{
	static const char *const hangs[] = {
		"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclCommSplit"};

	(void)state;
	for (unsigned i = 0; i < sizeof(hangs) / sizeof(hangs[0]); i++) {
		struct scene scene = {.hang = hangs[i],
			.faulty = i == 0 ? 0 : 1,
			.timeout_ns = TF_NS_PER_S,
			.open = TF_E_TIMEOUT,
			.text = i == 0 ? "ncclGetUniqueId did not return"
				: i == 1   ? "NCCL's start-up timed out: no answer of a peer's"
						   : "NCCL's split timed out: no answer of a peer's"};

		run(&scene);
	}
}

/*
 * Calls of the end: what failed is told, and the communicator is gone all the same. No collective
 * runs, so there is nothing to tell peers of, and who would tell them may be gone.
 */
static void test_failing_end(void **state)
{
	static const char *const fails[] = {"ncclCommFinalize:3", "ncclCommDestroy:3"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct scene scene = {.fail = fails[i], .faulty = -1, .close = TF_E_SYSTEM};

		run(&scene);
		assert_int_equal(count("ending"), 0);
	}
}

static void test_failing_call(void **state)
{
	const struct scene scene = {.fail = "ncclAllReduce:3",
		.faulty = -1,
		.enqueue = TF_E_SYSTEM,
		.text = "ncclAllReduce failed"};

	(void)state;
	run(&scene);
	assert_ended();
}

/* A call that does not return: seen late by the watcher, sent back by the parent's abort. */
static void test_hanging_call(void **state)
{
	struct scene scene = {.hang = "ncclAllReduce",
		.faulty = -1,
		.timeout_ns = TF_NS_PER_S,
		.enqueue = TF_E_TIMEOUT,
		.text = "NCCL's call timed out"};

	(void)state;
	run(&scene);
	assert_ended();
	scene.keep_apart = 1;
	run(&scene);
	assert_int_equal(count("abort parent"), 2);
	for (unsigned r = 0; r < 2; r++)
		assert_order(r, "ending", "abort parent");
}

/* A call that the abort sends back late: the split is not freed under it. */
static void test_slow_return(void **state)
{
	const struct scene scene = {.hang = "ncclAllReduce",
		.slow = 1,
		.faulty = -1,
		.timeout_ns = TF_NS_PER_S,
		.enqueue = TF_E_TIMEOUT};

	(void)state;
	run(&scene);
	assert_ended();
}

/* A call that returns late by itself: the end has been told, and is over, when it is seen. */
static void test_late_return(void **state)
{
	const struct scene scene = {.late = 1,
		.tells = 1,
		.faulty = -1,
		.timeout_ns = TF_NS_PER_S,
		.enqueue = TF_E_TIMEOUT,
		.text = "NCCL's call timed out"};

	(void)state;
	run(&scene);
	assert_ended();
}

static void test_slow_split(void **state)
{
	const struct scene scene = {.slow = 1};

	(void)state;
	run(&scene);
}

/* An abort that never returns is left behind, and said. */
static void test_hanging_abort(void **state)
{
	const struct scene scene = {.fail = "ncclAllReduce:3",
		.hang = "ncclCommAbort",
		.faulty = -1,
		.enqueue = TF_E_SYSTEM,
		.close = TF_E_TIMEOUT};

	(void)state;
	run(&scene);
}

/* So is one behind an end that failed, which is not all that is said then. */
static void test_hanging_abort_at_the_end(void **state)
{
	const struct scene scene = {
		.fail = "ncclCommDestroy:3", .hang = "ncclCommAbort", .faulty = -1, .close = TF_E_TIMEOUT};

	(void)state;
	run(&scene);
}

static void test_hanging_destroy(void **state)
{
	const struct scene scene = {.hang = "ncclCommDestroy", .faulty = -1, .close = TF_E_TIMEOUT};

	(void)state;
	run(&scene);
	assert_int_equal(count("ending"), 0);
}

/* Graphs are destroyed first: close refuses until then. */
static int hold_graphs(const struct act *act)
{
	struct tf_error err = {0};

	tf_nccl_communicator_graph_ref(act->comm);
	tf_nccl_communicator_graph_ref(act->comm);
	MUST(tf_nccl_communicator_close(act->comm, &err) == TF_E_USAGE);
	MUST(strstr(err.text, "2 graphs hold collectives of NCCL's"));
	tf_nccl_communicator_graph_unref(act->comm);
	MUST(tf_nccl_communicator_close(act->comm, NULL) == TF_E_USAGE);
	tf_nccl_communicator_graph_unref(act->comm);
	return 0;
}

static void test_graphs_go_first(void **state)
{
	const struct scene scene = {.also = hold_graphs};

	(void)state;
	run(&scene);
}

/* A refused collective ends nothing. */
static int refuse(const struct act *act)
{
	float at[8] = {0};
	struct tf_nccl_collective odd = {TF_OP_REDUCE_SCATTER, TF_DTYPE_F32, 7, at, at};
	struct tf_nccl_collective none = {TF_OP_ALL_REDUCE, TF_DTYPE_F32, 0, at, at};
	struct tf_error err = {0};

	MUST(tf_nccl_communicator_enqueue(act->comm, &odd, act->device->stream, &err) == TF_E_USAGE);
	MUST(strstr(err.text, "a multiple of 2 elements, not 7"));
	MUST(tf_nccl_communicator_enqueue(act->comm, &none, act->device->stream, NULL) == TF_E_USAGE);
	MUST(tf_nccl_communicator_wait(act->comm, TIMEOUT_NS, rank_device_wait, act->device, NULL) ==
		TF_OK);
	return 0;
}

static void test_refused_collectives(void **state)
{
	const struct scene scene = {.also = refuse};

	(void)state;
	run(&scene);
}

/* The caller's own reason to end. */
static int end_it(const struct act *act)
{
	struct tf_error why = {0}, err = {0};
	float at[2 * COUNT] = {0};

	(void)!TF_FAIL(&why, TF_E_ABORTED, "the step failed");
	tf_nccl_communicator_abort(act->comm, &why);
	MUST(all_reduce(act, at, &err) == TF_E_ABORTED);
	MUST(strcmp(err.text, "the step failed") == 0);
	return 0;
}

static void test_abort(void **state)
{
	const struct scene scene = {.also = end_it};

	(void)state;
	run(&scene);
	assert_ended();
}

/* What the stand-in shares goes with its processes, however they end: it has no name. */
static int check_nameless(const struct act *act)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int shared = 0, named = 0;

	(void)act;
	MUST(maps);
	while (fgets(line, sizeof(line), maps)) {
		shared += strstr(line, "fake-nccl") != NULL;
		named += strstr(line, "/dev/shm/") != NULL;
	}
	fclose(maps);
	MUST(shared && !named);
	return 0;
}

static void test_killed_leaves_nothing(void **state)
{
	const struct scene scene = {.also = check_nameless};

	(void)state;
	run(&scene);
}

/* A stream that is done only once a peer has left, and some looks later. */
struct lagging {
	const struct act *act;
	int looks_left;
};

static enum tf_status wait_lagging(void *user, int64_t deadline_ns, struct tf_error *err)
{
	struct lagging *lagging = user;
	struct pollfd fd = {.fd = -1, .events = POLLIN};

	if (tf_link_fds(lagging->act->link, &fd.fd) == 1 && fd.fd >= 0 && lagging->looks_left > 0) {
		lagging->looks_left -= poll(&fd, 1, tf_deadline_poll_ms(deadline_ns)) == 1;
		return TF_FAIL(err, TF_E_TIMEOUT, "the stream is not done yet");
	}
	return rank_device_wait(lagging->act->device, deadline_ns, err);
}

/* Rank 1 has its sum and leaves, while rank 0's stream still works on what it sent. */
static int leave_first(const struct act *act)
{
	int lags = tf_link_rank(act->link) == 0;
	struct lagging lagging = {act, lags ? 3 : 0};
	float at[2 * COUNT] = {1};
	struct tf_error err = {0};
	enum tf_status status;

	MUST(all_reduce(act, at, NULL) == TF_OK);
	status = tf_nccl_communicator_wait(act->comm, TIMEOUT_NS, wait_lagging, &lagging, &err);
	if (status != TF_OK)
		fprintf(stderr, "wait: %s: %s\n", tf_status_name(status), err.text);
	MUST(status == TF_OK && at[COUNT] == 2);
	if (lags) {
		MUST(tf_link_poll_departed(act->link, NULL) == TF_E_DISCONNECTED);
		MUST(tf_nccl_communicator_close(act->comm, NULL) == TF_OK);
	}
	fflush(stderr);
	syscall(SYS_exit_group, 0); /* as a process that is killed: no handler counts its threads */
	return 1;
}

static void test_peer_leaves_first(void **state)
{
	const struct scene scene = {.also = leave_first};

	(void)state;
	run(&scene);
	assert_int_equal(count("ending"), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_split_carries),
		cmocka_unit_test(test_parent_carries_apart), cmocka_unit_test(test_environment_is_kept),
		cmocka_unit_test(test_failing_start), cmocka_unit_test(test_hanging_start),
		cmocka_unit_test(test_failing_end), cmocka_unit_test(test_failing_call),
		cmocka_unit_test(test_hanging_call), cmocka_unit_test(test_slow_split),
		cmocka_unit_test(test_slow_return), cmocka_unit_test(test_late_return),
		cmocka_unit_test(test_hanging_abort), cmocka_unit_test(test_hanging_abort_at_the_end),
		cmocka_unit_test(test_hanging_destroy), cmocka_unit_test(test_graphs_go_first),
		cmocka_unit_test(test_refused_collectives), cmocka_unit_test(test_abort),
		cmocka_unit_test(test_killed_leaves_nothing), cmocka_unit_test(test_peer_leaves_first)};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	if (argc > 2)
		limit_ns = atoll(argv[2]) * TF_NS_PER_MS;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
