/* SPDX-License-Identifier: Apache-2.0 */
/* Resolve, build, and forget what was only needed for building. */
#include "runtime/graph/rebuild.h"

#include <inttypes.h>

#include "runtime/graph/resolve.h"

enum tf_status tf_graph_rebuild(const struct tf_program *program, uint32_t graph_index,
	const struct tf_rebuild_target *target, struct tf_exec **out, struct tf_error *err)
{
	struct tf_resolved resolved = {0};
	enum tf_status status;

	TF_TRY(tf_graph_resolve_nodes(program, graph_index, target, &resolved, err));
	status = target->ops->graph_build(target->device, resolved.nodes, resolved.node_count,
		resolved.edges, resolved.edge_count, out, err);
	tf_resolved_fini(&resolved);
	if (status != TF_OK)
		tf_error_prefix(err, "graph %" PRIu32, graph_index);
	return status;
}
