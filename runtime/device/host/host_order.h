/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which the nodes of a graph run one by one. */
#ifndef TF_RUNTIME_DEVICE_HOST_HOST_ORDER_H
#define TF_RUNTIME_DEVICE_HOST_HOST_ORDER_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fills order (node_count) with the topological order that takes, among the nodes that may run,
 * the lowest index first. Costs (nodes + edges) * log(nodes).
 * TF_E_INVALID: an edge out of range or of an unknown type (named), or a cycle (a node on it
 * named).
 */
TF_WARN_UNUSED enum tf_status tf_host_order(uint32_t node_count, const struct tf_exec_edge *edges,
	uint32_t edge_count, uint32_t *order, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
