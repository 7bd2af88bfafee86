/* SPDX-License-Identifier: Apache-2.0 */
/* The stream's own wait counts what went through the device's table, so a fill goes through it. */
#include "tests/rank/rank_device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#if TF_HAVE_CUDA
#include "runtime/device/cuda/cuda_capture.h"
#include "runtime/device/cuda/cuda_plain.h"
#endif

#define SCRATCH_BYTES 256

static enum tf_status open_fake(struct rank_device *device, struct tf_error *err)
{
	struct CUstream_st *(*create)(void) = NULL;
	void *library = dlopen("libnccl.so.2", RTLD_NOW); /* stays open */

	if (library) {
		*(void **)&create = dlsym(library, "fake_nccl_stream_create");
		*(void **)&device->done = dlsym(library, "fake_nccl_stream_done");
		*(void **)&device->destroy = dlsym(library, "fake_nccl_stream_destroy");
	}
	if (!create || !device->done || !device->destroy)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "libnccl.so.2 is not the fake one");
	device->stream = create();
	return TF_OK;
}

#if TF_HAVE_CUDA
static enum tf_status open_cuda(struct rank_device *device, uint32_t rank, struct tf_error *err)
{
	void *native = NULL;
	uint32_t count = 0;

	TF_TRY(tf_device_count("cuda", &count, err));
	TF_TRY(tf_device_ops_find("cuda", &device->ops, err));
	TF_TRY(device->ops->open(rank % count, &device->device, err));
	TF_TRY(device->ops->stream_create(device->device, &device->own, err));
	TF_TRY(tf_cuda_plain_alloc(device->device, SCRATCH_BYTES, &device->scratch, err));
	TF_TRY(tf_cuda_capture_stream(device->own, &native, err));
	device->stream = native;
	return TF_OK;
}
#else
static enum tf_status open_cuda(struct rank_device *device, uint32_t rank, struct tf_error *err)
{
	(void)device, (void)rank;
	return TF_FAIL(err, TF_E_UNAVAILABLE, "this build has no CUDA device");
}
#endif

enum tf_status rank_device_open(
	const char *kind, uint32_t rank, struct rank_device *out, struct tf_error *err)
{
	memset(out, 0, sizeof(*out));
	out->is_cuda = strcmp(kind, "cuda") == 0;
	if (!out->is_cuda && strcmp(kind, "fake") != 0)
		return TF_FAIL(err, TF_E_USAGE, "device '%s' is neither 'fake' nor 'cuda'", kind);
	return out->is_cuda ? open_cuda(out, rank, err) : open_fake(out, err);
}

void rank_device_close(struct rank_device *device)
{
	if (!device->is_cuda) {
		if (device->stream)
			device->destroy(device->stream);
		return;
	}
	rank_device_free(device, device->scratch);
	if (device->ops) {
		device->ops->stream_destroy(device->own);
		device->ops->close(device->device);
	}
}

enum tf_status rank_device_alloc(
	struct rank_device *device, uint64_t bytes, void **out, struct tf_error *err)
{
#if TF_HAVE_CUDA
	if (device->is_cuda)
		return tf_cuda_plain_alloc(device->device, bytes, out, err);
#endif
	(void)device;
	*out = calloc(1, bytes);
	return *out ? TF_OK : TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a buffer");
}

void rank_device_free(struct rank_device *device, void *memory)
{
#if TF_HAVE_CUDA
	if (device->is_cuda) {
		tf_cuda_plain_free(device->device, memory);
		return;
	}
#endif
	(void)device;
	free(memory);
}

enum tf_status rank_device_write(
	struct rank_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
#if TF_HAVE_CUDA
	if (device->is_cuda)
		return tf_cuda_plain_write(device->device, to, from, bytes, err);
#endif
	(void)device, (void)err;
	memcpy(to, from, bytes);
	return TF_OK;
}

enum tf_status rank_device_read(
	struct rank_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
#if TF_HAVE_CUDA
	if (device->is_cuda)
		return tf_cuda_plain_read(device->device, to, from, bytes, err);
#endif
	(void)device, (void)err;
	memcpy(to, from, bytes);
	return TF_OK;
}

static enum tf_status wait_cuda(
	struct rank_device *device, int64_t deadline_ns, struct tf_error *err)
{
	enum tf_status status;

	if (!device->is_marked)
		TF_TRY(device->ops->stream_set(device->own, device->scratch, 0, SCRATCH_BYTES, err));
	device->is_marked = 1;
	status = device->ops->stream_wait(device->own, deadline_ns, err);
	if (status == TF_OK)
		device->is_marked = 0;
	return status;
}

enum tf_status rank_device_wait(void *user, int64_t deadline_ns, struct tf_error *err)
{
	struct rank_device *device = user;

	if (device->is_cuda)
		return wait_cuda(device, deadline_ns, err);
	while (!device->done(device->stream)) {
		if (tf_deadline_passed(deadline_ns))
			return TF_FAIL(err, TF_E_TIMEOUT, "the stream is not done");
		usleep(50);
	}
	return TF_OK;
}

enum tf_status rank_device_enter(void *user, struct tf_error *err)
{
#if TF_HAVE_CUDA
	struct rank_device *device = user;
	void *native;

	if (device->is_cuda)
		return tf_cuda_capture_stream(device->own, &native, err);
#endif
	(void)user, (void)err;
	return TF_OK;
}

uint64_t rank_device_used_bytes(struct rank_device *device)
{
	int (*get_info)(size_t * free_bytes, size_t * total_bytes) = NULL;
	size_t free_bytes = 0, total_bytes = 0;
	void *driver = device->is_cuda ? dlopen("libcuda.so.1", RTLD_NOW) : NULL;

	if (driver)
		*(void **)&get_info = dlsym(driver, "cuMemGetInfo_v2");
	if (!get_info || rank_device_enter(device, NULL) != TF_OK ||
		get_info(&free_bytes, &total_bytes) != 0)
		return 0;
	return total_bytes - free_bytes;
}
