/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader only opens paths, so the image becomes a memory file and is opened by its descriptor's
 * path. Nothing is written to a disk.
 *
 * Invariant: the descriptor stays open as long as the object. The loader takes two objects of the
 * same path for one, and a number that is free again could name another image. Some objects stay
 * for good (C++ ones with unique symbols, or linked so): their descriptor does too.
 */
#include "runtime/device/host/host_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "runtime/device/module_digest.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u /* Linux 6.3; needed where memory files are not executable by default */
#endif

#define PATH_BYTES 64

struct tf_host_object {
	void *handle;
	int fd;
};

static const char *path_of(int fd, char out[PATH_BYTES])
{
	snprintf(out, PATH_BYTES, "/proc/self/fd/%d", fd);
	return out;
}

static enum tf_status write_image(int fd, const uint8_t *image, size_t bytes, struct tf_error *err)
{
	while (bytes) {
		ssize_t wrote = write(fd, image, bytes);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return TF_FAIL_ERRNO(err, "host module: cannot fill a memory file");
		image += wrote;
		bytes -= (size_t)wrote;
	}
	return TF_OK;
}

static enum tf_status load(
	struct tf_host_object *object, const void *image, size_t bytes, struct tf_error *err)
{
	char path[PATH_BYTES];
	const char *words;

	object->fd = memfd_create("module", MFD_CLOEXEC | MFD_EXEC);
	if (object->fd < 0 && errno == EINVAL)
		object->fd = memfd_create("module", MFD_CLOEXEC);
	if (object->fd < 0)
		return TF_FAIL_ERRNO(err, "host module: cannot create a memory file");
	TF_TRY(write_image(object->fd, image, bytes, err));
	object->handle = dlopen(path_of(object->fd, path), RTLD_NOW | RTLD_LOCAL);
	if (object->handle)
		return TF_OK;
	words = dlerror();
	return TF_FAIL(err, TF_E_INVALID, "host module of %zu bytes: %s", bytes,
		words ? words : "the loader refuses it");
}

enum tf_status tf_host_object_open(const void *image, size_t bytes, const uint8_t digest[32],
	struct tf_host_object **out, struct tf_error *err)
{
	struct tf_host_object *object;
	enum tf_status status;

	TF_TRY(tf_module_digest_check("host module", image, bytes, digest, err));
	object = tf_calloc(1, sizeof(*object));
	if (!object)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a host module");
	object->fd = -1;
	status = load(object, image, bytes, err);
	if (status != TF_OK) {
		tf_host_object_close(object);
		return status;
	}
	*out = object;
	return TF_OK;
}

/* Whether the loader still has an object of that descriptor, which is closed already. */
static int stays(int fd)
{
	char path[PATH_BYTES];
	void *handle = dlopen(path_of(fd, path), RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle != NULL;
}

void tf_host_object_close(struct tf_host_object *object)
{
	int keeps_fd = 0;

	if (!object)
		return;
	if (object->handle) {
		dlclose(object->handle);
		keeps_fd = stays(object->fd);
	}
	if (object->fd >= 0 && !keeps_fd)
		close(object->fd);
	tf_free(object);
}

static enum tf_status check_params(
	const char *name, const struct tfrun_host_params *params, struct tf_error *err)
{
	uint64_t free_off = 0;

	if (params->version != TFRUN_HOST_KERNEL_VERSION)
		return TF_FAIL(err, TF_E_VERSION, "kernel '%s': its parameters are of version %u, not %d",
			name, params->version, TFRUN_HOST_KERNEL_VERSION);
	if (!params->count || params->count > TFRUN_HOST_PARAMS_MAX)
		return TF_FAIL(err, TF_E_INVALID, "kernel '%s': %u parameters, not 1 to %d", name,
			params->count, TFRUN_HOST_PARAMS_MAX);
	for (uint32_t i = 0; i < params->count; i++) {
		const struct tfrun_host_param *param = &params->params[i];

		if (param->off < free_off || !param->bytes ||
			(uint64_t)param->off + param->bytes > TF_EXEC_ARGS_BYTES_MAX)
			return TF_FAIL(err, TF_E_INVALID,
				"kernel '%s': parameter %u has %u bytes at %u, which overlaps another or passes %d",
				name, i, param->bytes, param->off, TF_EXEC_ARGS_BYTES_MAX);
		free_off = (uint64_t)param->off + param->bytes;
	}
	return TF_OK;
}

enum tf_status tf_host_object_kernel(const struct tf_host_object *object, const char *name,
	tfrun_host_kernel_fn *out_fn, const struct tfrun_host_params **out_params, struct tf_error *err)
{
	char params_name[TF_NAME_BYTES + 8];
	const struct tfrun_host_params *params;
	void *fn = dlsym(object->handle, name);

	snprintf(params_name, sizeof(params_name), "%s_params", name);
	params = dlsym(object->handle, params_name);
	if (!fn || !params)
		return TF_FAIL(err, TF_E_NOT_FOUND, "kernel '%s': '%s' is not in its host module", name,
			fn ? params_name : name);
	TF_TRY(check_params(name, params, err));
	memcpy(out_fn, &fn, sizeof(fn));
	*out_params = params;
	return TF_OK;
}
