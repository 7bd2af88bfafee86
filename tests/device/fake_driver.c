/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver's entry points and devices; contexts are in fake_context.c. */
#include "tests/device/fake_driver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static pid_t initialised_by;

int fake_number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

CUresult fake_failure(const char *name)
{
	const char *asked = getenv("FAKE_CUDA_FAIL");
	size_t length = strlen(name);

	if (asked && strncmp(asked, name, length) == 0 && asked[length] == ':')
		return (CUresult)atoi(asked + length + 1);
	/* Like the real one, it does not survive a fork. */
	if (initialised_by && initialised_by != getpid())
		return CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}

static CUresult fake_cuGetErrorName(CUresult code, const char **out)
{
	*out = code == CUDA_ERROR_INVALID_VALUE  ? "CUDA_ERROR_INVALID_VALUE"
		: code == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
											 : NULL;
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_cuGetErrorString(CUresult code, const char **out)
{
	*out = code == CUDA_ERROR_INVALID_VALUE ? "invalid argument" : NULL;
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_cuInit(unsigned flags)
{
	int code = fake_number("FAKE_CUDA_INIT", 0);

	(void)flags;
	FAKE_MAY_FAIL("cuInit");
	if (fake_number("FAKE_CUDA_DIES", 0))
		raise(SIGKILL);
	/* A driver that does not answer: ms. */
	for (int ms = fake_number("FAKE_CUDA_SLOW", 0); ms > 0; ms--)
		usleep(1000);
	if (!code)
		initialised_by = getpid();
	return (CUresult)code;
}

static CUresult fake_cuDeviceGetCount(int *count)
{
	FAKE_MAY_FAIL("cuDeviceGetCount");
	*count = fake_number("FAKE_CUDA_DEVICES", 2);
	return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceGet(CUdevice *device, int ordinal)
{
	if (ordinal >= fake_number("FAKE_CUDA_DEVICES", 2))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceGetName(char *name, int bytes, CUdevice device)
{
	const char *asked = getenv("FAKE_CUDA_NAME");

	(void)device;
	snprintf(name, (size_t)bytes, "%s", asked ? asked : "fake device");
	return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	FAKE_MAY_FAIL("cuDeviceGetUuid");
	memset(uuid->bytes, 0x10 + device, sizeof(uuid->bytes));
	return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	(void)device;
	FAKE_MAY_FAIL("cuDeviceTotalMem");
	*bytes = (size_t)8 << 30;
	return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceGetAttribute(int *out, CUdevice_attribute which, CUdevice device)
{
	(void)device;
	FAKE_MAY_FAIL("cuDeviceGetAttribute");
	switch (which) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*out = 9;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		*out = 0;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*out = 132;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		*out = 232448;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
		*out = -1; /* a machine without memory nodes */
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
		*out = fake_number("FAKE_CUDA_VMM", 1);
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUresult fake_cuDeviceCanAccessPeer(int *out, CUdevice from, CUdevice to)
{
	if (from == to)
		return CUDA_ERROR_INVALID_DEVICE;
	*out = fake_number("FAKE_CUDA_PEERS", 1);
	return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceGetP2PAttribute(
	int *out, CUdevice_P2PAttribute which, CUdevice from, CUdevice to)
{
	if (from == to || which != CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED)
		return CUDA_ERROR_INVALID_VALUE;
	*out = fake_number("FAKE_CUDA_PEERS", 1) > 1;
	return CUDA_SUCCESS;
}

/* The order and types are the table's own: a function that is missing here breaks the build. */
static const struct tf_cuda_api functions = {
#define TF_VALUE(name, version) fake_##name,
	TF_CUDA_SYMBOLS(TF_VALUE)
#undef TF_VALUE
};

static const struct {
	const char *name;
	int version;
	size_t off;
} entries[] = {
#define TF_ROW(name, version) {#name, version, offsetof(struct tf_cuda_api, name)},
	TF_CUDA_SYMBOLS(TF_ROW)
#undef TF_ROW
};

#undef cuGetProcAddress_v2
EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **out, int version, cuuint64_t flags,
	CUdriverProcAddressQueryResult *found)
{
	const char *missing = getenv("FAKE_CUDA_MISSING");

	(void)flags;
	*out = NULL;
	*found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	if (missing && strcmp(missing, symbol) == 0)
		return CUDA_SUCCESS;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, symbol) == 0) {
			*found = version < entries[i].version ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
												  : CU_GET_PROC_ADDRESS_SUCCESS;
			if (version >= entries[i].version)
				memcpy(out, (const char *)&functions + entries[i].off, sizeof(*out));
		}
	return CUDA_SUCCESS;
}

/* Those that the probe looks up by name. */
EXPORT CUresult cuInit(unsigned flags)
{
	return fake_cuInit(flags);
}

EXPORT CUresult cuDeviceGetCount(int *count)
{
	return fake_cuDeviceGetCount(count);
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
	*version = fake_number("FAKE_CUDA_VERSION", 13000);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	return fake_cuDeviceGet(device, ordinal);
}

/* The first three are where the fake NVML (tests/topology) has its devices: linked, linked, not. */
EXPORT CUresult cuDeviceGetPCIBusId(char *bus_id, int bytes, CUdevice device)
{
	static const int buses[3] = {0x06, 0x14, 0x99};

	FAKE_MAY_FAIL("cuDeviceGetPCIBusId");
	snprintf(bus_id, (size_t)bytes, "0000:%02X:00.0", device < 3 ? buses[device] : 0xa0 + device);
	return CUDA_SUCCESS;
}
