/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks say by their exit code; the log is read, and removed, once both are gone. */
#include "tests/nccl/nccl_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/link/spawn.h"

int64_t limit_ns = 60 * TF_NS_PER_S;

static char log_path[64];
static char log_text[8192];

enum tf_status all_reduce(const struct act *act, float *at, struct tf_error *err)
{
	struct tf_nccl_collective what = {TF_OP_ALL_REDUCE, TF_DTYPE_F32, COUNT, at, at + COUNT};

	return tf_nccl_communicator_enqueue(act->comm, &what, act->device->stream, err);
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
static int check_end(const struct scene *scene, const struct act *act, float *at,
	enum tf_status status, const struct tf_error *seen)
{
	struct tf_error again = {0};

	MUST(check_text(scene, tf_link_rank(act->link), seen) == 0);
	MUST(all_reduce(act, at, &again) == status);
	MUST(strcmp(again.text, seen->text) == 0);
	MUST(tf_nccl_communicator_wait(act->comm, TIMEOUT_NS, rank_device_wait, act->device, NULL) ==
		status);
	MUST(tf_nccl_communicator_close(act->comm, NULL) == scene->close);
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
	struct act act = {.device = device, .link = link};
	uint32_t rank = tf_link_rank(link);
	struct tf_error err = {0};
	float at[2 * COUNT] = {1};
	enum tf_status status;

	status = tf_nccl_communicator_open(&options, &act.comm, &err);
	if (status != scene->open)
		fprintf(stderr, "rank %u: open: %s: %s\n", rank, tf_status_name(status), err.text);
	MUST(status == scene->open);
	if (status != TF_OK)
		return check_text(scene, rank, &err);
	status = all_reduce(&act, at, &err);
	if (status != scene->enqueue)
		fprintf(stderr, "rank %u: enqueue: %s: %s\n", rank, tf_status_name(status), err.text);
	MUST(status == scene->enqueue);
	if (status != TF_OK) {
		MUST(__atomic_load_n(&told, __ATOMIC_ACQUIRE));
		return check_end(scene, &act, at, status, &err);
	}
	status =
		tf_nccl_communicator_wait(act.comm, options.timeout_ns, rank_device_wait, device, &err);
	if (status != scene->wait)
		fprintf(stderr, "rank %u: wait: %s: %s\n", rank, tf_status_name(status), err.text);
	MUST(status == scene->wait);
	if (status != TF_OK)
		return check_end(scene, &act, at, status, &err);
	MUST(at[COUNT] == 2);
	if (scene->also)
		MUST(scene->also(&act) == 0);
	MUST(tf_link_barrier(link, tf_deadline_after(limit_ns), NULL) == TF_OK);
	MUST(tf_nccl_communicator_close(act.comm, NULL) == scene->close);
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

unsigned count(const char *what)
{
	unsigned found = 0;

	for (const char *at = log_text; (at = strstr(at, what)); at++)
		found++;
	return found;
}

void run(const struct scene *scene)
{
	run_scene(scene, log_text, sizeof(log_text));
}

void assert_order(unsigned rank, const char *first, const char *second)
{
	char a[64], b[64];
	const char *at;

	snprintf(a, sizeof(a), "rank %u: %s\n", rank, first);
	snprintf(b, sizeof(b), "rank %u: %s\n", rank, second);
	at = strstr(log_text, a);
	if (!at || !strstr(at, b))
		fail_msg("no '%s' before '%s' in: %s", first, second, log_text);
}

void assert_ended(void)
{
	for (unsigned r = 0; r < 2; r++) {
		assert_order(r, "ending", "abort parent");
		assert_order(r, "abort parent", "abort split");
	}
	assert_int_equal(count("ending"), 2);
}
