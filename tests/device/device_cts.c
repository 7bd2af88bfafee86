/* SPDX-License-Identifier: Apache-2.0 */
/* device_cts KIND: the conformance suite on the backend KIND. */
#include "tests/device/device_suite.h"

#include <stdio.h>

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
};

int main(int argc, char **argv)
{
	struct tf_error err = {0};
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: device_cts host|cuda\n");
		return 2;
	}
	if (tf_device_ops_find(argv[1], &suite_ops, &err) != TF_OK) {
		fprintf(stderr, "device_cts: %s\n", err.text);
		return err.status == TF_E_UNAVAILABLE ? 77 : 1;
	}
	test_kernels_register();
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		size_t count;
		const struct CMUnitTest *tests = groups[i].tests(&count);

		failed += _cmocka_run_group_tests(groups[i].name, tests, count, NULL, NULL);
	}
	return failed ? 1 : 0;
}
