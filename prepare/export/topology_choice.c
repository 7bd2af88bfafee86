/* SPDX-License-Identifier: Apache-2.0 */
/* Device and class are settled in the parent, once, before any rank starts. */
#include "prepare/export/topology_choice.h"

#include <stdio.h>
#include <string.h>

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

/* On GPUs the machine has the last word, if it says one. */
static enum tf_status ask_machine(int wanted, uint32_t world, const struct tf_device_roster *roster,
	struct tf_topology_choice *out, enum tf_topology_class *out_class, struct tf_error *err)
{
	struct tf_topology *topology = NULL;
	struct tf_error cause = {0};
	enum tf_status status = tf_machine_topology_read(roster, world, false, &topology, &cause);

	if (status == TF_E_NOT_FOUND && wanted >= 0) {
		*out_class = (enum tf_topology_class)wanted;
		snprintf(out->links_note, sizeof(out->links_note), "%.*s", (int)sizeof(out->links_note) - 1,
			cause.text);
		return TF_OK;
	}
	if (status == TF_E_NOT_FOUND)
		return TF_FAIL(err, status, "%s; name the class with '--topology'", cause.text);
	if (status != TF_OK)
		return TF_FAIL(err, status, "%s", cause.text);
	if (wanted < 0) {
		status = tf_topology_classify(topology, world, out_class, err);
	} else {
		*out_class = (enum tf_topology_class)wanted;
		status = tf_topology_require(topology, world, *out_class, err);
	}
	if (status == TF_OK)
		status = tf_machine_topology_sign(
			topology, world, *out_class, out->signature, out->links_note, err);
	tf_topology_destroy(topology);
	return status;
}

enum tf_status tf_topology_choose(const char *device, const char *topology, uint32_t world,
	struct tf_topology_choice *out, struct tf_error *err)
{
	int detect = !topology || !strcmp(topology, "auto");
	int wanted = detect ? -1 : tf_topology_class_parse(topology);
	enum tf_topology_class chosen = TF_TOPOLOGY_LOCAL;
	struct tf_topology_choice choice = {0};
	struct tf_device_roster roster;
	const char *kind;

	if (!detect && wanted < 0)
		return TF_FAIL(err, TF_E_USAGE,
			"unknown topology '%s'; allowed are auto, local, switched, host-bridge, ring, fabric",
			topology);
	TF_TRY(choose_device(device, &kind, err));
	TF_TRY(tf_device_roster_read(kind, &roster, err));
	if (strcmp(kind, "host") != 0)
		TF_TRY(ask_machine(wanted, world, &roster, &choice, &chosen, err));
	else if (!detect)
		chosen = (enum tf_topology_class)wanted;
	choice.device_count = roster.count;
	snprintf(choice.device, sizeof(choice.device), "%s", kind);
	snprintf(choice.topology, sizeof(choice.topology), "%s", tf_topology_class_name(chosen));
	*out = choice;
	return TF_OK;
}
