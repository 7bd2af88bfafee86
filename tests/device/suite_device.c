/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, properties, segments, host copies, modules. */
#include "tests/device/device_suite.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"

static void test_open_names_what_is_absent(void **state)
{
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_refused(suite_ops->open(4000, &device, &err), TF_E_UNAVAILABLE, &err, "4000");
	assert_null(device);
	suite_ops->close(NULL);
}

/* The rig's device is open, and its context current where there are contexts. */
static void test_guest_open(void **state)
{
	static const char *const found[] = {NULL, "0"};
	struct suite_rig *rig = *state;
	struct tf_device_properties properties;
	struct tf_device *device = NULL;

	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		assert_ok(suite_ops->guest_open(found[i], &device, &rig->err), &rig->err);
		suite_ops->properties(device, &properties);
		assert_string_equal(properties.kind, rig->properties.kind);
		assert_int_equal(properties.ordinal, 0);
		assert_int_equal(properties.context, rig->properties.context);
		assert_int_equal(properties.context == 0, suite_on_host());
		suite_ops->close(device);
	}
	device = NULL;
	assert_refused(suite_ops->guest_open("first", &device, &rig->err), TF_E_USAGE, &rig->err,
		"'first' names no");
	assert_null(device);
}

static void test_properties(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t granularity = rig->properties.granularity_bytes;

	assert_string_equal(rig->properties.kind, suite_ops->name);
	assert_true(rig->properties.model[0] != 0);
	assert_true(granularity != 0 && (granularity & (granularity - 1)) == 0);
	assert_true(granularity % (uint64_t)sysconf(_SC_PAGESIZE) == 0);
	assert_true(rig->properties.memory_bytes > granularity);
	assert_int_equal(rig->properties.capabilities &
			~(uint32_t)(TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC |
				TF_DEVICE_ADDRESSABLE),
		0);
	if (!suite_on_host()) {
		assert_int_equal(rig->properties.capabilities & TF_DEVICE_ADDRESSABLE, 0);
		assert_in_range(rig->properties.compute_capability, 50, 500);
		assert_true(rig->properties.sm_count > 0);
	} else {
		assert_string_equal(rig->properties.model, "host");
		assert_int_equal(rig->properties.compute_capability, 0);
	}
}

static void test_segment_sizes(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t granularity = rig->properties.granularity_bytes;
	uint64_t bad[] = {0, 1, granularity + 1, TF_WINDOW_STRIDE_MAX + granularity};
	int fd = -1;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_refused(rig->ops->segment_create(rig->device, bad[i], &fd, &rig->err), TF_E_USAGE,
			&rig->err, "not a multiple of");
		assert_int_equal(fd, -1);
	}
	assert_ok(rig->ops->segment_create(rig->device, granularity, &fd, &rig->err), &rig->err);
	assert_true(fd >= 0);
	close(fd);
}

/*
 * A peer holds the descriptor too: it must not be able to take the memory away under a mapping.
 */
static void test_segment_cannot_change_size(void **state)
{
	struct suite_rig *rig = *state;
	struct stat before, after;
	int fd = -1;

	if (!suite_on_host())
		skip(); /* it has no operation for it */
	assert_ok(rig->ops->segment_create(rig->device, rig->stride, &fd, &rig->err), &rig->err);
	assert_int_equal(fstat(fd, &before), 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 2 * before.st_size), -1);
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	close(fd);
}

static void test_read_and_write(void **state)
{
	struct suite_rig *rig = *state;
	uint8_t sent[300], got[300];

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i * 7 + 1);
	memset(got, 0, sizeof(got));
	assert_ok(rig->ops->read(rig->device, got, rig->memory + 5, sizeof(got), &rig->err), &rig->err);
	for (size_t i = 0; i < sizeof(got); i++)
		assert_int_equal(got[i], 0); /* segments start zeroed */
	assert_ok(
		rig->ops->write(rig->device, rig->memory + 5, sent, sizeof(sent), &rig->err), &rig->err);
	assert_ok(rig->ops->read(rig->device, got, rig->memory + 5, sizeof(got), &rig->err), &rig->err);
	assert_memory_equal(got, sent, sizeof(sent));
	assert_ok(rig->ops->write(rig->device, rig->memory, NULL, 0, &rig->err), &rig->err);
	assert_refused(rig->ops->write(rig->device, rig->memory, NULL, 1, &rig->err), TF_E_USAGE,
		&rig->err, "without a source");
	assert_refused(rig->ops->read(rig->device, NULL, rig->memory, 1, &rig->err), TF_E_USAGE,
		&rig->err, "without a destination");
}

/* The device would be lost if such an address came to the driver. */
static void test_addresses_outside_are_refused(void **state)
{
	struct suite_rig *rig = *state;
	uint8_t byte = 0;

	if (suite_on_host())
		skip();
	assert_refused(rig->ops->read(rig->device, &byte, rig->memory - 1, 1, &rig->err), TF_E_USAGE,
		&rig->err, "no mapped segment");
	assert_refused(rig->ops->write(rig->device, rig->memory + 2 * rig->stride, &byte, 1, &rig->err),
		TF_E_USAGE, &rig->err, "no mapped segment");
	assert_refused(
		rig->ops->read(rig->device, &byte, rig->memory + 2 * rig->stride - 1, 2, &rig->err),
		TF_E_USAGE, &rig->err, "no mapped segment");
	suite_get(rig, rig->memory + 2 * rig->stride - 1, &byte, 1);
}

static void test_module_digest(void **state)
{
	struct suite_rig *rig = *state;
	struct tf_module_handle *module = NULL;
	uint8_t digest[32];
	size_t bytes;
	const void *image = suite_module_image(&bytes);

	suite_module_digest(digest);
	for (size_t byte = 0; byte < sizeof(digest); byte += 31) {
		digest[byte] ^= 0x80;
		assert_refused(rig->ops->module_load(rig->device, image, bytes, digest, &module, &rig->err),
			TF_E_MISFIT, &rig->err, "digest");
		assert_null(module);
		digest[byte] ^= 0x80;
	}
	assert_ok(suite_module_load(rig->ops, rig->device, &module, &rig->err), &rig->err);
	rig->ops->module_unload(module);
	rig->ops->module_unload(NULL);
}

static void test_kernel_find(void **state)
{
	struct suite_rig *rig = *state;
	const struct tf_kernel_handle *kernel = NULL;
	uint32_t bytes = sizeof(struct test_store_args);

	assert_refused(rig->ops->kernel_find(rig->module, "test_nothing", bytes, &kernel, &rig->err),
		TF_E_NOT_FOUND, &rig->err, "'test_nothing'");
	assert_refused(rig->ops->kernel_find(rig->module, "test_store", bytes + 8, &kernel, &rig->err),
		TF_E_MISFIT, &rig->err, "24 bytes is asked for, this build's has 16");
	assert_null(kernel);
	assert_ok(
		rig->ops->kernel_find(rig->module, "test_store", bytes, &kernel, &rig->err), &rig->err);
	assert_non_null(kernel);
}

/* The child ends by assert in a debug build; in a release build the module stays as it was. */
static void test_kernel_registered_twice(void **state)
{
	int status = 0;
	pid_t child;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		uint8_t before[32], after[32];

		close(STDERR_FILENO);
		tf_host_module_digest(before);
		test_kernels_register();
		tf_host_module_digest(after);
		_exit(memcmp(before, after, sizeof(before)) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
#ifdef NDEBUG
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#else
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

/* Fails each allocation of open, module_load and stream_create in turn. */
static void test_no_memory(void **state)
{
	int failures = 0;

	(void)state;
	for (uint64_t nth = 1;; nth++) {
		struct tf_module_handle *module = NULL;
		struct tf_device *device = NULL;
		struct tf_stream *stream = NULL;
		struct tf_error err = {0};
		enum tf_status status;

		tf_alloc_fail_at(nth);
		status = suite_ops->open(0, &device, &err);
		if (status == TF_OK)
			status = suite_module_load(suite_ops, device, &module, &err);
		if (status == TF_OK)
			status = suite_ops->stream_create(device, &stream, &err);
		tf_alloc_fail_at(0);
		suite_ops->stream_destroy(stream);
		suite_ops->module_unload(module);
		suite_ops->close(device);
		if (status == TF_OK)
			break;
		assert_refused(status, TF_E_NO_MEMORY, &err, "no memory");
		failures++;
	}
	assert_true(failures >= 3);
}

const struct CMUnitTest *suite_device_tests(size_t *out_count)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_names_what_is_absent),
		cmocka_unit_test_setup_teardown(test_guest_open, suite_setup, suite_teardown),
		cmocka_unit_test_setup_teardown(test_properties, suite_setup, suite_teardown),
		cmocka_unit_test_setup_teardown(test_segment_sizes, suite_setup, suite_teardown),
		cmocka_unit_test_setup_teardown(
			test_segment_cannot_change_size, suite_setup, suite_teardown),
		cmocka_unit_test_setup_teardown(test_read_and_write, suite_setup, suite_teardown),
		cmocka_unit_test_setup_teardown(
			test_addresses_outside_are_refused, suite_setup, suite_teardown),
		cmocka_unit_test_setup_teardown(test_module_digest, suite_setup, suite_teardown),
		cmocka_unit_test_setup_teardown(test_kernel_find, suite_setup, suite_teardown),
		cmocka_unit_test(test_kernel_registered_twice),
		cmocka_unit_test(test_no_memory),
	};

	*out_count = sizeof(tests) / sizeof(tests[0]);
	return tests;
}
