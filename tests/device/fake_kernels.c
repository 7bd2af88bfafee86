/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver's kernels: the test kernels, and the host bodies of the collectives. */
#include <pthread.h>
#include <string.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"
#include "runtime/device/device.h"
#include "runtime/device/host/host_module.h"
#include "runtime/device/host/host_node.h"
#include "tests/device/device_kernels.h"

#define KERNELS_MAX 128

const struct tf_host_kernel *fake_kernel_find(const char *name);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tf_host_kernel found[KERNELS_MAX];
static size_t found_count;
static struct tf_module_handle *module;

/* Argument sizes are the module's to say: every kernel is asked for with those that there are. */
static const struct tf_kernel_handle *find_collective(const char *name)
{
	const uint32_t sizes[] = {sizeof(struct tf_collective_args), sizeof(struct tf_startup_args)};
	const struct tf_kernel_handle *handle = NULL;
	uint8_t digest[32];

	if (!module) {
		tf_collective_register_host();
		tf_host_module_digest(digest);
		if (tf_host_module_load(NULL, NULL, 0, digest, &module, NULL) != TF_OK)
			return NULL;
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (tf_host_kernel_find(module, name, sizes[i], &handle, NULL) == TF_OK)
			return handle;
	}
	return NULL;
}

static const struct tf_host_kernel *find(const char *name)
{
	const struct tf_kernel_handle *handle;
	size_t count;
	const struct tf_host_kernel *kernels = test_kernels(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	for (size_t i = 0; i < found_count; i++)
		if (strcmp(found[i].name, name) == 0)
			return &found[i];
	handle = find_collective(name);
	if (!handle || found_count == KERNELS_MAX)
		return NULL;
	found[found_count] = (struct tf_host_kernel){handle->name, handle->fn, handle->args_bytes};
	return &found[found_count++];
}

const struct tf_host_kernel *fake_kernel_find(const char *name)
{
	const struct tf_host_kernel *kernel;

	pthread_mutex_lock(&lock);
	kernel = find(name);
	pthread_mutex_unlock(&lock);
	return kernel;
}
