/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How each pair of devices is joined: first by where their paths meet in the tree, then by NVLink,
 * directly or through switches, as hwloc's matrix has it.
 *
 * NVLink to a processor is no path between GPUs: only GPUs and NVSwitches of the matrix count. It
 * holds the links of GPUs, not those between switches: the switches of one machine are taken for
 * one fabric, and the bandwidth through it is what the poorer end has of links into it.
 */
#include "runtime/topology/topology_build.h"
#include "base/alloc.h"

#include <hwloc/distances.h>
#include <string.h>

#define MATRIX_MAX    256 /* 16 GPUs, their processors, and every port of their switches */
#define MBPS_PER_GBPS 1000.0

enum member_kind { MEMBER_NONE = 0, MEMBER_DEVICE, MEMBER_SWITCH };

/* The matrix with its objects resolved. */
struct matrix {
	const struct hwloc_distances_s *d;
	enum member_kind kind[MATRIX_MAX];
	uint32_t device[MATRIX_MAX];
	uint64_t to_switches[MATRIX_MAX]; /* MB/s from a device to all switches */
};

static int32_t depth_of(const struct tf_topology *topology, int32_t node)
{
	int32_t depth = 0;

	for (; node >= 0; node = topology->nodes[node].parent)
		depth++;
	return depth;
}

int32_t tf_topology_meeting_node(const struct tf_topology *topology, int32_t a, int32_t b)
{
	int32_t depth_a = depth_of(topology, a), depth_b = depth_of(topology, b);

	while (a != b) {
		if (depth_a >= depth_b) {
			a = topology->nodes[a].parent;
			depth_a--;
		} else {
			b = topology->nodes[b].parent;
			depth_b--;
		}
	}
	return a;
}

/* Devices that meet only at the machine: one that tells no sockets may still tell its nodes. */
static enum tf_topology_link link_at_machine(
	const struct tf_topology_device *a, const struct tf_topology_device *b)
{
	return a->numa_node >= 0 && a->numa_node == b->numa_node ? TF_LINK_NODE : TF_LINK_SYS;
}

enum tf_topology_link tf_topology_tree_link(
	const struct tf_topology *topology, uint32_t from, uint32_t to)
{
	const struct tf_topology_device *a = &topology->devices[from], *b = &topology->devices[to];
	int32_t meeting = tf_topology_meeting_node(topology, a->node, b->node);

	if (from == to || meeting < 0)
		return from == to ? TF_LINK_SELF : TF_LINK_SYS;
	switch (topology->nodes[meeting].kind) {
	case TF_NODE_ROOT:
		return TF_LINK_PHB;
	case TF_NODE_SOCKET:
		return TF_LINK_NODE;
	case TF_NODE_MACHINE:
		return link_at_machine(a, b);
	default:
		return TF_LINK_PIX;
	}
}

static struct tf_topology_pair *pair_at(struct tf_topology *topology, uint32_t from, uint32_t to)
{
	return &topology->pairs[(size_t)from * topology->device_count + to];
}

/* The device of an object of the matrix: the PCI device itself, or NVML's name of it. */
static void resolve_member(const struct tf_topology *topology, struct matrix *m, unsigned at)
{
	hwloc_obj_t obj = m->d->objs[at];
	int32_t node, device;

	if (obj && obj->type == HWLOC_OBJ_OS_DEVICE)
		obj = obj->parent;
	if (!obj || obj->type != HWLOC_OBJ_PCI_DEVICE || !obj->userdata)
		return;
	node = (int32_t)((intptr_t)obj->userdata - 1);
	device = topology->nodes[node].device;
	if (topology->nodes[node].kind == TF_NODE_NVSWITCH) {
		m->kind[at] = MEMBER_SWITCH;
	} else if (device >= 0) {
		m->kind[at] = MEMBER_DEVICE;
		m->device[at] = (uint32_t)device;
	}
}

static uint64_t value_at(const struct matrix *m, unsigned from, unsigned to)
{
	return m->d->values[(size_t)from * m->d->nbobjs + to];
}

/* Sums what each device has of links to switches. */
static void sum_to_switches(struct matrix *m)
{
	for (unsigned i = 0; i < m->d->nbobjs; i++)
		for (unsigned j = 0; j < m->d->nbobjs; j++)
			if (m->kind[i] == MEMBER_DEVICE && m->kind[j] == MEMBER_SWITCH)
				m->to_switches[i] += value_at(m, i, j);
}

static uint64_t bandwidth_through_switches(const struct matrix *m, unsigned from, unsigned to)
{
	uint64_t out = m->to_switches[from], in = m->to_switches[to];

	return out < in ? out : in;
}

static void apply_matrix(struct tf_topology *topology, const struct matrix *m)
{
	for (unsigned i = 0; i < m->d->nbobjs; i++) {
		for (unsigned j = 0; j < m->d->nbobjs; j++) {
			struct tf_topology_pair *pair;
			uint64_t mbps;

			if (m->kind[i] != MEMBER_DEVICE || m->kind[j] != MEMBER_DEVICE ||
				m->device[i] == m->device[j])
				continue;
			mbps = value_at(m, i, j) + bandwidth_through_switches(m, i, j);
			if (!mbps)
				continue;
			pair = pair_at(topology, m->device[i], m->device[j]);
			pair->link = TF_LINK_NVLINK;
			pair->bandwidth_gbps = (double)mbps / MBPS_PER_GBPS;
		}
	}
}

static enum tf_status add_nvlink(
	struct tf_topology *topology, hwloc_topology_t hw, struct tf_error *err)
{
	struct hwloc_distances_s *d = NULL;
	struct matrix *m;
	unsigned count = 1;

	if (hwloc_distances_get_by_name(hw, "NVLinkBandwidth", &count, &d, 0) || !count)
		return TF_OK;
	if (d->nbobjs > MATRIX_MAX) {
		unsigned found = d->nbobjs;

		hwloc_distances_release(hw, d);
		return TF_FAIL(
			err, TF_E_LIMIT, "NVLink matrix of %u objects, at most %d are read", found, MATRIX_MAX);
	}
	m = tf_calloc(1, sizeof(*m));
	if (!m) {
		hwloc_distances_release(hw, d);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the NVLink matrix");
	}
	m->d = d;
	for (unsigned i = 0; i < d->nbobjs; i++)
		resolve_member(topology, m, i);
	sum_to_switches(m);
	apply_matrix(topology, m);
	tf_free(m);
	hwloc_distances_release(hw, d);
	return TF_OK;
}

enum tf_status tf_topology_build_links(
	struct tf_topology *topology, hwloc_topology_t hw, struct tf_error *err)
{
	uint32_t count = topology->device_count;

	topology->pairs = tf_calloc((size_t)count * count, sizeof(*topology->pairs));
	if (!topology->pairs)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the pairs of %u devices", count);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			pair_at(topology, i, j)->link = tf_topology_tree_link(topology, i, j);
	return add_nvlink(topology, hw, err);
}
