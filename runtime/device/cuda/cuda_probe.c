/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest possible talk with the driver: is it there, which version, which devices. */
#include "runtime/device/cuda/cuda_probe.h"

#include <pthread.h>
#include <stddef.h>

#include "base/dynlib.h"

/*
 * name, parameters. All of them exist unversioned in every driver, so no cuGetProcAddress is
 * needed.
 */
#define TF_CUDA_PROBE_SYMBOLS(X)                                                                   \
	X(cuInit, (unsigned flags))                                                                    \
	X(cuDriverGetVersion, (int *version))                                                          \
	X(cuDeviceGetCount, (int *count))                                                              \
	X(cuDeviceGet, (int *device, int ordinal))                                                     \
	X(cuDeviceGetPCIBusId, (char *bus_id, int bytes, int device))

/* CUresult is an enum, 0 is success. */
struct probe_api {
#define TF_MEMBER(name, parameters) int(*name) parameters;
	TF_CUDA_PROBE_SYMBOLS(TF_MEMBER)
#undef TF_MEMBER
};

static const char *const sonames[] = {"libcuda.so.1", NULL};

static const struct tf_dynlib_symbol symbols[] = {
#define TF_ROW(name, parameters) {#name, offsetof(struct probe_api, name), 0},
	TF_CUDA_PROBE_SYMBOLS(TF_ROW)
#undef TF_ROW
		{NULL, 0, 0},
};

static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
static struct probe_api driver_api; /* filled once, under the lock; constant after that */
static void *driver_handle;

static enum tf_status open_driver(struct tf_error *err)
{
	enum tf_status status = TF_OK;

	pthread_mutex_lock(&driver_lock);
	if (!driver_handle)
		status =
			tf_dynlib_open(sonames, symbols, &driver_api, sizeof(driver_api), &driver_handle, err);
	pthread_mutex_unlock(&driver_lock);
	return status;
}

static enum tf_status check(int code, const char *call, struct tf_error *err)
{
	if (code == 0)
		return TF_OK;
	return tf_error_set(err, TF_E_UNAVAILABLE, "cuda", code, __FILE__, __LINE__,
		"'libcuda.so.1': %s failed with code %d", call, code);
}

/* Where the first devices are; a rank's number is its device's here. */
static enum tf_status read_bus_ids(uint32_t count, struct tf_cuda_probe *out, struct tf_error *err)
{
	for (int i = 0; i < TF_WORLD_MAX && (uint32_t)i < count; i++) {
		int device = 0;

		TF_TRY(check(driver_api.cuDeviceGet(&device, i), "cuDeviceGet", err));
		TF_TRY(check(
			driver_api.cuDeviceGetPCIBusId(out->bus_ids[i], TF_DEVICE_BUS_ID_BYTES - 1, device),
			"cuDeviceGetPCIBusId", err));
	}
	return TF_OK;
}

enum tf_status tf_cuda_probe(struct tf_cuda_probe *out, struct tf_error *err)
{
	struct tf_cuda_probe found = {0};
	int version = 0, count = 0;

	TF_TRY(open_driver(err));
	TF_TRY(check(driver_api.cuInit(0), "cuInit(0)", err));
	TF_TRY(check(driver_api.cuDriverGetVersion(&version), "cuDriverGetVersion", err));
	TF_TRY(check(driver_api.cuDeviceGetCount(&count), "cuDeviceGetCount", err));
	if (version < 0 || count < 1)
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"'libcuda.so.1' version %d has %d devices, not 1 or more", version, count);
	found.driver_version = (uint32_t)version;
	found.device_count = (uint32_t)count;
	TF_TRY(read_bus_ids(found.device_count, &found, err));
	*out = found;
	return TF_OK;
}
