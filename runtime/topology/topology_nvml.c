/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVML knows and hwloc does not: NVLink and NVSwitch between GPUs, MIG, which GPUs this
 * process was given, and GPUs of a container that shows no PCI tree. Opened at run time; devices
 * are matched by PCI id, never by index.
 *
 * A question that the driver does not answer leaves what the tree said. Struct layouts and numbers
 * are those of NVML's stable ABI (the NVML API reference, versions as in the symbols' names).
 */
#include "runtime/topology/topology_build.h"
#include "base/alloc.h"
#include "base/dynlib.h"

#include <stdio.h>
#include <string.h>

#define NVML_SUCCESS           0
#define NVML_FEATURE_ENABLED   1
#define NVML_MIG_ENABLED       1
#define NVML_P2P_OK            0
#define NVML_P2P_CAPS_NVLINK   2
#define NVML_REMOTE_GPU        0
#define NVML_REMOTE_SWITCH     2
#define NVML_FI_NVLINK_SPEED   164 /* NVML_FI_DEV_NVLINK_GET_SPEED: MB/s, scope = link */
#define NVML_VALUE_UINT        1
#define NVML_ANCESTOR_SWITCHES 20 /* NVML_TOPOLOGY_MULTIPLE: at most PCIe switches between them */
#define NVML_ANCESTOR_BRIDGE   30
#define NVML_ANCESTOR_NODE     40
#define NVLINKS_MAX            36 /* twice what a GPU of today has */
#define NVML_MODEL_BYTES       96
#define MBPS_PER_GBPS          1000.0

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
		unsigned long ul;
		unsigned long long ull;
		long long sll;
	} value;
};

/* X(name, parameters, optional) */
#define NVML_SYMBOLS(X)                                                                            \
	X(nvmlInit_v2, (void), 0)                                                                      \
	X(nvmlShutdown, (void), 0)                                                                     \
	X(nvmlDeviceGetCount_v2, (unsigned *), 0)                                                      \
	X(nvmlDeviceGetHandleByIndex_v2, (unsigned, void **), 0)                                       \
	X(nvmlDeviceGetPciInfo_v3, (void *, struct nvml_pci *), 0)                                     \
	X(nvmlDeviceGetName, (void *, char *, unsigned), 0)                                            \
	X(nvmlDeviceGetMigMode, (void *, unsigned *, unsigned *), 1)                                   \
	X(nvmlDeviceGetTopologyCommonAncestor, (void *, void *, int *), 1)                             \
	X(nvmlDeviceGetP2PStatus, (void *, void *, int, int *), 1)                                     \
	X(nvmlDeviceGetNvLinkState, (void *, unsigned, int *), 1)                                      \
	X(nvmlDeviceGetNvLinkRemoteDeviceType, (void *, unsigned, int *), 1)                           \
	X(nvmlDeviceGetNvLinkRemotePciInfo_v2, (void *, unsigned, struct nvml_pci *), 1)               \
	X(nvmlDeviceGetFieldValues, (void *, int, struct nvml_field *), 1)

#define NVML_MEMBER(name, params, optional) int(*name) params;
struct nvml {
	NVML_SYMBOLS(NVML_MEMBER)
};

#define NVML_ROW(name, params, optional) {#name, offsetof(struct nvml, name), optional},
static const struct tf_dynlib_symbol nvml_symbols[] = {NVML_SYMBOLS(NVML_ROW){NULL, 0, 0}};

struct tf_topology_nvml_session {
	struct nvml api;
	void *library;
	struct tf_topology *topology;
	void *handles[TF_TOPOLOGY_DEVICES_MAX]; /* by device; NULL: unknown to NVML, or no NVIDIA */
};

static void name_device(struct tf_topology_nvml_session *s, uint32_t index)
{
	struct tf_topology_device *device = &s->topology->devices[index];
	char name[NVML_MODEL_BYTES] = "";

	if (s->api.nvmlDeviceGetName(s->handles[index], name, sizeof(name)) == NVML_SUCCESS && name[0])
		tf_topology_copy_text(device->model, sizeof(device->model), name);
}

static bool is_split(const struct tf_topology_nvml_session *s, void *handle)
{
	unsigned now = 0, pending = 0;

	return s->api.nvmlDeviceGetMigMode &&
		s->api.nvmlDeviceGetMigMode(handle, &now, &pending) == NVML_SUCCESS &&
		now == NVML_MIG_ENABLED;
}

static int32_t find_device(const struct tf_topology *topology, const char *bus_id)
{
	for (uint32_t i = 0; i < topology->device_count; i++)
		if (!strcmp(topology->devices[i].bus_id, bus_id))
			return (int32_t)i;
	return -1;
}

/* Takes in the driver's device number `index`; one that it cannot describe counts as absent. */
static enum tf_status take_device(
	struct tf_topology_nvml_session *s, unsigned index, struct tf_error *err)
{
	char bus_id[TF_TOPOLOGY_BUS_ID_BYTES];
	struct nvml_pci pci = {.bus_id = ""};
	void *handle = NULL;
	int32_t at;

	if (s->api.nvmlDeviceGetHandleByIndex_v2(index, &handle) != NVML_SUCCESS ||
		s->api.nvmlDeviceGetPciInfo_v3(handle, &pci) != NVML_SUCCESS)
		return TF_OK;
	pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
	if (!tf_topology_normal_bus_id(pci.bus_id, bus_id, sizeof(bus_id)))
		return TF_OK;
	at = find_device(s->topology, bus_id);
	if (at < 0)
		TF_TRY(tf_topology_add_unplaced(
			s->topology, bus_id, (uint16_t)(pci.pci_device_id >> 16), &at, err));
	s->handles[at] = handle;
	s->topology->devices[at].masked = false;
	s->topology->devices[at].split = is_split(s, handle);
	name_device(s, (uint32_t)at);
	return TF_OK;
}

/* Takes in all of the driver's devices; a GPU that is not among them takes no rank. */
static enum tf_status take_devices(struct tf_topology_nvml_session *s, struct tf_error *err)
{
	unsigned count = 0;
	int rc = s->api.nvmlDeviceGetCount_v2(&count);

	if (rc != NVML_SUCCESS)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "nvmlDeviceGetCount_v2 returned %d", rc);
	for (uint32_t i = 0; i < s->topology->device_count; i++)
		s->topology->devices[i].masked = s->topology->devices[i].kind == TF_TOPOLOGY_DEVICE_NVIDIA;
	for (unsigned i = 0; i < count; i++)
		TF_TRY(take_device(s, i, err));
	return TF_OK;
}

/* A link's speed one way, or 0 where the driver does not tell. */
static double link_gbps(const struct tf_topology_nvml_session *s, void *handle, unsigned link)
{
	struct nvml_field field = {.id = NVML_FI_NVLINK_SPEED, .scope = link};

	if (!s->api.nvmlDeviceGetFieldValues ||
		s->api.nvmlDeviceGetFieldValues(handle, 1, &field) != NVML_SUCCESS ||
		field.result != NVML_SUCCESS || field.value_type != NVML_VALUE_UINT)
		return 0;
	return (double)field.value.ui / MBPS_PER_GBPS;
}

/* Whether a link ends at the device, directly or through a switch. */
static bool link_leads_to(
	const struct tf_topology_nvml_session *s, void *handle, unsigned link, uint32_t to)
{
	char bus_id[TF_TOPOLOGY_BUS_ID_BYTES];
	struct nvml_pci pci = {.bus_id = ""};
	int type = -1;

	if (s->api.nvmlDeviceGetNvLinkRemoteDeviceType(handle, link, &type) != NVML_SUCCESS)
		return false;
	if (type != NVML_REMOTE_GPU)
		return type == NVML_REMOTE_SWITCH;
	if (!s->api.nvmlDeviceGetNvLinkRemotePciInfo_v2 ||
		s->api.nvmlDeviceGetNvLinkRemotePciInfo_v2(handle, link, &pci) != NVML_SUCCESS)
		return false;
	pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
	return tf_topology_normal_bus_id(pci.bus_id, bus_id, sizeof(bus_id)) &&
		!strcmp(bus_id, s->topology->devices[to].bus_id);
}

/* What one device has of live links towards another. */
static double links_gbps(const struct tf_topology_nvml_session *s, uint32_t from, uint32_t to)
{
	void *handle = s->handles[from];
	double sum = 0;

	if (!s->api.nvmlDeviceGetNvLinkState || !s->api.nvmlDeviceGetNvLinkRemoteDeviceType)
		return 0;
	for (unsigned link = 0; link < NVLINKS_MAX; link++) {
		int live = 0;

		if (s->api.nvmlDeviceGetNvLinkState(handle, link, &live) == NVML_SUCCESS &&
			live == NVML_FEATURE_ENABLED && link_leads_to(s, handle, link, to))
			sum += link_gbps(s, handle, link);
	}
	return sum;
}

static struct tf_topology_pair *pair_at(
	struct tf_topology_nvml_session *s, uint32_t from, uint32_t to)
{
	return &s->topology->pairs[(size_t)from * s->topology->device_count + to];
}

/* How two devices meet where the PCI tree does not hold both: the driver's word, else the worst. */
static enum tf_topology_link ask_ancestor(
	const struct tf_topology_nvml_session *s, uint32_t from, uint32_t to)
{
	int level = 0;

	if (!s->api.nvmlDeviceGetTopologyCommonAncestor ||
		s->api.nvmlDeviceGetTopologyCommonAncestor(s->handles[from], s->handles[to], &level) !=
			NVML_SUCCESS)
		return TF_LINK_SYS;
	if (level <= NVML_ANCESTOR_SWITCHES)
		return TF_LINK_PIX;
	if (level <= NVML_ANCESTOR_BRIDGE)
		return TF_LINK_PHB;
	return level <= NVML_ANCESTOR_NODE ? TF_LINK_NODE : TF_LINK_SYS;
}

static void refine_pair(struct tf_topology_nvml_session *s, uint32_t from, uint32_t to)
{
	const struct tf_topology_device *devices = s->topology->devices;
	struct tf_topology_pair *pair = pair_at(s, from, to);
	double out, in;
	int p2p = -1;

	if (from == to || !s->handles[from] || !s->handles[to])
		return;
	if (devices[from].unplaced || devices[to].unplaced)
		pair->link = ask_ancestor(s, from, to);
	if (!s->api.nvmlDeviceGetP2PStatus ||
		s->api.nvmlDeviceGetP2PStatus(
			s->handles[from], s->handles[to], NVML_P2P_CAPS_NVLINK, &p2p) != NVML_SUCCESS ||
		p2p != NVML_P2P_OK)
		return;
	out = links_gbps(s, from, to);
	in = links_gbps(s, to, from);
	pair->link = TF_LINK_NVLINK;
	pair->bandwidth_gbps = out < in ? out : in;
}

void tf_topology_nvml_refine(struct tf_topology_nvml_session *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->topology->device_count; i++)
		for (uint32_t j = 0; j < s->topology->device_count; j++)
			refine_pair(s, i, j);
}

void tf_topology_nvml_close(struct tf_topology_nvml_session *s)
{
	if (!s)
		return;
	s->api.nvmlShutdown();
	tf_dynlib_close(s->library);
	tf_free(s);
}

/* Opens and initialises the library. TF_E_UNAVAILABLE: there is none, or no driver behind it. */
static enum tf_status start_library(
	struct tf_topology_nvml_session *s, const char *name, struct tf_error *err)
{
	const char *const sonames[] = {name ? name : "libnvidia-ml.so.1", NULL};
	int rc;

	TF_TRY(tf_dynlib_open(sonames, nvml_symbols, &s->api, sizeof(s->api), &s->library, err));
	rc = s->api.nvmlInit_v2();
	if (rc == NVML_SUCCESS)
		return TF_OK;
	tf_dynlib_close(s->library);
	return TF_FAIL(err, TF_E_UNAVAILABLE, "nvmlInit_v2 returned %d", rc);
}

enum tf_status tf_topology_nvml_open(struct tf_topology *topology, const char *name,
	struct tf_topology_nvml_session **out, struct tf_error *err)
{
	struct tf_topology_nvml_session *s = tf_calloc(1, sizeof(*s));
	struct tf_error cause = {0};
	enum tf_status status;

	if (!s)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for NVML");
	s->topology = topology;
	status = start_library(s, name, &cause);
	if (status != TF_OK) {
		tf_free(s);
	} else {
		status = take_devices(s, &cause);
		if (status != TF_OK)
			tf_topology_nvml_close(s);
	}
	if (status == TF_E_UNAVAILABLE) {
		topology->nvml = TF_NVML_ABSENT;
		tf_topology_copy_text(topology->nvml_cause, sizeof(topology->nvml_cause), cause.text);
		return TF_OK;
	}
	if (status != TF_OK)
		return TF_FAIL(err, status, "%s", cause.text);
	topology->nvml = TF_NVML_PRESENT;
	*out = s;
	return TF_OK;
}
