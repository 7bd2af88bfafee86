/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library may exchange words with its peers when a call is captured, so the order of the captures
 * is that of the nodes, which is alike on all ranks, and not that of the sorted calls, whose
 * addresses are not.
 *
 * A child graph is a copy with references of its own to what the library has tied to the captured
 * one; so the captured one ends with the building, and the copies end with the graph.
 */
#include "runtime/device/cuda/cuda_comm.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "catalog/program.h"
#include "runtime/device/comm_node.h"

static int compare(uintptr_t a, uintptr_t b)
{
	return (a > b) - (a < b);
}

static int compare_calls(const void *one, const void *other)
{
	const struct tf_exec_node *a = ((const struct tf_cuda_comm_call *)one)->node;
	const struct tf_exec_node *b = ((const struct tf_cuda_comm_call *)other)->node;
	int order = compare((uintptr_t)a->caller, (uintptr_t)b->caller);

	if (!order)
		order = compare(a->value, b->value);
	if (!order)
		order = compare((uintptr_t)a->from, (uintptr_t)b->from);
	return order ? order : compare((uintptr_t)a->to, (uintptr_t)b->to);
}

static uint32_t count_calls(const struct tf_exec_node *nodes, uint32_t node_count)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < node_count; i++)
		count += nodes[i].kind == TF_NODE_COMM;
	return count;
}

/* Sorts, and keeps the first of each call. */
static void keep_calls_once(struct tf_cuda_comm *comm, uint32_t count)
{
	qsort(comm->calls, count, sizeof(*comm->calls), compare_calls);
	for (uint32_t i = 0; i < count; i++)
		if (!i || compare_calls(&comm->calls[comm->call_count - 1], &comm->calls[i]) != 0)
			comm->calls[comm->call_count++] = comm->calls[i];
}

enum tf_status tf_cuda_comm_init(struct tf_cuda_comm *comm, const struct tf_cuda_context *context,
	const struct tf_exec_node *nodes, uint32_t node_count, struct tf_error *err)
{
	uint32_t count = count_calls(nodes, node_count), at = 0;
	enum tf_status status;

	*comm = (struct tf_cuda_comm){.context = context};
	if (!count)
		return TF_OK;
	comm->calls = tf_calloc(count, sizeof(*comm->calls));
	if (!comm->calls)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u calls", count);
	status = TF_CU(context->api, err, cuStreamCreate(&comm->stream, CU_STREAM_NON_BLOCKING));
	if (status != TF_OK) {
		comm->stream = NULL;
		tf_cuda_comm_fini(comm);
		return status;
	}
	for (uint32_t i = 0; i < node_count; i++)
		if (nodes[i].kind == TF_NODE_COMM)
			comm->calls[at++].node = &nodes[i];
	keep_calls_once(comm, count);
	return TF_OK;
}

/* The capture is ended in any case; of one that went wrong nothing stays. */
static enum tf_status capture(
	const struct tf_cuda_comm *comm, struct tf_cuda_comm_call *call, struct tf_error *err)
{
	const struct tf_cuda_api *api = comm->context->api;
	enum tf_status status, ended;
	CUgraph graph = NULL;

	TF_TRY(
		TF_CU(api, err, cuStreamBeginCapture(comm->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)));
	status = tf_comm_node_enqueue(call->node, comm->stream, err);
	ended = tf_cuda_context_end_capture(
		comm->context, comm->stream, &graph, status == TF_OK ? err : NULL);
	if (status == TF_OK && ended == TF_OK)
		call->captured = graph;
	else if (ended == TF_OK)
		(void)api->cuGraphDestroy(graph);
	return status == TF_OK ? ended : status;
}

enum tf_status tf_cuda_comm_add(struct tf_cuda_comm *comm, const struct tf_exec_node *node,
	CUgraph graph, CUgraphNode *out, struct tf_error *err)
{
	struct tf_cuda_comm_call wanted = {.node = node};
	struct tf_cuda_comm_call *call =
		bsearch(&wanted, comm->calls, comm->call_count, sizeof(wanted), compare_calls);
	char text[TF_COMM_NODE_TEXT_BYTES];
	enum tf_status status;

	if (!call)
		return TF_FAIL(err, TF_E_INTERNAL, "a call that was not there before");
	if (!call->captured)
		TF_TRY(capture(comm, call, err));
	status = TF_CU(
		comm->context->api, err, cuGraphAddChildGraphNode(out, graph, NULL, 0, call->captured));
	if (status != TF_OK)
		tf_error_prefix(err, "%s", tf_comm_node_text(node, text));
	return status;
}

void tf_cuda_comm_fini(struct tf_cuda_comm *comm)
{
	for (uint32_t i = 0; i < comm->call_count; i++)
		if (comm->calls[i].captured)
			(void)comm->context->api->cuGraphDestroy(comm->calls[i].captured);
	if (comm->stream)
		(void)comm->context->api->cuStreamDestroy(comm->stream);
	tf_free(comm->calls);
	*comm = (struct tf_cuda_comm){0};
}
