/* SPDX-License-Identifier: Apache-2.0 */
/* A package for the host device costs nothing here: neither the driver nor the PCI tree is read. */
#include "runtime/serve/served_machine.h"

#include <string.h>

enum tf_status tf_served_machine_look(const struct tf_program *program, const char *device,
	int strict, struct tf_served_machine *out, struct tf_error *err)
{
	const char *made_for = tf_program_identity(program, "device.kind");
	const char *kind = device && strcmp(device, "auto") != 0 ? device : made_for;
	struct tf_served_machine found = {0};
	struct tf_device_roster roster;

	if (!kind)
		return TF_FAIL(err, TF_E_INVALID, "the package's identity names no device.kind");
	TF_TRY(tf_device_roster_read(kind, &roster, err));
	found.device_count = roster.count;
	/* A package for another device is refused by its ranks, who list all that differs. */
	if (strcmp(kind, "host") != 0 && made_for && !strcmp(kind, made_for))
		TF_TRY(tf_machine_links_compare(tf_program_identity(program, "topology.signature"), &roster,
			program->world, found.links_note, err));
	if (strict && found.links_note[0])
		return TF_FAIL(err, TF_E_MISFIT,
			"the links between GPUs cannot be compared with the maker's: %s", found.links_note);
	*out = found;
	return TF_OK;
}
