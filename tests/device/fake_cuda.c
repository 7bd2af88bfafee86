/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that answers what the environment says: lets the probe be tested on any machine. */
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDeviceGetCount(int *count);
EXPORT int cuDeviceGet(int *device, int ordinal);
EXPORT int cuDeviceGetPCIBusId(char *bus_id, int bytes, int device);

static int number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

int cuInit(unsigned flags)
{
	(void)flags;
	return number("FAKE_CUDA_INIT", 0);
}

int cuDriverGetVersion(int *version)
{
	*version = number("FAKE_CUDA_VERSION", 13000);
	return 0;
}

int cuDeviceGetCount(int *count)
{
	*count = number("FAKE_CUDA_DEVICES", 2);
	return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}

int cuDeviceGetPCIBusId(char *bus_id, int bytes, int device)
{
	snprintf(bus_id, (size_t)bytes, "0000:%02X:00.0", device);
	return 0;
}
