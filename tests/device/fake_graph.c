/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake driver's graphs. Edges are held to the real driver's rules: a pair once, programmatic
 * edges from a port. An instance runs its nodes in the order in which they become free, the last
 * one first, which no caller may rely on.
 */
#include "tests/device/fake_driver.h"

#include <stdlib.h>
#include <string.h>

struct node {
	struct node *next;
	size_t index;
	struct tf_launch_call launch; /* a kernel, with `args` */
	fake_call_fn call;            /* a call, with `args` */
	void *args;
	size_t args_bytes;
	CUdeviceptr to, from; /* a copy; from 0: a set */
	unsigned char value;
	size_t bytes;
	CUgraphExec child;
};

struct edge {
	size_t from, to;
};

struct graph {
	struct node *nodes, **last;
	size_t node_count;
	struct edge *edges;
	size_t edge_count;
};

struct exec {
	struct node **order; /* copies */
	size_t node_count;
	int references; /* besides the first */
};

static int launches, calls_held;
static __thread CUstream last_stream;

/* For tests: launches of graphs so far, children included; and the stream of this thread's last. */
__attribute__((visibility("default"))) int fake_graph_launches(void);
__attribute__((visibility("default"))) CUstream fake_graph_stream(void);
/* Another fake library's calls in graphs and instances that are alive. */
__attribute__((visibility("default"))) int fake_calls_held(void);

int fake_graph_launches(void)
{
	return __atomic_load_n(&launches, __ATOMIC_SEQ_CST);
}

CUstream fake_graph_stream(void)
{
	return last_stream;
}

int fake_calls_held(void)
{
	return __atomic_load_n(&calls_held, __ATOMIC_SEQ_CST);
}

static struct graph *graph_of(CUgraph graph)
{
	return (struct graph *)(uintptr_t)graph;
}

static struct node *node_of(CUgraphNode node)
{
	return (struct node *)(uintptr_t)node;
}

static void free_node(struct node *node)
{
	if (node->child)
		(void)fake_cuGraphExecDestroy(node->child);
	if (node->call)
		__atomic_sub_fetch(&calls_held, 1, __ATOMIC_SEQ_CST);
	free(node->args);
	free(node);
}

CUresult fake_cuGraphCreate(CUgraph *out, unsigned flags)
{
	struct graph *graph;

	(void)flags;
	FAKE_MAY_FAIL("cuGraphCreate");
	graph = calloc(1, sizeof(*graph));
	graph->last = &graph->nodes;
	*out = (CUgraph)(uintptr_t)graph;
	return CUDA_SUCCESS;
}

CUresult fake_cuGraphDestroy(CUgraph handle)
{
	struct graph *graph = graph_of(handle);

	while (graph->nodes) {
		struct node *node = graph->nodes;

		graph->nodes = node->next;
		free_node(node);
	}
	free(graph->edges);
	free(graph);
	return CUDA_SUCCESS;
}

static struct node *add_node(CUgraph handle, CUgraphNode *out)
{
	struct graph *graph = graph_of(handle);
	struct node *node = calloc(1, sizeof(*node));

	node->index = graph->node_count++;
	*graph->last = node;
	graph->last = &node->next;
	*out = (CUgraphNode)(uintptr_t)node;
	return node;
}

static void take_args(struct node *node, const void *args, size_t bytes)
{
	node->args = malloc(bytes);
	node->args_bytes = bytes;
	memcpy(node->args, args, bytes);
	node->launch.args = node->args;
}

CUresult fake_cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
	size_t after_count, const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
	_Alignas(16) uint8_t args[TF_EXEC_ARGS_BYTES_MAX];
	struct tf_launch_call launch = {
		.grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
		.block = {params->blockDimX, params->blockDimY, params->blockDimZ},
		.shared_bytes = params->sharedMemBytes,
	};

	(void)after;
	FAKE_MAY_FAIL("cuGraphAddKernelNode");
	if (after_count || params->extra || !params->func || !params->gridDimX || !params->blockDimX)
		return CUDA_ERROR_INVALID_VALUE;
	fake_take_params(params->func, params->kernelParams, args, &launch);
	*out = fake_graph_append_kernel(graph, NULL, &launch);
	return CUDA_SUCCESS;
}

static void put_behind(CUgraph handle, CUgraphNode last, const struct node *node)
{
	struct graph *graph = graph_of(handle);

	if (!last)
		return;
	graph->edges = realloc(graph->edges, (graph->edge_count + 1) * sizeof(*graph->edges));
	graph->edges[graph->edge_count++] = (struct edge){node_of(last)->index, node->index};
}

CUgraphNode fake_graph_append_kernel(
	CUgraph graph, CUgraphNode last, const struct tf_launch_call *launch)
{
	CUgraphNode out;
	struct node *node = add_node(graph, &out);

	node->launch = *launch;
	take_args(node, launch->args, launch->args_bytes);
	put_behind(graph, last, node);
	return out;
}

CUgraphNode fake_graph_append_call(
	CUgraph graph, CUgraphNode last, fake_call_fn fn, const void *user, size_t bytes)
{
	CUgraphNode out;
	struct node *node = add_node(graph, &out);

	node->call = fn;
	__atomic_add_fetch(&calls_held, 1, __ATOMIC_SEQ_CST);
	take_args(node, user, bytes);
	put_behind(graph, last, node);
	return out;
}

CUgraphNode fake_graph_append_memory(CUgraph graph, CUgraphNode last, CUdeviceptr to,
	CUdeviceptr from, unsigned char value, size_t bytes)
{
	CUgraphNode out;
	struct node *node = add_node(graph, &out);

	node->to = to;
	node->from = from;
	node->value = value;
	node->bytes = bytes;
	put_behind(graph, last, node);
	return out;
}

CUresult fake_cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
	size_t after_count, const CUDA_MEMCPY3D *params, CUcontext context)
{
	(void)after;
	FAKE_MAY_FAIL("cuGraphAddMemcpyNode");
	if (after_count || !context || !params->WidthInBytes || params->Height != 1 ||
		params->Depth != 1 || params->srcMemoryType != CU_MEMORYTYPE_DEVICE ||
		params->dstMemoryType != CU_MEMORYTYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	*out = fake_graph_append_memory(
		graph, NULL, params->dstDevice, params->srcDevice, 0, params->WidthInBytes);
	return CUDA_SUCCESS;
}

CUresult fake_cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
	size_t after_count, const CUDA_MEMSET_NODE_PARAMS_v1 *params, CUcontext context)
{
	(void)after;
	FAKE_MAY_FAIL("cuGraphAddMemsetNode");
	if (after_count || !context || params->elementSize != 1 || params->height != 1 ||
		!params->width || params->value > 255)
		return CUDA_ERROR_INVALID_VALUE;
	*out = fake_graph_append_memory(
		graph, NULL, params->dst, 0, (unsigned char)params->value, params->width);
	return CUDA_SUCCESS;
}

CUresult fake_cuGraphAddEmptyNode(
	CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t after_count)
{
	(void)after;
	FAKE_MAY_FAIL("cuGraphAddEmptyNode");
	if (after_count)
		return CUDA_ERROR_INVALID_VALUE;
	(void)add_node(graph, out);
	return CUDA_SUCCESS;
}

static int compare_edges(const void *one, const void *other)
{
	const struct edge *a = one, *b = other;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static int is_kept(const CUgraphEdgeData *data)
{
	if (data->to_port)
		return 0;
	return data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
		? data->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
			data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
		: data->type == 0 && data->from_port == 0;
}

CUresult fake_cuGraphAddDependencies(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
	const CUgraphEdgeData *data, size_t count)
{
	struct graph *graph = graph_of(handle);

	FAKE_MAY_FAIL("cuGraphAddDependencies");
	graph->edges = realloc(graph->edges, (graph->edge_count + count) * sizeof(*graph->edges));
	for (size_t i = 0; i < count; i++) {
		if (!is_kept(&data[i]))
			return CUDA_ERROR_INVALID_VALUE;
		graph->edges[graph->edge_count++] =
			(struct edge){node_of(from[i])->index, node_of(to[i])->index};
	}
	qsort(graph->edges, graph->edge_count, sizeof(*graph->edges), compare_edges);
	for (size_t i = 1; i < graph->edge_count; i++)
		if (compare_edges(&graph->edges[i - 1], &graph->edges[i]) == 0)
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static struct node *copy_node(const struct node *node)
{
	struct node *copy = malloc(sizeof(*copy));

	*copy = *node;
	if (node->call)
		__atomic_add_fetch(&calls_held, 1, __ATOMIC_SEQ_CST);
	if (node->args)
		take_args(copy, node->args, node->args_bytes);
	if (node->child)
		__atomic_add_fetch(
			&((struct exec *)(uintptr_t)node->child)->references, 1, __ATOMIC_SEQ_CST);
	return copy;
}

/* Fills exec->order; whether every node came to its turn. */
static int order_nodes(const struct graph *graph, struct node **by_index, struct exec *exec)
{
	size_t *waits = calloc(graph->node_count + 1, sizeof(*waits));
	size_t *first = calloc(graph->node_count + 1, sizeof(*first));
	size_t *ready = calloc(graph->node_count + 1, sizeof(*ready));
	size_t ready_count = 0;

	for (size_t i = graph->edge_count; i-- > 0;) {
		waits[graph->edges[i].to]++;
		first[graph->edges[i].from] = i + 1; /* edges are sorted; 0 is none */
	}
	for (size_t i = 0; i < graph->node_count; i++)
		if (!waits[i])
			ready[ready_count++] = i;
	while (ready_count) {
		size_t index = ready[--ready_count];

		exec->order[exec->node_count++] = copy_node(by_index[index]);
		for (size_t i = first[index] - 1;
			 first[index] && i < graph->edge_count && graph->edges[i].from == index; i++)
			if (--waits[graph->edges[i].to] == 0)
				ready[ready_count++] = graph->edges[i].to;
	}
	free(waits);
	free(first);
	free(ready);
	return exec->node_count == graph->node_count;
}

/* Fails with `failure`, or with what is wrong with the graph. */
static CUresult instantiate(
	CUgraphExec *out, CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS *params, CUresult failure)
{
	struct graph *graph = graph_of(handle);
	struct node **by_index = calloc(graph->node_count + 1, sizeof(*by_index));
	struct exec *exec = calloc(1, sizeof(*exec));

	for (struct node *node = graph->nodes; node; node = node->next)
		by_index[node->index] = node;
	exec->order = calloc(graph->node_count + 1, sizeof(struct node *));
	if (failure == CUDA_SUCCESS && !order_nodes(graph, by_index, exec))
		failure = CUDA_ERROR_INVALID_VALUE;
	if (failure != CUDA_SUCCESS) {
		params->hErrNode_out =
			graph->node_count ? (CUgraphNode)(uintptr_t)by_index[graph->node_count - 1] : NULL;
		params->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
		(void)fake_cuGraphExecDestroy((CUgraphExec)(uintptr_t)exec);
	} else {
		*out = (CUgraphExec)(uintptr_t)exec;
	}
	free(by_index);
	return failure;
}

CUresult fake_cuGraphInstantiateWithParams(
	CUgraphExec *out, CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	return instantiate(out, handle, params, fake_failure("cuGraphInstantiateWithParams"));
}

/* A copy of the child as it is now, as with the real driver. The node waits for `after`. */
CUresult fake_cuGraphAddChildGraphNode(
	CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t after_count, CUgraph child)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
	static const CUgraphEdgeData full;
	CUgraphExec exec = NULL;
	CUresult failure;

	FAKE_MAY_FAIL("cuGraphAddChildGraphNode");
	failure = instantiate(&exec, child, &params, CUDA_SUCCESS);
	if (failure != CUDA_SUCCESS)
		return failure;
	add_node(graph, out)->child = exec;
	for (size_t i = 0; failure == CUDA_SUCCESS && i < after_count; i++)
		failure = fake_cuGraphAddDependencies(graph, &after[i], out, &full, 1);
	return failure;
}

CUresult fake_cuGraphExecDestroy(CUgraphExec handle)
{
	struct exec *exec = (struct exec *)(uintptr_t)handle;

	if (__atomic_sub_fetch(&exec->references, 1, __ATOMIC_SEQ_CST) >= 0)
		return CUDA_SUCCESS;
	for (size_t i = 0; i < exec->node_count; i++)
		free_node(exec->order[i]);
	free(exec->order);
	free(exec);
	return CUDA_SUCCESS;
}

CUresult fake_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	FAKE_MAY_FAIL("cuGraphUpload");
	return exec && stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult fake_cuGraphLaunch(CUgraphExec handle, CUstream stream)
{
	struct exec *exec = (struct exec *)(uintptr_t)handle;

	FAKE_MAY_FAIL("cuGraphLaunch");
	last_stream = stream;
	__atomic_add_fetch(&launches, 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < exec->node_count; i++) {
		struct node *node = exec->order[i];

		if (node->child)
			(void)fake_cuGraphLaunch(node->child, stream);
		else if (node->launch.kernel)
			(void)fake_run(&node->launch, stream);
		else if (node->call)
			node->call(node->args);
		else if (node->from)
			(void)fake_cuMemcpyDtoDAsync(node->to, node->from, node->bytes, stream);
		else if (node->bytes)
			(void)fake_cuMemsetD8Async(node->to, node->value, node->bytes, stream);
	}
	return CUDA_SUCCESS;
}
