/* SPDX-License-Identifier: Apache-2.0 */
/* What NVML adds to a topology, with a stand-in for its library. */
#include "tests/topology/topology_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/dynlib.h"

static enum tf_status read_with(const char *library, struct tf_topology **out, struct tf_error *err)
{
	const struct tf_topology_options options = {
		.size = sizeof(options), .xml_path = tf_fixture_data(XEON_24), .nvml_name = library};

	return tf_topology_read(&options, out, err);
}

static int clear_environment(void **state)
{
	(void)state;
	unsetenv("FAKE_NVML_MIG");
	unsetenv("FAKE_NVML_INIT");
	tf_dynlib_fail_at(0);
	return 0;
}

/* By PCI id: NVML lists 14 first, ranks go by bus id, and 11 was not given to this process. */
static void test_devices(void **state)
{
	struct tf_topology *t = NULL;

	(void)state;
	assert_int_equal(read_with(TF_FAKE_NVML, &t, NULL), TF_OK);
	assert_int_equal(t->nvml, TF_NVML_PRESENT);
	assert_string_equal(t->nvml_cause, "");
	assert_int_equal(t->device_count, 5);
	assert_int_equal(t->rank_count, 3);
	assert_string_equal(t->devices[t->rank_device[0]].bus_id, "0000:06:00.0");
	assert_string_equal(t->devices[t->rank_device[0]].model, "NVIDIA Number 1");
	assert_string_equal(t->devices[t->rank_device[1]].bus_id, "0000:14:00.0");
	assert_string_equal(t->devices[t->rank_device[2]].bus_id, "0000:99:00.0");
	assert_true(t->devices[t->rank_device[2]].unplaced);
	assert_int_equal(t->devices[t->rank_device[2]].device_id, 0x06d2);
	assert_string_equal(t->devices[2].bus_id, "0000:11:00.0");
	assert_true(t->devices[2].masked);
	assert_false(t->devices[0].masked); /* of another maker: not NVML's to know */
	tf_topology_destroy(t);
}

static void test_links(void **state)
{
	struct tf_topology *t = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(read_with(TF_FAKE_NVML, &t, NULL), TF_OK);
	assert_int_equal(tf_topology_rank_pair(t, 0, 1)->link, TF_LINK_NVLINK);
	assert_float_equal(tf_topology_rank_pair(t, 0, 1)->bandwidth_gbps, 53.124, 0.001);
	assert_int_equal(tf_topology_rank_pair(t, 1, 0)->link, TF_LINK_NVLINK);
	assert_int_equal(tf_topology_rank_pair(t, 1, 2)->link, TF_LINK_PIX);
	assert_int_equal(tf_topology_rank_pair(t, 0, 2)->link, TF_LINK_SYS);
	assert_int_equal(tf_topology_require(t, 2, TF_TOPOLOGY_SWITCHED, NULL), TF_OK);
	assert_int_equal(tf_topology_require(t, 3, TF_TOPOLOGY_SWITCHED, &err), TF_E_MISFIT);
	assert_string_equal(err.text,
		"topology 'switched' does not match: devices 0 and 2 meet across sockets (0000:06:00.0 -> "
		"pci root 0 -> socket 0 -> 0000:99:00.0)");
	tf_topology_destroy(t);
}

static void test_split(void **state)
{
	enum tf_topology_class found;
	struct tf_topology *t = NULL;
	struct tf_error err = {0};

	(void)state;
	setenv("FAKE_NVML_MIG", "1", 1);
	assert_int_equal(read_with(TF_FAKE_NVML, &t, NULL), TF_OK);
	assert_true(t->devices[t->rank_device[1]].split);
	assert_int_equal(tf_topology_classify(t, 1, &found, NULL), TF_OK);
	assert_int_equal(tf_topology_classify(t, 2, &found, &err), TF_E_MISFIT);
	assert_string_equal(
		err.text, "device 1 (0000:14:00.0) is split into MIG instances, which have no peer access");
	tf_topology_destroy(t);
}

static void assert_absent(const char *library, const char *words)
{
	struct tf_topology *t = NULL;

	assert_int_equal(read_with(library, &t, NULL), TF_OK);
	assert_int_equal(t->nvml, TF_NVML_ABSENT);
	if (!strstr(t->nvml_cause, words))
		fail_msg("'%s' lacks '%s'", t->nvml_cause, words);
	assert_int_equal(t->rank_count, 3);
	assert_string_equal(t->devices[t->rank_device[1]].bus_id, "0000:11:00.0");
	assert_int_equal(tf_topology_rank_pair(t, 0, 1)->link, TF_LINK_SYS);
	tf_topology_destroy(t);
}

/* Without the library, a driver, or a symbol the tree alone speaks, and the topology says why. */
static void test_absent(void **state)
{
	(void)state;
	assert_absent("libtf-no-such-nvml.so.1", "libtf-no-such-nvml.so.1");
	setenv("FAKE_NVML_INIT", "9", 1);
	assert_absent(TF_FAKE_NVML, "nvmlInit_v2 returned 9");
	unsetenv("FAKE_NVML_INIT");
	tf_dynlib_fail_at(3);
	assert_absent(TF_FAKE_NVML, "lacks the symbol 'nvmlDeviceGetCount_v2'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_devices, clear_environment),
		cmocka_unit_test_setup(test_links, clear_environment),
		cmocka_unit_test_setup_teardown(test_split, clear_environment, clear_environment),
		cmocka_unit_test_setup_teardown(test_absent, clear_environment, clear_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
