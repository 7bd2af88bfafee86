/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding a device by name. With an argument, libcuda.so.1 is the fake driver of this folder
 * (found through LD_LIBRARY_PATH); without, it is whatever the machine has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dynlib.h"
#include "runtime/device/device.h"

static void check_cuda(enum tf_status expected, const char *words)
{
	const struct tf_device_ops *ops = NULL;
	struct tf_error err = {0};

	assert_int_equal(tf_device_ops_find("cuda", &ops, &err), expected);
	assert_null(ops);
	if (!strstr(err.text, words))
		fail_msg("no \"%s\" in \"%s\"", words, err.text);
}

static void test_names(void **state)
{
	const char *const wrong[] = {"", "Host", "hosts", "auto", "gpu"};
	const struct tf_device_ops *ops = NULL;
	struct tf_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(tf_device_ops_find(wrong[i], &ops, &err), TF_E_USAGE);
		assert_null(ops);
		assert_non_null(strstr(err.text, "not 'host' or 'cuda'"));
	}
	assert_int_equal(tf_device_ops_find("host", &ops, &err), TF_OK);
	assert_ptr_equal(ops, &tf_host_device_ops);
}

static void test_auto_says_why_not_cuda(void **state)
{
	const struct tf_device_ops *ops = NULL;
	char why[256] = "", little[8];

	(void)state;
	tf_device_ops_auto(&ops, why, sizeof(why));
	if (ops != &tf_host_device_ops) {
		assert_string_equal(why, "");
		skip(); /* this machine has a device */
	}
	assert_non_null(strstr(why, "device 'cuda': "));
	tf_device_ops_auto(&ops, little, sizeof(little));
	assert_string_equal(little, "device ");
	tf_device_ops_auto(&ops, NULL, 0);
	assert_ptr_equal(ops, &tf_host_device_ops);
}

static void test_cuda_without_a_driver(void **state)
{
	const struct tf_device_ops *ops = NULL;
	struct tf_error err = {0};

	(void)state;
	if (tf_device_ops_find("cuda", &ops, &err) == TF_OK)
		skip(); /* this machine has a driver */
	assert_int_equal(err.status, TF_E_UNAVAILABLE);
	if (!strstr(err.text, "cannot open 'libcuda.so.1'")) {
		print_message("this machine has a driver: %s\n", err.text);
		skip();
	}
}

#if TF_HAVE_CUDA
/* Must come first among those with the driver: it is opened once a process. */
static void test_cuda_symbol_missing(void **state)
{
	(void)state;
	tf_dynlib_fail_at(1);
	check_cuda(TF_E_UNAVAILABLE, "lacks the symbol 'cuDriverGetVersion'");
	tf_dynlib_fail_at(2); /* only drivers before CUDA 12.0 lack it */
	check_cuda(TF_E_UNAVAILABLE, "this build needs 12.4 or newer");
	tf_dynlib_fail_at(0);
}

static void check_auto(const struct tf_device_ops *expected, const char *words)
{
	const struct tf_device_ops *ops = NULL;
	char why[256] = "";

	tf_device_ops_auto(&ops, why, sizeof(why));
	assert_ptr_equal(ops, expected);
	if (!strstr(why, words) || (!words[0] && why[0]))
		fail_msg("no \"%s\" in \"%s\"", words, why);
}

static void test_cuda_with_a_driver(void **state)
{
	const struct tf_device_ops *ops = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_device_ops_find("cuda", &ops, &err), TF_OK);
	assert_ptr_equal(ops, &tf_cuda_device_ops);
	check_auto(&tf_cuda_device_ops, "");
	setenv("FAKE_CUDA_DEVICES", "0", 1);
	check_auto(&tf_host_device_ops, "device 'cuda': 'libcuda.so.1' version 13000 has 0 devices");
	setenv("FAKE_CUDA_INIT", "100", 1);
	check_auto(
		&tf_host_device_ops, "device 'cuda': 'libcuda.so.1': cuInit(0) failed with code 100");
	unsetenv("FAKE_CUDA_DEVICES");
	unsetenv("FAKE_CUDA_INIT");
	setenv("FAKE_CUDA_DIES", "1", 1);
	check_auto(&tf_host_device_ops,
		"device 'cuda': the process that asked the driver was killed by signal 9");
	unsetenv("FAKE_CUDA_DIES");
}
#else
/* Must come first among those with the driver: it is opened once a process. */
static void test_cuda_symbol_missing(void **state)
{
	(void)state;
	tf_dynlib_fail_at(3);
	check_cuda(TF_E_UNAVAILABLE, "lacks the symbol 'cuDeviceGetCount'");
	tf_dynlib_fail_at(0);
}

static void test_cuda_with_a_driver(void **state)
{
	(void)state;
	check_cuda(TF_E_UNAVAILABLE,
		"the driver is there (CUDA 13.0, 2 devices), but this build is "
		"without CUDA: use '--device host'");
	setenv("FAKE_CUDA_VERSION", "12040", 1);
	setenv("FAKE_CUDA_DEVICES", "1", 1);
	check_cuda(TF_E_UNAVAILABLE, "(CUDA 12.4, 1 device)");
	setenv("FAKE_CUDA_DEVICES", "0", 1);
	check_cuda(TF_E_UNAVAILABLE, "0 devices");
	setenv("FAKE_CUDA_INIT", "100", 1);
	check_cuda(TF_E_UNAVAILABLE, "cuInit(0) failed with code 100");
	unsetenv("FAKE_CUDA_VERSION");
	unsetenv("FAKE_CUDA_DEVICES");
	unsetenv("FAKE_CUDA_INIT");
}

#endif

#define STUB(op, ...)                                                                              \
	do {                                                                                           \
		struct tf_error err = {0};                                                                 \
		assert_int_equal(tf_stub_device_ops.op(__VA_ARGS__, &err), TF_E_UNSUPPORTED);              \
		assert_non_null(strstr(err.text, "'" #op "'"));                                            \
	} while (0)

static void test_stub_names_its_operation(void **state)
{
	const uint8_t zero[32] = {0};
	struct tf_device_properties properties;
	const struct tf_device_ops *stub = &tf_stub_device_ops;

	(void)state;
	STUB(open, 0, NULL);
	STUB(enter, NULL);
	STUB(segment_create, NULL, 0, NULL);
	STUB(host_segment_create, NULL, 0, NULL);
	STUB(window_open, NULL, zero, 0, 0, 0, NULL);
	STUB(window_map, NULL, 0, 0, 0);
	STUB(window_map_own, NULL, NULL, 0, 0, 0, 0);
	STUB(read, NULL, NULL, NULL, 0);
	STUB(write, NULL, NULL, NULL, 0);
	STUB(module_load, NULL, NULL, 0, zero, NULL);
	STUB(kernel_find, NULL, NULL, 0, NULL);
	STUB(kernel_params, NULL, NULL, NULL, 0, NULL);
	STUB(stream_create, NULL, NULL);
	STUB(stream_launch, NULL, NULL);
	STUB(stream_copy, NULL, NULL, NULL, 0);
	STUB(stream_set, NULL, NULL, 0, 0);
	STUB(stream_comm, NULL, NULL);
	STUB(stream_graph, NULL, NULL);
	STUB(stream_wait, NULL, 0);
	STUB(graph_build, NULL, NULL, 0, NULL, 0, NULL);
	memset(&properties, 0xee, sizeof(properties));
	stub->properties(NULL, &properties);
	assert_string_equal(properties.kind, "");
	assert_int_equal(stub->window_base(NULL), 0);
	stub->stream_tap(NULL, NULL, NULL);
	stub->stream_destroy(NULL);
	stub->graph_destroy(NULL);
	stub->module_unload(NULL);
	stub->window_close(NULL);
	stub->close(NULL);
	assert_string_equal(stub->name, "stub");
}

/* Every operation is there in every table: callers never test for NULL. */
static void test_tables_are_full(void **state)
{
	const struct tf_device_ops *tables[] = {
		&tf_stub_device_ops,
		&tf_host_device_ops,
#if TF_HAVE_CUDA
		&tf_cuda_device_ops,
#endif
	};

	(void)state;
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		void *entries[sizeof(struct tf_device_ops) / sizeof(void *)];

		memcpy(entries, tables[t], sizeof(*tables[t]));
		for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
			assert_non_null(entries[i]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest machine[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cuda_without_a_driver),
		cmocka_unit_test(test_auto_says_why_not_cuda),
		cmocka_unit_test(test_stub_names_its_operation),
		cmocka_unit_test(test_tables_are_full),
	};
	const struct CMUnitTest fake[] = {
		cmocka_unit_test(test_cuda_symbol_missing),
		cmocka_unit_test(test_cuda_with_a_driver),
	};

	(void)argv;
	if (argc > 1)
		return cmocka_run_group_tests_name("fake driver", fake, NULL, NULL);
	return cmocka_run_group_tests_name("this machine", machine, NULL, NULL);
}
