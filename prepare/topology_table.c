/* SPDX-License-Identifier: Apache-2.0 */
/* The tables and the drawing of `tfprep topology`. All texts of a topology are printable ASCII. */
#include "prepare/topology_print.h"

#include <string.h>

#define DEPTH_MAX    24 /* drawn levels; without passing bridges, trees are a handful deep */
#define PREFIX_BYTES (DEPTH_MAX * 8)

static const char *const cell_names[TF_LINK_COUNT] = {
	[TF_LINK_SELF] = "X",
	[TF_LINK_NVLINK] = "NV",
	[TF_LINK_PIX] = "PIX",
	[TF_LINK_PHB] = "PHB",
	[TF_LINK_NODE] = "NODE",
	[TF_LINK_SYS] = "SYS",
};

static const char *const cell_meanings[TF_LINK_COUNT] = {
	[TF_LINK_SELF] = "the same device",
	[TF_LINK_NVLINK] = "NVLink or NVSwitch",
	[TF_LINK_PIX] = "a PCIe switch",
	[TF_LINK_PHB] = "one host bridge",
	[TF_LINK_NODE] = "two host bridges of one socket",
	[TF_LINK_SYS] = "across sockets",
};

int tf_topology_rank_of(const struct tf_topology *topology, uint32_t device)
{
	for (uint32_t rank = 0; rank < topology->rank_count; rank++)
		if (topology->rank_device[rank] == device)
			return (int)rank;
	return -1;
}

static void print_summary(FILE *to, const struct tf_topology_view *view)
{
	const struct tf_topology *topology = view->topology;
	char reason[TF_ERROR_TEXT_BYTES];

	tf_topology_explain(topology, view->world, reason, sizeof(reason));
	fprintf(to, "class      %s\n", tf_topology_class_name(view->selected));
	fprintf(to, "because    %s\n", reason);
	if (topology->host)
		fprintf(to, "world      %u on the host device\n", view->world);
	else
		fprintf(to, "world      %u of %u GPUs\n", view->world, topology->rank_count);
	if (view->no_peer_access)
		fprintf(to, "peers      off by option: only the writer staged is legal\n");
	fprintf(to, "nvml       %s\n", tf_topology_nvml_name(topology->nvml));
	fprintf(to, "signature  %s\n", view->signature);
}

static void print_device(
	FILE *to, const struct tf_topology *topology, uint32_t index, int model_width)
{
	const struct tf_topology_device *d = &topology->devices[index];
	int rank = tf_topology_rank_of(topology, index);
	char rank_text[16] = "-", numa_text[16] = "-";

	if (rank >= 0)
		snprintf(rank_text, sizeof(rank_text), "%d", rank);
	if (d->numa_node >= 0)
		snprintf(numa_text, sizeof(numa_text), "%d", d->numa_node);
	fprintf(to, "%4s  %-12s  %-6s  %-*s  %04x:%04x  %4s%s%s\n", rank_text, d->bus_id,
		tf_topology_device_kind_name(d->kind), model_width, d->model, d->vendor_id, d->device_id,
		numa_text, d->split ? "  split (MIG)" : "", d->masked ? "  not given to this process" : "");
}

static void print_devices(FILE *to, const struct tf_topology *topology)
{
	int width = (int)strlen("MODEL");

	for (uint32_t i = 0; i < topology->device_count; i++) {
		int length = (int)strlen(topology->devices[i].model);

		width = length > width ? length : width;
	}
	fprintf(to, "\n%4s  %-12s  %-6s  %-*s  %-9s  %4s\n", "RANK", "BUS ID", "KIND", width, "MODEL",
		"PCI ID", "NUMA");
	for (uint32_t i = 0; i < topology->device_count; i++)
		if (topology->devices[i].kind != TF_TOPOLOGY_DEVICE_HOST)
			print_device(to, topology, i, width);
}

static void print_legend(FILE *to, const struct tf_topology *topology)
{
	double low[TF_LINK_COUNT] = {0}, high[TF_LINK_COUNT] = {0};
	bool used[TF_LINK_COUNT] = {false};

	for (uint32_t i = 0; i < topology->rank_count; i++) {
		for (uint32_t j = 0; j < topology->rank_count; j++) {
			const struct tf_topology_pair *p = tf_topology_rank_pair(topology, i, j);

			if (!used[p->link] || p->bandwidth_gbps < low[p->link])
				low[p->link] = p->bandwidth_gbps;
			if (p->bandwidth_gbps > high[p->link])
				high[p->link] = p->bandwidth_gbps;
			used[p->link] = true;
		}
	}
	fprintf(to, "\n");
	for (int link = TF_LINK_NVLINK; link < TF_LINK_COUNT; link++) {
		if (!used[link])
			continue;
		fprintf(to, "%6s  %s", cell_names[link], cell_meanings[link]);
		if (high[link] > 0 && low[link] < high[link])
			fprintf(to, ", %.0f to %.0f GB/s one way", low[link], high[link]);
		else if (high[link] > 0)
			fprintf(to, ", %.0f GB/s one way", high[link]);
		fprintf(to, "\n");
	}
}

static void print_pairs(FILE *to, const struct tf_topology *topology)
{
	if (topology->rank_count < 2)
		return;
	fprintf(to, "\n%6s", "");
	for (uint32_t j = 0; j < topology->rank_count; j++)
		fprintf(to, "%5u", j);
	fprintf(to, "\n");
	for (uint32_t i = 0; i < topology->rank_count; i++) {
		fprintf(to, "%6u", i);
		for (uint32_t j = 0; j < topology->rank_count; j++)
			fprintf(to, "%5s", cell_names[tf_topology_rank_pair(topology, i, j)->link]);
		fprintf(to, "\n");
	}
	print_legend(to, topology);
}

static void print_rdma(FILE *to, const struct tf_topology *topology)
{
	if (topology->rdma_count)
		fprintf(to, "\n%-12s  %4s  %-6s  %-12s  %6s  %-12s  %s\n", "RDMA", "PORT", "STATE",
			"BUS ID", "GB/S", "NETDEV", "ADDRESS");
	for (uint32_t i = 0; i < topology->rdma_count; i++) {
		const struct tf_topology_rdma *r = &topology->rdma[i];
		char port[16] = "-", rate[32] = "-", address[64] = "-";

		if (r->port)
			snprintf(port, sizeof(port), "%u", r->port);
		if (r->rate_gbps > 0)
			snprintf(rate, sizeof(rate), "%.1f", r->rate_gbps);
		if (r->prefix_bits)
			snprintf(address, sizeof(address), "%s/%u", r->address, tf_topology_prefix_length(r));
		fprintf(to, "%-12s  %4s  %-6s  %-12s  %6s  %-12s  %s\n", r->name, port,
			!r->port        ? "-"
				: r->active ? "active"
							: "down",
			r->bus_id[0] ? r->bus_id : "-", rate, r->netdev[0] ? r->netdev : "-", address);
	}
}

void tf_topology_print_table(FILE *to, const struct tf_topology_view *view)
{
	const struct tf_topology *topology = view->topology;
	bool only_host = topology->device_count == 1 && topology->host;

	print_summary(to, view);
	if (topology->device_count && !only_host)
		print_devices(to, topology);
	print_pairs(to, topology);
	print_rdma(to, topology);
	if (topology->node_count > 1) {
		fprintf(to, "\n");
		tf_topology_print_tree(to, view);
	}
}

/* Children of a node that are drawn: a bridge with one child is passed through. */
static uint32_t count_children(const struct tf_topology *topology, int32_t node)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->node_count; i++)
		count += topology->nodes[i].parent == node;
	return count;
}

static int32_t next_child(const struct tf_topology *topology, int32_t node, int32_t after)
{
	for (uint32_t i = (uint32_t)(after + 1); i < topology->node_count; i++)
		if (topology->nodes[i].parent == node)
			return (int32_t)i;
	return -1;
}

static int32_t skip_bridges(const struct tf_topology *topology, int32_t node)
{
	while (topology->nodes[node].kind == TF_NODE_BRIDGE && count_children(topology, node) == 1)
		node = next_child(topology, node, -1);
	return node;
}

static void print_rdma_names(FILE *to, const struct tf_topology *topology, int32_t node)
{
	const char *before = "";

	for (uint32_t i = 0; i < topology->rdma_count; i++) {
		if (topology->rdma[i].node == node && strcmp(before, topology->rdma[i].name))
			fprintf(to, "  %s", topology->rdma[i].name);
		if (topology->rdma[i].node == node)
			before = topology->rdma[i].name;
	}
}

static void print_node(FILE *to, const struct tf_topology *topology, int32_t node)
{
	const struct tf_topology_node *n = &topology->nodes[node];

	switch (n->kind) {
	case TF_NODE_BRIDGE:
		fprintf(to, "switch %s", n->name);
		break;
	case TF_NODE_NVSWITCH:
		fprintf(to, "nvswitch %s", n->name);
		break;
	case TF_NODE_RDMA:
		fprintf(to, "rdma %s", n->name);
		print_rdma_names(to, topology, node);
		break;
	case TF_NODE_DEVICE: {
		const struct tf_topology_device *d = &topology->devices[n->device];
		int rank = tf_topology_rank_of(topology, (uint32_t)n->device);

		if (rank >= 0)
			fprintf(to, "rank %d  %s  %s", rank, d->bus_id, d->model);
		else
			fprintf(to, "%s  %s  %s", tf_topology_device_kind_name(d->kind), d->bus_id, d->model);
		break;
	}
	default:
		fprintf(to, "%s", n->name);
	}
	fprintf(to, "\n");
}

static void draw_below(
	FILE *to, const struct tf_topology_view *view, int32_t node, char *prefix, int depth)
{
	const struct tf_topology *topology = view->topology;
	size_t used = strlen(prefix);
	int32_t child = next_child(topology, node, -1);

	while (child >= 0) {
		int32_t next = next_child(topology, node, child);
		int32_t shown = skip_bridges(topology, child);
		const char *arm = next >= 0 ? (view->utf8 ? "\u251c\u2500 " : "|- ")
									: (view->utf8 ? "\u2514\u2500 " : "`- ");
		const char *stem = next < 0 ? "   " : view->utf8 ? "\u2502  " : "|  ";

		fprintf(to, "%s%s", prefix, arm);
		if (depth == DEPTH_MAX) {
			fprintf(to, "...\n");
			return;
		}
		print_node(to, topology, shown);
		snprintf(prefix + used, PREFIX_BYTES - used, "%s", stem);
		draw_below(to, view, shown, prefix, depth + 1);
		prefix[used] = '\0';
		child = next;
	}
}

void tf_topology_print_tree(FILE *to, const struct tf_topology_view *view)
{
	char prefix[PREFIX_BYTES] = "";

	if (!view->topology->node_count)
		return;
	fprintf(to, "%s\n", view->topology->nodes[0].name);
	draw_below(to, view, 0, prefix, 1);
}
