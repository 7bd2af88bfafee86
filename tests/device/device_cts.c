/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_cts KIND: the conformance suite on the backend KIND. device_cts KIND peer FD: the second
 * process of one of its tests. The environment may name the devices (SUITE_DEVICES=2).
 */
#include "tests/device/device_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct group {
	const char *name;
	const struct CMUnitTest *(*tests)(size_t *out_count);
};

static const struct group groups[] = {
	{"device", suite_device_tests},
	{"window", suite_window_tests},
	{"ranks", suite_ranks_tests},
	{"stream", suite_stream_tests},
	{"graph", suite_graph_tests},
	{"comm", suite_comm_tests},
};

/* Keeps the device open from the first test to the last, which saves each test a context. */
static int open_device(const char *kind, struct tf_device **out)
{
	struct tf_error err = {0};

	/* A hardware queue for each rank that a test runs on one device. */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
	if (tf_device_ops_find(kind, &suite_ops, &err) == TF_OK &&
		suite_ops->open(0, out, &err) == TF_OK)
		return 0;
	fprintf(stderr, "device_cts: %s\n", err.text);
	return err.status == TF_E_UNAVAILABLE ? 77 : 1;
}

static int run_groups(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		size_t count;
		const struct CMUnitTest *tests = groups[i].tests(&count);

		failed += _cmocka_run_group_tests(groups[i].name, tests, count, NULL, NULL);
	}
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct tf_device *device = NULL;
	int rc;

	if (argc != 2 && (argc != 4 || strcmp(argv[2], "peer") != 0)) {
		fprintf(stderr, "usage: device_cts host|cuda [peer FD]\n");
		return 2;
	}
	test_kernels_register();
	rc = open_device(argv[1], &device);
	if (rc)
		return rc;
	rc = argc == 4 ? suite_ranks_peer(atoi(argv[3])) : run_groups();
	suite_ops->close(device);
	return rc;
}
