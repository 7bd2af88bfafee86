/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for NVML: a driver that gave this process two of a machine's GPUs, and one that no PCI
 * tree shows. In the driver's order:
 *   0  0000:14:00.0   two NVLinks to device 1, MIG if FAKE_NVML_MIG is set
 *   1  0000:06:00.0   two NVLinks to device 0; both have a third one that is down
 *   2  0000:99:00.0   under one PCIe switch with device 0
 * FAKE_NVML_INIT is what nvmlInit_v2 returns; without links, meeting across sockets, the devices
 * are where FAKE_NVML_UNLINKED is set. FAKE_NVML_SLOW is how many ms nvmlInit_v2 takes; where
 * FAKE_NVML_DIES is set it ends the process; while the file FAKE_NVML_WAITS exists it waits.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct nvml_pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

struct nvml_field {
	unsigned id, scope;
	long long timestamp, latency_us;
	unsigned value_type;
	int result;
	union {
		double d;
		unsigned ui;
		unsigned long long ull;
	} value;
};

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle);
EXPORT int nvmlDeviceGetPciInfo_v3(void *handle, struct nvml_pci *pci);
EXPORT int nvmlDeviceGetName(void *handle, char *name, unsigned size);
EXPORT int nvmlDeviceGetMigMode(void *handle, unsigned *now, unsigned *pending);
EXPORT int nvmlDeviceGetTopologyCommonAncestor(void *a, void *b, int *level);
EXPORT int nvmlDeviceGetP2PStatus(void *a, void *b, int kind, int *status);
EXPORT int nvmlDeviceGetNvLinkState(void *handle, unsigned link, int *state);
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(void *handle, unsigned link, int *type);
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle, unsigned link, struct nvml_pci *pci);
EXPORT int nvmlDeviceGetFieldValues(void *handle, int count, struct nvml_field *fields);

static const char *const bus_ids[3] = {"00000000:14:00.0", "00000000:06:00.0", "00000000:99:00.0"};

static unsigned index_of(void *handle)
{
	return (unsigned)(uintptr_t)handle - 1;
}

int nvmlInit_v2(void)
{
	const char *text = getenv("FAKE_NVML_INIT"), *slow = getenv("FAKE_NVML_SLOW");
	const char *gate = getenv("FAKE_NVML_WAITS");

	if (getenv("FAKE_NVML_DIES"))
		_exit(5);
	for (int ms = slow ? atoi(slow) : 0; ms > 0; ms--)
		usleep(1000);
	while (gate && access(gate, F_OK) == 0)
		usleep(1000);
	return text ? atoi(text) : 0;
}

int nvmlShutdown(void)
{
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = 3;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle)
{
	*handle = (void *)(uintptr_t)(index + 1);
	return 0;
}

int nvmlDeviceGetPciInfo_v3(void *handle, struct nvml_pci *pci)
{
	memset(pci, 0, sizeof(*pci));
	pci->pci_device_id = 0x06d210de;
	snprintf(pci->bus_id, sizeof(pci->bus_id), "%s", bus_ids[index_of(handle)]);
	return 0;
}

int nvmlDeviceGetName(void *handle, char *name, unsigned size)
{
	snprintf(name, size, "NVIDIA Number %u", index_of(handle));
	return 0;
}

int nvmlDeviceGetMigMode(void *handle, unsigned *now, unsigned *pending)
{
	*now = *pending = getenv("FAKE_NVML_MIG") && index_of(handle) == 0;
	return 0;
}

int nvmlDeviceGetTopologyCommonAncestor(void *a, void *b, int *level)
{
	*level = index_of(a) + index_of(b) == 2 ? 10 : 50;
	return 0;
}

int nvmlDeviceGetP2PStatus(void *a, void *b, int kind, int *status)
{
	*status =
		kind == 2 && index_of(a) < 2 && index_of(b) < 2 && !getenv("FAKE_NVML_UNLINKED") ? 0 : 1;
	return 0;
}

int nvmlDeviceGetNvLinkState(void *handle, unsigned link, int *state)
{
	if (index_of(handle) == 2 || link > 2)
		return 2; /* no such link */
	*state = link < 2;
	return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *handle, unsigned link, int *type)
{
	(void)handle;
	(void)link;
	*type = 0;
	return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle, unsigned link, struct nvml_pci *pci)
{
	(void)link;
	memset(pci, 0, sizeof(*pci));
	snprintf(pci->bus_id, sizeof(pci->bus_id), "%s", bus_ids[1 - index_of(handle)]);
	return 0;
}

int nvmlDeviceGetFieldValues(void *handle, int count, struct nvml_field *fields)
{
	(void)handle;
	for (int i = 0; i < count; i++) {
		fields[i].result = fields[i].id == 164 && fields[i].scope < 2 ? 0 : 3;
		fields[i].value_type = 1;
		fields[i].value.ui = 26562;
	}
	return 0;
}
