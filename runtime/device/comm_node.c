/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call is opaque: a device checks that it can be made, makes it, and says which one failed.
 * Callers are collected before the first is referenced, so that a refusal leaves none behind.
 */
#include "runtime/device/comm_node.h"

#include <stdio.h>

#include "catalog/program.h"

enum tf_status tf_comm_node_check(
	const struct tf_exec_node *node, enum tf_status status, struct tf_error *err)
{
	const struct tf_comm_caller *caller = node->caller;

	if (!caller)
		return TF_FAIL(
			err, status, "a call of a communication library for group %u without it", node->value);
	if (!caller->name || !caller->enqueue || !caller->graph_ref || !caller->graph_unref)
		return TF_FAIL(err, status, "the communication library '%s' lacks %s",
			caller->name ? caller->name : "", caller->name ? "a function" : "its name");
	if (!node->from || !node->to)
		return TF_FAIL(err, status, "comm '%.32s' of group %u: without %s", caller->name,
			node->value, node->from ? "a destination" : "a source");
	return TF_OK;
}

enum tf_status tf_comm_node_of_call(
	const struct tf_comm_call *call, struct tf_exec_node *out, struct tf_error *err)
{
	if (!call)
		return TF_FAIL(err, TF_E_USAGE, "stream: no call of a communication library was given");
	*out = (struct tf_exec_node){
		.kind = TF_NODE_COMM,
		.to = call->to,
		.from = call->from,
		.bytes = call->bytes,
		.value = call->group,
		.caller = call->caller,
	};
	return TF_OK;
}

const char *tf_comm_node_text(const struct tf_exec_node *node, char out[TF_COMM_NODE_TEXT_BYTES])
{
	snprintf(
		out, TF_COMM_NODE_TEXT_BYTES, "comm '%.32s' of group %u", node->caller->name, node->value);
	return out;
}

enum tf_status tf_comm_node_enqueue(
	const struct tf_exec_node *node, void *stream, struct tf_error *err)
{
	struct tf_comm_caller *caller = node->caller;
	enum tf_status status = caller->enqueue(caller, node->value, node->from, node->to, stream, err);
	char text[TF_COMM_NODE_TEXT_BYTES];

	if (status != TF_OK)
		tf_error_prefix(err, "%s", tf_comm_node_text(node, text));
	return status;
}

static int is_listed(const struct tf_comm_callers *callers, const struct tf_comm_caller *caller)
{
	for (uint32_t i = 0; i < callers->count; i++)
		if (callers->list[i] == caller)
			return 1;
	return 0;
}

enum tf_status tf_comm_callers_ref(struct tf_comm_callers *callers,
	const struct tf_exec_node *nodes, uint32_t node_count, struct tf_error *err)
{
	struct tf_comm_callers found = {0};

	for (uint32_t i = 0; i < node_count; i++) {
		if (nodes[i].kind != TF_NODE_COMM || is_listed(&found, nodes[i].caller))
			continue;
		if (found.count == TF_COMM_CALLERS_MAX)
			return TF_FAIL(err, TF_E_LIMIT,
				"node %u: another communication library, at most %d are allowed in a graph", i,
				TF_COMM_CALLERS_MAX);
		found.list[found.count++] = nodes[i].caller;
	}
	for (uint32_t i = 0; i < found.count; i++)
		found.list[i]->graph_ref(found.list[i]);
	*callers = found;
	return TF_OK;
}

void tf_comm_callers_unref(struct tf_comm_callers *callers)
{
	for (uint32_t i = 0; i < callers->count; i++)
		callers->list[i]->graph_unref(callers->list[i]);
	callers->count = 0;
}
