/* SPDX-License-Identifier: Apache-2.0 */
/* A topology for people and for scripts. */
#ifndef TF_PREPARE_TOPOLOGY_PRINT_H
#define TF_PREPARE_TOPOLOGY_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/topology/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_TOPOLOGY_JSON_VERSION 1

/* What is printed; all borrowed. */
struct tf_topology_view {
	const struct tf_topology *topology;
	uint32_t world;
	enum tf_topology_class selected; /* the class asked for, or the one found */
	const char *signature;
	bool utf8;           /* draw with box characters; false: ASCII */
	bool no_peer_access; /* switched off by option */
};

/* Class, devices, pairs of ranks, RDMA ports, tree. */
void tf_topology_print_table(FILE *to, const struct tf_topology_view *view);

/* The tree alone: bridges that only pass one path on are left out. */
void tf_topology_print_tree(FILE *to, const struct tf_topology_view *view);

/* One JSON document with "version": TF_TOPOLOGY_JSON_VERSION. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_topology_print_json(
	FILE *to, const struct tf_topology_view *view, struct tf_error *err);

/* The rank on a device: the first of them where several share it, or -1. */
int tf_topology_rank_of(const struct tf_topology *topology, uint32_t device);

#ifdef __cplusplus
}
#endif
#endif
