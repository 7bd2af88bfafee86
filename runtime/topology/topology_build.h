/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of tf_topology_read, each in a file of its own; private to this folder.
 *
 * Order: tree (devices and nodes), NVML's devices, links (pairs), NVML's links, ranks, RDMA ports.
 * Each stage adds to the topology that is being built, and leaves it destroyable when it fails.
 * Between tree and links an hwloc object that has a node carries its index + 1 in `userdata`.
 */
#ifndef TF_RUNTIME_TOPOLOGY_TOPOLOGY_BUILD_H
#define TF_RUNTIME_TOPOLOGY_TOPOLOGY_BUILD_H

#include <hwloc.h>

#include "runtime/topology/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hwloc's view of an XML file, or of this machine for NULL, with all I/O devices. */
TF_WARN_UNUSED enum tf_status tf_topology_load_hwloc(
	const char *xml_path, hwloc_topology_t *out, struct tf_error *err);

/* Fills devices, nodes, and for each RDMA device that hwloc knows one record of port 0. */
TF_WARN_UNUSED enum tf_status tf_topology_build_tree(
	struct tf_topology *topology, hwloc_topology_t hw, struct tf_error *err);

/* Allocates and fills pairs from the tree and from hwloc's matrix of NVLink bandwidths. */
TF_WARN_UNUSED enum tf_status tf_topology_build_links(
	struct tf_topology *topology, hwloc_topology_t hw, struct tf_error *err);

/* How two devices meet in the tree alone. */
enum tf_topology_link tf_topology_tree_link(
	const struct tf_topology *topology, uint32_t from, uint32_t to);

/* The deepest node above both nodes (or one of them), or -1. */
int32_t tf_topology_meeting_node(const struct tf_topology *topology, int32_t a, int32_t b);

/* NVML while a topology is read; it borrows the topology. */
struct tf_topology_nvml_session;

/*
 * Opens NVML under `name` and takes in its devices: models, MIG, masks, those that the tree lacks.
 * Records in topology->nvml whether it could be opened; that it could not is no failure, and leaves
 * *out as it was. Comes between tree and links.
 */
TF_WARN_UNUSED enum tf_status tf_topology_nvml_open(struct tf_topology *topology, const char *name,
	struct tf_topology_nvml_session **out, struct tf_error *err);

/* Puts NVML's links into the pairs. Takes NULL. */
void tf_topology_nvml_refine(struct tf_topology_nvml_session *session);

/* Takes NULL. */
void tf_topology_nvml_close(struct tf_topology_nvml_session *session);

/* Adds an NVIDIA device that the PCI tree lacks, below the machine. TF_E_LIMIT, TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_topology_add_unplaced(struct tf_topology *topology,
	const char *bus_id, uint16_t device_id, int32_t *out, struct tf_error *err);

/* Whether any device can take a rank. */
bool tf_topology_has_gpu(const struct tf_topology *topology);

/* Fills rank_device. TF_E_USAGE, TF_E_NOT_FOUND: of options->bus_ids. */
TF_WARN_UNUSED enum tf_status tf_topology_assign_ranks(
	struct tf_topology *topology, const struct tf_topology_options *options, struct tf_error *err);

/* The first pair of ranks below `world` that meets at a host bridge; false: there is none. */
bool tf_topology_find_bridged(
	const struct tf_topology *topology, uint32_t world, uint32_t *out_from, uint32_t *out_to);

/* TF_E_MISFIT: fewer than `world` rank devices, or one of several is split. */
TF_WARN_UNUSED enum tf_status tf_topology_check_ranks(
	const struct tf_topology *topology, uint32_t world, struct tf_error *err);

/* Replaces the records of port 0 by what `root`/sys/class/infiniband and `root`/proc/net say. */
TF_WARN_UNUSED enum tf_status tf_topology_read_rdma(
	struct tf_topology *topology, const char *root, struct tf_error *err);

/* Adds a zeroed record. TF_E_LIMIT, TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_topology_add_rdma(
	struct tf_topology *topology, struct tf_topology_rdma **out, struct tf_error *err);

/* Copies the printable ASCII of `text`, '?' for the rest, cut at `size`: names are outside data. */
void tf_topology_copy_text(char *out, size_t size, const char *text);

/* A bus id in the one spelling used here; accepts any case and width. False: it is no bus id. */
bool tf_topology_normal_bus_id(const char *text, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
