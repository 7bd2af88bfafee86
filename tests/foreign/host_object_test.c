/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared objects as modules of the host device, from memory; argv[1] is that of test_module.c, the
 * next two are those of staying_module.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "ladders/text_file.h"
#include "runtime/device/device.h"

static const struct tf_device_ops *const ops = &tf_host_device_ops;
static struct tf_bytes image, staying[2];
static uint8_t digest[32];
static struct tf_device *device;

static enum tf_status load(struct tf_module_handle **out, struct tf_error *err)
{
	return ops->module_load(device, image.data, image.size, digest, out, err);
}

static void assert_error(const struct tf_error *err, enum tf_status status, const char *words)
{
	if (err->status != status || !strstr(err->text, words))
		fail_msg("wanted %s \"%s\", got %s \"%s\"", tf_status_name(status), words,
			tf_status_name(err->status), err->text);
}

static void run_add(struct tf_module_handle *module)
{
	struct {
		const uint8_t *from;
		uint8_t *to;
		uint32_t bytes, add;
	} args;
	uint8_t from[4] = {1, 2, 3, 4}, to[4] = {0};
	static const uint8_t wanted[4] = {13, 14, 15, 16};
	struct tf_launch_call call = {
		.grid = {3, 1, 1}, .block = {4, 1, 1}, .args = &args, .args_bytes = sizeof(args)};
	struct tf_stream *stream = NULL;
	struct tf_error err = {0};

	args.from = from;
	args.to = to;
	args.bytes = 4;
	args.add = 1;
	assert_int_equal(ops->kernel_find(module, "add", sizeof(args), &call.kernel, &err), TF_OK);
	assert_int_equal(ops->stream_create(device, &stream, &err), TF_OK);
	assert_int_equal(ops->stream_launch(stream, &call, &err), TF_OK);
	assert_int_equal(ops->stream_wait(stream, tf_deadline_after(10 * TF_NS_PER_S), &err), TF_OK);
	ops->stream_destroy(stream);
	assert_memory_equal(to, wanted, sizeof(to));
}

static void test_runs(void **state)
{
	struct tf_module_handle *one = NULL, *other = NULL;
	struct tf_exec_param params[4];
	struct tf_error err = {0};
	uint32_t count = 0;

	(void)state;
	assert_int_equal(load(&one, &err), TF_OK);
	assert_int_equal(load(&other, &err), TF_OK); /* two ranks of one process */
	assert_int_equal(ops->kernel_params(one, "add", params, 4, &count, &err), TF_OK);
	assert_int_equal(count, 4);
	assert_int_equal(params[3].off, 20);
	assert_int_equal(params[1].bytes, 8);
	assert_int_equal(ops->kernel_params(one, "add", params, 3, &count, &err), TF_E_LIMIT);
	run_add(one);
	ops->module_unload(one);
	run_add(other);
	ops->module_unload(other);
}

static void test_kernels_refused(void **state)
{
	const struct tf_kernel_handle *kernel = NULL;
	struct tf_module_handle *module = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(load(&module, &err), TF_OK);
	assert_int_equal(ops->kernel_find(module, "none", 8, &kernel, &err), TF_E_NOT_FOUND);
	assert_error(&err, TF_E_NOT_FOUND, "kernel 'none': 'none' is not in its host module");
	assert_int_equal(ops->kernel_find(module, "bare", 8, &kernel, &err), TF_E_NOT_FOUND);
	assert_error(&err, TF_E_NOT_FOUND, "kernel 'bare': 'bare_params' is not in its host module");
	assert_int_equal(ops->kernel_find(module, "newer", 8, &kernel, &err), TF_E_VERSION);
	assert_error(&err, TF_E_VERSION, "kernel 'newer': its parameters are of version 2, not 1");
	assert_int_equal(ops->kernel_find(module, "overlapping", 12, &kernel, &err), TF_E_INVALID);
	assert_error(&err, TF_E_INVALID, "parameter 1 has 8 bytes at 4");
	assert_int_equal(ops->kernel_find(module, "add", 16, &kernel, &err), TF_E_MISFIT);
	assert_error(&err, TF_E_MISFIT, "an argument struct of 16 bytes is asked for");
	assert_null(kernel);
	ops->module_unload(module);
}

static void test_images_refused(void **state)
{
	static const char text[] = "no shared object";
	struct tf_module_handle *module = NULL;
	struct tf_error err = {0};
	uint8_t other[32];

	(void)state;
	crypto_hash_sha256(other, (const uint8_t *)text, sizeof(text));
	assert_int_equal(
		ops->module_load(device, text, sizeof(text), other, &module, &err), TF_E_INVALID);
	assert_error(&err, TF_E_INVALID, "host module of 17 bytes: ");
	assert_int_equal(
		ops->module_load(device, image.data, image.size, other, &module, &err), TF_E_MISFIT);
	assert_error(&err, TF_E_MISFIT, "host module: digest '");
	assert_null(module);
}

static uint8_t run_mark(const struct tf_bytes *of)
{
	struct tf_module_handle *module = NULL;
	struct tf_stream *stream = NULL;
	struct tf_error err = {0};
	uint8_t wanted[32], mark = 0, *to = &mark;
	struct tf_launch_call call = {
		.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = &to, .args_bytes = sizeof(to)};

	crypto_hash_sha256(wanted, of->data, of->size);
	assert_int_equal(ops->module_load(device, of->data, of->size, wanted, &module, &err), TF_OK);
	assert_int_equal(ops->kernel_find(module, "mark", sizeof(to), &call.kernel, &err), TF_OK);
	assert_int_equal(ops->stream_create(device, &stream, &err), TF_OK);
	assert_int_equal(ops->stream_launch(stream, &call, &err), TF_OK);
	assert_int_equal(ops->stream_wait(stream, tf_deadline_after(10 * TF_NS_PER_S), &err), TF_OK);
	ops->stream_destroy(stream);
	ops->module_unload(module);
	return mark;
}

/* The loader keeps some objects when they are closed; the next one must not be taken for them. */
static void test_objects_that_stay(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		assert_int_equal(run_mark(&staying[0]), 1);
		assert_int_equal(run_mark(&staying[1]), 2);
	}
}

static void test_no_memory(void **state)
{
	int failures = 0;

	(void)state;
	for (uint64_t nth = 1;; nth++) {
		const struct tf_kernel_handle *kernel = NULL;
		struct tf_module_handle *module = NULL;
		struct tf_error err = {0};
		enum tf_status status;

		tf_alloc_fail_at(nth);
		status = load(&module, &err);
		if (status == TF_OK)
			status = ops->kernel_find(module, "add", 24, &kernel, &err);
		tf_alloc_fail_at(0);
		ops->module_unload(module);
		if (status == TF_OK)
			break;
		assert_int_equal(status, TF_E_NO_MEMORY);
		failures++;
	}
	assert_int_equal(failures, 3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_kernels_refused),
		cmocka_unit_test(test_images_refused),
		cmocka_unit_test(test_objects_that_stay),
		cmocka_unit_test(test_no_memory),
	};
	struct tf_error err = {0};
	int failed;

	if (argc != 4 || tf_text_file_read(argv[1], 1 << 24, &image, &err) != TF_OK ||
		tf_text_file_read(argv[2], 1 << 24, &staying[0], &err) != TF_OK ||
		tf_text_file_read(argv[3], 1 << 24, &staying[1], &err) != TF_OK ||
		ops->open(0, &device, &err) != TF_OK) {
		fprintf(stderr, "host_object_test: %s\n", err.text);
		return 1;
	}
	crypto_hash_sha256(digest, image.data, image.size);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ops->close(device);
	tf_bytes_fini(&image);
	tf_bytes_fini(&staying[0]);
	tf_bytes_fini(&staying[1]);
	return failed;
}
