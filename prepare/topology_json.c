/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep topology --json`. Within a version, members are only added. What is unknown is null.
 * jansson reports a failed member by a NULL object, which json_pack passes on: one test at the end
 * sees every failure.
 */
#include "prepare/topology_print.h"

#include <jansson.h>

static const char *const node_kinds[] = {
	[TF_NODE_MACHINE] = "machine",
	[TF_NODE_SOCKET] = "socket",
	[TF_NODE_ROOT] = "pci-root",
	[TF_NODE_BRIDGE] = "bridge",
	[TF_NODE_DEVICE] = "device",
	[TF_NODE_NVSWITCH] = "nvswitch",
	[TF_NODE_RDMA] = "rdma",
};

static json_t *index_or_null(int32_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *real_or_null(double value)
{
	return value > 0 ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return text[0] ? json_string(text) : json_null();
}

/* Appends, or frees the array if that fails, so that the failure reaches the document. */
static json_t *append(json_t *array, json_t *value)
{
	if (!array || json_array_append_new(array, value)) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *pack_device(const struct tf_topology *topology, uint32_t index)
{
	const struct tf_topology_device *d = &topology->devices[index];
	char pci_id[16];

	snprintf(pci_id, sizeof(pci_id), "%04x:%04x", d->vendor_id, d->device_id);
	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:b,s:b}", "kind",
		tf_topology_device_kind_name(d->kind), "model", d->model, "pci_id",
		text_or_null(d->vendor_id ? pci_id : ""), "bus_id", text_or_null(d->bus_id), "numa_node",
		index_or_null(d->numa_node), "rank", index_or_null(tf_topology_rank_of(topology, index)),
		"split", d->split, "masked", d->masked);
}

static json_t *pack_devices(const struct tf_topology *topology)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < topology->device_count; i++)
		array = append(array, pack_device(topology, i));
	return array;
}

static json_t *pack_pair(const struct tf_topology *topology, uint32_t from, uint32_t to)
{
	const struct tf_topology_pair *pair = tf_topology_rank_pair(topology, from, to);
	char path[TF_TOPOLOGY_PATH_BYTES];

	tf_topology_path(
		topology, topology->rank_device[from], topology->rank_device[to], path, sizeof(path));
	return json_pack("{s:i,s:i,s:s,s:o,s:s}", "from", (int)from, "to", (int)to, "link",
		tf_topology_link_name(pair->link), "bandwidth_gbps", real_or_null(pair->bandwidth_gbps),
		"path", path);
}

static json_t *pack_pairs(const struct tf_topology *topology)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < topology->rank_count; i++)
		for (uint32_t j = 0; array && j < topology->rank_count; j++)
			if (i != j)
				array = append(array, pack_pair(topology, i, j));
	return array;
}

static json_t *pack_port(const struct tf_topology_rdma *r)
{
	char address[64] = "";

	if (r->prefix_bits)
		snprintf(address, sizeof(address), "%s/%u", r->address, tf_topology_prefix_length(r));
	return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", r->name, "port",
		r->port ? json_integer(r->port) : json_null(), "bus_id", text_or_null(r->bus_id),
		"numa_node", index_or_null(r->numa_node), "active",
		r->port ? json_boolean(r->active) : json_null(), "ethernet",
		r->port ? json_boolean(r->ethernet) : json_null(), "rate_gbps", real_or_null(r->rate_gbps),
		"netdev", text_or_null(r->netdev), "address", text_or_null(address));
}

static json_t *pack_ports(const struct tf_topology *topology)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < topology->rdma_count; i++)
		array = append(array, pack_port(&topology->rdma[i]));
	return array;
}

static json_t *pack_tree(const struct tf_topology *topology)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < topology->node_count; i++) {
		const struct tf_topology_node *n = &topology->nodes[i];

		array = append(array,
			json_pack("{s:s,s:s,s:o,s:o}", "kind", node_kinds[n->kind], "name", n->name, "parent",
				index_or_null(n->parent), "device", index_or_null(n->device)));
	}
	return array;
}

enum tf_status tf_topology_print_json(
	FILE *to, const struct tf_topology_view *view, struct tf_error *err)
{
	const struct tf_topology *topology = view->topology;
	char reason[TF_ERROR_TEXT_BYTES];
	json_t *document;
	int failed;

	tf_topology_explain(topology, view->world, reason, sizeof(reason));
	document = json_pack("{s:i,s:s,s:s,s:i,s:s,s:b,s:s,s:I,s:{s:s,s:o},s:o,s:o,s:o,s:o}", "version",
		TF_TOPOLOGY_JSON_VERSION, "class", tf_topology_class_name(view->selected), "reason", reason,
		"world", (int)view->world, "signature", view->signature, "host_device", topology->host,
		"architecture", topology->architecture, "page_bytes", (json_int_t)topology->page_bytes,
		"nvml", "state", tf_topology_nvml_name(topology->nvml), "cause",
		text_or_null(topology->nvml_cause), "devices", pack_devices(topology), "links",
		pack_pairs(topology), "rdma", pack_ports(topology), "tree", pack_tree(topology));
	if (!document)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the topology's JSON");
	if (view->no_peer_access)
		json_object_set_new(document, "peer_access", json_string("off"));
	failed = json_dumpf(document, to, JSON_INDENT(2));
	json_decref(document);
	if (failed || fputc('\n', to) == EOF)
		return TF_FAIL(err, TF_E_SYSTEM, "cannot write the topology's JSON");
	return TF_OK;
}
