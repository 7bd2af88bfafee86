/* SPDX-License-Identifier: Apache-2.0 */
/* Checking, running and naming one operation. Streams and graphs share it. */
#include "runtime/device/host/host_node.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/deadline.h"
#include "catalog/program.h"
#include "runtime/device/comm_node.h"
#include "runtime/device/node_check.h"

enum tf_status tf_host_node_check(
	const struct tf_exec_node *node, enum tf_status status, struct tf_error *err)
{
	const struct tf_kernel_handle *kernel =
		node->kind == TF_NODE_KERNEL ? node->launch.kernel : NULL;
	struct tf_kernel_needs needs = {0};

	if (kernel)
		needs = (struct tf_kernel_needs){kernel->name, kernel->args_bytes, UINT32_MAX};
	return tf_node_check(node, kernel ? &needs : NULL, "the host device", status, err);
}

static void run_launch(const struct tf_launch_call *call)
{
	struct tfrun_host_launch launch = {
		.grid = {call->grid[0], call->grid[1], call->grid[2]},
		.block = {call->block[0], call->block[1], call->block[2]},
		.shared_bytes = call->shared_bytes,
		.args_bytes = call->args_bytes,
		.args = call->args,
	};

	if (call->kernel->fn)
		call->kernel->fn(call);
	else
		call->kernel->user_fn(&launch);
}

enum tf_status tf_host_node_run(const struct tf_exec_node *node, struct tf_error *err)
{
	switch (node->kind) {
	case TF_NODE_KERNEL:
		run_launch(&node->launch);
		return TF_OK;
	case TF_NODE_COPY:
		if (node->bytes)
			memmove(node->to, node->from, node->bytes);
		return TF_OK;
	case TF_NODE_SET:
		if (node->bytes)
			memset(node->to, (int)node->value, node->bytes);
		return TF_OK;
	case TF_NODE_COMM:
		return tf_comm_node_enqueue(node, NULL, err);
	default:
		return TF_OK;
	}
}

const char *tf_host_node_text(const struct tf_exec_node *node, char out[TF_HOST_NODE_TEXT_BYTES])
{
	switch (node->kind) {
	case TF_NODE_KERNEL:
		snprintf(out, TF_HOST_NODE_TEXT_BYTES, "kernel '%s'", node->launch.kernel->name);
		break;
	case TF_NODE_COPY:
		snprintf(out, TF_HOST_NODE_TEXT_BYTES, "copy");
		break;
	case TF_NODE_SET:
		snprintf(out, TF_HOST_NODE_TEXT_BYTES, "set");
		break;
	case TF_NODE_COMM:
		return tf_comm_node_text(node, out);
	default:
		snprintf(out, TF_HOST_NODE_TEXT_BYTES, "empty");
		break;
	}
	return out;
}

int tf_host_node_late(int64_t deadline_ns)
{
	struct timespec now;

	if (deadline_ns == TF_DEADLINE_NEVER)
		return 0;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * TF_NS_PER_S + now.tv_nsec >= deadline_ns;
}
