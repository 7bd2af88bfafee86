/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that work on memory without a launch: copies, sets, calls of the communication library. */
#ifndef TF_RUNTIME_GRAPH_RESOLVE_MEMORY_H
#define TF_RUNTIME_GRAPH_RESOLVE_MEMORY_H

#include "runtime/graph/place.h"
#include "runtime/graph/rebuild.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A copy or a set of places->program, at the target's addresses; out->kind is the caller's. */
TF_WARN_UNUSED enum tf_status tf_resolve_memory(const struct tf_places *places,
	const struct tf_rebuild_target *target, const struct tf_node *node, struct tf_exec_node *out,
	struct tf_error *err);

/*
 * The same for a call of the communication library, on operands of the rank's own segment.
 * TF_E_UNSUPPORTED: target->comm is NULL. TF_E_INVALID: there is no such group, an operand lies
 * with a peer, or the bytes are not the group's.
 */
TF_WARN_UNUSED enum tf_status tf_resolve_comm(const struct tf_places *places,
	const struct tf_rebuild_target *target, const struct tf_node *node, struct tf_exec_node *out,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
