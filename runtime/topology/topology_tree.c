/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From hwloc's objects to devices and the tree above them.
 *
 * Only what leads to a device of interest becomes a node: GPUs and other accelerators, NVSwitches,
 * RDMA devices. PCI devices are visited by bus id, so a parent's index is below its children's and
 * roots are numbered in the order of their buses.
 */
#include "runtime/topology/topology_build.h"
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VENDOR_NVIDIA 0x10de
#define VENDOR_AMD    0x1002

#define CLASS_VGA         0x0300
#define CLASS_3D          0x0302
#define CLASS_DISPLAY     0x0380
#define CLASS_ACCELERATOR 0x1200

#define PCI_DEVICES_MAX 8192 /* a bus holds 256 functions; large hosts list some hundreds in all */

struct tree {
	struct tf_topology *topology;
	uint32_t root_count;
};

void tf_topology_copy_text(char *out, size_t size, const char *text)
{
	size_t at = 0;

	for (; *text && at + 1 < size; text++, at++)
		out[at] = *text;
	out[at] = '\0';
	for (char *c = out; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
}

bool tf_topology_normal_bus_id(const char *text, char *out, size_t size)
{
	unsigned domain, bus, dev, func;
	int end = 0;

	if (sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &dev, &func, &end) != 4 || text[end] ||
		dev > 0x1f || func > 7)
		return false;
	snprintf(out, size, "%04x:%02x:%02x.%x", domain, bus, dev, func);
	return true;
}

static void format_bus_id(hwloc_obj_t obj, char *out, size_t size)
{
	const struct hwloc_pcidev_attr_s *pci = &obj->attr->pcidev;

	snprintf(out, size, "%04x:%02x:%02x.%x", (unsigned)pci->domain, pci->bus, pci->dev, pci->func);
}

static int compare_bus_ids(const void *a, const void *b)
{
	const struct hwloc_pcidev_attr_s *x = &(*(const hwloc_obj_t *)a)->attr->pcidev;
	const struct hwloc_pcidev_attr_s *y = &(*(const hwloc_obj_t *)b)->attr->pcidev;
	uint64_t p =
		(uint64_t)x->domain << 16 | (uint64_t)x->bus << 8 | (uint64_t)x->dev << 3 | x->func;
	uint64_t q =
		(uint64_t)y->domain << 16 | (uint64_t)y->bus << 8 | (uint64_t)y->dev << 3 | y->func;

	return p < q ? -1 : p > q;
}

/*
 * Whether a PCI device is a GPU or another accelerator, and whose. The VGA controller of a maker
 * that has no accelerators is a management controller's console, and left out.
 */
static bool is_accelerator(hwloc_obj_t obj, enum tf_topology_device_kind *kind)
{
	unsigned short id = obj->attr->pcidev.class_id;
	bool display = id == CLASS_VGA || id == CLASS_3D || id == CLASS_DISPLAY;

	switch (obj->attr->pcidev.vendor_id) {
	case VENDOR_NVIDIA:
		*kind = TF_TOPOLOGY_DEVICE_NVIDIA;
		return display;
	case VENDOR_AMD:
		*kind = TF_TOPOLOGY_DEVICE_AMD;
		return display || id == CLASS_ACCELERATOR;
	default:
		*kind = TF_TOPOLOGY_DEVICE_OTHER;
		return id == CLASS_3D || id == CLASS_DISPLAY || id == CLASS_ACCELERATOR;
	}
}

static bool is_nvswitch(hwloc_obj_t obj)
{
	return obj->subtype && !strcmp(obj->subtype, "NVSwitch");
}

static hwloc_obj_t rdma_child(hwloc_obj_t pci, hwloc_obj_t after)
{
	hwloc_obj_t child = after ? after->next_sibling : pci->io_first_child;

	for (; child; child = child->next_sibling)
		if (child->type == HWLOC_OBJ_OS_DEVICE &&
			child->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS && child->name)
			return child;
	return NULL;
}

/* The one NUMA node near an I/O object, or -1. */
static int32_t numa_node_of(hwloc_topology_t hw, hwloc_obj_t obj)
{
	hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(hw, obj);

	if (!near || !near->nodeset || hwloc_bitmap_weight(near->nodeset) != 1)
		return -1;
	return hwloc_bitmap_first(near->nodeset);
}

static bool wants_node(hwloc_obj_t obj)
{
	return !obj->parent || obj->type == HWLOC_OBJ_PACKAGE || obj->type == HWLOC_OBJ_BRIDGE ||
		obj->type == HWLOC_OBJ_PCI_DEVICE;
}

static void name_node(struct tree *tree, struct tf_topology_node *node, hwloc_obj_t obj)
{
	if (!obj->parent) {
		node->kind = TF_NODE_MACHINE;
		snprintf(node->name, sizeof(node->name), "machine");
	} else if (obj->type == HWLOC_OBJ_PACKAGE) {
		node->kind = TF_NODE_SOCKET;
		snprintf(node->name, sizeof(node->name), "socket %u", obj->logical_index);
	} else if (obj->type == HWLOC_OBJ_BRIDGE &&
		obj->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST) {
		node->kind = TF_NODE_ROOT;
		snprintf(node->name, sizeof(node->name), "pci root %u", tree->root_count++);
	} else {
		node->kind = TF_NODE_BRIDGE;
		format_bus_id(obj, node->name, sizeof(node->name));
	}
}

static enum tf_status append_node(
	struct tf_topology *topology, int32_t parent, int32_t *out, struct tf_error *err)
{
	struct tf_topology_node *nodes;

	if (topology->node_count == TF_TOPOLOGY_NODES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "more than %d bridges and devices in the PCI tree",
			TF_TOPOLOGY_NODES_MAX);
	nodes = tf_reallocarray(topology->nodes, topology->node_count + 1u, sizeof(*nodes));
	if (!nodes)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the PCI tree");
	topology->nodes = nodes;
	nodes += topology->node_count;
	memset(nodes, 0, sizeof(*nodes));
	nodes->parent = parent;
	nodes->device = -1;
	*out = (int32_t)topology->node_count++;
	return TF_OK;
}

static enum tf_status add_node(
	struct tree *tree, hwloc_obj_t obj, int32_t parent, int32_t *out, struct tf_error *err)
{
	TF_TRY(append_node(tree->topology, parent, out, err));
	name_node(tree, &tree->topology->nodes[*out], obj);
	obj->userdata = (void *)((intptr_t)*out + 1);
	return TF_OK;
}

/* The node of an object, made with all that is missing above it. */
static enum tf_status ensure_node(
	struct tree *tree, hwloc_obj_t obj, int32_t *out, struct tf_error *err)
{
	int32_t parent = -1;

	for (;;) {
		hwloc_obj_t top = NULL;

		for (hwloc_obj_t up = obj; up; up = up->parent) {
			if (!wants_node(up))
				continue;
			if (up->userdata) {
				parent = (int32_t)((intptr_t)up->userdata - 1);
				break;
			}
			top = up;
		}
		if (!top)
			break;
		TF_TRY(add_node(tree, top, parent, &parent, err));
	}
	*out = parent;
	return TF_OK;
}

static void name_model(struct tf_topology_device *device, hwloc_obj_t obj)
{
	const char *text = NULL;

	for (hwloc_obj_t child = obj->io_first_child; child && !text; child = child->next_sibling)
		text = hwloc_obj_get_info_by_name(child, "GPUModel");
	if (!text)
		text = hwloc_obj_get_info_by_name(obj, "PCIDevice");
	if (text && text[0])
		tf_topology_copy_text(device->model, sizeof(device->model), text);
	else
		snprintf(device->model, sizeof(device->model), "%04x:%04x", device->vendor_id,
			device->device_id);
}

/* A device of the kind at the node, named by its ids until something better is known. */
static enum tf_status append_device(struct tf_topology *topology, enum tf_topology_device_kind kind,
	int32_t node, struct tf_topology_device **out, struct tf_error *err)
{
	struct tf_topology_device *device = NULL;

	if (topology->device_count == TF_TOPOLOGY_DEVICES_MAX)
		return TF_FAIL(
			err, TF_E_LIMIT, "more than %d GPUs and accelerators", TF_TOPOLOGY_DEVICES_MAX);
	device = &topology->devices[topology->device_count];
	device->kind = kind;
	device->numa_node = -1;
	device->node = node;
	topology->nodes[node].kind = TF_NODE_DEVICE;
	topology->nodes[node].device = (int32_t)topology->device_count++;
	*out = device;
	return TF_OK;
}

static enum tf_status add_device(struct tf_topology *topology, hwloc_topology_t hw, hwloc_obj_t obj,
	enum tf_topology_device_kind kind, int32_t node, struct tf_error *err)
{
	struct tf_topology_device *device = NULL;

	TF_TRY(append_device(topology, kind, node, &device, err));
	device->vendor_id = obj->attr->pcidev.vendor_id;
	device->device_id = obj->attr->pcidev.device_id;
	device->numa_node = numa_node_of(hw, obj);
	format_bus_id(obj, device->bus_id, sizeof(device->bus_id));
	name_model(device, obj);
	return TF_OK;
}

enum tf_status tf_topology_add_unplaced(struct tf_topology *topology, const char *bus_id,
	uint16_t device_id, int32_t *out, struct tf_error *err)
{
	struct tf_topology_device *device = NULL;
	int32_t node;

	TF_TRY(append_node(topology, 0, &node, err));
	TF_TRY(append_device(topology, TF_TOPOLOGY_DEVICE_NVIDIA, node, &device, err));
	tf_topology_copy_text(topology->nodes[node].name, TF_TOPOLOGY_NAME_BYTES, bus_id);
	tf_topology_copy_text(device->bus_id, sizeof(device->bus_id), bus_id);
	device->vendor_id = VENDOR_NVIDIA;
	device->device_id = device_id;
	device->unplaced = true;
	snprintf(device->model, sizeof(device->model), "%04x:%04x", VENDOR_NVIDIA, device_id);
	*out = topology->nodes[node].device;
	return TF_OK;
}

enum tf_status tf_topology_add_rdma(
	struct tf_topology *topology, struct tf_topology_rdma **out, struct tf_error *err)
{
	struct tf_topology_rdma *rdma;

	if (topology->rdma_count == TF_TOPOLOGY_RDMA_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "more than %d RDMA ports", TF_TOPOLOGY_RDMA_MAX);
	rdma = tf_reallocarray(topology->rdma, topology->rdma_count + 1u, sizeof(*rdma));
	if (!rdma)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for RDMA ports");
	topology->rdma = rdma;
	rdma += topology->rdma_count++;
	memset(rdma, 0, sizeof(*rdma));
	rdma->numa_node = -1;
	rdma->node = -1;
	*out = rdma;
	return TF_OK;
}

static enum tf_status add_rdma_children(struct tf_topology *topology, hwloc_topology_t hw,
	hwloc_obj_t obj, int32_t node, struct tf_error *err)
{
	struct tf_topology_rdma *rdma;

	for (hwloc_obj_t child = rdma_child(obj, NULL); child; child = rdma_child(obj, child)) {
		TF_TRY(tf_topology_add_rdma(topology, &rdma, err));
		tf_topology_copy_text(rdma->name, sizeof(rdma->name), child->name);
		format_bus_id(obj, rdma->bus_id, sizeof(rdma->bus_id));
		rdma->numa_node = numa_node_of(hw, obj);
		rdma->node = node;
	}
	topology->nodes[node].kind = TF_NODE_RDMA;
	return TF_OK;
}

static enum tf_status visit(
	struct tree *tree, hwloc_topology_t hw, hwloc_obj_t obj, struct tf_error *err)
{
	enum tf_topology_device_kind kind;
	bool nvswitch = is_nvswitch(obj);
	bool accelerator = !nvswitch && is_accelerator(obj, &kind);
	int32_t node;

	if (!nvswitch && !accelerator && !rdma_child(obj, NULL))
		return TF_OK;
	TF_TRY(ensure_node(tree, obj, &node, err));
	if (accelerator)
		return add_device(tree->topology, hw, obj, kind, node, err);
	if (nvswitch) {
		tree->topology->nodes[node].kind = TF_NODE_NVSWITCH;
		return TF_OK;
	}
	return add_rdma_children(tree->topology, hw, obj, node, err);
}

enum tf_status tf_topology_build_tree(
	struct tf_topology *topology, hwloc_topology_t hw, struct tf_error *err)
{
	struct tree tree = {.topology = topology};
	enum tf_status status = TF_OK;
	hwloc_obj_t *found, obj = NULL;
	size_t count = 0;
	int32_t machine;

	topology->devices = tf_calloc(TF_TOPOLOGY_DEVICES_MAX, sizeof(*topology->devices));
	found = tf_calloc(PCI_DEVICES_MAX, sizeof(hwloc_obj_t));
	if (!topology->devices || !found) {
		status = TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the PCI devices");
		goto done;
	}
	while ((obj = hwloc_get_next_pcidev(hw, obj)) && count < PCI_DEVICES_MAX)
		found[count++] = obj;
	if (obj) {
		status = TF_FAIL(err, TF_E_LIMIT, "more than %d PCI devices", PCI_DEVICES_MAX);
		goto done;
	}
	qsort(found, count, sizeof(hwloc_obj_t), compare_bus_ids);
	status = ensure_node(&tree, hwloc_get_root_obj(hw), &machine, err);
	for (size_t i = 0; i < count && status == TF_OK; i++)
		status = visit(&tree, hw, found[i], err);
done:
	tf_free(found);
	return status;
}
