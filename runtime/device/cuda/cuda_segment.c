/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment is an allocation of the driver's virtual memory management, on the device or pinned in
 * host memory, exported as a file
 * descriptor: its size is fixed, and it lives as long as a descriptor or a mapping of it. The
 * driver promises nothing about its bytes, so it is zeroed here, through a mapping at an address
 * of no importance.
 */
#include "runtime/device/cuda/cuda_segment.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/deadline.h"
#include "runtime/device/cuda/cuda_device.h"

CUmemAllocationProp tf_cuda_segment_prop(const struct tf_cuda_context *context)
{
	return (CUmemAllocationProp){
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = context->device},
	};
}

CUmemAccessDesc tf_cuda_segment_access(const struct tf_cuda_context *context)
{
	return (CUmemAccessDesc){
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = context->device},
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
}

static enum tf_status fill_mapped(const struct tf_cuda_context *context, CUdeviceptr address,
	uint64_t bytes, struct tf_error *err)
{
	CUmemAccessDesc access = tf_cuda_segment_access(context);

	TF_TRY(TF_CU(context->api, err, cuMemSetAccess(address, bytes, &access, 1)));
	TF_TRY(TF_CU(context->api, err, cuMemsetD8Async(address, 0, bytes, context->transfer)));
	return tf_cuda_context_settle(context, err);
}

static enum tf_status fill_with_zeros(const struct tf_cuda_context *context,
	CUmemGenericAllocationHandle handle, uint64_t bytes, struct tf_error *err)
{
	const struct tf_cuda_api *api = context->api;
	CUdeviceptr address = 0;
	enum tf_status status;

	TF_TRY(TF_CU(api, err, cuMemAddressReserve(&address, bytes, 0, 0, 0)));
	status = TF_CU(api, err, cuMemMap(address, bytes, 0, handle, 0));
	if (status == TF_OK) {
		status = fill_mapped(context, address, bytes, err);
		(void)api->cuMemUnmap(address, bytes);
	}
	(void)api->cuMemAddressFree(address, bytes);
	return status;
}

/* The descriptor holds the memory from here on; children do not inherit it through exec. */
static enum tf_status export_descriptor(const struct tf_cuda_context *context,
	CUmemGenericAllocationHandle handle, int *out_fd, struct tf_error *err)
{
	int fd = -1;

	TF_TRY(TF_CU(context->api, err,
		cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)));
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
		enum tf_status status = TF_FAIL_ERRNO(err, "cannot keep descriptor %d to this process", fd);

		close(fd);
		return status;
	}
	*out_fd = fd;
	return TF_OK;
}

static enum tf_status check_bytes(uint64_t bytes, uint64_t granularity, struct tf_error *err)
{
	if (!bytes || bytes % granularity || bytes > TF_WINDOW_STRIDE_MAX)
		return TF_FAIL(err, TF_E_USAGE,
			"a segment of %llu bytes, not a multiple of %llu up to %llu", (unsigned long long)bytes,
			(unsigned long long)granularity, (unsigned long long)TF_WINDOW_STRIDE_MAX);
	return TF_OK;
}

/* Takes the memory over as a descriptor: zeroed, and released again on failure. */
static enum tf_status share(const struct tf_cuda_context *context,
	CUmemGenericAllocationHandle handle, uint64_t bytes, int *out_fd, struct tf_error *err)
{
	enum tf_status status = fill_with_zeros(context, handle, bytes, err);

	if (status == TF_OK)
		status = export_descriptor(context, handle, out_fd, err);
	(void)context->api->cuMemRelease(handle);
	return status;
}

enum tf_status tf_cuda_segment_create(
	struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err)
{
	const struct tf_cuda_context *context = device->context;
	CUmemAllocationProp prop = tf_cuda_segment_prop(context);
	CUmemGenericAllocationHandle handle = 0;
	enum tf_status status;

	TF_TRY(check_bytes(bytes, device->properties.granularity_bytes, err));
	TF_TRY(tf_cuda_context_enter(context, err));
	status = TF_CU(context->api, err, cuMemCreate(&handle, bytes, &prop, 0));
	if (status == TF_OK)
		status = share(context, handle, bytes, out_fd, err);
	if (status != TF_OK)
		tf_error_prefix(err, "a segment of %llu bytes on device %u", (unsigned long long)bytes,
			context->ordinal);
	return status;
}

/* Of the memory node beside the device; a machine without nodes has all its memory in node 0. */
static enum tf_status host_prop(
	const struct tf_cuda_context *context, CUmemAllocationProp *out, struct tf_error *err)
{
	int node = 0;

	TF_TRY(TF_CU(context->api, err,
		cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, context->device)));
	*out = tf_cuda_segment_prop(context);
	out->location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	out->location.id = node > 0 ? node : 0;
	return TF_OK;
}

static enum tf_status create_host_memory(const struct tf_cuda_context *context, uint64_t bytes,
	CUmemGenericAllocationHandle *out, struct tf_error *err)
{
	CUmemAllocationProp prop;
	size_t granularity = 0;

	TF_TRY(host_prop(context, &prop, err));
	TF_TRY(TF_CU(context->api, err,
		cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM)));
	if (!granularity || bytes % granularity)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "host memory has granules of %zu bytes", granularity);
	return TF_CU(context->api, err, cuMemCreate(out, bytes, &prop, 0));
}

/*
 * Memory of the driver's own, not pages of ours that are registered with it: only what it made
 * itself can be mapped at an address that it reserved, so at the same one in every process.
 */
enum tf_status tf_cuda_host_segment_create(
	struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err)
{
	const struct tf_cuda_context *context = device->context;
	CUmemGenericAllocationHandle handle = 0;
	enum tf_status status;

	TF_TRY(check_bytes(bytes, device->properties.granularity_bytes, err));
	TF_TRY(tf_cuda_context_enter(context, err));
	status = create_host_memory(context, bytes, &handle, err);
	if (status == TF_OK)
		status = share(context, handle, bytes, out_fd, err);
	if (status == TF_OK)
		return TF_OK;
	if (status != TF_E_NO_MEMORY)
		status = TF_E_UNAVAILABLE;
	if (err)
		err->status = status;
	tf_error_prefix(err, "%llu bytes of host memory that devices share, for device %u",
		(unsigned long long)bytes, context->ordinal);
	return status;
}
