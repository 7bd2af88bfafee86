/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/device/node_check.h"

#include "catalog/program.h"
#include "runtime/device/comm_node.h"

static enum tf_status check_launch(const struct tf_launch_call *call,
	const struct tf_kernel_needs *needs, enum tf_status status, struct tf_error *err)
{
	if (!needs)
		return TF_FAIL(err, status, "a launch without a kernel");
	if (call->args_bytes != needs->args_bytes)
		return TF_FAIL(err, status, "kernel '%s': %u argument bytes, not %u", needs->name,
			call->args_bytes, needs->args_bytes);
	if (call->args_bytes && !call->args)
		return TF_FAIL(err, status, "kernel '%s': no argument bytes", needs->name);
	for (int axis = 0; axis < 3; axis++)
		if (!call->grid[axis] || !call->block[axis])
			return TF_FAIL(err, status,
				"kernel '%s': grid %u x %u x %u of block %u x %u x %u is empty", needs->name,
				call->grid[0], call->grid[1], call->grid[2], call->block[0], call->block[1],
				call->block[2]);
	if (call->shared_bytes > needs->shared_bytes_max)
		return TF_FAIL(err, status, "kernel '%s': %u bytes of shared memory, at most %u",
			needs->name, call->shared_bytes, needs->shared_bytes_max);
	return TF_OK;
}

enum tf_status tf_node_check(const struct tf_exec_node *node, const struct tf_kernel_needs *needs,
	const char *device, enum tf_status status, struct tf_error *err)
{
	switch (node->kind) {
	case TF_NODE_KERNEL:
		return check_launch(&node->launch, needs, status, err);
	case TF_NODE_COPY:
		if (node->bytes && (!node->to || !node->from))
			return TF_FAIL(err, status, "a copy of %llu bytes without %s",
				(unsigned long long)node->bytes, node->to ? "a source" : "a destination");
		return TF_OK;
	case TF_NODE_SET:
		if (node->bytes && !node->to)
			return TF_FAIL(err, status, "a set of %llu bytes without a destination",
				(unsigned long long)node->bytes);
		if (node->value > UINT8_MAX)
			return TF_FAIL(err, status, "a set to %u, not 0 to 255", node->value);
		return TF_OK;
	case TF_NODE_EMPTY:
		return TF_OK;
	case TF_NODE_COMM:
		return tf_comm_node_check(node, status, err);
	default:
		return TF_FAIL(err, status,
			"kind %d cannot run on %s, only kernel, copy, set, empty and comm", node->kind, device);
	}
}
