/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device is and what its peers can do with it, asked once when it is opened. Devices that
 * the windows cannot use are refused here, by name.
 */
#include "runtime/device/cuda/cuda_device.h"

#include <stdio.h>
#include <string.h>

#include "runtime/device/cuda/cuda_segment.h"

static enum tf_status attribute(const struct tf_cuda_context *context, CUdevice_attribute which,
	uint32_t *out, struct tf_error *err)
{
	int value = 0;

	TF_TRY(TF_CU(context->api, err, cuDeviceGetAttribute(&value, which, context->device)));
	*out = value > 0 ? (uint32_t)value : 0;
	return TF_OK;
}

/* The driver names a slice "NVIDIA H100 80GB HBM3 MIG 1g.10gb". */
static enum tf_status look_at_model(
	const struct tf_cuda_context *context, char out[TF_NAME_BYTES], struct tf_error *err)
{
	char name[256] = "";

	TF_TRY(TF_CU(context->api, err, cuDeviceGetName(name, (int)sizeof(name) - 1, context->device)));
	if (strstr(name, " MIG "))
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"'%s' is a MIG instance: such have no peer access, a whole device is needed", name);
	snprintf(out, TF_NAME_BYTES, "%.*s", TF_NAME_BYTES - 1, name);
	return TF_OK;
}

static enum tf_status check_memory_support(
	const struct tf_cuda_context *context, struct tf_error *err)
{
	uint32_t managed = 0, descriptors = 0;

	TF_TRY(
		attribute(context, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, &managed, err));
	TF_TRY(attribute(context, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
		&descriptors, err));
	if (!managed || !descriptors)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "it has no %s, which windows are made of",
			managed ? "memory handles as file descriptors" : "virtual memory management");
	return TF_OK;
}

static enum tf_status look_at_granularity(
	const struct tf_cuda_context *context, uint64_t *out, struct tf_error *err)
{
	CUmemAllocationProp prop = tf_cuda_segment_prop(context);
	size_t bytes = 0;

	TF_TRY(TF_CU(context->api, err,
		cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)));
	if (!bytes || (bytes & (bytes - 1)))
		return TF_FAIL(
			err, TF_E_UNAVAILABLE, "its memory has granules of %zu bytes, no power of two", bytes);
	*out = bytes > TF_CUDA_GRANULARITY_MIN ? bytes : TF_CUDA_GRANULARITY_MIN;
	return TF_OK;
}

/* From one device to another; takes away what the pair lacks. */
static enum tf_status look_at_pair(const struct tf_cuda_api *api, CUdevice from, CUdevice to,
	uint32_t *capabilities, struct tf_error *err)
{
	int access = 0, atomics = 0;

	TF_TRY(TF_CU(api, err, cuDeviceCanAccessPeer(&access, from, to)));
	if (access)
		TF_TRY(TF_CU(api, err,
			cuDeviceGetP2PAttribute(
				&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, from, to)));
	if (!access)
		*capabilities = 0;
	if (!atomics)
		*capabilities &= ~(uint32_t)TF_DEVICE_PEER_ATOMIC;
	return TF_OK;
}

/* What holds over all pairs of devices that the driver shows; ranks of one device have it all. */
static enum tf_status look_at_peers(
	const struct tf_cuda_api *api, uint32_t *out, struct tf_error *err)
{
	uint32_t capabilities = TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC;
	CUdevice devices[TF_CUDA_DEVICES_MAX];
	uint32_t count = 0;

	TF_TRY(tf_cuda_device_count(api, &count, err));
	for (uint32_t i = 0; i < count; i++)
		TF_TRY(TF_CU(api, err, cuDeviceGet(&devices[i], (int)i)));
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count; k++)
			if (i != k)
				TF_TRY(look_at_pair(api, devices[i], devices[k], &capabilities, err));
	*out = capabilities;
	return TF_OK;
}

enum tf_status tf_cuda_device_look(struct tf_device *device, struct tf_error *err)
{
	const struct tf_cuda_context *context = device->context;
	struct tf_device_properties *properties = &device->properties;
	uint32_t major = 0, minor = 0;
	size_t memory_bytes = 0;

	snprintf(properties->kind, sizeof(properties->kind), "cuda");
	TF_TRY(look_at_model(context, properties->model, err));
	TF_TRY(check_memory_support(context, err));
	TF_TRY(attribute(context, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major, err));
	TF_TRY(attribute(context, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor, err));
	properties->compute_capability = 10 * major + minor;
	TF_TRY(
		attribute(context, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &properties->sm_count, err));
	TF_TRY(attribute(context, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
		&device->shared_bytes_max, err));
	TF_TRY(TF_CU(context->api, err, cuDeviceTotalMem(&memory_bytes, context->device)));
	properties->memory_bytes = memory_bytes;
	TF_TRY(look_at_granularity(context, &properties->granularity_bytes, err));
	return look_at_peers(context->api, &properties->capabilities, err);
}
