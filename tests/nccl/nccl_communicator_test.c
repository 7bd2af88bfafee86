/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communicator against the fake: what it asks of NCCL and in which order, and how it ends when
 * a call of NCCL's fails or hangs. Two processes a case; the fake's log is the witness. How it ends
 * when a peer stalls or leaves is the rank program's (tests/rank).
 */
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
#include "base/deadline.h"
#include "runtime/comm/nccl/nccl_communicator.h"
#include "runtime/link/spawn.h"
#include "tests/rank/rank_device.h"

#define COUNT 256
/* What hangs is ended, and the test with it; the second argument is another one, in ms. */
static int64_t limit_ns = 60 * TF_NS_PER_S;

#define TIMEOUT_NS (5 * TF_NS_PER_S) /* of a rank; two cores may be shared by many */

/* One case: what the environment says on both ranks, what the ranks do, what they must see. */
struct scene {
	const char *fail, *hang; /* of the fake */
	int faulty;              /* the rank that FAIL and HANG are for; -1: both */
	const char *connect;     /* NCCL_RUNTIME_CONNECT, or unset */
	int keep_apart, slow;
	int late;  /* the call returns behind its bound, and did what it should */
	int tells; /* what tells the peers takes its time */
	int64_t timeout_ns;
	enum tf_status open, enqueue, wait, close; /* TF_OK: what must happen; the first failure ends */
	int (*also)(struct tf_nccl_communicator *comm, struct rank_device *device);
	const char *text; /* in the error of the faulty rank, or NULL */
};

static char log_path[64];

/* An exit code says which line of a rank's found what it must not. */
#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition)) {                                                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
			return 1;                                                                              \
		}                                                                                          \
	} while (0)

static enum tf_status all_reduce(
	struct tf_nccl_communicator *comm, struct rank_device *device, float *at, struct tf_error *err)
{
	struct tf_nccl_collective what = {TF_OP_ALL_REDUCE, TF_DTYPE_F32, COUNT, at, at + COUNT};

	return tf_nccl_communicator_enqueue(comm, &what, device->stream, err);
}

static int check_text(const struct scene *scene, uint32_t rank, const struct tf_error *err)
{
	if (scene->text && (scene->faulty < 0 || (uint32_t)scene->faulty == rank) &&
		!strstr(err->text, scene->text)) {
		fprintf(stderr, "rank %u: '%s' is not in '%s'\n", rank, scene->text, err->text);
		return 1;
	}
	return 0;
}

/* What is used again must say the same again. */
static int check_end(const struct scene *scene, struct tf_nccl_communicator *comm,
	struct rank_device *device, float *at, uint32_t rank, enum tf_status status,
	const struct tf_error *seen)
{
	struct tf_error again = {0};

	MUST(check_text(scene, rank, seen) == 0);
	MUST(all_reduce(comm, device, at, &again) == status);
	MUST(strcmp(again.text, seen->text) == 0);
	MUST(tf_nccl_communicator_wait(comm, TIMEOUT_NS, rank_device_wait, device, NULL) == status);
	MUST(tf_nccl_communicator_close(comm, NULL) == scene->close);
	return 0;
}

#define TELL_US 900000         /* usleep takes less than a second */
static int tells_slowly, told; /* of a rank's process */

/* A line beside the fake's. */
static void note_ending(void *user)
{
	FILE *file = fopen(log_path, "a");

	if (!file)
		abort();
	if (tells_slowly)
		usleep(TELL_US);
	__atomic_store_n(&told, 1, __ATOMIC_RELEASE);
	fprintf(file, "rank %u: ending\n", tf_link_rank(user));
	fclose(file);
}

static int play(const struct scene *scene, struct tf_link *link, struct rank_device *device)
{
	struct tf_nccl_communicator_options options = {.size = sizeof(options),
		.link = link,
		.timeout_ns = scene->timeout_ns ? scene->timeout_ns : TIMEOUT_NS,
		.keep_apart = scene->keep_apart,
		.ending = note_ending,
		.user = link};
	struct tf_nccl_communicator *comm = NULL;
	uint32_t rank = tf_link_rank(link);
	struct tf_error err = {0};
	float at[2 * COUNT] = {1};
	enum tf_status status;

	status = tf_nccl_communicator_open(&options, &comm, &err);
	if (status != scene->open)
		fprintf(stderr, "rank %u: open: %s: %s\n", rank, tf_status_name(status), err.text);
	MUST(status == scene->open);
	if (status != TF_OK)
		return check_text(scene, rank, &err);
	status = all_reduce(comm, device, at, &err);
	if (status != scene->enqueue)
		fprintf(stderr, "rank %u: enqueue: %s: %s\n", rank, tf_status_name(status), err.text);
	MUST(status == scene->enqueue);
	if (status != TF_OK) {
		MUST(__atomic_load_n(&told, __ATOMIC_ACQUIRE));
		return check_end(scene, comm, device, at, rank, status, &err);
	}
	status = tf_nccl_communicator_wait(comm, options.timeout_ns, rank_device_wait, device, &err);
	if (status != scene->wait)
		fprintf(stderr, "rank %u: wait: %s: %s\n", rank, tf_status_name(status), err.text);
	MUST(status == scene->wait);
	if (status != TF_OK)
		return check_end(scene, comm, device, at, rank, status, &err);
	MUST(at[COUNT] == 2);
	if (scene->also)
		MUST(scene->also(comm, device) == 0);
	MUST(tf_link_barrier(link, tf_deadline_after(limit_ns), NULL) == TF_OK);
	MUST(tf_nccl_communicator_close(comm, NULL) == scene->close);
	return 0;
}

static int run_rank(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	const struct scene *scene = user;
	struct rank_device device;
	int code;

	(void)command_fd;
	setenv("FAKE_NCCL_LOG", log_path, 1);
	if (scene->faulty < 0 || (uint32_t)scene->faulty == rank) {
		if (scene->fail)
			setenv("FAKE_NCCL_FAIL", scene->fail, 1);
		if (scene->hang)
			setenv("FAKE_NCCL_HANG", scene->hang, 1);
	}
	if (scene->slow)
		setenv("FAKE_NCCL_SLOW", "1", 1);
	if (scene->late)
		setenv("FAKE_NCCL_TAKES", "ncclAllReduce:1500", 1);
	tells_slowly = scene->tells;
	unsetenv("NCCL_RUNTIME_CONNECT");
	unsetenv("NCCL_GRAPH_REGISTER");
	if (scene->connect)
		setenv("NCCL_RUNTIME_CONNECT", scene->connect, 1);
	if (rank_device_open("fake", rank, &device, NULL) != TF_OK)
		return 99;
	code = play(scene, link, &device);
	fflush(stderr);
	/* A peer may still be at it, and must not see this rank depart. */
	if (code == 0 && scene->open == TF_OK && scene->enqueue == TF_OK && scene->wait == TF_OK)
		(void)!tf_link_barrier(link, tf_deadline_after(limit_ns), NULL);
	return code;
}

/* Lines of the log, all ranks'; asserts that no rule of NCCL's was broken. */
static void read_log(char *out, size_t size)
{
	FILE *file = fopen(log_path, "r");
	size_t got = file ? fread(out, 1, size - 1, file) : 0;

	out[got] = 0;
	if (file)
		fclose(file);
	unlink(log_path);
	if (strstr(out, "VIOLATION"))
		fail_msg("%s", out);
}

static void run_scene(const struct scene *scene, char *log, size_t log_bytes)
{
	struct tf_rank_exit exits[2] = {{0}};
	struct tf_ranks *ranks = NULL;
	struct tf_error err = {0};
	struct scene copy = *scene;
	enum tf_status status;

	snprintf(log_path, sizeof(log_path), "nccl_communicator_test.%d.log", (int)getpid());
	unlink(log_path);
	assert_int_equal(tf_ranks_spawn(2, run_rank, &copy, &ranks, NULL), TF_OK);
	status = tf_ranks_wait(ranks, tf_deadline_after(limit_ns), exits, &err);
	tf_ranks_destroy(ranks);
	read_log(log, log_bytes);
	if (status != TF_OK)
		fail_msg("it hangs: %s", err.text);
	for (int r = 0; r < 2; r++)
		if (exits[r].code || exits[r].signal)
			fail_msg("rank %d: exit %d, signal %d", r, exits[r].code, exits[r].signal);
}

static char log_text[8192];

static unsigned count(const char *what)
{
	unsigned found = 0;

	for (const char *at = log_text; (at = strstr(at, what)); at++)
		found++;
	return found;
}

static void run(const struct scene *scene)
{
	run_scene(scene, log_text, sizeof(log_text));
}

static void assert_order(unsigned rank, const char *first, const char *second)
{
	char a[64], b[64];
	const char *at;

	snprintf(a, sizeof(a), "rank %u: %s\n", rank, first);
	snprintf(b, sizeof(b), "rank %u: %s\n", rank, second);
	at = strstr(log_text, a);
	if (!at || !strstr(at, b))
		fail_msg("no '%s' before '%s' in: %s", first, second, log_text);
}

/* Of the two ranks that end: the peers are told once, then the parent goes, then the split. */
static void assert_ended(void)
{
	for (unsigned r = 0; r < 2; r++) {
		assert_order(r, "ending", "abort parent");
		assert_order(r, "abort parent", "abort split");
	}
	assert_int_equal(count("ending"), 2);
}

static int check_facts(struct tf_nccl_communicator *comm, struct rank_device *device)
{
	const struct tf_nccl_facts *facts = tf_nccl_communicator_facts(comm);

	(void)device;
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

static int check_apart(struct tf_nccl_communicator *comm, struct rank_device *device)
{
	const struct tf_nccl_facts *facts = tf_nccl_communicator_facts(comm);

	(void)device;
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
			.text = "cannot open NCCL"};

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

static void test_hanging_destroy(void **state)
{
	const struct scene scene = {.hang = "ncclCommDestroy", .faulty = -1, .close = TF_E_TIMEOUT};

	(void)state;
	run(&scene);
	assert_int_equal(count("ending"), 0);
}

/* Graphs are destroyed first: close refuses until then. */
static int hold_graphs(struct tf_nccl_communicator *comm, struct rank_device *device)
{
	struct tf_error err = {0};

	(void)device;
	tf_nccl_communicator_graph_ref(comm);
	tf_nccl_communicator_graph_ref(comm);
	MUST(tf_nccl_communicator_close(comm, &err) == TF_E_USAGE);
	MUST(strstr(err.text, "2 graphs hold collectives of NCCL's"));
	tf_nccl_communicator_graph_unref(comm);
	MUST(tf_nccl_communicator_close(comm, NULL) == TF_E_USAGE);
	tf_nccl_communicator_graph_unref(comm);
	return 0;
}

static void test_graphs_go_first(void **state)
{
	const struct scene scene = {.also = hold_graphs};

	(void)state;
	run(&scene);
}

/* A refused collective ends nothing. */
static int refuse(struct tf_nccl_communicator *comm, struct rank_device *device)
{
	float at[8] = {0};
	struct tf_nccl_collective odd = {TF_OP_REDUCE_SCATTER, TF_DTYPE_F32, 7, at, at};
	struct tf_nccl_collective none = {TF_OP_ALL_REDUCE, TF_DTYPE_F32, 0, at, at};
	struct tf_error err = {0};

	MUST(tf_nccl_communicator_enqueue(comm, &odd, device->stream, &err) == TF_E_USAGE);
	MUST(strstr(err.text, "a multiple of 2 elements, not 7"));
	MUST(tf_nccl_communicator_enqueue(comm, &none, device->stream, NULL) == TF_E_USAGE);
	MUST(tf_nccl_communicator_wait(comm, TIMEOUT_NS, rank_device_wait, device, NULL) == TF_OK);
	return 0;
}

static void test_refused_collectives(void **state)
{
	const struct scene scene = {.also = refuse};

	(void)state;
	run(&scene);
}

/* The caller's own reason to end. */
static int end_it(struct tf_nccl_communicator *comm, struct rank_device *device)
{
	struct tf_error why = {0}, err = {0};
	float at[2 * COUNT] = {0};

	(void)!TF_FAIL(&why, TF_E_ABORTED, "the step failed");
	tf_nccl_communicator_abort(comm, &why);
	MUST(all_reduce(comm, device, at, &err) == TF_E_ABORTED);
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_split_carries),
		cmocka_unit_test(test_parent_carries_apart), cmocka_unit_test(test_environment_is_kept),
		cmocka_unit_test(test_failing_start), cmocka_unit_test(test_hanging_start),
		cmocka_unit_test(test_failing_end), cmocka_unit_test(test_failing_call),
		cmocka_unit_test(test_hanging_call), cmocka_unit_test(test_slow_split),
		cmocka_unit_test(test_slow_return), cmocka_unit_test(test_late_return),
		cmocka_unit_test(test_hanging_abort), cmocka_unit_test(test_hanging_destroy),
		cmocka_unit_test(test_graphs_go_first), cmocka_unit_test(test_refused_collectives),
		cmocka_unit_test(test_abort)};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	if (argc > 2)
		limit_ns = atoll(argv[2]) * TF_NS_PER_MS;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
