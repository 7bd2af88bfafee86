/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a communication library: their order among other work, what taps see, failures, and who
 * is referenced by graphs. A call of the planted library copies the log's head somewhere, so that
 * what it saw can be looked at.
 */
#include "tests/device/device_suite.h"

#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/program.h"
#include "runtime/device/comm_node.h"
#include "tests/device/planted_comm.h"

#define HEAD_BYTES 64 /* of the log that are copied */
#define NODES      6

/* Where copy `number` of the log's head lies. */
static void *copy_at(struct suite_rig *rig, uint32_t number)
{
	return rig->memory + 0x8000 + number * 0x100;
}

static uint32_t count_in(struct suite_rig *rig, uint32_t number)
{
	uint32_t count = 0;

	suite_get(rig, copy_at(rig, number), &count, sizeof(count));
	return count;
}

static void append(struct suite_rig *rig, uint32_t value)
{
	struct test_append_args args = {.log = suite_log(rig), .value = value};
	struct tf_launch_call call = suite_call(rig, "test_append", &args, sizeof(args));

	assert_ok(rig->ops->stream_launch(rig->stream, &call, &rig->err), &rig->err);
}

static enum tf_status call(
	struct suite_rig *rig, struct planted_comm *planted, uint32_t group, const void *from, void *to)
{
	struct tf_comm_call comm = {&planted->caller, group, from, to, HEAD_BYTES};
	enum tf_status status = rig->ops->stream_comm(rig->stream, &comm, &rig->err);

	memset(&comm, 0xee, sizeof(comm)); /* the stream has its own copy */
	return status;
}

static enum tf_status wait_all(struct suite_rig *rig)
{
	return rig->ops->stream_wait(rig->stream, tf_deadline_after(SUITE_WAIT_NS), &rig->err);
}

static void test_stream_order(void **state)
{
	struct suite_rig *rig = *state;
	void *log = suite_log(rig), *first = copy_at(rig, 0), *second = copy_at(rig, 1);
	struct planted_comm planted;

	planted_comm_init(&planted, HEAD_BYTES);
	append(rig, 1);
	assert_ok(call(rig, &planted, 5, log, first), &rig->err);
	append(rig, 2);
	assert_ok(rig->ops->stream_copy(rig->stream, second, first, HEAD_BYTES, &rig->err), &rig->err);
	assert_ok(call(rig, &planted, 6, second, copy_at(rig, 2)), &rig->err);
	assert_ok(rig->ops->stream_set(rig->stream, second, 0, HEAD_BYTES, &rig->err), &rig->err);
	assert_int_equal(planted.call_count, suite_on_host() ? 0 : 2);
	assert_ok(wait_all(rig), &rig->err);
	assert_int_equal(planted.call_count, 2);
	assert_int_equal(suite_log_count(rig), 2);
	assert_int_equal(count_in(rig, 0), 1);
	assert_int_equal(count_in(rig, 1), 0);
	assert_int_equal(count_in(rig, 2), 1);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(planted.calls[i].group, 5 + i);
		assert_ptr_equal(planted.calls[i].from, i ? second : log);
		assert_ptr_equal(planted.calls[i].to, copy_at(rig, 2 * i));
		assert_int_equal(planted.calls[i].stream == NULL, suite_on_host());
	}
	assert_int_equal(planted.refs, 0); /* a stream holds no graph's reference */
}

static void test_stream_refuses(void **state)
{
	struct suite_rig *rig = *state;
	struct planted_comm planted, broken;

	planted_comm_init(&planted, HEAD_BYTES);
	planted_comm_init(&broken, HEAD_BYTES);
	broken.caller.graph_unref = NULL;
	assert_refused(rig->ops->stream_comm(rig->stream, NULL, &rig->err), TF_E_USAGE, &rig->err,
		"stream: no call of a communication library");
	assert_refused(rig->ops->stream_comm(rig->stream,
					   &(struct tf_comm_call){NULL, 2, rig->memory, rig->memory, 1}, &rig->err),
		TF_E_USAGE, &rig->err, "stream: a call of a communication library for group 2 without it");
	assert_refused(call(rig, &broken, 2, rig->memory, rig->memory), TF_E_USAGE, &rig->err,
		"stream: the communication library 'planted' lacks a function");
	assert_refused(call(rig, &planted, 2, NULL, rig->memory), TF_E_USAGE, &rig->err,
		"stream: comm 'planted' of group 2: without a source");
	assert_refused(call(rig, &planted, 2, rig->memory, NULL), TF_E_USAGE, &rig->err,
		"stream: comm 'planted' of group 2: without a destination");
	assert_ok(wait_all(rig), &rig->err);
	assert_int_equal(planted.call_count + broken.call_count, 0);
}

/*
 * On the host the wait ends at the call, and what is behind it is dropped; on CUDA the operation
 * itself fails, and the stream goes on.
 */
static void test_stream_failure(void **state)
{
	struct suite_rig *rig = *state;
	void *log = suite_log(rig);
	struct planted_comm planted;
	enum tf_status status;

	planted_comm_init(&planted, HEAD_BYTES);
	planted.fail_at = 2;
	append(rig, 1);
	assert_ok(call(rig, &planted, 3, log, copy_at(rig, 0)), &rig->err);
	status = call(rig, &planted, 4, log, copy_at(rig, 1));
	if (suite_on_host()) {
		assert_ok(status, &rig->err);
		append(rig, 2);
		assert_refused(wait_all(rig), TF_E_DISCONNECTED, &rig->err,
			"stream: operation 3 of 4: comm 'planted' of group 4: planted to fail");
	} else {
		assert_refused(status, TF_E_DISCONNECTED, &rig->err,
			"stream: comm 'planted' of group 4: planted to fail");
	}
	assert_ok(wait_all(rig), &rig->err);
	assert_int_equal(suite_log_count(rig), 1);
	assert_int_equal(count_in(rig, 0), 1);
	assert_ok(call(rig, &planted, 3, log, copy_at(rig, 2)), &rig->err);
	assert_ok(wait_all(rig), &rig->err);
	assert_int_equal(count_in(rig, 2), 1);
}

struct tapped {
	struct tf_exec_node nodes[NODES];
	uint32_t count;
};

static enum tf_status tap(void *user, const struct tf_exec_node *node, struct tf_error *err)
{
	struct tapped *tapped = user;

	if (tapped->count == NODES)
		return TF_FAIL(err, TF_E_LIMIT, "more nodes than there are");
	tapped->nodes[tapped->count++] = *node;
	return TF_OK;
}

static void check_tapped(const struct tf_exec_node *node, const struct planted_comm *planted,
	uint32_t group, const void *from, const void *to)
{
	assert_int_equal(node->kind, TF_NODE_COMM);
	assert_ptr_equal(node->caller, &planted->caller);
	assert_int_equal(node->value, group);
	assert_ptr_equal(node->from, from);
	assert_ptr_equal(node->to, to);
	assert_int_equal(node->bytes, HEAD_BYTES);
}

static void test_stream_tap(void **state)
{
	struct suite_rig *rig = *state;
	struct planted_comm planted;
	struct tapped tapped = {.count = 0};

	planted_comm_init(&planted, HEAD_BYTES);
	rig->ops->stream_tap(rig->stream, tap, &tapped);
	assert_ok(call(rig, &planted, 9, suite_log(rig), copy_at(rig, 0)), &rig->err);
	rig->ops->stream_tap(rig->stream, NULL, NULL);
	assert_ok(wait_all(rig), &rig->err);
	assert_int_equal(tapped.count, 1);
	check_tapped(&tapped.nodes[0], &planted, 9, suite_log(rig), copy_at(rig, 0));
	assert_int_equal(planted.call_count, 0);
}

/*
 * A chain from the last node to the first:
 *   5 append, 4 call 1 (log to copy 2), 3 append, 2 copy (copy 2 to copy 1),
 *   1 call 0 (copy 1 to copy 0), 0 call 1 again.
 * The first node in the graph that makes call 1 is node 0.
 */
struct comm_graph {
	struct tf_exec_node nodes[NODES];
	struct tf_exec_edge edges[NODES - 1];
	struct test_append_args args[2];
};

static void make_graph(
	struct suite_rig *rig, struct planted_comm *planted, struct comm_graph *graph)
{
	struct test_log *log = suite_log(rig);
	struct tf_exec_node kernel = {.kind = TF_NODE_KERNEL};
	struct tf_exec_node comm = {
		.kind = TF_NODE_COMM, .caller = &planted->caller, .bytes = HEAD_BYTES};

	graph->args[0] = (struct test_append_args){.log = log, .value = 7};
	graph->args[1] = (struct test_append_args){.log = log, .value = 8};
	kernel.launch = suite_call(rig, "test_append", &graph->args[0], sizeof(graph->args[0]));
	graph->nodes[5] = kernel;
	kernel.launch.args = &graph->args[1];
	graph->nodes[3] = kernel;
	graph->nodes[2] = (struct tf_exec_node){
		.kind = TF_NODE_COPY, .to = copy_at(rig, 1), .from = copy_at(rig, 2), .bytes = HEAD_BYTES};
	comm.from = copy_at(rig, 1);
	comm.to = copy_at(rig, 0);
	graph->nodes[1] = comm;
	comm.value = 1;
	comm.from = log;
	comm.to = copy_at(rig, 2);
	graph->nodes[0] = comm;
	graph->nodes[4] = comm;
	for (uint32_t i = 0; i < NODES - 1; i++)
		graph->edges[i] = (struct tf_exec_edge){.from = i + 1, .to = i};
}

static enum tf_status build(
	struct suite_rig *rig, const struct comm_graph *graph, struct tf_exec **out)
{
	return rig->ops->graph_build(
		rig->device, graph->nodes, NODES, graph->edges, NODES - 1, out, &rig->err);
}

static enum tf_status run(struct suite_rig *rig, struct tf_exec *exec)
{
	assert_ok(rig->ops->stream_graph(rig->stream, exec, &rig->err), &rig->err);
	return wait_all(rig);
}

/* On CUDA each different call is made once, when the graph is built; on the host in each run. */
static void test_graph_order(void **state)
{
	struct suite_rig *rig = *state;
	struct planted_comm planted;
	struct comm_graph graph = {.nodes = {{0}}};
	struct tf_exec *exec = NULL;

	planted_comm_init(&planted, HEAD_BYTES);
	make_graph(rig, &planted, &graph);
	assert_ok(build(rig, &graph, &exec), &rig->err);
	memset(&graph, 0xee, sizeof(graph));
	assert_int_equal(planted.refs, 1);
	assert_int_equal(planted.call_count, suite_on_host() ? 0 : 2);
	assert_int_equal(suite_log_count(rig), 0);
	for (uint32_t step = 0; step < 3; step++) {
		suite_log_clear(rig);
		assert_ok(run(rig, exec), &rig->err);
		assert_int_equal(suite_log_count(rig), 2);
		assert_int_equal(count_in(rig, 0), 1); /* call 1 saw one entry, and call 0 its copy */
		assert_int_equal(count_in(rig, 1), 1);
		assert_int_equal(count_in(rig, 2), 2);
	}
	assert_int_equal(planted.call_count, suite_on_host() ? 9 : 2);
	/* the captures are in the order of the nodes, the runs in that of the edges */
	assert_int_equal(planted.calls[0].group, 1);
	assert_int_equal(planted.calls[1].group, 0);
	assert_ptr_equal(planted.calls[1].from, copy_at(rig, 1));
	assert_ptr_equal(planted.calls[1].to, copy_at(rig, 0));
	assert_int_equal(planted.held, 1);
	rig->ops->graph_destroy(exec);
	assert_int_equal(planted.held, 0);
	assert_int_equal(planted.refs, 1);
}

/* A call differs by its caller, its group, its input or its output. */
static void test_different_calls(void **state)
{
	struct suite_rig *rig = *state;
	struct planted_comm planted, other;
	struct tf_exec_node nodes[5];
	struct tf_exec *exec = NULL;

	planted_comm_init(&planted, HEAD_BYTES);
	planted_comm_init(&other, HEAD_BYTES);
	for (uint32_t i = 0; i < 5; i++)
		nodes[i] = (struct tf_exec_node){.kind = TF_NODE_COMM,
			.caller = i == 1 ? &other.caller : &planted.caller,
			.value = i == 2,
			.from = copy_at(rig, i == 3),
			.to = copy_at(rig, i == 4 ? 5 : 4),
			.bytes = HEAD_BYTES};
	assert_ok(rig->ops->graph_build(rig->device, nodes, 5, NULL, 0, &exec, &rig->err), &rig->err);
	assert_ok(run(rig, exec), &rig->err);
	assert_int_equal(planted.call_count, 4);
	assert_int_equal(other.call_count, 1);
	assert_int_equal(planted.held, 1);
	assert_int_equal(other.held, 1);
	rig->ops->graph_destroy(exec);
	assert_int_equal(planted.held, 0);
	assert_int_equal(other.held, 0);
}

static void test_graph_tap(void **state)
{
	struct suite_rig *rig = *state;
	const int kinds[NODES] = {
		TF_NODE_KERNEL, TF_NODE_COMM, TF_NODE_KERNEL, TF_NODE_COPY, TF_NODE_COMM, TF_NODE_COMM};
	struct planted_comm planted;
	struct comm_graph graph = {.nodes = {{0}}};
	struct tapped tapped = {.count = 0};
	struct tf_exec *exec = NULL;
	uint32_t calls;

	planted_comm_init(&planted, HEAD_BYTES);
	make_graph(rig, &planted, &graph);
	assert_ok(build(rig, &graph, &exec), &rig->err);
	calls = planted.call_count;
	rig->ops->stream_tap(rig->stream, tap, &tapped);
	assert_ok(rig->ops->stream_graph(rig->stream, exec, &rig->err), &rig->err);
	rig->ops->stream_tap(rig->stream, NULL, NULL);
	assert_int_equal(tapped.count, NODES);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(tapped.nodes[i].kind, kinds[i]);
	check_tapped(&tapped.nodes[1], &planted, 1, suite_log(rig), copy_at(rig, 2));
	check_tapped(&tapped.nodes[4], &planted, 0, copy_at(rig, 1), copy_at(rig, 0));
	assert_ok(wait_all(rig), &rig->err);
	assert_int_equal(planted.call_count, calls);
	rig->ops->graph_destroy(exec);
}

/* On CUDA the build fails, and on the host the run. Either way the next one is as good as new. */
static void test_graph_failure(void **state)
{
	struct suite_rig *rig = *state;
	struct planted_comm planted;
	struct comm_graph graph = {.nodes = {{0}}};
	struct tf_exec *exec = NULL;

	planted_comm_init(&planted, HEAD_BYTES);
	planted.fail_at = 2;
	make_graph(rig, &planted, &graph);
	if (suite_on_host()) {
		assert_ok(build(rig, &graph, &exec), &rig->err);
		assert_refused(run(rig, exec), TF_E_DISCONNECTED, &rig->err,
			"stream: operation 1 of 1: graph: node 1: comm 'planted' of group 0: planted to fail");
		assert_int_equal(planted.call_count, 2);
	} else {
		assert_refused(build(rig, &graph, &exec), TF_E_DISCONNECTED, &rig->err,
			"node 1: comm 'planted' of group 0: planted to fail");
		assert_null(exec);
		assert_int_equal(planted.held, 0);
		assert_ok(build(rig, &graph, &exec), &rig->err);
	}
	suite_log_clear(rig);
	assert_ok(run(rig, exec), &rig->err);
	assert_int_equal(count_in(rig, 0), 1);
	assert_int_equal(count_in(rig, 2), 2);
	rig->ops->graph_destroy(exec);
	assert_int_equal(planted.held, 0);
}

static void test_graph_refuses(void **state)
{
	struct suite_rig *rig = *state;
	struct planted_comm planted;
	struct comm_graph graph = {.nodes = {{0}}}, good;
	struct tf_exec *exec = NULL;

	planted_comm_init(&planted, HEAD_BYTES);
	make_graph(rig, &planted, &graph);
	good = graph;
	graph.nodes[4].caller = NULL;
	assert_refused(build(rig, &graph, &exec), TF_E_INVALID, &rig->err,
		"node 4: a call of a communication library for group 1 without it");
	graph = good;
	graph.nodes[4].to = NULL;
	assert_refused(build(rig, &graph, &exec), TF_E_INVALID, &rig->err,
		"node 4: comm 'planted' of group 1: without a destination");
	graph = good;
	graph.edges[0].to = 5;
	assert_refused(build(rig, &graph, &exec), TF_E_INVALID, &rig->err, "lies on a cycle");
	for (uint32_t i = 3; !suite_on_host() && i < 5; i++) {
		graph = good; /* from a call to a kernel, and from a kernel to a call */
		graph.edges[i].type = 1;
		assert_refused(build(rig, &graph, &exec), TF_E_INVALID, &rig->err,
			"is programmatic, but not between kernels");
	}
	assert_null(exec);
	assert_int_equal(planted.call_count, 0);
	assert_int_equal(planted.held, 0);
}

static void test_many_callers(void **state)
{
	struct suite_rig *rig = *state;
	struct planted_comm planted[TF_COMM_CALLERS_MAX + 1];
	struct tf_exec_node nodes[TF_COMM_CALLERS_MAX + 1];
	struct tf_exec *exec = NULL;

	for (uint32_t i = 0; i <= TF_COMM_CALLERS_MAX; i++) {
		planted_comm_init(&planted[i], HEAD_BYTES);
		nodes[i] = (struct tf_exec_node){.kind = TF_NODE_COMM,
			.caller = &planted[i].caller,
			.from = copy_at(rig, 0),
			.to = copy_at(rig, 1)};
	}
	assert_refused(rig->ops->graph_build(
					   rig->device, nodes, TF_COMM_CALLERS_MAX + 1, NULL, 0, &exec, &rig->err),
		TF_E_LIMIT, &rig->err, "node 8: another communication library, at most 8");
	for (uint32_t i = 0; i <= TF_COMM_CALLERS_MAX; i++)
		assert_int_equal(planted[i].refs, 0);
	assert_ok(
		rig->ops->graph_build(rig->device, nodes, TF_COMM_CALLERS_MAX, NULL, 0, &exec, &rig->err),
		&rig->err);
	for (uint32_t i = 0; i < TF_COMM_CALLERS_MAX; i++)
		assert_int_equal(planted[i].held, 1);
	rig->ops->graph_destroy(exec);
	for (uint32_t i = 0; i < TF_COMM_CALLERS_MAX; i++)
		assert_int_equal(planted[i].held, 0);
}

static void test_no_memory(void **state)
{
	struct suite_rig *rig = *state;
	struct planted_comm planted;
	struct comm_graph graph = {.nodes = {{0}}};
	int failures = 0;

	planted_comm_init(&planted, HEAD_BYTES);
	make_graph(rig, &planted, &graph);
	for (uint64_t nth = 1;; nth++) {
		struct tf_exec *exec = NULL;
		enum tf_status status;

		tf_alloc_fail_at(nth);
		status = build(rig, &graph, &exec);
		tf_alloc_fail_at(0);
		assert_int_equal(planted.held, status == TF_OK);
		rig->ops->graph_destroy(exec);
		assert_int_equal(planted.held, 0);
		if (status == TF_OK)
			break;
		assert_refused(status, TF_E_NO_MEMORY, &rig->err, "no memory");
		failures++;
	}
	assert_true(failures >= (suite_on_host() ? 4 : 6));
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, suite_setup, suite_teardown)

const struct CMUnitTest *suite_comm_tests(size_t *out_count)
{
	static const struct CMUnitTest tests[] = {
		RIGGED(test_stream_order),
		RIGGED(test_stream_refuses),
		RIGGED(test_stream_failure),
		RIGGED(test_stream_tap),
		RIGGED(test_graph_order),
		RIGGED(test_different_calls),
		RIGGED(test_graph_tap),
		RIGGED(test_graph_failure),
		RIGGED(test_graph_refuses),
		RIGGED(test_many_callers),
		RIGGED(test_no_memory),
	};

	*out_count = sizeof(tests) / sizeof(tests[0]);
	return tests;
}
