/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking one operation, and handing it to the driver: on a stream or as a node of a graph.
 * Copies and sets of no bytes are nothing: the driver refuses them as nodes.
 */
#include "runtime/device/cuda/cuda_node.h"

#include "catalog/program.h"
#include "runtime/device/comm_node.h"
#include "runtime/device/node_check.h"

enum tf_status tf_cuda_node_check(
	const struct tf_exec_node *node, enum tf_status status, struct tf_error *err)
{
	const struct tf_kernel_handle *kernel =
		node->kind == TF_NODE_KERNEL ? node->launch.kernel : NULL;
	struct tf_kernel_needs needs = {0};

	if (kernel)
		needs =
			(struct tf_kernel_needs){kernel->name, kernel->args_bytes, kernel->shared_bytes_max};
	return tf_node_check(node, kernel ? &needs : NULL, "a CUDA device", status, err);
}

static CUdeviceptr device_pointer(const void *address)
{
	return (CUdeviceptr)(uintptr_t)address;
}

/* The driver reads each parameter through its pointer and writes through none. */
static void point_at_params(const struct tf_launch_call *call, void *params[TF_CUDA_PARAMS_MAX])
{
	uintptr_t args = (uintptr_t)call->args;

	for (uint32_t i = 0; i < call->kernel->param_count; i++)
		params[i] = (void *)(args + call->kernel->param_offs[i]);
}

static enum tf_status launch_kernel(const struct tf_cuda_context *context,
	const struct tf_launch_call *call, CUstream stream, struct tf_error *err)
{
	void *params[TF_CUDA_PARAMS_MAX];
	CUlaunchAttribute early = {
		.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		.value = {.programmaticStreamSerializationAllowed = 1},
	};
	int is_early = (call->flags & TF_LAUNCH_PROGRAMMATIC) != 0;
	CUlaunchConfig config = {
		.gridDimX = call->grid[0],
		.gridDimY = call->grid[1],
		.gridDimZ = call->grid[2],
		.blockDimX = call->block[0],
		.blockDimY = call->block[1],
		.blockDimZ = call->block[2],
		.sharedMemBytes = call->shared_bytes,
		.hStream = stream,
		.attrs = is_early ? &early : NULL,
		.numAttrs = is_early ? 1 : 0,
	};
	enum tf_status status;

	point_at_params(call, params);
	status =
		TF_CU(context->api, err, cuLaunchKernelEx(&config, call->kernel->function, params, NULL));
	if (status != TF_OK)
		tf_error_prefix(err, "kernel '%s'", call->kernel->name);
	return status;
}

enum tf_status tf_cuda_node_launch(const struct tf_cuda_context *context,
	const struct tf_exec_node *node, CUstream stream, struct tf_error *err)
{
	if (node->kind == TF_NODE_KERNEL)
		return launch_kernel(context, &node->launch, stream, err);
	if (node->kind == TF_NODE_COMM)
		return tf_comm_node_enqueue(node, stream, err);
	if (node->kind == TF_NODE_EMPTY || !node->bytes)
		return TF_OK;
	if (node->kind == TF_NODE_COPY)
		return TF_CU(context->api, err,
			cuMemcpyDtoDAsync(
				device_pointer(node->to), device_pointer(node->from), node->bytes, stream));
	return TF_CU(context->api, err,
		cuMemsetD8Async(device_pointer(node->to), (unsigned char)node->value, node->bytes, stream));
}

static enum tf_status add_kernel(const struct tf_cuda_context *context,
	const struct tf_launch_call *call, CUgraph graph, CUgraphNode *out, struct tf_error *err)
{
	void *params[TF_CUDA_PARAMS_MAX];
	CUDA_KERNEL_NODE_PARAMS config = {
		.func = call->kernel->function,
		.gridDimX = call->grid[0],
		.gridDimY = call->grid[1],
		.gridDimZ = call->grid[2],
		.blockDimX = call->block[0],
		.blockDimY = call->block[1],
		.blockDimZ = call->block[2],
		.sharedMemBytes = call->shared_bytes,
		.kernelParams = params,
	};
	enum tf_status status;

	point_at_params(call, params);
	status = TF_CU(context->api, err, cuGraphAddKernelNode(out, graph, NULL, 0, &config));
	if (status != TF_OK)
		tf_error_prefix(err, "kernel '%s'", call->kernel->name);
	return status;
}

static enum tf_status add_copy(const struct tf_cuda_context *context,
	const struct tf_exec_node *node, CUgraph graph, CUgraphNode *out, struct tf_error *err)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = device_pointer(node->from),
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = device_pointer(node->to),
		.WidthInBytes = node->bytes,
		.Height = 1,
		.Depth = 1,
	};

	return TF_CU(
		context->api, err, cuGraphAddMemcpyNode(out, graph, NULL, 0, &copy, context->handle));
}

static enum tf_status add_set(const struct tf_cuda_context *context,
	const struct tf_exec_node *node, CUgraph graph, CUgraphNode *out, struct tf_error *err)
{
	CUDA_MEMSET_NODE_PARAMS set = {
		.dst = device_pointer(node->to),
		.value = node->value,
		.elementSize = 1,
		.width = node->bytes,
		.height = 1,
	};

	return TF_CU(
		context->api, err, cuGraphAddMemsetNode(out, graph, NULL, 0, &set, context->handle));
}

enum tf_status tf_cuda_node_add(const struct tf_cuda_context *context,
	const struct tf_exec_node *node, CUgraph graph, CUgraphNode *out, struct tf_error *err)
{
	if (node->kind == TF_NODE_KERNEL)
		return add_kernel(context, &node->launch, graph, out, err);
	if (node->kind == TF_NODE_COPY && node->bytes)
		return add_copy(context, node, graph, out, err);
	if (node->kind == TF_NODE_SET && node->bytes)
		return add_set(context, node, graph, out, err);
	return TF_CU(context->api, err, cuGraphAddEmptyNode(out, graph, NULL, 0));
}
