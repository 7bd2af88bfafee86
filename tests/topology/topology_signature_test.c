/* SPDX-License-Identifier: Apache-2.0 */
/* The signature: its text, that it is stable, and that it tells nothing of a machine's place. */
#include "tests/topology/topology_fixture.h"

#include <stdio.h>
#include <string.h>

static void sign(const char *path, uint32_t world, enum tf_topology_class selected, char *out)
{
	struct tf_topology *t = tf_fixture_read(path);

	assert_int_equal(
		tf_topology_signature(t, world, selected, out, TF_TOPOLOGY_SIGNATURE_BYTES, NULL), TF_OK);
	tf_topology_destroy(t);
}

static void test_text(void **state)
{
	char text[TF_TOPOLOGY_SIGNATURE_BYTES];

	(void)state;
	sign(tf_fixture_data(POWER8), 3, TF_TOPOLOGY_HOST_BRIDGE, text);
	assert_string_equal(text,
		"gpu;class=host-bridge;world=3;models=10de:15f9,10de:15f9,10de:15f9;"
		"links=self nvlink@40 sys/nvlink@40 self sys/sys sys self");
	sign(tf_fixture_data(DGX2), 8, TF_TOPOLOGY_SWITCHED, text);
	assert_non_null(strstr(text, "/nvlink@150 self nvlink@150 "));
	sign(tf_fixture_data(XEON_24), 3, TF_TOPOLOGY_HOST_BRIDGE, text);
	assert_string_equal(text,
		"gpu;class=host-bridge;world=3;models=10de:06d2,10de:06d2,10de:06d2;"
		"links=self sys sys/sys self phb/sys phb self");
}

/* Ranks on other hosts: the count is the group's, the links are this host's. */
static void test_spread(void **state)
{
	char text[TF_TOPOLOGY_SIGNATURE_BYTES];

	(void)state;
	sign(tf_fixture_data(POWER8), 8, TF_TOPOLOGY_FABRIC, text);
	assert_non_null(strstr(text, "gpu;class=fabric;world=8;models=10de:15f9,"));
	assert_null(strstr(text, "phb"));
}

/* The same machine elsewhere: other bus ids, names, serials; the signature may not tell. */
static void test_location_free(void **state)
{
	char here[TF_TOPOLOGY_SIGNATURE_BYTES], there[TF_TOPOLOGY_SIGNATURE_BYTES];

	(void)state;
	sign(tf_fixture_data(XEON_24), 3, TF_TOPOLOGY_HOST_BRIDGE, here);
	tf_fixture_edit(XEON_24, tf_fixture_edited, (const char *const[]){"0000:", "0005:", NULL});
	sign(tf_fixture_edited, 3, TF_TOPOLOGY_HOST_BRIDGE, there);
	assert_string_equal(here, there);

	sign(tf_fixture_data(POWER8), 4, TF_TOPOLOGY_HOST_BRIDGE, here);
	tf_fixture_edit(POWER8, tf_fixture_edited,
		(const char *const[]){"0002:", "0102:", "0003:", "0103:", "000a:", "010a:", "000b:",
			"010b:", "host0", "host17", "Tesla P100-SXM2-16GB", "P100", "000000000000",
			"900000000000", "4.19.0-14", "6.1.0-9", NULL});
	sign(tf_fixture_edited, 4, TF_TOPOLOGY_HOST_BRIDGE, there);
	assert_string_equal(here, there);
	assert_null(strstr(there, "0102:"));
	assert_null(strstr(there, "host17"));
	assert_null(strstr(there, "P100"));
}

/* What does differ must show: a model, a link. */
static void test_differences_show(void **state)
{
	char here[TF_TOPOLOGY_SIGNATURE_BYTES], there[TF_TOPOLOGY_SIGNATURE_BYTES];

	(void)state;
	sign(tf_fixture_data(POWER8), 4, TF_TOPOLOGY_HOST_BRIDGE, here);
	tf_fixture_edit(
		POWER8, tf_fixture_edited, (const char *const[]){"[10de:15f9]", "[10de:15f8]", NULL});
	sign(tf_fixture_edited, 4, TF_TOPOLOGY_HOST_BRIDGE, there);
	assert_string_not_equal(here, there);
	tf_fixture_edit(
		POWER8, tf_fixture_edited, (const char *const[]){"\"NVLinkBandwidth\"", "\"Other\"", NULL});
	sign(tf_fixture_edited, 4, TF_TOPOLOGY_HOST_BRIDGE, there);
	assert_string_not_equal(here, there);
}

static void test_host(void **state)
{
	struct tf_topology_options options = {
		.size = sizeof(options), .xml_path = tf_fixture_data(DGX2), .host = true};
	char text[TF_TOPOLOGY_SIGNATURE_BYTES];
	struct tf_topology *t = NULL;

	(void)state;
	assert_int_equal(tf_topology_read(&options, &t, NULL), TF_OK);
	assert_int_equal(
		tf_topology_signature(t, 4, TF_TOPOLOGY_SWITCHED, text, sizeof(text), NULL), TF_OK);
	assert_string_equal(text, "host;class=switched;world=4;arch=x86_64;page=4096");
	tf_topology_destroy(t);
}

static void test_refusals(void **state)
{
	struct tf_topology *t = tf_fixture_read(tf_fixture_data(POWER8));
	char text[16] = "untouched";
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(
		tf_topology_signature(t, 2, TF_TOPOLOGY_SWITCHED, text, sizeof(text), &err), TF_E_LIMIT);
	assert_string_equal(text, "untouched");
	assert_int_equal(
		tf_topology_signature(t, 5, TF_TOPOLOGY_SWITCHED, text, sizeof(text), &err), TF_E_MISFIT);
	assert_int_equal(
		tf_topology_signature(t, 2, (enum tf_topology_class)77, text, sizeof(text), &err),
		TF_E_USAGE);
	tf_topology_destroy(t);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < TF_TOPOLOGY_CLASS_COUNT; i++)
		assert_int_equal(
			tf_topology_class_parse(tf_topology_class_name((enum tf_topology_class)i)), i);
	assert_int_equal(tf_topology_class_parse("host-bridge"), TF_TOPOLOGY_HOST_BRIDGE);
	assert_int_equal(tf_topology_class_parse("auto"), -1);
	assert_int_equal(tf_topology_class_parse(""), -1);
	assert_null(tf_topology_class_name(TF_TOPOLOGY_CLASS_COUNT));
	assert_null(tf_topology_link_name(TF_LINK_COUNT));
	assert_string_equal(tf_topology_link_name(TF_LINK_PIX), "pix");
	assert_string_equal(tf_topology_device_kind_name(TF_TOPOLOGY_DEVICE_HOST), "host");
	assert_null(tf_topology_device_kind_name(TF_TOPOLOGY_DEVICE_KIND_COUNT));
	assert_string_equal(tf_topology_nvml_name(TF_NVML_ABSENT), "absent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_spread),
		cmocka_unit_test_setup_teardown(
			test_location_free, tf_fixture_set_up, tf_fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_differences_show, tf_fixture_set_up, tf_fixture_tear_down),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
