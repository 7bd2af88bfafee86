/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of a program with every place turned into an address of this process. */
#ifndef TF_RUNTIME_GRAPH_RESOLVE_H
#define TF_RUNTIME_GRAPH_RESOLVE_H

#include "catalog/program.h"
#include "runtime/graph/rebuild.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Nodes of the same launch share argument bytes. Owned; {0} is empty. */
struct tf_resolved {
	struct tf_exec_node *nodes;
	uint32_t node_count;
	struct tf_exec_edge *edges;
	uint32_t edge_count;
	uint8_t *args;
};

/*
 * What tf_graph_rebuild gives to the device; see there for statuses. Touches no window memory and
 * calls nothing of target->ops.
 */
TF_WARN_UNUSED enum tf_status tf_graph_resolve_nodes(const struct tf_program *program,
	uint32_t graph_index, const struct tf_rebuild_target *target, struct tf_resolved *out,
	struct tf_error *err);
void tf_resolved_fini(struct tf_resolved *resolved);

#ifdef __cplusplus
}
#endif
#endif
