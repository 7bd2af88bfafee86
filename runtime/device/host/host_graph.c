/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An executable graph is its nodes in the order in which they run, one block behind the other:
 * launching it is a loop. Everything is checked, ordered and copied when it is built.
 *
 * Invariants: every node passes tf_host_node_check; argument bytes lie in `args`, each launch at
 * a multiple of ARGS_ALIGN; `index` gives a node's number in the graph it was built from.
 */
#include "runtime/device/host/host_graph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "catalog/program.h"
#include "runtime/device/comm_node.h"
#include "runtime/device/host/host_node.h"
#include "runtime/device/host/host_order.h"

#define ARGS_ALIGN 16 /* no argument struct needs more */

struct tf_exec {
	uint32_t node_count;
	struct tf_exec_node *nodes; /* (node_count), in running order */
	uint32_t *index;            /* (node_count) */
	uint8_t *args;
	struct tf_comm_callers callers; /* referenced */
};

static enum tf_status check_nodes(const struct tf_exec_node *nodes, uint32_t node_count,
	size_t *out_args_bytes, struct tf_error *err)
{
	size_t args_bytes = 0;

	for (uint32_t i = 0; i < node_count; i++) {
		enum tf_status status = tf_host_node_check(&nodes[i], TF_E_INVALID, err);

		if (status != TF_OK) {
			tf_error_prefix(err, "node %u", i);
			return status;
		}
		if (nodes[i].kind == TF_NODE_KERNEL)
			args_bytes += tf_align_up(nodes[i].launch.args_bytes, ARGS_ALIGN);
	}
	*out_args_bytes = args_bytes;
	return TF_OK;
}

static void copy_nodes(struct tf_exec *exec, const struct tf_exec_node *nodes)
{
	uint8_t *args = exec->args;

	for (uint32_t i = 0; i < exec->node_count; i++) {
		struct tf_exec_node *node = &exec->nodes[i];

		*node = nodes[exec->index[i]];
		if (node->kind != TF_NODE_KERNEL || !node->launch.args_bytes)
			continue;
		memcpy(args, node->launch.args, node->launch.args_bytes);
		node->launch.args = args;
		args += tf_align_up(node->launch.args_bytes, ARGS_ALIGN);
	}
}

/* NULL where memory is short. */
static struct tf_exec *allocate(uint32_t node_count, size_t args_bytes)
{
	struct tf_exec *exec = tf_calloc(1, sizeof(*exec));

	if (!exec)
		return NULL;
	exec->node_count = node_count;
	exec->nodes = tf_calloc(node_count, sizeof(*exec->nodes));
	exec->index = tf_calloc(node_count, sizeof(*exec->index));
	exec->args = tf_calloc(args_bytes, 1);
	if (exec->nodes && exec->index && exec->args)
		return exec;
	tf_host_graph_destroy(exec);
	return NULL;
}

enum tf_status tf_host_graph_build(struct tf_device *device, const struct tf_exec_node *nodes,
	uint32_t node_count, const struct tf_exec_edge *edges, uint32_t edge_count,
	struct tf_exec **out, struct tf_error *err)
{
	enum tf_status status;
	struct tf_exec *exec;
	size_t args_bytes;

	(void)device;
	if (node_count > TF_EXEC_NODES_MAX || edge_count > TF_EXEC_EDGES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "%u nodes and %u edges, at most %u and %u", node_count,
			edge_count, TF_EXEC_NODES_MAX, TF_EXEC_EDGES_MAX);
	TF_TRY(check_nodes(nodes, node_count, &args_bytes, err));
	exec = allocate(node_count, args_bytes);
	if (!exec)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u nodes with %zu argument bytes",
			node_count, args_bytes);
	status = tf_host_order(node_count, edges, edge_count, exec->index, err);
	if (status == TF_OK)
		status = tf_comm_callers_ref(&exec->callers, nodes, node_count, err);
	if (status != TF_OK) {
		tf_host_graph_destroy(exec);
		return status;
	}
	copy_nodes(exec, nodes);
	*out = exec;
	return TF_OK;
}

void tf_host_graph_destroy(struct tf_exec *exec)
{
	if (!exec)
		return;
	tf_comm_callers_unref(&exec->callers);
	tf_free(exec->nodes);
	tf_free(exec->index);
	tf_free(exec->args);
	tf_free(exec);
}

enum tf_status tf_host_graph_enqueue(struct tf_exec *exec, void *stream, struct tf_error *err)
{
	(void)exec;
	return TF_FAIL(
		err, TF_E_USAGE, "the host device takes no stream of a caller's, %p was given", stream);
}

enum tf_status tf_host_exec_run(
	const struct tf_exec *exec, int64_t deadline_ns, struct tf_error *err)
{
	for (uint32_t i = 0; i < exec->node_count; i++) {
		char text[TF_HOST_NODE_TEXT_BYTES];
		enum tf_status status;

		if (tf_host_node_late(deadline_ns))
			return TF_FAIL(err, TF_E_TIMEOUT,
				"graph: the deadline passed before node %u (%s), after %u of %u nodes",
				exec->index[i], tf_host_node_text(&exec->nodes[i], text), i, exec->node_count);
		status = tf_host_node_run(&exec->nodes[i], err);
		if (status != TF_OK) {
			tf_error_prefix(err, "graph: node %u", exec->index[i]);
			return status;
		}
	}
	return TF_OK;
}

enum tf_status tf_host_exec_tap(
	const struct tf_exec *exec, tf_stream_tap_fn fn, void *user, struct tf_error *err)
{
	for (uint32_t i = 0; i < exec->node_count; i++)
		TF_TRY(fn(user, &exec->nodes[i], err));
	return TF_OK;
}
