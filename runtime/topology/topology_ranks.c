/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which device a rank runs on: NVIDIA GPUs that this process was given, in the caller's order or by
 * bus id. Never in NVML's or CUDA's order: those differ between machines and with masks.
 */
#include "runtime/topology/topology_build.h"

#include <string.h>

static bool can_rank(const struct tf_topology_device *device)
{
	return device->kind == TF_TOPOLOGY_DEVICE_NVIDIA && !device->masked;
}

bool tf_topology_has_gpu(const struct tf_topology *topology)
{
	for (uint32_t i = 0; i < topology->device_count; i++)
		if (can_rank(&topology->devices[i]))
			return true;
	return false;
}

/* Inserts by bus id; ids of equal width compare as text, longer domains are greater. */
static void rank_by_bus_id(struct tf_topology *topology)
{
	for (uint32_t i = 0; i < topology->device_count; i++) {
		const char *bus_id = topology->devices[i].bus_id;
		uint32_t at = topology->rank_count;

		if (!can_rank(&topology->devices[i]))
			continue;
		for (; at; at--) {
			const char *before = topology->devices[topology->rank_device[at - 1]].bus_id;
			size_t x = strlen(before), y = strlen(bus_id);

			if (x < y || (x == y && strcmp(before, bus_id) <= 0))
				break;
			topology->rank_device[at] = topology->rank_device[at - 1];
		}
		topology->rank_device[at] = i;
		topology->rank_count++;
	}
}

static enum tf_status rank_by_list(
	struct tf_topology *topology, const struct tf_topology_options *options, struct tf_error *err)
{
	char bus_id[TF_TOPOLOGY_BUS_ID_BYTES];

	for (uint32_t rank = 0; rank < options->bus_id_count; rank++) {
		const char *wanted = options->bus_ids[rank];
		uint32_t at = 0;

		if (!tf_topology_normal_bus_id(wanted, bus_id, sizeof(bus_id)))
			return TF_FAIL(err, TF_E_USAGE, "'%s' is no PCI bus id such as '0000:1a:00.0'", wanted);
		while (at < topology->device_count && strcmp(topology->devices[at].bus_id, bus_id))
			at++;
		if (at == topology->device_count || !can_rank(&topology->devices[at]))
			return TF_FAIL(err, TF_E_NOT_FOUND, "no GPU at '%s' for rank %u", bus_id, rank);
		topology->rank_device[topology->rank_count++] = at;
	}
	return TF_OK;
}

enum tf_status tf_topology_assign_ranks(
	struct tf_topology *topology, const struct tf_topology_options *options, struct tf_error *err)
{
	if (options->host)
		return TF_OK;
	if (options->bus_id_count)
		return rank_by_list(topology, options, err);
	rank_by_bus_id(topology);
	return TF_OK;
}
