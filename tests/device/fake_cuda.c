/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that answers what the environment says: lets the probe be tested on any machine. */
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDeviceGetCount(int *count);

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
