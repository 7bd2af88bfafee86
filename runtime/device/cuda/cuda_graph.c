/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An executable graph is the driver's, instantiated and uploaded when it is built, and beside it
 * a copy of its nodes for a tap. The driver's description stays too: a caller's capture takes it as
 * a child.
 *
 * Invariants: every node passes tf_cuda_node_check; `nodes` is in an order in which they could
 * run one by one; a graph without nodes has no handle, and launching it is nothing.
 */
#include "runtime/device/cuda/cuda_graph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "catalog/program.h"
#include "runtime/device/comm_node.h"
#include "runtime/device/cuda/cuda_comm.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/cuda/cuda_edges.h"
#include "runtime/device/cuda/cuda_node.h"
#include "runtime/device/host/host_order.h"

#define ARGS_ALIGN 16 /* no argument struct needs more */

struct tf_exec {
	struct tf_cuda_context *context; /* a reference */
	CUgraph description;
	CUgraphExec handle;
	uint32_t node_count;
	struct tf_exec_node *nodes; /* (node_count) */
	uint8_t *args;
	struct tf_comm_callers callers; /* referenced */
	int is_capture;                 /* the nodes are not known */
};

static enum tf_status check_nodes(const struct tf_exec_node *nodes, uint32_t node_count,
	size_t *out_args_bytes, struct tf_error *err)
{
	size_t args_bytes = 0;

	for (uint32_t i = 0; i < node_count; i++) {
		enum tf_status status = tf_cuda_node_check(&nodes[i], TF_E_INVALID, err);

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

static void copy_nodes(
	struct tf_exec *exec, const struct tf_exec_node *nodes, const uint32_t *order)
{
	uint8_t *args = exec->args;

	for (uint32_t i = 0; i < exec->node_count; i++) {
		struct tf_exec_node *node = &exec->nodes[i];

		*node = nodes[order[i]];
		if (node->kind != TF_NODE_KERNEL || !node->launch.args_bytes)
			continue;
		memcpy(args, node->launch.args, node->launch.args_bytes);
		node->launch.args = args;
		args += tf_align_up(node->launch.args_bytes, ARGS_ALIGN);
	}
}

/* The copy for taps, and with it the order, which proves that there is no cycle. */
static enum tf_status keep_nodes(struct tf_exec *exec, const struct tf_exec_node *nodes,
	const struct tf_exec_edge *edges, uint32_t edge_count, size_t args_bytes, struct tf_error *err)
{
	uint32_t *order = tf_calloc(exec->node_count, sizeof(*order));
	enum tf_status status;

	exec->nodes = tf_calloc(exec->node_count, sizeof(*exec->nodes));
	exec->args = tf_calloc(args_bytes, 1);
	if (!order || !exec->nodes || !exec->args)
		status = TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u nodes with %zu argument bytes",
			exec->node_count, args_bytes);
	else
		status = tf_host_order(exec->node_count, edges, edge_count, order, err);
	if (status == TF_OK)
		copy_nodes(exec, nodes, order);
	tf_free(order);
	return status;
}

/* What is handed from one step of the building to the next; `graph` becomes exec->description. */
struct description {
	CUgraph graph;
	CUgraphNode *handles; /* (node_count) */
	const struct tf_exec_node *nodes;
	uint32_t node_count;
	struct tf_cuda_comm comm;
};

static enum tf_status add_nodes(
	const struct tf_cuda_context *context, struct description *description, struct tf_error *err)
{
	for (uint32_t i = 0; i < description->node_count; i++) {
		const struct tf_exec_node *node = &description->nodes[i];
		CUgraphNode *out = &description->handles[i];
		enum tf_status status = node->kind == TF_NODE_COMM
			? tf_cuda_comm_add(&description->comm, node, description->graph, out, err)
			: tf_cuda_node_add(context, node, description->graph, out, err);

		if (status != TF_OK) {
			tf_error_prefix(err, "node %u", i);
			return status;
		}
	}
	return TF_OK;
}

static enum tf_status instantiate(
	struct tf_exec *exec, const struct description *description, struct tf_error *err)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
	enum tf_status status = TF_CU(exec->context->api, err,
		cuGraphInstantiateWithParams(&exec->handle, description->graph, &params));

	if (status == TF_OK)
		return TF_OK;
	exec->handle = NULL;
	for (uint32_t i = 0; params.hErrNode_out && i < description->node_count; i++)
		if (description->handles[i] == params.hErrNode_out)
			tf_error_prefix(err, "node %u (result %d)", i, (int)params.result_out);
	return status;
}

static enum tf_status upload(const struct tf_exec *exec, struct tf_error *err)
{
	const struct tf_cuda_context *context = exec->context;

	TF_TRY(TF_CU(context->api, err, cuGraphUpload(exec->handle, context->transfer)));
	return tf_cuda_context_settle(context, err);
}

static enum tf_status describe_and_instantiate(struct tf_exec *exec,
	struct description *description, const struct tf_exec_edge *edges, uint32_t edge_count,
	struct tf_error *err)
{
	const struct tf_cuda_context *context = exec->context;
	enum tf_status status;

	TF_TRY(tf_cuda_comm_init(
		&description->comm, context, description->nodes, description->node_count, err));
	status = add_nodes(context, description, err);
	tf_cuda_comm_fini(&description->comm);
	TF_TRY(status);
	TF_TRY(tf_cuda_edges_add(
		context, description->graph, description->handles, edges, edge_count, err));
	TF_TRY(instantiate(exec, description, err));
	return upload(exec, err);
}

static enum tf_status make_handle(struct tf_exec *exec, const struct tf_exec_node *nodes,
	const struct tf_exec_edge *edges, uint32_t edge_count, struct tf_error *err)
{
	struct description description = {.nodes = nodes, .node_count = exec->node_count};
	const struct tf_cuda_api *api = exec->context->api;
	enum tf_status status;

	if (!exec->node_count)
		return TF_OK;
	description.handles = tf_calloc(exec->node_count, sizeof(*description.handles));
	if (!description.handles)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u nodes", exec->node_count);
	status = TF_CU(api, err, cuGraphCreate(&description.graph, 0));
	if (status == TF_OK) {
		exec->description = description.graph;
		status = describe_and_instantiate(exec, &description, edges, edge_count, err);
	}
	tf_free(description.handles);
	return status;
}

enum tf_status tf_cuda_graph_build(struct tf_device *device, const struct tf_exec_node *nodes,
	uint32_t node_count, const struct tf_exec_edge *edges, uint32_t edge_count,
	struct tf_exec **out, struct tf_error *err)
{
	enum tf_status status;
	struct tf_exec *exec;
	size_t args_bytes;

	if (node_count > TF_EXEC_NODES_MAX || edge_count > TF_EXEC_EDGES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "%u nodes and %u edges, at most %u and %u", node_count,
			edge_count, TF_EXEC_NODES_MAX, TF_EXEC_EDGES_MAX);
	TF_TRY(check_nodes(nodes, node_count, &args_bytes, err));
	TF_TRY(tf_cuda_context_enter(device->context, err));
	exec = tf_calloc(1, sizeof(*exec));
	if (!exec)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a graph");
	tf_cuda_context_again(device->context);
	exec->context = device->context;
	exec->node_count = node_count;
	status = keep_nodes(exec, nodes, edges, edge_count, args_bytes, err);
	if (status == TF_OK)
		status = tf_cuda_edges_check(nodes, edges, edge_count, err);
	if (status == TF_OK)
		status = tf_comm_callers_ref(&exec->callers, nodes, node_count, err);
	if (status == TF_OK)
		status = make_handle(exec, nodes, edges, edge_count, err);
	if (status != TF_OK) {
		tf_cuda_graph_destroy(exec);
		return status;
	}
	*out = exec;
	return TF_OK;
}

enum tf_status tf_cuda_exec_of_capture(
	struct tf_cuda_context *context, CUgraph graph, struct tf_exec **out, struct tf_error *err)
{
	struct description description = {.graph = graph};
	struct tf_exec *exec = tf_calloc(1, sizeof(*exec));
	enum tf_status status;

	if (!exec)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a graph");
	tf_cuda_context_again(context);
	exec->context = context;
	exec->is_capture = 1;
	status = instantiate(exec, &description, err);
	if (status == TF_OK)
		status = upload(exec, err);
	if (status != TF_OK) {
		tf_cuda_graph_destroy(exec);
		return status;
	}
	*out = exec;
	return TF_OK;
}

void tf_cuda_graph_destroy(struct tf_exec *exec)
{
	if (!exec)
		return;
	if ((exec->handle || exec->description) &&
		tf_cuda_context_enter(exec->context, NULL) == TF_OK) {
		if (exec->handle)
			(void)exec->context->api->cuGraphExecDestroy(exec->handle);
		if (exec->description) /* a captured graph keeps none */
			(void)exec->context->api->cuGraphDestroy(exec->description);
	}
	tf_comm_callers_unref(&exec->callers); /* what it has captured is gone */
	tf_cuda_context_unref(exec->context);
	tf_free(exec->nodes);
	tf_free(exec->args);
	tf_free(exec);
}

enum tf_status tf_cuda_exec_launch(
	const struct tf_exec *exec, CUstream stream, struct tf_error *err)
{
	if (!exec->handle)
		return TF_OK;
	return TF_CU(exec->context->api, err, cuGraphLaunch(exec->handle, stream));
}

enum tf_status tf_cuda_exec_tap(
	const struct tf_exec *exec, tf_stream_tap_fn fn, void *user, struct tf_error *err)
{
	if (exec->is_capture)
		return TF_FAIL(err, TF_E_UNSUPPORTED,
			"a graph that was captured from another library cannot be seen node by node");
	for (uint32_t i = 0; i < exec->node_count; i++)
		TF_TRY(fn(user, &exec->nodes[i], err));
	return TF_OK;
}

/* In the caller's context: the default streams are those of what is current. */
static enum tf_status check_stream(
	const struct tf_cuda_context *context, CUstream stream, struct tf_error *err)
{
	int is_default = tf_stream_is_legacy(stream) || stream == CU_STREAM_PER_THREAD;
	CUcontext owner = NULL, current = NULL;

	if (is_default)
		TF_TRY(TF_CU(context->api, err, cuCtxGetCurrent(&current)));
	if (is_default && !current)
		return TF_FAIL(err, TF_E_USAGE,
			"a default stream is one of the context that is current on the thread, and none is: "
			"device %u's is needed, or a stream that was created in it",
			context->ordinal);
	TF_TRY(TF_CU(context->api, err, cuStreamGetCtx(stream, &owner)));
	if (owner != context->handle)
		return TF_FAIL(err, TF_E_USAGE,
			"the stream is of another context than the one of device %u that was opened",
			context->ordinal);
	return TF_OK;
}

/* Behind what the capture has so far, and before what comes. */
static enum tf_status add_to_capture(
	const struct tf_exec *exec, CUstream stream, struct tf_error *err)
{
	const struct tf_cuda_api *api = exec->context->api;
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	const CUgraphNode *after = NULL;
	CUgraph capture = NULL;
	CUgraphNode node = NULL;
	size_t after_count = 0;
	cuuint64_t id = 0;

	TF_TRY(TF_CU(
		api, err, cuStreamGetCaptureInfo(stream, &status, &id, &capture, &after, &after_count)));
	TF_TRY(TF_CU(
		api, err, cuGraphAddChildGraphNode(&node, capture, after, after_count, exec->description)));
	return TF_CU(api, err,
		cuStreamUpdateCaptureDependencies(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

enum tf_status tf_cuda_graph_enqueue(struct tf_exec *exec, void *stream, struct tf_error *err)
{
	CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;

	TF_TRY(check_stream(exec->context, stream, err));
	if (!exec->handle)
		return TF_OK;
	TF_TRY(tf_cuda_context_enter(exec->context, err));
	TF_TRY(TF_CU(exec->context->api, err, cuStreamIsCapturing(stream, &capture)));
	if (capture == CU_STREAM_CAPTURE_STATUS_NONE)
		return tf_cuda_exec_launch(exec, stream, err);
	if (capture == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		return TF_FAIL(err, TF_E_USAGE, "the stream's capture has been invalidated before");
	return add_to_capture(exec, stream, err);
}
