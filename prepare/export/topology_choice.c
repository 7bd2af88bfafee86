/* SPDX-License-Identifier: Apache-2.0 */
/* Device and class are settled in the parent, once, before any rank starts. */
#include "prepare/export/topology_choice.h"

#include <stdio.h>
#include <string.h>

#include "runtime/device/device.h"
#include "runtime/topology/topology.h"

static enum tf_status choose_device(const char *asked, const char **out_kind, struct tf_error *err)
{
	const struct tf_device_ops *ops = NULL;

	if (!asked || !strcmp(asked, "auto")) {
		tf_device_ops_auto(&ops, NULL, 0);
		*out_kind = ops->name;
		return TF_OK;
	}
	TF_TRY(tf_device_ops_find(asked, &ops, err));
	*out_kind = ops->name;
	return TF_OK;
}

/* On GPUs the machine has the last word. */
static enum tf_status ask_machine(
	int wanted, uint32_t world, enum tf_topology_class *out, struct tf_error *err)
{
	struct tf_topology_options options = {.size = sizeof(options), .world = world};
	struct tf_topology *topology = NULL;
	enum tf_status status;

	TF_TRY(tf_topology_read(&options, &topology, err));
	if (wanted < 0) {
		status = tf_topology_classify(topology, world, out, err);
	} else {
		*out = (enum tf_topology_class)wanted;
		status = tf_topology_require(topology, world, *out, err);
	}
	tf_topology_destroy(topology);
	return status;
}

enum tf_status tf_topology_choose(const char *device, const char *topology, uint32_t world,
	char *out_device, size_t device_bytes, char *out_class, size_t class_bytes,
	struct tf_error *err)
{
	int detect = !topology || !strcmp(topology, "auto");
	int wanted = detect ? -1 : tf_topology_class_parse(topology);
	enum tf_topology_class chosen = TF_TOPOLOGY_LOCAL;
	const char *kind;

	if (!detect && wanted < 0)
		return TF_FAIL(err, TF_E_USAGE,
			"unknown topology '%s'; allowed are auto, local, switched, host-bridge, ring, fabric",
			topology);
	TF_TRY(choose_device(device, &kind, err));
	if (strcmp(kind, "host") != 0)
		TF_TRY(ask_machine(wanted, world, &chosen, err));
	else if (!detect)
		chosen = (enum tf_topology_class)wanted;
	snprintf(out_device, device_bytes, "%s", kind);
	snprintf(out_class, class_bytes, "%s", tf_topology_class_name(chosen));
	return TF_OK;
}
