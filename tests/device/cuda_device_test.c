/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA device on the fake driver of this folder (found through LD_LIBRARY_PATH): what it
 * refuses and how it says so, what it says of itself, and the kernels that are built in. Its work
 * and its windows are in files beside this one.
 */
#include "tests/device/cuda_device_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/device/cuda/cuda_api.h"
#include "runtime/device/cuda/cuda_images.h"

static const struct tf_device_ops *const ops = &tf_cuda_device_ops;

const char *const cuda_names[] = {
#define TF_NAME(name, version) #name,
	TF_CUDA_SYMBOLS(TF_NAME)
#undef TF_NAME
};
const size_t cuda_name_count = sizeof(cuda_names) / sizeof(cuda_names[0]);

void check_text(const struct tf_error *err, enum tf_status status, const char *words)
{
	if (err->status != status || !strstr(err->text, words))
		fail_msg("wanted %s \"%s\", got %s \"%s\"", tf_status_name(status), words,
			tf_status_name(err->status), err->text);
}

/* These two come first: the table is filled once a process. */
static void test_old_driver(void **state)
{
	const struct tf_device_ops *found = NULL;
	struct tf_error err = {0};

	(void)state;
	setenv("FAKE_CUDA_VERSION", "12030", 1);
	assert_int_equal(tf_device_ops_find("cuda", &found, &err), TF_E_UNAVAILABLE);
	check_text(&err, TF_E_UNAVAILABLE,
		"device 'cuda': the driver is of CUDA 12.3, this build needs 12.4 or newer");
	unsetenv("FAKE_CUDA_VERSION");
}

static void test_missing_functions(void **state)
{
	const struct tf_device_ops *found = NULL;

	(void)state;
	for (size_t i = 0; i < cuda_name_count; i++) {
		struct tf_error err = {0};
		char words[128];

		setenv("FAKE_CUDA_MISSING", cuda_names[i], 1);
		snprintf(words, sizeof(words), "device 'cuda': 'libcuda.so.1' lacks '%s' of CUDA",
			cuda_names[i]);
		assert_int_equal(tf_device_ops_find("cuda", &found, &err), TF_E_UNAVAILABLE);
		check_text(&err, TF_E_UNAVAILABLE, words);
		assert_null(found);
	}
	unsetenv("FAKE_CUDA_MISSING");
}

static void check_open_refused(const char *words)
{
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	assert_int_equal(ops->open(0, &device, &err), TF_E_UNAVAILABLE);
	check_text(&err, TF_E_UNAVAILABLE, words);
	assert_null(device);
}

static void test_devices_that_are_refused(void **state)
{
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(ops->open(2, &device, &err), TF_E_UNAVAILABLE);
	check_text(&err, TF_E_UNAVAILABLE, "there is no CUDA device 2, the driver shows 2");
	setenv("FAKE_CUDA_NAME", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 1);
	check_open_refused("device 0: 'NVIDIA H100 80GB HBM3 MIG 1g.10gb' is a MIG instance");
	unsetenv("FAKE_CUDA_NAME");
	setenv("FAKE_CUDA_VMM", "0", 1);
	check_open_refused("device 0: it has no virtual memory management");
	unsetenv("FAKE_CUDA_VMM");
}

static uint32_t capabilities_with(const char *peers)
{
	struct tf_device_properties properties;
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	setenv("FAKE_CUDA_PEERS", peers, 1);
	assert_int_equal(ops->open(1, &device, &err), TF_OK);
	ops->properties(device, &properties);
	ops->close(device);
	unsetenv("FAKE_CUDA_PEERS");
	assert_string_equal(properties.kind, "cuda");
	assert_string_equal(properties.model, "fake device");
	assert_int_equal(properties.compute_capability, 90);
	assert_int_equal(properties.sm_count, 132);
	assert_int_equal(properties.granularity_bytes, 2 * MIB);
	return properties.capabilities;
}

static void test_properties(void **state)
{
	(void)state;
	assert_int_equal(capabilities_with("0"), 0);
	assert_int_equal(capabilities_with("1"), TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ);
	assert_int_equal(
		capabilities_with("2"), TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC);
}

/* The driver is lost to a child by fork, which is told so. */
static void test_forked_child(void **state)
{
	struct tf_device *device = NULL;
	struct tf_error err = {0};
	int status = 0;
	pid_t child;

	(void)state;
	assert_int_equal(ops->open(0, &device, &err), TF_OK);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct tf_device *again = NULL, *other = NULL;
		int refused = ops->open(0, &again, &err) == TF_E_UNAVAILABLE &&
			strstr(err.text, "initialised the driver and then forked") &&
			ops->open(1, &other, &err) == TF_E_UNAVAILABLE;

		ops->close(device);
		_exit(refused ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ops->close(device);
}

static void test_built_in_kernels(void **state)
{
	uint8_t digest[32] = {0};
	struct tf_module_handle *module = NULL;
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(ops->open(0, &device, &err), TF_OK);
	if (!tf_cuda_images[0].bytes) {
		assert_int_equal(tf_cuda_module_digest(90, digest, &err), TF_E_NOT_FOUND);
		check_text(&err, TF_E_NOT_FOUND, "no kernels for compute capability 90, only for: none");
		assert_int_equal(ops->module_load(device, NULL, 0, digest, &module, &err), TF_E_NOT_FOUND);
	} else {
		assert_int_equal(ops->module_load(device, NULL, 0, digest, &module, &err), TF_E_MISFIT);
		assert_int_equal(tf_cuda_module_digest(90, digest, &err), TF_OK);
		assert_int_equal(ops->module_load(device, NULL, 0, digest, &module, &err), TF_OK);
		ops->module_unload(module);
	}
	ops->close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_old_driver),
		cmocka_unit_test(test_missing_functions),
		cmocka_unit_test(test_devices_that_are_refused),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_every_failure),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_capture_failures),
		cmocka_unit_test(test_base_beside_a_pool),
		cmocka_unit_test(test_base_free_again),
		cmocka_unit_test(test_forked_child),
		cmocka_unit_test(test_second_device_joins),
		cmocka_unit_test(test_devices_without_peers),
		cmocka_unit_test(test_built_in_kernels),
	};

	return cmocka_run_group_tests_name("fake driver", tests, NULL, NULL);
}
