/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. Ranks are told apart as the driver counts them, and looked up by bus id: its order is not that
 *    of the PCI tree.
 * 2. What this machine does not tell is no difference: it is said, and the caller decides.
 */
#include "runtime/topology/machine_links.h"

#include <stdio.h>

#include "runtime/topology/signature_parse.h"

#define NONE_RECORDED "the package records none"

enum tf_status tf_machine_topology_read(const struct tf_device_roster *roster, uint32_t world,
	bool wrap, struct tf_topology **out, struct tf_error *err)
{
	const char *bus_ids[TF_WORLD_MAX];
	struct tf_topology_options options = {
		.size = sizeof(options), .world = world, .bus_ids = bus_ids};
	enum tf_status status;

	if (world > TF_WORLD_MAX || !roster->count)
		return TF_FAIL(err, TF_E_USAGE, "%u ranks on %u devices, at most %d are possible", world,
			roster->count, TF_WORLD_MAX);
	for (uint32_t rank = 0; rank < world && (wrap || rank < roster->count); rank++)
		bus_ids[options.bus_id_count++] = roster->bus_ids[rank % roster->count];
	status = tf_topology_read(&options, out, err);
	if (status != TF_OK)
		tf_error_prefix(err, "cannot see how the GPUs are joined");
	return status;
}

enum tf_status tf_machine_topology_sign(const struct tf_topology *topology, uint32_t world,
	enum tf_topology_class selected, char out[TF_TOPOLOGY_SIGNATURE_BYTES],
	char note[TF_MACHINE_LINKS_NOTE_BYTES], struct tf_error *err)
{
	if (topology->nvml == TF_NVML_ABSENT)
		snprintf(note, TF_MACHINE_LINKS_NOTE_BYTES, "NVML is absent: %s", topology->nvml_cause);
	return tf_topology_signature(topology, world, selected, out, TF_TOPOLOGY_SIGNATURE_BYTES, err);
}

/* The machine's own text, "" where it shows no GPUs; what it does not tell is in `note`. */
static enum tf_status sign(const struct tf_device_roster *roster, uint32_t world,
	char out[TF_TOPOLOGY_SIGNATURE_BYTES], char note[TF_MACHINE_LINKS_NOTE_BYTES],
	struct tf_error *err)
{
	struct tf_topology *topology = NULL;
	struct tf_error cause = {0};
	enum tf_status status = tf_machine_topology_read(roster, world, true, &topology, &cause);

	out[0] = '\0';
	if (status == TF_E_NOT_FOUND) {
		snprintf(
			note, TF_MACHINE_LINKS_NOTE_BYTES, "%.*s", TF_MACHINE_LINKS_NOTE_BYTES - 1, cause.text);
		return TF_OK;
	}
	if (status != TF_OK)
		return TF_FAIL(err, status, "%s", cause.text);
	status = tf_machine_topology_sign(topology, world, topology->detected, out, note, err);
	tf_topology_destroy(topology);
	return status;
}

enum tf_status tf_machine_links_compare(const char *signature,
	const struct tf_device_roster *roster, uint32_t world, char note[TF_MACHINE_LINKS_NOTE_BYTES],
	struct tf_error *err)
{
	char machine[TF_TOPOLOGY_SIGNATURE_BYTES], differs[TF_ERROR_TEXT_BYTES / 2];
	struct tf_signature recorded;

	note[0] = '\0';
	tf_signature_parse(signature, world, &recorded);
	if (!tf_signature_is_of_gpus(signature)) {
		snprintf(note, TF_MACHINE_LINKS_NOTE_BYTES, NONE_RECORDED);
		return TF_OK;
	}
	TF_TRY(sign(roster, world, machine, note, err));
	if (tf_signature_differs(signature, machine, world, differs, sizeof(differs)))
		return TF_FAIL(err, TF_E_MISFIT,
			"the package does not fit this machine: topology.signature: %s", differs);
	if (!note[0] && !recorded.ranks)
		snprintf(note, TF_MACHINE_LINKS_NOTE_BYTES, NONE_RECORDED);
	return TF_OK;
}
