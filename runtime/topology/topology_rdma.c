/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDMA ports from sysfs, and the prefix of each port's network device.
 *
 * Everything is read below one root directory, so that a made-up tree can stand for a machine. A
 * port's address is that of its first RoCE v2 GID whose network device has an on-link prefix around
 * it: GID indices vary from boot to boot, and two /30 links may share a /24. IPv4 goes before IPv6.
 * What is missing or odd stays unknown; only memory and limits fail.
 */
#include "runtime/topology/topology_build.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORTS_MAX      8    /* cards have two */
#define GIDS_MAX       256  /* the largest table that drivers make */
#define ROUTES_MAX     4096 /* lines; a host that routes more is no compute node */
#define LINE_BYTES     512
#define BITS_PER_GBYTE 8.0 /* gigabits a second to gigabytes a second */

static const uint8_t mapped_ipv4[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

uint32_t tf_topology_prefix_length(const struct tf_topology_rdma *rdma)
{
	bool ipv4 = rdma->prefix_bits >= 96 && !memcmp(rdma->network, mapped_ipv4, sizeof(mapped_ipv4));

	return ipv4 ? rdma->prefix_bits - 96 : rdma->prefix_bits;
}

/* The first line of a file named by the format, without its end; false if there is none. */
__attribute__((format(printf, 3, 4))) static bool read_line(
	char *out, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	FILE *file;
	bool got;

	va_start(args, fmt);
	got = vsnprintf(path, sizeof(path), fmt, args) < (int)sizeof(path);
	va_end(args);
	file = got ? fopen(path, "re") : NULL;
	if (!file)
		return false;
	got = fgets(out, (int)size, file) != NULL;
	fclose(file);
	if (got)
		out[strcspn(out, "\n")] = '\0';
	return got;
}

static bool is_inside(const uint8_t *address, const uint8_t *network, uint32_t bits)
{
	uint32_t whole = bits / 8, rest = bits % 8;

	return !memcmp(address, network, whole) &&
		(!rest || !((address[whole] ^ network[whole]) >> (8 - rest)));
}

static void mask_network(uint8_t *network, uint32_t bits)
{
	for (uint32_t bit = bits; bit < 128; bit++)
		network[bit / 8] &= (uint8_t) ~(0x80u >> (bit % 8));
}

/* One line of /proc/net/route: a route without a gateway is a prefix of its device. */
static uint32_t match_route(
	const char *line, const char *netdev, const uint8_t *address, uint8_t *network)
{
	char name[TF_TOPOLOGY_NAME_BYTES];
	unsigned dest, gateway, mask;
	uint32_t bits;

	if (sscanf(line, "%63s %x %x %*x %*d %*d %*d %x", name, &dest, &gateway, &mask) != 4)
		return 0;
	bits = (uint32_t)__builtin_popcount(mask);
	if (strcmp(name, netdev) || gateway || !bits)
		return 0;
	memcpy(network, mapped_ipv4, sizeof(mapped_ipv4));
	memcpy(network + 12, &dest, 4); /* printed as a native word of network bytes */
	return is_inside(address, network, bits + 96) ? bits + 96 : 0;
}

/* One line of /proc/net/if_inet6: an address of a device with its prefix. */
static uint32_t match_inet6(
	const char *line, const char *netdev, const uint8_t *address, uint8_t *network)
{
	char name[TF_TOPOLOGY_NAME_BYTES], digits[33];
	unsigned bits;

	if (sscanf(line, "%32s %*x %x %*x %*x %63s", digits, &bits, name) != 3 ||
		strlen(digits) != 32 || strcmp(name, netdev) || !bits || bits > 128)
		return 0;
	for (unsigned i = 0; i < 16; i++) {
		unsigned byte;

		if (sscanf(digits + 2 * i, "%2x", &byte) != 1 || byte != address[i])
			return 0;
		network[i] = (uint8_t)byte;
	}
	mask_network(network, bits);
	return bits;
}

typedef uint32_t (*tf_prefix_line_fn)(
	const char *line, const char *netdev, const uint8_t *address, uint8_t *network);

/* The longest prefix around an address in a file of prefixes; 0 bits: none. */
static uint32_t longest_prefix(const char *root, const char *file_name, tf_prefix_line_fn match,
	const char *netdev, const uint8_t *address, uint8_t *network)
{
	char path[PATH_MAX], line[LINE_BYTES];
	uint32_t best = 0;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/proc/net/%s", root, file_name) >= (int)sizeof(path))
		return 0;
	file = fopen(path, "re");
	if (!file)
		return 0;
	for (int i = 0; i < ROUTES_MAX && fgets(line, sizeof(line), file); i++) {
		uint8_t found[16];
		uint32_t bits = match(line, netdev, address, found);

		if (bits > best) {
			best = bits;
			memcpy(network, found, sizeof(found));
		}
	}
	fclose(file);
	return best;
}

/* Takes the GID if its device has a prefix around it; true ends the search (IPv4). */
static bool take_gid(
	const char *root, const char *netdev, const uint8_t *gid, struct tf_topology_rdma *rdma)
{
	bool ipv4 = !memcmp(gid, mapped_ipv4, sizeof(mapped_ipv4));
	uint8_t network[16];
	uint32_t bits;

	if (!ipv4 && (rdma->prefix_bits || (gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80)))
		return false; /* one IPv6 prefix is enough; link-local ones say nothing */
	bits = ipv4 ? longest_prefix(root, "route", match_route, netdev, gid, network)
				: longest_prefix(root, "if_inet6", match_inet6, netdev, gid, network);
	if (!bits)
		return false;
	rdma->prefix_bits = bits;
	memcpy(rdma->network, network, sizeof(network));
	inet_ntop(
		ipv4 ? AF_INET : AF_INET6, ipv4 ? gid + 12 : gid, rdma->address, sizeof(rdma->address));
	tf_topology_copy_text(rdma->netdev, sizeof(rdma->netdev), netdev);
	return ipv4;
}

static void read_gids(const char *root, const char *port_dir, struct tf_topology_rdma *rdma)
{
	char line[LINE_BYTES], netdev[TF_TOPOLOGY_NAME_BYTES];
	uint8_t gid[16];

	for (int i = 0; i < GIDS_MAX; i++) {
		if (!read_line(line, sizeof(line), "%s/gids/%d", port_dir, i))
			return;
		if (inet_pton(AF_INET6, line, gid) != 1 ||
			!read_line(netdev, sizeof(netdev), "%s/gid_attrs/ndevs/%d", port_dir, i))
			continue;
		if (!rdma->netdev[0])
			tf_topology_copy_text(rdma->netdev, sizeof(rdma->netdev), netdev);
		if (!read_line(line, sizeof(line), "%s/gid_attrs/types/%d", port_dir, i) ||
			strcmp(line, "RoCE v2"))
			continue;
		if (take_gid(root, netdev, gid, rdma))
			return;
	}
}

static void read_port(const char *root, const char *port_dir, struct tf_topology_rdma *rdma)
{
	char line[LINE_BYTES];
	double rate;

	if (read_line(line, sizeof(line), "%s/state", port_dir))
		rdma->active = strstr(line, "ACTIVE") != NULL;
	if (read_line(line, sizeof(line), "%s/link_layer", port_dir))
		rdma->ethernet = !strcmp(line, "Ethernet");
	if (read_line(line, sizeof(line), "%s/rate", port_dir) &&
		sscanf(line, "%lf Gb/sec", &rate) == 1)
		rdma->rate_gbps = rate / BITS_PER_GBYTE;
	read_gids(root, port_dir, rdma);
}

/* What the tree says of a device, or what sysfs does where hwloc did not see it. */
static void place_device(const struct tf_topology *topology, const char *device_dir,
	const char *name, struct tf_topology_rdma *rdma)
{
	char path[PATH_MAX], target[PATH_MAX], line[LINE_BYTES];
	const char *slash;
	ssize_t got;

	tf_topology_copy_text(rdma->name, sizeof(rdma->name), name);
	for (uint32_t i = 0; i < topology->rdma_count; i++) {
		const struct tf_topology_rdma *known = &topology->rdma[i];

		if (!strcmp(known->name, rdma->name) && known->node >= 0) {
			*rdma = *known;
			return;
		}
	}
	if (snprintf(path, sizeof(path), "%s/device", device_dir) >= (int)sizeof(path))
		return;
	got = readlink(path, target, sizeof(target) - 1);
	target[got > 0 ? got : 0] = '\0';
	slash = strrchr(target, '/');
	if (slash && !tf_topology_normal_bus_id(slash + 1, rdma->bus_id, sizeof(rdma->bus_id)))
		rdma->bus_id[0] = '\0';
	if (read_line(line, sizeof(line), "%s/device/numa_node", device_dir))
		rdma->numa_node = (int32_t)strtol(line, NULL, 10);
}

/* The record of a device's port: the one of port 0 that hwloc left, or a new one. */
static enum tf_status find_record(struct tf_topology *topology, const struct tf_topology_rdma *like,
	struct tf_topology_rdma **out, struct tf_error *err)
{
	for (uint32_t i = 0; i < topology->rdma_count; i++) {
		*out = &topology->rdma[i];
		if (!(*out)->port && !strcmp((*out)->name, like->name))
			return TF_OK;
	}
	return tf_topology_add_rdma(topology, out, err);
}

static enum tf_status read_device(
	struct tf_topology *topology, const char *root, const char *name, struct tf_error *err)
{
	char device_dir[PATH_MAX], port_dir[PATH_MAX];
	struct tf_topology_rdma base = {.numa_node = -1, .node = -1}, *rdma;

	if (snprintf(device_dir, sizeof(device_dir), "%s/sys/class/infiniband/%s", root, name) >=
		(int)sizeof(device_dir))
		return TF_OK;
	place_device(topology, device_dir, name, &base);
	for (uint32_t port = 1; port <= PORTS_MAX; port++) {
		if (snprintf(port_dir, sizeof(port_dir), "%s/ports/%u", device_dir, port) >=
				(int)sizeof(port_dir) ||
			access(port_dir, F_OK))
			break;
		TF_TRY(find_record(topology, &base, &rdma, err));
		*rdma = base;
		rdma->port = port;
		read_port(root, port_dir, rdma);
	}
	return TF_OK;
}

static int compare_ports(const void *a, const void *b)
{
	const struct tf_topology_rdma *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	return names ? names : (x->port > y->port) - (x->port < y->port);
}

enum tf_status tf_topology_read_rdma(
	struct tf_topology *topology, const char *root, struct tf_error *err)
{
	enum tf_status status = TF_OK;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = NULL;

	if (snprintf(path, sizeof(path), "%s/sys/class/infiniband", root) < (int)sizeof(path))
		dir = opendir(path);
	while (dir && status == TF_OK && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			status = read_device(topology, root, entry->d_name, err);
	if (dir)
		closedir(dir);
	if (status == TF_OK && topology->rdma_count)
		qsort(topology->rdma, topology->rdma_count, sizeof(*topology->rdma), compare_ports);
	return status;
}
