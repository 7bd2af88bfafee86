/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a graph of a program to an executable graph of a device: places become addresses, rank
 * words become the rank, and nothing that the program does not declare can be touched.
 */
#ifndef TF_RUNTIME_GRAPH_REBUILD_H
#define TF_RUNTIME_GRAPH_REBUILD_H

#include "catalog/program.h"
#include "runtime/device/device.h"
#include "runtime/graph/locate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a graph is rebuilt; everything is borrowed. */
struct tf_rebuild_target {
	const struct tf_device_ops *ops;
	struct tf_device *device;
	struct tf_window_view window;                  /* world and stride must be the program's */
	const struct tf_kernel_handle *const *kernels; /* (program->kernel_count), rebuild_modules.h */
	struct tf_comm_caller *comm; /* who carries out COMM nodes; NULL: nobody can */
};

/*
 * Rebuilds program->graphs[graph_index]; needs no window memory to be mapped yet. Threads: any
 * number at once as far as target->ops allows.
 * TF_E_USAGE: there is no such graph, or the rank is not in the world.
 * TF_E_MISFIT: world or stride are not the program's, or the window's end passes 64 bits.
 * TF_E_INVALID: a launch, an argument, a copy, a set or an edge breaks a rule. The text names
 * graph, node, kernel, argument and value.
 * TF_E_UNSUPPORTED: a call of the communication library, and target->comm is NULL.
 * TF_E_NOT_FOUND: a kernel without a handle. TF_E_NO_MEMORY, TF_E_LIMIT, and what graph_build
 * returns.
 */
TF_WARN_UNUSED enum tf_status tf_graph_rebuild(const struct tf_program *program,
	uint32_t graph_index, const struct tf_rebuild_target *target, struct tf_exec **out,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
