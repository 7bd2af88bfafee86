/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a topology: loads hwloc's view and runs the stages of topology_build.h over it. Nothing
 * of hwloc or NVML outlives the call.
 */
#include "runtime/topology/topology_build.h"
#include "base/alloc.h"

#include <unistd.h>

/* Architecture and page size, as hwloc found or was told. */
static void read_host(struct tf_topology *topology, hwloc_topology_t hw)
{
	const char *text = hwloc_obj_get_info_by_name(hwloc_get_root_obj(hw), "Architecture");
	hwloc_obj_t numa = hwloc_get_obj_by_type(hw, HWLOC_OBJ_NUMANODE, 0);

	tf_topology_copy_text(
		topology->architecture, sizeof(topology->architecture), text ? text : "unknown");
	if (hwloc_topology_is_thissystem(hw))
		topology->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	else if (numa && numa->attr->numanode.page_types_len)
		topology->page_bytes = numa->attr->numanode.page_types[0].size;
}

static enum tf_status add_host_device(struct tf_topology *topology, struct tf_error *err)
{
	struct tf_topology_device *host = &topology->devices[topology->device_count];

	if (topology->device_count == TF_TOPOLOGY_DEVICES_MAX)
		return TF_FAIL(
			err, TF_E_LIMIT, "more than %d GPUs and accelerators", TF_TOPOLOGY_DEVICES_MAX);
	host->kind = TF_TOPOLOGY_DEVICE_HOST;
	tf_topology_copy_text(host->model, sizeof(host->model), "host");
	host->numa_node = -1;
	host->node = -1;
	topology->device_count++;
	return TF_OK;
}

static enum tf_status read_devices(struct tf_topology *topology, hwloc_topology_t hw,
	const struct tf_topology_options *options, struct tf_error *err)
{
	bool ours = hwloc_topology_is_thissystem(hw);
	struct tf_topology_nvml_session *nvml = NULL;
	enum tf_status status;

	read_host(topology, hw);
	TF_TRY(tf_topology_build_tree(topology, hw, err));
	if (ours || options->nvml_name)
		TF_TRY(tf_topology_nvml_open(topology, options->nvml_name, &nvml, err));
	topology->host = options->host || !tf_topology_has_gpu(topology);
	status = topology->host ? add_host_device(topology, err) : TF_OK;
	if (status == TF_OK)
		status = tf_topology_build_links(topology, hw, err);
	if (status == TF_OK)
		tf_topology_nvml_refine(nvml);
	tf_topology_nvml_close(nvml);
	if (status == TF_OK)
		status = tf_topology_assign_ranks(topology, options, err);
	if (status == TF_OK && (ours || options->sysfs_root))
		status =
			tf_topology_read_rdma(topology, options->sysfs_root ? options->sysfs_root : "", err);
	return status;
}

static enum tf_status check_options(const struct tf_topology_options *options, struct tf_error *err)
{
	if (options->size != sizeof(*options))
		return TF_FAIL(err, TF_E_USAGE, "topology options of %zu bytes, this build's have %zu",
			options->size, sizeof(*options));
	if (options->world > TF_TOPOLOGY_RANKS_MAX || options->bus_id_count > TF_TOPOLOGY_RANKS_MAX)
		return TF_FAIL(err, TF_E_USAGE, "%u ranks, at most %d are possible",
			options->world > options->bus_id_count ? options->world : options->bus_id_count,
			TF_TOPOLOGY_RANKS_MAX);
	return TF_OK;
}

static void detect_class(struct tf_topology *topology, uint32_t world)
{
	uint32_t from, to;

	if (!topology->host && (!world || world > topology->rank_count))
		world = topology->rank_count;
	topology->world = world;
	if (topology->host)
		topology->detected = TF_TOPOLOGY_LOCAL;
	else if (tf_topology_find_bridged(topology, world, &from, &to))
		topology->detected = TF_TOPOLOGY_HOST_BRIDGE;
	else
		topology->detected = TF_TOPOLOGY_SWITCHED;
}

enum tf_status tf_topology_read(
	const struct tf_topology_options *options, struct tf_topology **out, struct tf_error *err)
{
	const struct tf_topology_options defaults = {.size = sizeof(defaults)};
	struct tf_topology *topology = NULL;
	hwloc_topology_t hw = NULL;
	enum tf_status status;

	if (!options)
		options = &defaults;
	TF_TRY(check_options(options, err));
	topology = tf_calloc(1, sizeof(*topology));
	if (!topology)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a topology");
	status = tf_topology_load_hwloc(options->xml_path, &hw, err);
	if (status != TF_OK)
		goto fail;
	status = read_devices(topology, hw, options, err);
	if (status != TF_OK)
		goto fail;
	hwloc_topology_destroy(hw);
	detect_class(topology, options->world);
	*out = topology;
	return TF_OK;
fail:
	if (hw)
		hwloc_topology_destroy(hw);
	tf_topology_destroy(topology);
	return status;
}

void tf_topology_destroy(struct tf_topology *topology)
{
	if (!topology)
		return;
	tf_free(topology->devices);
	tf_free(topology->pairs);
	tf_free(topology->rdma);
	tf_free(topology->nodes);
	tf_free(topology);
}
