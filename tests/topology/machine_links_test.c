/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks' GPUs looked up by bus id, and the links between them held against a package's signature.
 * HWLOC_XMLFILE stands for the machine.
 */
#include "tests/topology/topology_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/topology/machine_links.h"

/* The GPUs of POWER8 in the order of the PCI tree: NVLink between 0 and 1, and between 2 and 3. */
static const char *const gpus[4] = {"0002:01:00.0", "0003:01:00.0", "000A:01:00.0", "000B:01:00.0"};

static int be_power8(void **state)
{
	(void)state;
	setenv("HWLOC_XMLFILE", tf_fixture_data(POWER8), 1);
	unsetenv("HWLOC_THISSYSTEM");
	return 0;
}

static struct tf_device_roster roster_of(uint32_t count, const int *order)
{
	struct tf_device_roster roster = {.count = count};

	for (uint32_t i = 0; i < count; i++)
		snprintf(roster.bus_ids[i], sizeof(roster.bus_ids[i]), "%s", gpus[order[i]]);
	return roster;
}

static void sign(const struct tf_device_roster *roster, uint32_t world, char *out)
{
	struct tf_topology *t = NULL;

	assert_int_equal(tf_machine_topology_read(roster, world, false, &t, NULL), TF_OK);
	assert_int_equal(
		tf_topology_signature(t, world, t->detected, out, TF_TOPOLOGY_SIGNATURE_BYTES, NULL),
		TF_OK);
	tf_topology_destroy(t);
}

static void expect(const char *signature, const struct tf_device_roster *roster, uint32_t world,
	const char *misfit, const char *said)
{
	char note[TF_MACHINE_LINKS_NOTE_BYTES] = "x";
	struct tf_error err = {0};
	enum tf_status status = tf_machine_links_compare(signature, roster, world, note, &err);

	assert_int_equal(status, misfit ? TF_E_MISFIT : TF_OK);
	if (misfit && !strstr(err.text, misfit))
		fail_msg("'%s' lacks '%s'", err.text, misfit);
	if (strncmp(note, said, strlen(said)) != 0 || (!said[0] && note[0]))
		fail_msg("'%s' is not '%s'", note, said);
}

/* Rank 0 is the driver's first device, wherever that is in the tree. */
static void test_order_is_the_drivers(void **state)
{
	const struct tf_device_roster paired = roster_of(3, (const int[]){3, 2, 0});
	const struct tf_device_roster apart = roster_of(3, (const int[]){3, 0, 2});
	const struct tf_device_roster others = roster_of(2, (const int[]){0, 1});
	char text[TF_TOPOLOGY_SIGNATURE_BYTES];

	(void)state;
	sign(&paired, 2, text);
	assert_string_equal(text,
		"gpu;class=switched;world=2;models=10de:15f9,10de:15f9;"
		"links=self nvlink@40/nvlink@40 self");
	expect(text, &paired, 2, NULL, "");
	expect(text, &others, 2, NULL, "");
	expect(text, &apart, 2,
		"the package does not fit this machine: topology.signature: rank 0 to rank 1: package "
		"'nvlink@40', machine 'sys', and 1 other pair",
		"");
	sign(&apart, 2, text);
	assert_non_null(strstr(text, "class=host-bridge;"));
	expect(text, &paired, 2, "rank 0 to rank 1: package 'sys', machine 'nvlink@40'", "");
}

/* Serving begins again at the first device; that is not how the maker's ranks were joined. */
static void test_too_few(void **state)
{
	const struct tf_device_roster two = roster_of(2, (const int[]){0, 1});
	const struct tf_device_roster one = roster_of(1, (const int[]){0});
	char text[TF_TOPOLOGY_SIGNATURE_BYTES];
	struct tf_topology *t = NULL;

	(void)state;
	sign(&two, 2, text);
	expect(text, &one, 2, "rank 0 to rank 1: package 'nvlink@40', machine 'self'", "");
	assert_int_equal(tf_machine_topology_read(&one, 2, false, &t, NULL), TF_OK);
	assert_int_equal(t->rank_count, 1);
	tf_topology_destroy(t);
}

static void test_nothing_to_compare(void **state)
{
	const struct tf_device_roster two = roster_of(2, (const int[]){0, 1});

	(void)state;
	expect(NULL, &two, 2, NULL, "the package records none");
	expect("cuda:x86_64", &two, 2, NULL, "the package records none");
	expect("gpu;class=switched;world=2;models=10de:15f9,10de:15f9", &two, 2, NULL,
		"the package records none");
	expect("gpu;class=switched;world=2;models=10de:15f9,10de:2335", &two, 2,
		"rank 1's GPU: package '10de:2335', machine '10de:15f9'", "");
	expect("gpu;links=self sys/", &two, 2, "no square matrix of at most 2 ranks", "");
}

/* What this machine does not tell is said, and is no misfit. */
static void test_not_told(void **state)
{
	const struct tf_device_roster two = roster_of(2, (const int[]){0, 1});
	struct tf_device_roster elsewhere = {.count = 2, .bus_ids = {"0000:01:00.0", "0000:02:00.0"}};
	char text[TF_TOPOLOGY_SIGNATURE_BYTES], without[TF_TOPOLOGY_SIGNATURE_BYTES];
	struct tf_topology *t = NULL;
	struct tf_error err = {0};

	(void)state;
	sign(&two, 2, text);
	expect(text, &elsewhere, 2, NULL,
		"cannot see how the GPUs are joined: no GPU at '0000:01:00.0' for rank 0");
	assert_int_equal(tf_machine_topology_read(&elsewhere, 2, false, &t, &err), TF_E_NOT_FOUND);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	assert_int_equal(tf_machine_topology_read(&two, 2, false, &t, NULL), TF_OK);
	if (t->nvml != TF_NVML_ABSENT) {
		tf_topology_destroy(t);
		skip(); /* this machine has a driver */
	}
	tf_topology_destroy(t);
	expect(text, &two, 2, NULL, "NVML is absent: ");
	sign(&two, 2, without);
	assert_string_equal(without, "gpu;class=switched;world=2;models=10de:15f9,10de:15f9");
	be_power8(NULL);
	expect(without, &two, 2, NULL, "the package records none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order_is_the_drivers, be_power8),
		cmocka_unit_test_setup(test_too_few, be_power8),
		cmocka_unit_test_setup(test_nothing_to_compare, be_power8),
		cmocka_unit_test_setup(test_not_told, be_power8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
