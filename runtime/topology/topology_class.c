/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class of the first ranks, and refusals that name the pair and the path that disagree.
 *
 * One rule decides between the classes of a single host: does some pair meet at a host bridge.
 */
#include "runtime/topology/topology_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_bridged(enum tf_topology_link link)
{
	return link == TF_LINK_PHB || link == TF_LINK_NODE || link == TF_LINK_SYS;
}

/* How the two ends of a link meet, after "devices 0 and 2 ". */
static const char *meeting_words(enum tf_topology_link link)
{
	switch (link) {
	case TF_LINK_SELF:
		return "are one GPU";
	case TF_LINK_NVLINK:
		return "are joined by nvlink";
	case TF_LINK_PIX:
		return "meet at a pcie switch";
	case TF_LINK_PHB:
		return "meet at the host bridge";
	case TF_LINK_NODE:
		return "meet between host bridges of one socket";
	default:
		return "meet across sockets";
	}
}

const struct tf_topology_pair *tf_topology_pair_of(
	const struct tf_topology *topology, uint32_t from, uint32_t to)
{
	return &topology->pairs[(size_t)from * topology->device_count + to];
}

const struct tf_topology_pair *tf_topology_rank_pair(
	const struct tf_topology *topology, uint32_t from, uint32_t to)
{
	return tf_topology_pair_of(topology, topology->rank_device[from], topology->rank_device[to]);
}

/* The name of the nearest node of a kind above `node`, or NULL. */
static const char *name_above(
	const struct tf_topology *topology, int32_t node, enum tf_topology_node_kind kind)
{
	for (; node >= 0; node = topology->nodes[node].parent)
		if (topology->nodes[node].kind == kind)
			return topology->nodes[node].name;
	return NULL;
}

__attribute__((format(printf, 3, 4))) static void append(
	char *out, size_t size, const char *fmt, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, fmt);
	vsnprintf(out + used, size - used, fmt, args);
	va_end(args);
}

static void append_hop(char *out, size_t size, const char *name)
{
	if (name)
		append(out, size, "%s -> ", name);
}

void tf_topology_path(
	const struct tf_topology *topology, uint32_t from, uint32_t to, char *out, size_t size)
{
	const struct tf_topology_device *a = &topology->devices[from], *b = &topology->devices[to];
	enum tf_topology_link link = tf_topology_pair_of(topology, from, to)->link;
	int32_t meeting = tf_topology_meeting_node(topology, a->node, b->node);

	snprintf(out, size, "%s", a->node < 0 ? a->model : a->bus_id);
	if (link == TF_LINK_SELF)
		return;
	append(out, size, " -> ");
	if (link == TF_LINK_NVLINK) {
		append_hop(out, size, "nvlink");
	} else if (link == TF_LINK_PIX) {
		append(out, size, "pcie switch %s -> ",
			a->unplaced || b->unplaced ? "unknown" : topology->nodes[meeting].name);
	} else {
		const char *root_a = name_above(topology, a->node, TF_NODE_ROOT);
		const char *root_b = name_above(topology, b->node, TF_NODE_ROOT);

		append_hop(out, size, root_a);
		if (link == TF_LINK_SYS) {
			append_hop(out, size, name_above(topology, a->node, TF_NODE_SOCKET));
			append_hop(out, size, name_above(topology, b->node, TF_NODE_SOCKET));
		}
		append_hop(out, size, root_b != root_a ? root_b : NULL);
	}
	append(out, size, "%s", b->node < 0 ? b->model : b->bus_id);
}

bool tf_topology_find_bridged(
	const struct tf_topology *topology, uint32_t world, uint32_t *out_from, uint32_t *out_to)
{
	for (uint32_t i = 0; i < world; i++) {
		for (uint32_t j = i + 1; j < world; j++) {
			if (!is_bridged(tf_topology_rank_pair(topology, i, j)->link) &&
				!is_bridged(tf_topology_rank_pair(topology, j, i)->link))
				continue;
			*out_from = i;
			*out_to = j;
			return true;
		}
	}
	return false;
}

static enum tf_status fail_too_few(
	const struct tf_topology *topology, uint32_t world, struct tf_error *err)
{
	char found[TF_ERROR_TEXT_BYTES / 2] = "";

	for (uint32_t i = 0; i < topology->rank_count; i++)
		append(found, sizeof(found), "%s%s", i ? ", " : "",
			topology->devices[topology->rank_device[i]].bus_id);
	return TF_FAIL(err, TF_E_MISFIT, "%u ranks need %u GPUs, this machine has %u (%s)", world,
		world, topology->rank_count, found);
}

enum tf_status tf_topology_check_ranks(
	const struct tf_topology *topology, uint32_t world, struct tf_error *err)
{
	if (topology->host)
		return TF_OK;
	if (world > topology->rank_count)
		return fail_too_few(topology, world, err);
	for (uint32_t i = 0; world > 1 && i < world; i++) {
		const struct tf_topology_device *d = &topology->devices[topology->rank_device[i]];

		if (d->split)
			return TF_FAIL(err, TF_E_MISFIT,
				"device %u (%s) is split into MIG instances, which have no peer access", i,
				d->bus_id);
	}
	return TF_OK;
}

enum tf_status tf_topology_classify(const struct tf_topology *topology, uint32_t world,
	enum tf_topology_class *out, struct tf_error *err)
{
	uint32_t from, to;

	TF_TRY(tf_topology_check_ranks(topology, world, err));
	if (topology->host)
		*out = TF_TOPOLOGY_LOCAL;
	else if (tf_topology_find_bridged(topology, world, &from, &to))
		*out = TF_TOPOLOGY_HOST_BRIDGE;
	else
		*out = TF_TOPOLOGY_SWITCHED;
	return TF_OK;
}

/* "devices 0 and 2 meet at the host bridge (PATH)" of two ranks. */
static void describe_pair(
	const struct tf_topology *topology, uint32_t from, uint32_t to, char *out, size_t size)
{
	char path[TF_TOPOLOGY_PATH_BYTES];
	enum tf_topology_link link = tf_topology_rank_pair(topology, from, to)->link;

	if (!is_bridged(link) && is_bridged(tf_topology_rank_pair(topology, to, from)->link)) {
		uint32_t swapped = from;

		from = to;
		to = swapped;
		link = tf_topology_rank_pair(topology, from, to)->link;
	}
	tf_topology_path(
		topology, topology->rank_device[from], topology->rank_device[to], path, sizeof(path));
	snprintf(out, size, "devices %u and %u %s (%s)", from, to, meeting_words(link), path);
}

static enum tf_status require_switched(
	const struct tf_topology *topology, uint32_t world, struct tf_error *err)
{
	char pair[TF_TOPOLOGY_PATH_BYTES + 128];
	uint32_t from, to;

	if (!tf_topology_find_bridged(topology, world, &from, &to))
		return TF_OK;
	describe_pair(topology, from, to, pair, sizeof(pair));
	return TF_FAIL(err, TF_E_MISFIT, "%s", pair);
}

static enum tf_status require_host_bridge(
	const struct tf_topology *topology, uint32_t world, struct tf_error *err)
{
	char pair[TF_TOPOLOGY_PATH_BYTES + 128];
	uint32_t from, to;

	if (tf_topology_find_bridged(topology, world, &from, &to))
		return TF_OK;
	if (world < 2)
		return TF_FAIL(err, TF_E_MISFIT, "one device meets no other at a host bridge");
	describe_pair(topology, 0, 1, pair, sizeof(pair));
	return TF_FAIL(err, TF_E_MISFIT, "no pair meets at a host bridge: %s", pair);
}

static bool is_linked(const struct tf_topology_rdma *rdma)
{
	return rdma->active && rdma->ethernet && rdma->prefix_bits;
}

static bool is_same_prefix(const struct tf_topology_rdma *a, const struct tf_topology_rdma *b)
{
	return a->prefix_bits == b->prefix_bits && !memcmp(a->network, b->network, sizeof(a->network));
}

/* Whether an earlier port has the same prefix. */
static bool is_repeat(const struct tf_topology *topology, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (is_linked(&topology->rdma[i]) &&
			is_same_prefix(&topology->rdma[i], &topology->rdma[index]))
			return true;
	return false;
}

/* "mlx5_0 10.0.0.1/30": an IPv4 prefix in its own count of bits. */
static void list_links(const struct tf_topology *topology, char *out, size_t size)
{
	out[0] = '\0';
	for (uint32_t i = 0; i < topology->rdma_count; i++) {
		const struct tf_topology_rdma *r = &topology->rdma[i];

		if (is_linked(r))
			append(out, size, "%s%s %s/%u", out[0] ? ", " : "", r->name, r->address,
				tf_topology_prefix_length(r));
	}
	if (!out[0])
		append(out, size, "none");
}

static enum tf_status require_ring(
	const struct tf_topology *topology, uint32_t world, struct tf_error *err)
{
	char links[TF_ERROR_TEXT_BYTES / 2];
	uint32_t found = 0, wanted = world > 2 ? 2 : 1;

	for (uint32_t i = 0; i < topology->rdma_count; i++)
		found += is_linked(&topology->rdma[i]) && !is_repeat(topology, i);
	if (found >= wanted)
		return TF_OK;
	list_links(topology, links, sizeof(links));
	return TF_FAIL(err, TF_E_MISFIT,
		"a ring of %u hosts takes active RoCE ports in %u prefixes here, found %u (%s)", world,
		wanted, found, links);
}

static enum tf_status require_fabric(const struct tf_topology *topology, struct tf_error *err)
{
	char links[TF_ERROR_TEXT_BYTES / 2];

	for (uint32_t i = 0; i < topology->rdma_count; i++)
		if (is_linked(&topology->rdma[i]) && topology->rdma[i].prefix_bits < 126)
			return TF_OK;
	list_links(topology, links, sizeof(links));
	return TF_FAIL(err, TF_E_MISFIT,
		"no active RoCE port has a prefix with room for more than two hosts (found: %s)", links);
}

/* Ranks of `ring` and `fabric` lie on several hosts, so the count of GPUs here says nothing. */
static enum tf_status check_class(const struct tf_topology *topology, uint32_t world,
	enum tf_topology_class wanted, struct tf_error *err)
{
	if (wanted == TF_TOPOLOGY_RING)
		return require_ring(topology, world, err);
	if (wanted == TF_TOPOLOGY_FABRIC)
		return require_fabric(topology, err);
	if (wanted == TF_TOPOLOGY_LOCAL)
		return TF_FAIL(err, TF_E_MISFIT, "it is the host device's, and this machine has %u GPUs",
			topology->rank_count);
	TF_TRY(tf_topology_check_ranks(topology, world, err));
	return wanted == TF_TOPOLOGY_SWITCHED ? require_switched(topology, world, err)
										  : require_host_bridge(topology, world, err);
}

enum tf_status tf_topology_require(const struct tf_topology *topology, uint32_t world,
	enum tf_topology_class wanted, struct tf_error *err)
{
	enum tf_status status;

	if ((unsigned)wanted >= TF_TOPOLOGY_CLASS_COUNT)
		return TF_FAIL(err, TF_E_USAGE, "no topology class has the number %d", (int)wanted);
	if (topology->host)
		return TF_OK;
	status = check_class(topology, world, wanted, err);
	tf_error_prefix(err, "topology '%s' does not match", tf_topology_class_name(wanted));
	return status;
}

void tf_topology_explain(const struct tf_topology *topology, uint32_t world, char *out, size_t size)
{
	uint32_t from, to;

	if (topology->host && tf_topology_has_gpu(topology))
		snprintf(out, size, "the host device was asked for");
	else if (topology->host)
		snprintf(out, size, "no GPU found: the host device will be used");
	else if (tf_topology_find_bridged(topology, world, &from, &to))
		describe_pair(topology, from, to, out, size);
	else if (world < 2)
		snprintf(out, size, "one GPU has no pair that could meet at a host bridge");
	else if (world == 2)
		describe_pair(topology, 0, 1, out, size);
	else
		snprintf(out, size, "all %u pairs are joined by nvlink or meet at pcie switches",
			world * (world - 1) / 2);
}
