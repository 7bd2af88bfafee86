/* SPDX-License-Identifier: Apache-2.0 */
/* Every call makes the device's context current, as the table's operations do. */
#include "runtime/device/cuda/cuda_plain.h"

#include "runtime/device/cuda/cuda_device.h"

static CUdeviceptr pointer_of(const void *address)
{
	return (CUdeviceptr)(uintptr_t)address;
}

enum tf_status tf_cuda_plain_alloc(
	struct tf_device *device, uint64_t bytes, void **out, struct tf_error *err)
{
	CUdeviceptr address = 0;

	TF_TRY(tf_cuda_context_enter(device->context, err));
	TF_TRY(TF_CU(device->context->api, err, cuMemAlloc(&address, bytes)));
	*out = (void *)(uintptr_t)address;
	return TF_OK;
}

void tf_cuda_plain_free(struct tf_device *device, void *memory)
{
	if (memory && tf_cuda_context_enter(device->context, NULL) == TF_OK)
		(void)device->context->api->cuMemFree(pointer_of(memory));
}

enum tf_status tf_cuda_plain_write(
	struct tf_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	const struct tf_cuda_context *context = device->context;

	TF_TRY(tf_cuda_context_enter(context, err));
	TF_TRY(TF_CU(
		context->api, err, cuMemcpyHtoDAsync(pointer_of(to), from, bytes, context->transfer)));
	return tf_cuda_context_settle(context, err);
}

enum tf_status tf_cuda_plain_read(
	struct tf_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	const struct tf_cuda_context *context = device->context;

	TF_TRY(tf_cuda_context_enter(context, err));
	TF_TRY(TF_CU(
		context->api, err, cuMemcpyDtoHAsync(to, pointer_of(from), bytes, context->transfer)));
	return tf_cuda_context_settle(context, err);
}
