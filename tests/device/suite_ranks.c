/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of several ranks: two processes, a child of an open window, eight threads. */
#include "tests/device/device_suite.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/deadline.h"
#include "catalog/program.h"

/* One message between the two processes: the window's base, and a segment's descriptor. */
struct message {
	uint64_t base;
};

static int send_message(int socket, uint64_t base, int fd)
{
	struct message message = {base};
	struct iovec part = {&message, sizeof(message)};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct msghdr header = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *entry = CMSG_FIRSTHDR(&header);

	entry->cmsg_level = SOL_SOCKET;
	entry->cmsg_type = SCM_RIGHTS;
	entry->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(entry), &fd, sizeof(fd));
	return sendmsg(socket, &header, 0) == (ssize_t)sizeof(message) ? 0 : -1;
}

/* The descriptor, or -1 when none came in time. */
static int receive_message(int socket, uint64_t *out_base)
{
	struct message message;
	struct iovec part = {&message, sizeof(message)};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct msghdr header = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	struct pollfd ready = {.fd = socket, .events = POLLIN};
	struct cmsghdr *entry;
	int fd = -1;

	if (poll(&ready, 1, (int)(SUITE_WAIT_NS / TF_NS_PER_MS)) != 1 ||
		recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(message))
		return -1;
	entry = CMSG_FIRSTHDR(&header);
	if (entry && entry->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(entry), sizeof(fd));
	*out_base = message.base;
	return fd;
}

/*
 * One rank's part in a group of two; 0 when all went well, else the number of the step that
 * failed.
 */
struct rank_part {
	const struct tf_device_ops *ops;
	struct tf_device *device;
	struct tf_window *window;
	struct tf_stream *stream;
	struct tf_module_handle *module;
	uint32_t rank;
	uint64_t stride;
	struct tf_error err;
};

static enum tf_status launch(
	struct rank_part *part, const char *name, const void *args, uint32_t args_bytes)
{
	struct tf_launch_call call = {
		.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .args_bytes = args_bytes};

	TF_TRY(part->ops->kernel_find(part->module, name, args_bytes, &call.kernel, &part->err));
	return part->ops->stream_launch(part->stream, &call, &part->err);
}

/* Rank r stores 100 + r into word r of every segment, then waits for every peer's in its own. */
static int exchange(struct rank_part *part, uint32_t world)
{
	uint64_t base = part->ops->window_base(part->window);
	uint64_t *own = (uint64_t *)(uintptr_t)(base + part->rank * part->stride);

	for (uint32_t to = 0; to < world; to++) {
		uint64_t *there = (uint64_t *)(uintptr_t)(base + to * part->stride);
		struct test_store_args store = {there + part->rank, 100 + part->rank};

		if (launch(part, "test_store", &store, sizeof(store)) != TF_OK)
			return 31;
	}
	for (uint32_t from = 0; from < world; from++) {
		struct test_arrive_args arrive = {own + from, 100 + from, SUITE_WAIT_NS, own + 64 + from};

		if (launch(part, "test_arrive", &arrive, sizeof(arrive)) != TF_OK)
			return 32;
	}
	if (part->ops->stream_wait(part->stream, TF_DEADLINE_NEVER, &part->err) != TF_OK)
		return 33;
	for (uint32_t from = 0; from < world; from++) {
		uint64_t came = 0;

		if (part->ops->read(part->device, &came, own + 64 + from, sizeof(came), &part->err) !=
				TF_OK ||
			came != 1)
			return 34;
	}
	return 0;
}

/*
 * Copies and sets into another rank's segment, by a stream and by a graph, each to a line of its
 * own: line 0 to 3 behind the words of `exchange`. Whoever wrote reads back: no rank waits.
 */
static int write_to_peer(struct rank_part *part, uint32_t world)
{
	const struct tf_device_ops *ops = part->ops;
	uint64_t base = ops->window_base(part->window);
	uint64_t own = base + part->rank * part->stride;
	uint64_t there = base + (part->rank + 1) % world * part->stride + 4096 + part->rank * 256;
	void *const line[] = {(void *)(uintptr_t)there, (void *)(uintptr_t)(there + 64),
		(void *)(uintptr_t)(there + 128), (void *)(uintptr_t)(there + 192)};
	const void *word = (const void *)(uintptr_t)(own + 8 * part->rank); /* 100 + rank */
	const struct tf_exec_node nodes[] = {
		{.kind = TF_NODE_COPY, .to = line[0], .from = word, .bytes = 8},
		{.kind = TF_NODE_SET, .to = line[1], .bytes = 8, .value = 0x40 + part->rank},
	};
	struct tf_exec *exec = NULL;
	uint64_t found[32] = {0};
	enum tf_status status;

	if (ops->graph_build(part->device, nodes, 2, NULL, 0, &exec, &part->err) != TF_OK)
		return 41;
	status = ops->stream_graph(part->stream, exec, &part->err);
	if (status == TF_OK)
		status = ops->stream_copy(part->stream, line[2], word, 8, &part->err);
	if (status == TF_OK)
		status =
			ops->stream_set(part->stream, line[3], (uint8_t)(0x80 + part->rank), 8, &part->err);
	if (status == TF_OK)
		status = ops->stream_wait(part->stream, tf_deadline_after(SUITE_WAIT_NS), &part->err);
	if (status == TF_OK)
		status = ops->read(part->device, found, line[0], sizeof(found), &part->err);
	ops->graph_destroy(exec);
	if (status != TF_OK)
		return 42;
	return found[0] == 100 + part->rank && found[16] == 100 + part->rank &&
			found[8] == UINT64_C(0x0101010101010101) * (0x40 + part->rank) &&
			found[24] == UINT64_C(0x0101010101010101) * (0x80 + part->rank)
		? 0
		: 43;
}

static int open_part(struct rank_part *part)
{
	struct tf_device_properties properties;

	part->ops = suite_ops;
	if (part->ops->open(suite_ordinal(part->rank), &part->device, &part->err) != TF_OK)
		return 1;
	part->ops->properties(part->device, &properties);
	part->stride = 4 * properties.granularity_bytes;
	if (suite_module_load(part->ops, part->device, &part->module, &part->err) != TF_OK)
		return 2;
	if (part->ops->stream_create(part->device, &part->stream, &part->err) != TF_OK)
		return 3;
	return 0;
}

static void close_part(struct rank_part *part)
{
	part->ops->stream_destroy(part->stream);
	part->ops->window_close(part->window);
	part->ops->module_unload(part->module);
	part->ops->close(part->device);
}

static const uint8_t pair_token[TF_WINDOW_TOKEN_BYTES] = "two processes";

/* Each process makes its own segment, sends it, and maps both; rank 0 tells the base. */
static int share_window(struct rank_part *part, int socket)
{
	uint64_t base = 0;
	int own = -1, peer = -1, failed = 0;

	if (part->rank == 0 &&
		suite_window_open(part->ops, part->device, pair_token, part->stride, 2, &part->window,
			&part->err) != TF_OK)
		return 11;
	if (part->ops->segment_create(part->device, part->stride, &own, &part->err) != TF_OK)
		return 12;
	if (part->rank == 0)
		base = part->ops->window_base(part->window);
	if (send_message(socket, base, own) != 0)
		failed = 13;
	peer = receive_message(socket, &base);
	if (!failed && peer < 0)
		failed = 14;
	if (!failed && part->rank == 1 &&
		part->ops->window_open(
			part->device, pair_token, base, part->stride, 2, &part->window, &part->err) != TF_OK)
		failed = 15;
	if (!failed && part->rank == 1 && part->ops->window_base(part->window) != base)
		failed = 16;
	if (!failed &&
		(part->ops->window_map(part->window, part->rank, own, part->stride, &part->err) != TF_OK ||
			part->ops->window_map(part->window, 1 - part->rank, peer, part->stride, &part->err) !=
				TF_OK))
		failed = 17;
	close(own);
	close(peer);
	return failed;
}

static int run_process(uint32_t rank, int socket)
{
	struct rank_part part = {.rank = rank};
	int failed = open_part(&part);

	if (!failed)
		failed = share_window(&part, socket);
	if (!failed)
		failed = exchange(&part, 2);
	if (!failed)
		failed = write_to_peer(&part, 2);
	if (failed)
		fprintf(stderr, "rank %u: step %d: %s\n", rank, failed, part.err.text);
	close_part(&part);
	return failed;
}

/* The exit code of a child that ends in time; a child that does not is killed. */
static int end_child(pid_t child)
{
	int64_t deadline_ns = tf_deadline_after(SUITE_WAIT_NS);
	int status = 0;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (tf_deadline_passed(deadline_ns)) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			return -1;
		}
		usleep(1000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int suite_ranks_peer(int socket)
{
	return run_process(1, socket);
}

/* A process of its own by exec: not every driver survives a fork. */
static void become_peer(int socket)
{
	char fd_text[16];

	snprintf(fd_text, sizeof(fd_text), "%d", socket);
	if (fcntl(socket, F_SETFD, 0) == 0)
		execl("/proc/self/exe", "device_cts", suite_ops->name, "peer", fd_text, (char *)NULL);
	_exit(99);
}

static void test_two_processes(void **state)
{
	int sockets[2];
	int failed;
	pid_t child;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		become_peer(sockets[1]);
	close(sockets[1]);
	failed = run_process(0, sockets[0]);
	close(sockets[0]);
	assert_int_equal(end_child(child), 0);
	assert_int_equal(failed, 0);
}

/* A child's memory is its own until it opens the window itself; its parent's is not touched. */
static int run_child_of_window(struct suite_rig *rig, const uint8_t *token, uint64_t base, int fd)
{
	struct tf_window *inherited = rig->window, *window = NULL;
	struct tf_error err = {0};
	uint8_t *memory = (uint8_t *)(uintptr_t)base;
	int failed = 0;

	if (rig->ops->window_open(rig->device, token, base, rig->stride, 2, &window, &err) != TF_OK)
		return 1;
	if (rig->ops->window_map(window, 0, fd, rig->stride, &err) != TF_OK)
		return 2;
	if (memory[10] != 123)
		failed = 3;
	rig->ops->window_close(inherited);
	memory[11] = 45; /* still mapped: closing what was inherited takes nothing away */
	rig->ops->window_close(window);
	return failed;
}

static void test_child_of_a_window(void **state)
{
	struct suite_rig *rig = *state;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	uint64_t base = rig->ops->window_base(rig->window);
	int fd = -1;
	pid_t child;

	if (!suite_on_host())
		skip(); /* a child by fork has no driver */
	rig->ops->window_close(rig->window);
	suite_token(token);
	assert_ok(
		rig->ops->window_open(rig->device, token, base, rig->stride, 2, &rig->window, &rig->err),
		&rig->err);
	assert_ok(rig->ops->segment_create(rig->device, rig->stride, &fd, &rig->err), &rig->err);
	assert_ok(rig->ops->window_map(rig->window, 0, fd, rig->stride, &rig->err), &rig->err);
	rig->memory[10] = 123;
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(run_child_of_window(rig, token, base, fd));
	assert_int_equal(end_child(child), 0);
	assert_int_equal(rig->memory[11], 45);
	close(fd);
}

struct thread_rank {
	struct rank_part part;
	pthread_barrier_t *barrier;
	const uint8_t *token;
	int *fds;      /* (TF_WORLD_MAX), one written by each thread before the barrier */
	uint64_t base; /* where this thread found the window */
	int failed;
};

static void map_all(struct thread_rank *thread)
{
	struct rank_part *part = &thread->part;

	for (uint32_t rank = 0; !thread->failed && rank < TF_WORLD_MAX; rank++)
		if (part->ops->window_map(
				part->window, rank, thread->fds[rank], part->stride, &part->err) != TF_OK)
			thread->failed = 23;
}

static void *run_thread(void *user)
{
	struct thread_rank *thread = user;
	struct rank_part *part = &thread->part;

	thread->failed = open_part(part);
	if (!thread->failed &&
		suite_window_open(part->ops, part->device, thread->token, part->stride, TF_WORLD_MAX,
			&part->window, &part->err) != TF_OK)
		thread->failed = 21;
	if (!thread->failed &&
		part->ops->segment_create(
			part->device, part->stride, &thread->fds[part->rank], &part->err) != TF_OK)
		thread->failed = 22;
	pthread_barrier_wait(thread->barrier);
	map_all(thread);
	if (!thread->failed) {
		thread->base = part->ops->window_base(part->window);
		thread->failed = exchange(part, TF_WORLD_MAX);
		if (!thread->failed)
			thread->failed = write_to_peer(part, TF_WORLD_MAX);
	}
	/*
	 * A peer may still store into this rank's segment: nobody closes before everyone is through.
	 */
	pthread_barrier_wait(thread->barrier);
	close_part(part);
	return NULL;
}

static void run_threads(const uint8_t *token, uint64_t *out_base)
{
	struct thread_rank threads[TF_WORLD_MAX] = {0};
	pthread_t handles[TF_WORLD_MAX];
	pthread_barrier_t barrier;
	int fds[TF_WORLD_MAX];

	pthread_barrier_init(&barrier, NULL, TF_WORLD_MAX);
	memset(fds, -1, sizeof(fds));
	for (uint32_t i = 0; i < TF_WORLD_MAX; i++) {
		threads[i] = (struct thread_rank){
			.part = {.rank = i}, .barrier = &barrier, .token = token, .fds = fds};
		assert_int_equal(pthread_create(&handles[i], NULL, run_thread, &threads[i]), 0);
	}
	for (uint32_t i = 0; i < TF_WORLD_MAX; i++)
		pthread_join(handles[i], NULL);
	pthread_barrier_destroy(&barrier);
	for (uint32_t i = 0; i < TF_WORLD_MAX; i++) {
		close(fds[i]);
		if (threads[i].failed)
			fail_msg("rank %u: step %d: %s", i, threads[i].failed, threads[i].part.err.text);
		assert_int_equal(threads[i].base, threads[0].base);
	}
	*out_base = threads[0].base;
}

static void test_threads(void **state)
{
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	uint64_t first = 0, second = 0;

	(void)state;
	suite_token(token);
	run_threads(token, &first);
	assert_true(first != 0);
	/* All references are gone, so the same token and base serve again. */
	run_threads(token, &second);
	assert_int_equal(first, second);
}

const struct CMUnitTest *suite_ranks_tests(size_t *out_count)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_processes),
		cmocka_unit_test_setup_teardown(test_child_of_a_window, suite_setup, suite_teardown),
		cmocka_unit_test(test_threads),
	};

	*out_count = sizeof(tests) / sizeof(tests[0]);
	return tests;
}
