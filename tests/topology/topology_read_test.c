/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, pairs, classes, refusals and damaged files, from topologies of real machines. */
#include "tests/topology/topology_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static enum tf_topology_class class_of(const struct tf_topology *topology, uint32_t world)
{
	enum tf_topology_class found = TF_TOPOLOGY_CLASS_COUNT;

	assert_int_equal(tf_topology_classify(topology, world, &found, NULL), TF_OK);
	return found;
}

static void assert_refused(const struct tf_topology *topology, uint32_t world,
	enum tf_topology_class wanted, const char *text)
{
	struct tf_error err = {0};

	assert_int_equal(tf_topology_require(topology, world, wanted, &err), TF_E_MISFIT);
	assert_string_equal(err.text, text);
}

static const struct tf_topology_device *rank(const struct tf_topology *topology, uint32_t index)
{
	assert_true(index < topology->rank_count);
	return &topology->devices[topology->rank_device[index]];
}

static void test_two_sockets(void **state)
{
	struct tf_topology *t = tf_fixture_read(tf_fixture_data(XEON_24));

	(void)state;
	assert_int_equal(t->device_count, 4);
	assert_int_equal(t->rank_count, 3);
	assert_false(t->host);
	assert_int_equal(t->nvml, TF_NVML_NOT_ASKED);
	assert_string_equal(t->architecture, "x86_64");
	assert_int_equal(t->devices[0].kind, TF_TOPOLOGY_DEVICE_AMD);
	assert_string_equal(t->devices[0].model, "ES1000");
	assert_string_equal(rank(t, 0)->bus_id, "0000:06:00.0");
	assert_string_equal(rank(t, 1)->bus_id, "0000:11:00.0");
	assert_string_equal(rank(t, 2)->bus_id, "0000:14:00.0");
	assert_int_equal(rank(t, 0)->vendor_id, 0x10de);
	assert_int_equal(rank(t, 0)->device_id, 0x06d2);
	assert_int_equal(rank(t, 0)->numa_node, 0);
	assert_int_equal(rank(t, 2)->numa_node, 1);
	assert_int_equal(tf_topology_rank_pair(t, 0, 1)->link, TF_LINK_SYS);
	assert_int_equal(tf_topology_rank_pair(t, 1, 2)->link, TF_LINK_PHB);
	assert_int_equal(tf_topology_rank_pair(t, 2, 2)->link, TF_LINK_SELF);
	assert_int_equal(class_of(t, 1), TF_TOPOLOGY_SWITCHED);
	assert_int_equal(class_of(t, 2), TF_TOPOLOGY_HOST_BRIDGE);
	assert_int_equal(class_of(t, 3), TF_TOPOLOGY_HOST_BRIDGE);
	assert_int_equal(t->detected, TF_TOPOLOGY_HOST_BRIDGE);
	assert_int_equal(tf_topology_require(t, 3, TF_TOPOLOGY_HOST_BRIDGE, NULL), TF_OK);
	assert_int_equal(tf_topology_require(t, 1, TF_TOPOLOGY_SWITCHED, NULL), TF_OK);
	tf_topology_destroy(t);
}

static void test_two_sockets_refusals(void **state)
{
	const char *const ids[] = {"00000000:11:00.0", "0000:14:00.0"};
	const struct tf_topology_options options = {.size = sizeof(options),
		.xml_path = tf_fixture_data(XEON_24),
		.bus_ids = ids,
		.bus_id_count = 2};
	struct tf_topology *t = tf_fixture_read(tf_fixture_data(XEON_24));
	struct tf_error err = {0};

	(void)state;
	assert_refused(t, 3, TF_TOPOLOGY_SWITCHED,
		"topology 'switched' does not match: devices 0 and 1 meet across sockets (0000:06:00.0 -> "
		"pci root 0 -> socket 0 -> socket 1 -> pci root 1 -> 0000:11:00.0)");
	assert_refused(t, 4, TF_TOPOLOGY_SWITCHED,
		"topology 'switched' does not match: 4 ranks need 4 GPUs, this machine has 3 "
		"(0000:06:00.0, 0000:11:00.0, 0000:14:00.0)");
	assert_refused(t, 2, TF_TOPOLOGY_LOCAL,
		"topology 'local' does not match: it is the host device's, and this machine has 3 GPUs");
	assert_refused(t, 1, TF_TOPOLOGY_HOST_BRIDGE,
		"topology 'host-bridge' does not match: one device meets no other at a host bridge");
	assert_int_equal(tf_topology_classify(t, 4, &t->detected, &err), TF_E_MISFIT);
	assert_int_equal(tf_topology_require(t, 2, (enum tf_topology_class)9, &err), TF_E_USAGE);
	tf_topology_destroy(t);

	assert_int_equal(tf_topology_read(&options, &t, NULL), TF_OK);
	assert_refused(t, 2, TF_TOPOLOGY_SWITCHED,
		"topology 'switched' does not match: devices 0 and 1 meet at the host bridge "
		"(0000:11:00.0 -> pci root 1 -> 0000:14:00.0)");
	tf_topology_destroy(t);
}

static void test_whole_io(void **state)
{
	struct tf_topology *t = tf_fixture_read(tf_fixture_data(XEON_32));

	(void)state;
	assert_int_equal(t->device_count, 4);
	assert_int_equal(t->rank_count, 3);
	assert_string_equal(rank(t, 2)->model, "Tesla K40m");
	assert_string_equal(rank(t, 2)->bus_id, "0000:84:00.0");
	assert_int_equal(t->rdma_count, 1);
	assert_string_equal(t->rdma[0].name, "mlx5_0");
	assert_int_equal(t->rdma[0].port, 0);
	assert_int_equal(t->rdma[0].numa_node, 1);
	assert_int_equal(tf_topology_rank_pair(t, 1, 2)->link, TF_LINK_PHB);
	/* two functions of one card and a card on the same bridge */
	assert_int_equal(tf_topology_pair_of(t, 2, 3)->link, TF_LINK_PIX);
	assert_int_equal(class_of(t, 2), TF_TOPOLOGY_HOST_BRIDGE);
	assert_int_equal(class_of(t, 3), TF_TOPOLOGY_HOST_BRIDGE);
	tf_topology_destroy(t);
}

static void test_nvlink_pairs(void **state)
{
	struct tf_topology *t = tf_fixture_read(tf_fixture_data(POWER8));

	(void)state;
	assert_int_equal(t->rank_count, 4);
	assert_string_equal(t->architecture, "ppc64le");
	assert_string_equal(rank(t, 3)->model, "Tesla P100-SXM2-16GB");
	assert_int_equal(tf_topology_rank_pair(t, 0, 1)->link, TF_LINK_NVLINK);
	assert_float_equal(tf_topology_rank_pair(t, 0, 1)->bandwidth_gbps, 40.0, 0.001);
	assert_int_equal(tf_topology_rank_pair(t, 3, 2)->link, TF_LINK_NVLINK);
	/* both sockets reach their GPUs by NVLink: no path between GPUs */
	assert_int_equal(tf_topology_rank_pair(t, 1, 2)->link, TF_LINK_SYS);
	assert_float_equal(tf_topology_rank_pair(t, 1, 2)->bandwidth_gbps, 0.0, 0.0);
	assert_int_equal(class_of(t, 2), TF_TOPOLOGY_SWITCHED);
	assert_int_equal(class_of(t, 3), TF_TOPOLOGY_HOST_BRIDGE);
	assert_int_equal(class_of(t, 4), TF_TOPOLOGY_HOST_BRIDGE);
	assert_refused(t, 4, TF_TOPOLOGY_SWITCHED,
		"topology 'switched' does not match: devices 0 and 2 meet across sockets (0002:01:00.0 -> "
		"pci root 0 -> socket 0 -> socket 1 -> pci root 2 -> 000a:01:00.0)");
	assert_refused(t, 2, TF_TOPOLOGY_HOST_BRIDGE,
		"topology 'host-bridge' does not match: no pair meets at a host bridge: devices 0 and 1 "
		"are joined by nvlink (0002:01:00.0 -> nvlink -> 0003:01:00.0)");
	tf_topology_destroy(t);
}

static void test_nvswitch(void **state)
{
	struct tf_topology *t = tf_fixture_read(tf_fixture_data(DGX2));
	uint32_t switches = 0;

	(void)state;
	assert_int_equal(t->rank_count, 16);
	for (uint32_t i = 0; i < 16; i++)
		for (uint32_t j = 0; j < 16; j++)
			assert_int_equal(
				tf_topology_rank_pair(t, i, j)->link, i == j ? TF_LINK_SELF : TF_LINK_NVLINK);
	assert_float_equal(tf_topology_rank_pair(t, 0, 15)->bandwidth_gbps, 150.0, 0.001);
	for (uint32_t i = 0; i < t->node_count; i++) {
		switches += t->nodes[i].kind == TF_NODE_NVSWITCH;
		assert_true(t->nodes[i].parent < (int32_t)i);
	}
	assert_int_equal(switches, 12);
	for (uint32_t world = 1; world <= 16; world++)
		assert_int_equal(class_of(t, world), TF_TOPOLOGY_SWITCHED);
	tf_topology_destroy(t);
}

/* The same machine without its NVLinks: switches of PCIe, then root complexes, then sockets. */
static void test_pcie_switches(void **state)
{
	struct tf_topology *t;

	(void)state;
	tf_fixture_edit(
		DGX2, tf_fixture_edited, (const char *const[]){"\"NVLinkBandwidth\"", "\"Other\"", NULL});
	t = tf_fixture_read(tf_fixture_edited);
	assert_int_equal(tf_topology_rank_pair(t, 0, 1)->link, TF_LINK_PIX);
	assert_int_equal(tf_topology_rank_pair(t, 0, 3)->link, TF_LINK_PIX);
	assert_int_equal(tf_topology_rank_pair(t, 3, 4)->link, TF_LINK_NODE);
	assert_int_equal(tf_topology_rank_pair(t, 7, 8)->link, TF_LINK_SYS);
	assert_int_equal(class_of(t, 4), TF_TOPOLOGY_SWITCHED);
	assert_int_equal(class_of(t, 5), TF_TOPOLOGY_HOST_BRIDGE);
	assert_refused(t, 5, TF_TOPOLOGY_SWITCHED,
		"topology 'switched' does not match: devices 0 and 4 meet between host bridges of one "
		"socket (0000:34:00.0 -> pci root 0 -> pci root 1 -> 0000:57:00.0)");
	assert_refused(t, 4, TF_TOPOLOGY_HOST_BRIDGE,
		"topology 'host-bridge' does not match: no pair meets at a host bridge: devices 0 and 1 "
		"meet at a pcie switch (0000:34:00.0 -> pcie switch 0000:32:00.0 -> 0000:36:00.0)");
	tf_topology_destroy(t);
}

static void test_no_gpu(void **state)
{
	enum tf_topology_class each;
	char reason[256];
	struct tf_topology *t;

	(void)state;
	tf_fixture_edit(
		XEON_24, tf_fixture_edited, (const char *const[]){"0302 [10de:", "0302 [8086:", NULL});
	t = tf_fixture_read(tf_fixture_edited);
	assert_true(t->host);
	assert_int_equal(t->rank_count, 0);
	assert_int_equal(t->device_count, 5);
	assert_int_equal(t->devices[1].kind, TF_TOPOLOGY_DEVICE_OTHER);
	assert_int_equal(t->devices[4].kind, TF_TOPOLOGY_DEVICE_HOST);
	assert_int_equal(t->detected, TF_TOPOLOGY_LOCAL);
	assert_int_equal(class_of(t, 8), TF_TOPOLOGY_LOCAL);
	for (each = TF_TOPOLOGY_LOCAL; each < TF_TOPOLOGY_CLASS_COUNT; each++)
		assert_int_equal(tf_topology_require(t, 8, each, NULL), TF_OK);
	tf_topology_explain(t, 8, reason, sizeof(reason));
	assert_string_equal(reason, "no GPU found: the host device will be used");
	tf_topology_destroy(t);
}

static void test_host_asked_for(void **state)
{
	const struct tf_topology_options options = {
		.size = sizeof(options), .xml_path = tf_fixture_data(POWER8), .host = true};
	struct tf_topology *t = NULL;
	char reason[256];

	(void)state;
	assert_int_equal(tf_topology_read(&options, &t, NULL), TF_OK);
	assert_true(t->host);
	assert_int_equal(t->rank_count, 0);
	assert_int_equal(class_of(t, 8), TF_TOPOLOGY_LOCAL);
	assert_int_equal(tf_topology_require(t, 8, TF_TOPOLOGY_SWITCHED, NULL), TF_OK);
	tf_topology_explain(t, 8, reason, sizeof(reason));
	assert_string_equal(reason, "the host device was asked for");
	tf_topology_destroy(t);
}

static void test_rank_order(void **state)
{
	const char *const ids[] = {"00000000:14:00.0", "0000:06:00.0", "0000:14:00.0"};
	const char *const absent[] = {"0000:01:03.0"}, *const odd[] = {"14:00"};
	struct tf_topology_options options = {.size = sizeof(options),
		.xml_path = tf_fixture_data(XEON_24),
		.bus_ids = ids,
		.bus_id_count = 3};
	struct tf_topology *t = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_topology_read(&options, &t, NULL), TF_OK);
	assert_int_equal(t->rank_count, 3);
	assert_string_equal(rank(t, 0)->bus_id, "0000:14:00.0");
	assert_string_equal(rank(t, 1)->bus_id, "0000:06:00.0");
	assert_int_equal(tf_topology_rank_pair(t, 0, 2)->link, TF_LINK_SELF);
	tf_topology_destroy(t);

	t = NULL;
	options.bus_ids = absent;
	options.bus_id_count = 1;
	assert_int_equal(tf_topology_read(&options, &t, &err), TF_E_NOT_FOUND);
	assert_string_equal(err.text, "no GPU at '0000:01:03.0' for rank 0");
	options.bus_ids = odd;
	assert_int_equal(tf_topology_read(&options, &t, &err), TF_E_USAGE);
	assert_null(t);
}

static void assert_unreadable(const char *path, enum tf_status wanted, const char *words)
{
	const struct tf_topology_options options = {.size = sizeof(options), .xml_path = path};
	struct tf_topology *t = NULL;
	struct tf_error err = {0};

	assert_int_equal(tf_topology_read(&options, &t, &err), wanted);
	assert_null(t);
	if (!strstr(err.text, words))
		fail_msg("'%s' lacks '%s'", err.text, words);
}

/* Cuts at many places, inside and between tags; hwloc must stay silent on stderr throughout. */
static void test_cut_files(void **state)
{
	char *text = tf_fixture_load(tf_fixture_data(POWER8)), *whole = strdup(text);
	size_t size = strlen(text);

	(void)state;
	assert_non_null(whole);
	for (size_t cut = 0; cut + 1 < size; cut += 997) {
		memcpy(text, whole, size);
		text[cut] = '\0';
		tf_fixture_write(tf_fixture_folder, "edited.xml", text);
		assert_unreadable(tf_fixture_edited, TF_E_INVALID, tf_fixture_edited);
	}
	free(text);
	free(whole);
}

static void test_damaged_files(void **state)
{
	(void)state;
	assert_unreadable(
		"/nonexistent/machine.xml", TF_E_NOT_FOUND, "no file '/nonexistent/machine.xml'");
	assert_unreadable(tf_fixture_folder, TF_E_INVALID, "is not a regular file");
	tf_fixture_write(tf_fixture_folder, "edited.xml", "no XML at all\n");
	assert_unreadable(tf_fixture_edited, TF_E_INVALID, "is not a topology in hwloc's XML");
	tf_fixture_write(tf_fixture_folder, "edited.xml", "<html><topology</html></topology>");
	assert_unreadable(tf_fixture_edited, TF_E_INVALID, "is not a topology in hwloc's XML");
	tf_fixture_edit(
		POWER8, tf_fixture_edited, (const char *const[]){"<topology version", "<topology >", NULL});
	assert_unreadable(tf_fixture_edited, TF_E_INVALID, "is not a topology in hwloc's XML");
	tf_fixture_edit(POWER8, tf_fixture_edited, (const char *const[]){"</object>", "", NULL});
	assert_unreadable(tf_fixture_edited, TF_E_INVALID, "is not a topology in hwloc's XML");
	tf_fixture_edit(POWER8, tf_fixture_edited,
		(const char *const[]){"type=\"Machine\"", "type=\"Nothing\"", NULL});
	assert_unreadable(tf_fixture_edited, TF_E_INVALID, "is not a topology in hwloc's XML");
}

/* hwloc reads through a null pointer where an object does not say its processors or memory. */
static void test_missing_sets(void **state)
{
	(void)state;
	tf_fixture_edit(POWER8, tf_fixture_edited, (const char *const[]){" cpuset=", " cpuzet=", NULL});
	assert_unreadable(tf_fixture_edited, TF_E_INVALID, "is not a topology in hwloc's XML");
	tf_fixture_edit(POWER8, tf_fixture_edited,
		(const char *const[]){" complete_cpuset=", " complete_cpuzet=", NULL});
	assert_unreadable(tf_fixture_edited, TF_E_INVALID, "is not a topology in hwloc's XML");
	tf_fixture_edit(POWER8, tf_fixture_edited,
		(const char *const[]){" complete_nodeset=", " complete_nodezet=", NULL});
	assert_unreadable(tf_fixture_edited, TF_E_INVALID, "is not a topology in hwloc's XML");
}

static void test_too_large(void **state)
{
	int fd = open(tf_fixture_edited, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, TF_TOPOLOGY_XML_BYTES_MAX + 1), 0);
	close(fd);
	assert_unreadable(tf_fixture_edited, TF_E_LIMIT, "at most 16777216 are read");
}

static void test_options(void **state)
{
	struct tf_topology_options options = {.size = 8};
	struct tf_topology *t = NULL;

	(void)state;
	assert_int_equal(tf_topology_read(&options, &t, NULL), TF_E_USAGE);
	options.size = sizeof(options);
	options.world = TF_TOPOLOGY_RANKS_MAX + 1;
	assert_int_equal(tf_topology_read(&options, &t, NULL), TF_E_USAGE);
	options.world = 2;
	options.xml_path = tf_fixture_data(POWER8);
	assert_int_equal(tf_topology_read(&options, &t, NULL), TF_OK);
	assert_int_equal(t->world, 2);
	assert_int_equal(t->detected, TF_TOPOLOGY_SWITCHED);
	tf_topology_destroy(t);
	tf_topology_destroy(NULL);
}

/* This machine, whatever it is: what it says must hold together. */
static void test_this_machine(void **state)
{
	struct tf_topology *t = NULL;

	(void)state;
	assert_int_equal(tf_topology_read(NULL, &t, NULL), TF_OK);
	assert_true(t->host == (t->rank_count == 0));
	assert_true(t->host == (t->detected == TF_TOPOLOGY_LOCAL));
	assert_int_not_equal(t->nvml, TF_NVML_NOT_ASKED);
	assert_true((t->nvml == TF_NVML_ABSENT) == (t->nvml_cause[0] != '\0'));
	assert_int_equal(t->page_bytes, sysconf(_SC_PAGESIZE));
	assert_true(t->device_count >= 1);
	tf_topology_destroy(t);
}

static void test_allocation_failures(void **state)
{
	const struct tf_topology_options options = {
		.size = sizeof(options), .xml_path = tf_fixture_data(POWER8)};
	enum tf_status status = TF_E_NO_MEMORY;
	uint64_t nth = 0;

	(void)state;
	while (status == TF_E_NO_MEMORY) {
		struct tf_topology *t = NULL;
		struct tf_error err = {0};

		tf_alloc_fail_at(++nth);
		status = tf_topology_read(&options, &t, &err);
		tf_alloc_fail_at(0);
		assert_int_equal(err.status, status);
		assert_true((t != NULL) == (status == TF_OK));
		tf_topology_destroy(t);
	}
	assert_int_equal(status, TF_OK);
	assert_true(nth > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_sockets),
		cmocka_unit_test(test_two_sockets_refusals),
		cmocka_unit_test(test_whole_io),
		cmocka_unit_test(test_nvlink_pairs),
		cmocka_unit_test(test_nvswitch),
		cmocka_unit_test_setup_teardown(
			test_pcie_switches, tf_fixture_set_up, tf_fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_no_gpu, tf_fixture_set_up, tf_fixture_tear_down),
		cmocka_unit_test(test_host_asked_for),
		cmocka_unit_test(test_rank_order),
		cmocka_unit_test_setup_teardown(test_cut_files, tf_fixture_set_up, tf_fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_damaged_files, tf_fixture_set_up, tf_fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_missing_sets, tf_fixture_set_up, tf_fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_too_large, tf_fixture_set_up, tf_fixture_tear_down),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_allocation_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
