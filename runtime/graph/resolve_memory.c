/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every byte that such a node reads or writes, also inside a library, has passed tf_places_check.
 */
#include "runtime/graph/resolve_memory.h"

#include <inttypes.h>

static enum tf_status resolve_side(const struct tf_places *places,
	const struct tf_window_view *window, const char *side, uint32_t peer, uint64_t off,
	uint64_t bytes, uint64_t *out_address, struct tf_error *err)
{
	enum tf_status status = tf_places_check(places, peer, off, bytes, err);

	if (status != TF_OK) {
		tf_error_prefix(err, "%s", side);
		return status;
	}
	*out_address = tf_window_address(window, peer, off);
	return TF_OK;
}

enum tf_status tf_resolve_memory(const struct tf_places *places,
	const struct tf_rebuild_target *target, const struct tf_node *node, struct tf_exec_node *out,
	struct tf_error *err)
{
	const struct tf_window_view *window = &target->window;
	uint64_t to, from = 0, row = 0;

	/* The row of the running rank; a sum that wraps falls out of every place. */
	if (node->kind == TF_NODE_COPY && node->value &&
		__builtin_mul_overflow(node->bytes, window->rank, &row))
		return TF_FAIL(
			err, TF_E_INVALID, "a row of %" PRIu64 " bytes a rank passes 64 bits", node->bytes);
	TF_TRY(resolve_side(
		places, window, "to", node->to_peer, node->to_off + row, node->bytes, &to, err));
	if (node->kind == TF_NODE_COPY)
		TF_TRY(resolve_side(
			places, window, "from", node->from_peer, node->from_off, node->bytes, &from, err));
	out->to = (void *)(uintptr_t)to;
	out->from = (const void *)(uintptr_t)from;
	out->bytes = node->bytes;
	out->value = node->kind == TF_NODE_SET ? node->value : 0;
	return TF_OK;
}

enum tf_status tf_resolve_comm(const struct tf_places *places,
	const struct tf_rebuild_target *target, const struct tf_node *node, struct tf_exec_node *out,
	struct tf_error *err)
{
	const struct tf_program *program = places->program;
	const struct tf_group *group;
	uint64_t to, from;

	if (!target->comm)
		return TF_FAIL(err, TF_E_UNSUPPORTED,
			"a call of the communication library, and no communicator was opened for it");
	if (node->value >= program->group_count)
		return TF_FAIL(err, TF_E_INVALID, "group is %" PRIu32 ", there are %" PRIu32, node->value,
			program->group_count);
	group = &program->groups[node->value];
	if (node->to_peer || node->from_peer)
		return TF_FAIL(err, TF_E_INVALID, "%s of the call of group '%.*s' lies with peer %" PRIu32,
			node->to_peer ? "the output" : "the input", TF_NAME_BYTES - 1, group->name,
			node->to_peer ? node->to_peer : node->from_peer);
	if (node->bytes != tf_group_input_bytes(group))
		return TF_FAIL(err, TF_E_INVALID, "bytes is %" PRIu64 ", group '%.*s' has %" PRIu64,
			node->bytes, TF_NAME_BYTES - 1, group->name, tf_group_input_bytes(group));
	TF_TRY(resolve_side(places, &target->window, "to", 0, node->to_off,
		tf_group_output_bytes(group, program->world), &to, err));
	TF_TRY(
		resolve_side(places, &target->window, "from", 0, node->from_off, node->bytes, &from, err));
	out->to = (void *)(uintptr_t)to;
	out->from = (const void *)(uintptr_t)from;
	out->bytes = node->bytes;
	out->value = node->value;
	out->caller = target->comm;
	return TF_OK;
}
