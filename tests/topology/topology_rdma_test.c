/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA ports from made-up trees of sysfs and procfs, and what rings and fabrics ask of them. */
#include "tests/topology/topology_fixture.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];

static int set_up(void **state)
{
	(void)state;
	tf_fixture_make_folder(root, sizeof(root));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tf_fixture_remove_folder(root);
	return 0;
}

static void put(const char *device, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/class/infiniband/%s/%s", device, file);
	tf_fixture_write(root, path, text);
}

static void put_gid(
	const char *device, int index, const char *gid, const char *type, const char *netdev)
{
	char file[64];

	snprintf(file, sizeof(file), "ports/1/gids/%d", index);
	put(device, file, gid);
	snprintf(file, sizeof(file), "ports/1/gid_attrs/types/%d", index);
	put(device, file, type);
	snprintf(file, sizeof(file), "ports/1/gid_attrs/ndevs/%d", index);
	put(device, file, netdev);
}

/* A RoCE port that is up; GID 0 is link-local, 1 the address as RoCE v1, 2 the same as RoCE v2. */
static void put_roce(const char *device, const char *netdev, const char *gid)
{
	put(device, "ports/1/state", "4: ACTIVE\n");
	put(device, "ports/1/link_layer", "Ethernet\n");
	put(device, "ports/1/rate", "200 Gb/sec (4X HDR)\n");
	put_gid(device, 0, "fe80:0000:0000:0000:0a1b:2cff:fe3d:4e5f\n", "RoCE v2\n", netdev);
	put_gid(device, 1, gid, "IB/RoCE v1\n", netdev);
	put_gid(device, 2, gid, "RoCE v2\n", netdev);
}

static void add_route(char *table, size_t size, const char *netdev, const char *dest,
	const char *gateway, const char *mask)
{
	size_t used = strlen(table);

	snprintf(table + used, size - used, "%s\t%08X\t%08X\t0001\t0\t0\t0\t%08X\t0\t0\t0\n", netdev,
		inet_addr(dest), inet_addr(gateway), inet_addr(mask));
}

/*
 * One corner of three hosts cabled without a switch: two links in one /24, told apart by their
 * /30.
 */
static void put_triangle(void)
{
	char routes[2048] = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n";

	put_roce("rocep1s0f0", "enp1s0f0", "0000:0000:0000:0000:0000:ffff:c0a8:3201\n");
	put_roce("rocep1s0f1", "enp1s0f1", "0000:0000:0000:0000:0000:ffff:c0a8:3205\n");
	add_route(routes, sizeof(routes), "enp1s0f0", "0.0.0.0", "192.168.50.2", "0.0.0.0");
	add_route(routes, sizeof(routes), "eth0", "192.168.50.0", "0.0.0.0", "255.255.255.0");
	add_route(routes, sizeof(routes), "enp1s0f0", "192.168.50.0", "0.0.0.0", "255.255.255.252");
	add_route(routes, sizeof(routes), "enp1s0f1", "192.168.50.4", "0.0.0.0", "255.255.255.252");
	tf_fixture_write(root, "proc/net/route", routes);
}

static struct tf_topology *read_with_root(const char *xml)
{
	const struct tf_topology_options options = {
		.size = sizeof(options), .xml_path = tf_fixture_data(xml), .sysfs_root = root};
	struct tf_topology *t = NULL;

	assert_int_equal(tf_topology_read(&options, &t, NULL), TF_OK);
	return t;
}

static void test_triangle(void **state)
{
	static const uint8_t network[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 50, 4};
	struct tf_topology *t;
	struct tf_error err = {0};

	(void)state;
	put_triangle();
	t = read_with_root(POWER8);
	assert_int_equal(t->rdma_count, 2);
	assert_string_equal(t->rdma[0].name, "rocep1s0f0");
	assert_int_equal(t->rdma[0].port, 1);
	assert_true(t->rdma[0].active);
	assert_true(t->rdma[0].ethernet);
	assert_float_equal(t->rdma[0].rate_gbps, 25.0, 0.001);
	assert_string_equal(t->rdma[0].netdev, "enp1s0f0");
	assert_string_equal(t->rdma[0].address, "192.168.50.1");
	assert_int_equal(tf_topology_prefix_length(&t->rdma[0]), 30);
	assert_string_equal(t->rdma[1].address, "192.168.50.5");
	assert_int_equal(t->rdma[1].prefix_bits, 126);
	assert_memory_equal(t->rdma[1].network, network, sizeof(network));
	assert_int_equal(tf_topology_require(t, 3, TF_TOPOLOGY_RING, NULL), TF_OK);
	assert_int_equal(tf_topology_require(t, 3, TF_TOPOLOGY_FABRIC, &err), TF_E_MISFIT);
	assert_string_equal(err.text,
		"topology 'fabric' does not match: no active RoCE port has a prefix with room for more "
		"than two hosts (found: rocep1s0f0 192.168.50.1/30, rocep1s0f1 192.168.50.5/30)");
	tf_topology_destroy(t);
}

static void test_ring_too_small(void **state)
{
	struct tf_topology *t;
	struct tf_error err = {0};

	(void)state;
	put_triangle();
	put("rocep1s0f1", "ports/1/state", "1: DOWN\n");
	t = read_with_root(POWER8);
	assert_int_equal(tf_topology_require(t, 2, TF_TOPOLOGY_RING, NULL), TF_OK);
	assert_int_equal(tf_topology_require(t, 3, TF_TOPOLOGY_RING, &err), TF_E_MISFIT);
	assert_string_equal(err.text,
		"topology 'ring' does not match: a ring of 3 hosts takes active RoCE ports in 2 prefixes "
		"here, found 1 (rocep1s0f0 192.168.50.1/30)");
	tf_topology_destroy(t);
	t = tf_fixture_read(tf_fixture_data(POWER8));
	assert_int_equal(tf_topology_require(t, 2, TF_TOPOLOGY_RING, &err), TF_E_MISFIT);
	assert_non_null(strstr(err.text, "found 0 (none)"));
	tf_topology_destroy(t);
}

static void test_fabric(void **state)
{
	char routes[512] = "Iface\tDestination\n";
	struct tf_topology *t;

	(void)state;
	put_roce("mlx5_1", "eth1", "0000:0000:0000:0000:0000:ffff:0a01:0207\n");
	add_route(routes, sizeof(routes), "eth1", "10.1.0.0", "0.0.0.0", "255.255.0.0");
	tf_fixture_write(root, "proc/net/route", routes);
	t = read_with_root(POWER8);
	assert_int_equal(tf_topology_prefix_length(&t->rdma[0]), 16);
	assert_int_equal(tf_topology_require(t, 4, TF_TOPOLOGY_FABRIC, NULL), TF_OK);
	assert_int_equal(tf_topology_require(t, 3, TF_TOPOLOGY_RING, NULL), TF_E_MISFIT);
	tf_topology_destroy(t);
}

/* IPv4 goes before IPv6, wherever its GID stands; an IPv6 address alone will do. */
static void test_ipv6(void **state)
{
	char routes[512] = "Iface\tDestination\n";
	struct tf_topology *t;

	(void)state;
	put_roce("mlx5_0", "eth0", "fd00:0000:0000:0012:0000:0000:0000:0001\n");
	tf_fixture_write(root, "proc/net/if_inet6",
		"fe800000000000000a1b2cfffe3d4e5f 02 40 20 80     eth0\n"
		"fd000000000000120000000000000001 02 40 00 80     eth0\n");
	t = read_with_root(POWER8);
	assert_string_equal(t->rdma[0].address, "fd00:0:0:12::1");
	assert_int_equal(tf_topology_prefix_length(&t->rdma[0]), 64);
	assert_int_equal(t->rdma[0].network[7], 0x12);
	assert_int_equal(t->rdma[0].network[15], 0);
	tf_topology_destroy(t);

	put_gid("mlx5_0", 3, "0000:0000:0000:0000:0000:ffff:0a01:0207\n", "RoCE v2\n", "eth0.5");
	add_route(routes, sizeof(routes), "eth0.5", "10.1.0.0", "0.0.0.0", "255.255.254.0");
	tf_fixture_write(root, "proc/net/route", routes);
	t = read_with_root(POWER8);
	assert_string_equal(t->rdma[0].address, "fd00:0:0:12::1"); /* 10.1.2.7 lies outside */
	tf_topology_destroy(t);
	add_route(routes, sizeof(routes), "eth0.5", "10.1.2.0", "0.0.0.0", "255.255.254.0");
	tf_fixture_write(root, "proc/net/route", routes);
	t = read_with_root(POWER8);
	assert_string_equal(t->rdma[0].address, "10.1.2.7");
	assert_string_equal(t->rdma[0].netdev, "eth0.5");
	assert_int_equal(tf_topology_prefix_length(&t->rdma[0]), 23);
	tf_topology_destroy(t);
}

/* A device that hwloc knows keeps its place; ports and facts come from sysfs. */
static void test_known_device(void **state)
{
	char target[320], link_path[512];
	struct tf_topology *t;

	(void)state;
	put("mlx4_0", "ports/1/state", "4: ACTIVE\n");
	put("mlx4_0", "ports/1/link_layer", "InfiniBand\n");
	put("mlx4_0", "ports/1/rate", "40 Gb/sec (4X QDR)\n");
	put("mlx4_0", "ports/2/state", "1: DOWN\n");
	put("elsewhere", "ports/1/state", "4: ACTIVE\n");
	tf_fixture_write(root, "sys/devices/pci0000:20/0000:21:00.1/numa_node", "1\n");
	snprintf(target, sizeof(target), "%s/sys/devices/pci0000:20/0000:21:00.1", root);
	snprintf(link_path, sizeof(link_path), "%s/sys/class/infiniband/elsewhere/device", root);
	assert_int_equal(symlink(target, link_path), 0);
	t = read_with_root(XEON_24);
	assert_int_equal(t->rdma_count, 3);
	assert_string_equal(t->rdma[0].name, "elsewhere");
	assert_string_equal(t->rdma[0].bus_id, "0000:21:00.1");
	assert_int_equal(t->rdma[0].numa_node, 1);
	assert_int_equal(t->rdma[0].node, -1);
	assert_string_equal(t->rdma[1].name, "mlx4_0");
	assert_int_equal(t->rdma[1].port, 1);
	assert_string_equal(t->rdma[1].bus_id, "0000:05:00.0");
	assert_true(t->rdma[1].node >= 0);
	assert_true(t->rdma[1].active);
	assert_false(t->rdma[1].ethernet);
	assert_float_equal(t->rdma[1].rate_gbps, 5.0, 0.001);
	assert_int_equal(t->rdma[2].port, 2);
	assert_false(t->rdma[2].active);
	assert_int_equal(t->rdma[2].node, t->rdma[1].node);
	tf_topology_destroy(t);
}

/* Odd contents leave things unknown. */
static void test_odd_files(void **state)
{
	struct tf_topology *t;

	(void)state;
	put("odd", "ports/1/state", "");
	put("odd", "ports/1/rate", "fast\n");
	put_gid("odd", 0, "not a gid\n", "RoCE v2\n", "eth0\n");
	put_gid("odd", 1, "0000:0000:0000:0000:0000:ffff:0a01:0207\n", "RoCE v2\n", "eth0\n");
	tf_fixture_write(root, "proc/net/route", "eth0\nzero zero\n\n");
	put("empty", "node_type", "1: CA\n");
	t = read_with_root(POWER8);
	assert_int_equal(t->rdma_count, 1);
	assert_false(t->rdma[0].active);
	assert_float_equal(t->rdma[0].rate_gbps, 0.0, 0.0);
	assert_string_equal(t->rdma[0].netdev, "eth0");
	assert_int_equal(t->rdma[0].prefix_bits, 0);
	tf_topology_destroy(t);
	tf_fixture_remove_folder(root);
	t = read_with_root(POWER8);
	assert_int_equal(t->rdma_count, 0);
	tf_topology_destroy(t);
	assert_int_equal(mkdir(root, 0700), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_triangle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ring_too_small, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fabric, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ipv6, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_known_device, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_odd_files, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
