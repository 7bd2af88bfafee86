/* SPDX-License-Identifier: Apache-2.0 */
/* What the groups of the conformance suite share. */
#include "tests/device/device_suite.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct tf_device_ops *suite_ops;

int suite_on_host(void)
{
	return strcmp(suite_ops->name, "host") == 0;
}

uint32_t suite_ordinal(uint32_t rank)
{
	const char *devices = getenv("SUITE_DEVICES");
	unsigned long count = devices ? strtoul(devices, NULL, 10) : 1;

	return count ? rank % (uint32_t)count : 0;
}

void suite_token(uint8_t out[TF_WINDOW_TOKEN_BYTES])
{
	static atomic_uint_fast64_t calls;
	uint64_t call = ++calls;

	memset(out, 0, TF_WINDOW_TOKEN_BYTES);
	memcpy(out, &call, sizeof(call));
}

void suite_assert_refused(enum tf_status got, enum tf_status wanted, const struct tf_error *error,
	const char *words, const char *file, int line)
{
	if (got == wanted && error->status == wanted && strstr(error->text, words))
		return;
	print_error("wanted %s with \"%s\", got %s: \"%s\"\n", tf_status_name(wanted), words,
		tf_status_name(got), error->text);
	_fail(file, line);
}

enum tf_status suite_window_open(const struct tf_device_ops *ops, struct tf_device *device,
	const uint8_t *token, uint64_t stride, uint32_t world, struct tf_window **out,
	struct tf_error *err)
{
	enum tf_status status = TF_E_INTERNAL;

	for (int i = 0; i < TF_WINDOW_BASE_COUNT; i++) {
		status = ops->window_open(device, token, tf_window_bases[i], stride, world, out, err);
		if (status != TF_E_MISFIT)
			break;
	}
	return status;
}

static void map_ranks(struct suite_rig *rig, uint32_t world)
{
	for (uint32_t rank = 0; rank < world; rank++) {
		int fd = -1;

		assert_ok(rig->ops->segment_create(rig->device, rig->stride, &fd, &rig->err), &rig->err);
		assert_ok(rig->ops->window_map(rig->window, rank, fd, rig->stride, &rig->err), &rig->err);
		close(fd);
	}
}

int suite_setup(void **state)
{
	struct suite_rig *rig = calloc(1, sizeof(*rig));
	uint8_t token[TF_WINDOW_TOKEN_BYTES];

	*state = rig;
	rig->ops = suite_ops;
	assert_ok(rig->ops->open(0, &rig->device, &rig->err), &rig->err);
	rig->ops->properties(rig->device, &rig->properties);
	rig->stride = SUITE_SEGMENT_GRANULES * rig->properties.granularity_bytes;
	assert_ok(suite_module_load(rig->ops, rig->device, &rig->module, &rig->err), &rig->err);
	assert_ok(rig->ops->stream_create(rig->device, &rig->stream, &rig->err), &rig->err);
	suite_token(token);
	assert_ok(
		suite_window_open(rig->ops, rig->device, token, rig->stride, 2, &rig->window, &rig->err),
		&rig->err);
	map_ranks(rig, 2);
	rig->memory = (uint8_t *)(uintptr_t)rig->ops->window_base(rig->window);
	return 0;
}

int suite_teardown(void **state)
{
	struct suite_rig *rig = *state;

	rig->ops->stream_destroy(rig->stream);
	rig->ops->window_close(rig->window);
	rig->ops->module_unload(rig->module);
	rig->ops->close(rig->device);
	free(rig);
	return 0;
}

void suite_get(struct suite_rig *rig, const void *from, void *to, size_t bytes)
{
	assert_ok(rig->ops->read(rig->device, to, from, bytes, &rig->err), &rig->err);
}

void suite_put(struct suite_rig *rig, void *to, const void *from, size_t bytes)
{
	assert_ok(rig->ops->write(rig->device, to, from, bytes, &rig->err), &rig->err);
}

struct test_log *suite_log(struct suite_rig *rig)
{
	return (struct test_log *)rig->memory;
}

uint32_t suite_log_count(struct suite_rig *rig)
{
	uint32_t count = 0;

	suite_get(rig, &suite_log(rig)->count, &count, sizeof(count));
	return count;
}

void suite_log_clear(struct suite_rig *rig)
{
	const uint32_t none = 0;

	suite_put(rig, &suite_log(rig)->count, &none, sizeof(none));
}

uint32_t suite_log_value(struct suite_rig *rig, uint32_t index)
{
	uint32_t value = 0;

	suite_get(rig, &suite_log(rig)->values[index], &value, sizeof(value));
	return value;
}

const struct tf_kernel_handle *suite_kernel(
	struct suite_rig *rig, const char *name, uint32_t args_bytes)
{
	const struct tf_kernel_handle *kernel = NULL;

	assert_ok(rig->ops->kernel_find(rig->module, name, args_bytes, &kernel, &rig->err), &rig->err);
	return kernel;
}

struct tf_launch_call suite_call(
	struct suite_rig *rig, const char *name, const void *args, uint32_t args_bytes)
{
	return (struct tf_launch_call){
		.kernel = suite_kernel(rig, name, args_bytes),
		.grid = {1, 1, 1},
		.block = {1, 1, 1},
		.args = args,
		.args_bytes = args_bytes,
	};
}
