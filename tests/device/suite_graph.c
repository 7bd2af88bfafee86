/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: dependency order, what is refused by name, copied arguments, no allocation on launch.
 */
#include "tests/device/device_suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/program.h"

#define NODES_MANY 60000

/* Nodes that append their own number to the log at the start of the rig's memory. */
struct log_graph {
	struct tf_exec_node *nodes;
	struct test_append_args *args;
	uint32_t node_count;
};

static struct log_graph make_nodes(struct suite_rig *rig, uint32_t node_count)
{
	struct log_graph graph = {.node_count = node_count};
	struct tf_launch_call call =
		suite_call(rig, "test_append", NULL, sizeof(struct test_append_args));

	graph.nodes = calloc(node_count + 1, sizeof(*graph.nodes));
	graph.args = calloc(node_count + 1, sizeof(*graph.args));
	for (uint32_t i = 0; i < node_count; i++) {
		graph.args[i] = (struct test_append_args){.log = suite_log(rig), .value = i};
		graph.nodes[i] = (struct tf_exec_node){.kind = TF_NODE_KERNEL, .launch = call};
		graph.nodes[i].launch.args = &graph.args[i];
	}
	return graph;
}

static void free_nodes(struct log_graph *graph)
{
	free(graph->nodes);
	free(graph->args);
}

static enum tf_status build(struct suite_rig *rig, const struct log_graph *graph,
	const struct tf_exec_edge *edges, uint32_t edge_count, struct tf_exec **out)
{
	return rig->ops->graph_build(
		rig->device, graph->nodes, graph->node_count, edges, edge_count, out, &rig->err);
}

static void run(struct suite_rig *rig, struct tf_exec *exec)
{
	assert_ok(rig->ops->stream_graph(rig->stream, exec, &rig->err), &rig->err);
	assert_ok(
		rig->ops->stream_wait(rig->stream, tf_deadline_after(SUITE_WAIT_NS), &rig->err), &rig->err);
}

/* Where each node is in the log: place (node_count). */
static void read_places(struct suite_rig *rig, uint32_t *place, uint32_t node_count)
{
	uint32_t *values = calloc(node_count + 1, sizeof(*values));

	suite_get(rig, suite_log(rig)->values, values, node_count * sizeof(*values));
	memset(place, 0xff, node_count * sizeof(*place));
	for (uint32_t i = 0; i < node_count; i++) {
		assert_in_range(values[i], 0, node_count - 1);
		place[values[i]] = i;
	}
	for (uint32_t i = 0; i < node_count; i++)
		assert_int_not_equal(place[i], UINT32_MAX);
	free(values);
}

/*
 * Every edge holds in what was run; the host's order is also exactly the expected one, where
 * others run free nodes at the same time.
 */
static void check_log(struct suite_rig *rig, const struct tf_exec_edge *edges, uint32_t edge_count,
	const uint32_t *expected, uint32_t node_count)
{
	uint32_t *place = calloc(node_count + 1, sizeof(*place));

	assert_int_equal(suite_log_count(rig), node_count);
	read_places(rig, place, node_count);
	for (uint32_t i = 0; i < edge_count; i++)
		assert_true(place[edges[i].from] < place[edges[i].to]);
	for (uint32_t i = 0; suite_on_host() && expected && i < node_count; i++)
		assert_int_equal(place[expected[i]], i);
	free(place);
}

/* Builds, forgets what was built from, runs, and checks the log. */
static void check_order(struct suite_rig *rig, const struct tf_exec_edge *edges,
	uint32_t edge_count, const uint32_t *expected, uint32_t node_count)
{
	struct log_graph graph = make_nodes(rig, node_count);
	struct tf_exec *exec = NULL;

	assert_ok(build(rig, &graph, edges, edge_count, &exec), &rig->err);
	memset(graph.nodes, 0xee, node_count * sizeof(*graph.nodes));
	memset(graph.args, 0xee, node_count * sizeof(*graph.args));
	free_nodes(&graph);
	suite_log_clear(rig);
	run(rig, exec);
	check_log(rig, edges, edge_count, expected, node_count);
	rig->ops->graph_destroy(exec);
}

static void test_orders(void **state)
{
	struct suite_rig *rig = *state;
	const struct tf_exec_edge diamond[] = {
		{.from = 3, .to = 0}, {.from = 3, .to = 2}, {.from = 0, .to = 1}, {.from = 2, .to = 1}};
	const struct tf_exec_edge chain[] = {{.from = 3, .to = 2}, {.from = 2, .to = 1, .type = 1},
		{.from = 1, .to = 0}, {.from = 3, .to = 2}};
	const struct tf_exec_edge late[] = {{.from = 4, .to = 0}};

	check_order(rig, diamond, 4, (const uint32_t[]){3, 0, 2, 1}, 4);
	check_order(rig, chain, 4, (const uint32_t[]){3, 2, 1, 0}, 4);
	/* Free nodes run lowest first, and a node is taken up as soon as it may run. */
	check_order(rig, late, 1, (const uint32_t[]){1, 2, 3, 4, 0, 5}, 6);
	check_order(rig, NULL, 0, (const uint32_t[]){0, 1, 2}, 3);
	check_order(rig, NULL, 0, NULL, 0);
}

/*
 * Pseudo-random edges, half of them against the numbering; every edge must hold in what was run.
 */
static void test_random_order(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 500);
	struct tf_exec_edge edges[2000];
	struct tf_exec *exec = NULL;
	uint32_t seed = 12345;

	for (size_t i = 0; i < 2000; i++) {
		uint32_t a, b;

		seed = seed * 1664525 + 1013904223;
		a = (seed >> 8) % 500;
		seed = seed * 1664525 + 1013904223;
		b = (seed >> 8) % 500;
		b = a == b ? (b + 1) % 500 : b;
		/* An order that is not the numbering: compare n * 7 mod 500, a permutation. */
		edges[i] = a * 7 % 500 < b * 7 % 500 ? (struct tf_exec_edge){.from = a, .to = b}
											 : (struct tf_exec_edge){.from = b, .to = a};
	}
	assert_ok(build(rig, &graph, edges, 2000, &exec), &rig->err);
	run(rig, exec);
	check_log(rig, edges, 2000, NULL, 500);
	rig->ops->graph_destroy(exec);
	free_nodes(&graph);
}

static void test_many_nodes(void **state)
{
	struct suite_rig *rig = *state;
	struct tf_exec_edge *edges = calloc(2 * NODES_MANY, sizeof(*edges));
	uint32_t *expected = calloc(NODES_MANY, sizeof(*expected));
	uint32_t count = 0;

	/*
	 * A chain backwards, and every node also waits for the last one; on CUDA some of them do, so
	 * that no node has more dependents than real graphs have.
	 */
	for (uint32_t i = 0; i + 1 < NODES_MANY; i++) {
		edges[count++] = (struct tf_exec_edge){.from = i + 1, .to = i};
		if (suite_on_host() || i % 1000 == 0)
			edges[count++] = (struct tf_exec_edge){.from = NODES_MANY - 1, .to = i};
	}
	for (uint32_t i = 0; i < NODES_MANY; i++)
		expected[i] = NODES_MANY - 1 - i;
	check_order(rig, edges, count, expected, NODES_MANY);
	free(edges);
	free(expected);
}

static void check_refused(struct suite_rig *rig, const struct log_graph *graph,
	const struct tf_exec_edge *edges, uint32_t edge_count, const char *words)
{
	struct tf_exec *exec = NULL;

	assert_refused(build(rig, graph, edges, edge_count, &exec), TF_E_INVALID, &rig->err, words);
	assert_null(exec);
}

static void test_cycles(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 8);
	/* 2 and 4 and 5 form the cycle; 0, 1 and 7 only hang behind it, 3 and 6 run. */
	const struct tf_exec_edge edges[] = {{.from = 3, .to = 4}, {.from = 4, .to = 5},
		{.from = 5, .to = 2}, {.from = 2, .to = 4}, {.from = 5, .to = 1}, {.from = 1, .to = 0},
		{.from = 0, .to = 7}};
	const struct tf_exec_edge self[] = {{.from = 6, .to = 6}};

	check_refused(rig, &graph, edges, 7, "node 2 lies on a cycle");
	check_refused(rig, &graph, self, 1, "node 6 lies on a cycle");
	free_nodes(&graph);
}

static void test_edges_are_refused(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 3);
	const struct tf_exec_edge from[] = {{.from = 0, .to = 1}, {.from = 3, .to = 1}};
	const struct tf_exec_edge to[] = {{.from = 0, .to = UINT32_MAX}};
	const struct tf_exec_edge type[] = {{.from = 0, .to = 1, .type = 2}};

	check_refused(rig, &graph, from, 2, "edge 1 from node 3 to node 1, of 3 nodes");
	check_refused(rig, &graph, to, 1, "edge 0 from node 0 to node 4294967295");
	check_refused(rig, &graph, type, 1, "type 2");
	free_nodes(&graph);
}

/* What CUDA could not keep is refused, not weakened. */
static void test_edge_data_is_refused(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 3);
	const struct tf_exec_edge port[] = {{.from = 0, .to = 1, .from_port = 1}};
	const struct tf_exec_edge unknown[] = {{.from = 0, .to = 1, .type = 1, .from_port = 3}};
	const struct tf_exec_edge empty[] = {{.from = 0, .to = 1}, {.from = 1, .to = 2, .type = 1}};

	if (suite_on_host()) {
		free_nodes(&graph);
		skip();
	}
	check_refused(
		rig, &graph, port, 1, "edge 0 from node 0 to node 1 has type 0 and ports 1 and 0");
	check_refused(rig, &graph, unknown, 1, "ports 3 and 0, not 0 to 2 and 0");
	graph.nodes[2].kind = TF_NODE_EMPTY;
	check_refused(rig, &graph, empty, 2,
		"edge 1 from node 1 to node 2 is programmatic, but not between kernels");
	free_nodes(&graph);
}

/* A chain of programmatic edges, their port stored or not, three times over. */
static void test_programmatic_chain(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 50);
	struct tf_exec_edge edges[49];
	struct tf_exec *exec = NULL;

	for (uint32_t i = 0; i < 49; i++)
		edges[i] =
			(struct tf_exec_edge){.from = i, .to = i + 1, .type = 1, .from_port = (uint8_t)(i % 2)};
	assert_ok(build(rig, &graph, edges, 49, &exec), &rig->err);
	for (int step = 0; step < 3; step++) {
		suite_log_clear(rig);
		run(rig, exec);
		check_log(rig, edges, 49, NULL, 50);
	}
	rig->ops->graph_destroy(exec);
	free_nodes(&graph);
}

static void test_nodes_are_refused(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 3);
	struct tf_exec_node good = graph.nodes[1];
	struct tf_exec_node *node = &graph.nodes[1];

	node->kind = TF_NODE_COMM;
	check_refused(
		rig, &graph, NULL, 0, "node 1: a call of a communication library for group 0 without it");
	node->kind = 17;
	check_refused(rig, &graph, NULL, 0, "node 1: kind 17");
	*node = (struct tf_exec_node){.kind = TF_NODE_SET, .to = rig->memory, .bytes = 1, .value = 256};
	check_refused(rig, &graph, NULL, 0, "node 1: a set to 256");
	*node = (struct tf_exec_node){.kind = TF_NODE_COPY, .to = rig->memory, .bytes = 1};
	check_refused(rig, &graph, NULL, 0, "node 1: a copy of 1 bytes without a source");
	*node = good;
	node->launch.kernel = NULL;
	check_refused(rig, &graph, NULL, 0, "node 1: a launch without a kernel");
	*node = good;
	node->launch.args_bytes = 17;
	check_refused(rig, &graph, NULL, 0, "node 1: kernel 'test_append': 17 argument bytes");
	*node = good;
	node->launch.grid[0] = 0;
	check_refused(rig, &graph, NULL, 0, "node 1: kernel 'test_append': grid 0 x 1 x 1");
	free_nodes(&graph);
}

static void test_limits(void **state)
{
	struct suite_rig *rig = *state;
	struct tf_exec *exec = NULL;

	assert_refused(
		rig->ops->graph_build(rig->device, NULL, TF_EXEC_NODES_MAX + 1, NULL, 0, &exec, &rig->err),
		TF_E_LIMIT, &rig->err, "4194305 nodes");
	assert_refused(
		rig->ops->graph_build(rig->device, NULL, 0, NULL, TF_EXEC_EDGES_MAX + 1, &exec, &rig->err),
		TF_E_LIMIT, &rig->err, "16777217 edges");
	rig->ops->graph_destroy(NULL);
}

static void test_copy_set_empty(void **state)
{
	struct suite_rig *rig = *state;
	uint8_t *own = rig->memory, *peer = rig->memory + rig->stride, got[10];
	struct tf_exec_node nodes[] = {
		{.kind = TF_NODE_COPY, .to = peer, .from = own, .bytes = 10},
		{.kind = TF_NODE_EMPTY},
		{.kind = TF_NODE_SET, .to = own, .bytes = 9, .value = 255},
		{.kind = TF_NODE_COPY},
		{.kind = TF_NODE_SET},
	};
	const struct tf_exec_edge edges[] = {
		{.from = 2, .to = 1}, {.from = 1, .to = 0}, {.from = 0, .to = 3}, {.from = 3, .to = 4}};
	struct tf_exec *exec = NULL;

	assert_ok(rig->ops->graph_build(rig->device, nodes, 5, edges, 4, &exec, &rig->err), &rig->err);
	run(rig, exec);
	suite_get(rig, peer, got, sizeof(got));
	for (int i = 0; i < 10; i++)
		assert_int_equal(got[i], i < 9 ? 255 : 0);
	rig->ops->graph_destroy(exec);
}

static void test_launch_allocates_nothing(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 86);
	struct tf_exec *exec = NULL;
	uint64_t before;

	assert_ok(build(rig, &graph, NULL, 0, &exec), &rig->err);
	before = tf_alloc_count();
	for (int step = 0; step < 100; step++) {
		suite_log_clear(rig);
		run(rig, exec);
		assert_int_equal(suite_log_count(rig), 86);
	}
	assert_int_equal(tf_alloc_count(), before);
	rig->ops->graph_destroy(exec);
	free_nodes(&graph);
}

/* CU_STREAM_PER_THREAD and CU_STREAM_LEGACY, of the context that an operation leaves current. */
#define PER_THREAD ((void *)2)
#define LEGACY     ((void *)1)

/* A stream that is not ours is not waited for by us: the log is looked at until it is full. */
static void test_enqueue(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 3);
	int64_t deadline_ns = tf_deadline_after(SUITE_WAIT_NS);
	struct tf_exec *exec = NULL;

	assert_ok(build(rig, &graph, NULL, 0, &exec), &rig->err);
	if (suite_on_host()) {
		assert_refused(rig->ops->graph_enqueue(exec, NULL, &rig->err), TF_E_USAGE, &rig->err,
			"the host device takes no stream of a caller's");
	} else {
		assert_ok(rig->ops->graph_enqueue(exec, PER_THREAD, &rig->err), &rig->err);
		assert_ok(rig->ops->graph_enqueue(exec, LEGACY, &rig->err), &rig->err);
		assert_ok(rig->ops->graph_enqueue(exec, NULL, &rig->err), &rig->err);
		while (suite_log_count(rig) < 9 && !tf_deadline_passed(deadline_ns))
			;
		assert_int_equal(suite_log_count(rig), 9);
	}
	rig->ops->graph_destroy(exec);
	free_nodes(&graph);
}

static void test_host_deadline(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 4);
	int64_t deadline_ns = tf_deadline_after(20 * TF_NS_PER_MS);
	struct test_until_args args = {.until_ns = deadline_ns + 100 * TF_NS_PER_MS};
	const struct tf_exec_edge edges[] = {{.from = 3, .to = 2}, {.from = 2, .to = 1}};
	struct tf_exec *exec = NULL;

	if (!suite_on_host()) {
		free_nodes(&graph);
		skip();
	}
	graph.nodes[2].launch = suite_call(rig, "test_until", &args, sizeof(args));
	assert_ok(build(rig, &graph, edges, 2, &exec), &rig->err);
	assert_ok(rig->ops->stream_graph(rig->stream, exec, &rig->err), &rig->err);
	assert_refused(rig->ops->stream_wait(rig->stream, deadline_ns, &rig->err), TF_E_TIMEOUT,
		&rig->err,
		"operation 1 of 1: graph: the deadline passed before node 1 (kernel 'test_append'), after "
		"3 of 4 nodes");
	assert_int_equal(suite_log_count(rig), 2); /* nodes 0 and 3 */
	run(rig, exec);                            /* the graph is as good as new */
	assert_int_equal(suite_log_count(rig), 5);
	rig->ops->graph_destroy(exec);
	free_nodes(&graph);
}

struct seen {
	uint32_t values[8];
	uint32_t count;
};

static enum tf_status see(void *user, const struct tf_exec_node *node, struct tf_error *err)
{
	struct seen *seen = user;
	const struct test_append_args *args = node->launch.args;

	if (seen->count == 3)
		return TF_FAIL(err, TF_E_LIMIT, "three are enough");
	seen->values[seen->count++] = args->value;
	return TF_OK;
}

static void test_tap_sees_the_nodes(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 3);
	const struct tf_exec_edge edges[] = {{.from = 2, .to = 0}};
	struct seen seen = {0};
	struct tf_exec *exec = NULL;

	assert_ok(build(rig, &graph, edges, 1, &exec), &rig->err);
	rig->ops->stream_tap(rig->stream, see, &seen);
	assert_ok(rig->ops->stream_graph(rig->stream, exec, &rig->err), &rig->err);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.values[0], 1);
	assert_int_equal(seen.values[1], 2);
	assert_int_equal(seen.values[2], 0);
	assert_refused(rig->ops->stream_graph(rig->stream, exec, &rig->err), TF_E_LIMIT, &rig->err,
		"three are enough");
	rig->ops->stream_tap(rig->stream, NULL, NULL);
	assert_ok(
		rig->ops->stream_wait(rig->stream, tf_deadline_after(SUITE_WAIT_NS), &rig->err), &rig->err);
	assert_int_equal(suite_log_count(rig), 0);
	rig->ops->graph_destroy(exec);
	free_nodes(&graph);
}

static void test_no_memory(void **state)
{
	struct suite_rig *rig = *state;
	struct log_graph graph = make_nodes(rig, 5);
	const struct tf_exec_edge edges[] = {{.from = 2, .to = 0}};
	int failures = 0;

	for (uint64_t nth = 1;; nth++) {
		struct tf_exec *exec = NULL;
		enum tf_status status;

		tf_alloc_fail_at(nth);
		status = build(rig, &graph, edges, 1, &exec);
		tf_alloc_fail_at(0);
		rig->ops->graph_destroy(exec);
		if (status == TF_OK)
			break;
		assert_refused(status, TF_E_NO_MEMORY, &rig->err, "no memory");
		failures++;
	}
	assert_true(failures >= 2);
	free_nodes(&graph);
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, suite_setup, suite_teardown)

const struct CMUnitTest *suite_graph_tests(size_t *out_count)
{
	static const struct CMUnitTest tests[] = {
		RIGGED(test_orders),
		RIGGED(test_random_order),
		RIGGED(test_many_nodes),
		RIGGED(test_cycles),
		RIGGED(test_edges_are_refused),
		RIGGED(test_edge_data_is_refused),
		RIGGED(test_programmatic_chain),
		RIGGED(test_nodes_are_refused),
		RIGGED(test_limits),
		RIGGED(test_copy_set_empty),
		RIGGED(test_launch_allocates_nothing),
		RIGGED(test_enqueue),
		RIGGED(test_host_deadline),
		RIGGED(test_tap_sees_the_nodes),
		RIGGED(test_no_memory),
	};

	*out_count = sizeof(tests) / sizeof(tests[0]);
	return tests;
}
