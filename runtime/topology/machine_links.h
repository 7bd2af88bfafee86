/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the GPUs that ranks run on are joined here, and whether that is how those were joined that a
 * package was made on. Reads the machine: once a start, before threads and before ranks are forked.
 */
#ifndef TF_RUNTIME_TOPOLOGY_MACHINE_LINKS_H
#define TF_RUNTIME_TOPOLOGY_MACHINE_LINKS_H

#include "runtime/device/device.h"
#include "runtime/topology/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_MACHINE_LINKS_NOTE_BYTES 320 /* the reason why NVML is absent fits */

/*
 * tf_topology_read with the GPUs of a roster as the rank devices: rank r has device r. `wrap`:
 * ranks beyond the last device begin again at the first, as in serving; else there are no more
 * ranks than devices. Statuses of tf_topology_read; TF_E_NOT_FOUND names a GPU that the driver
 * shows and the machine does not.
 */
TF_WARN_UNUSED enum tf_status tf_machine_topology_read(const struct tf_device_roster *roster,
	uint32_t world, bool wrap, struct tf_topology **out, struct tf_error *err);

/*
 * The signature of a topology that was read so, under `selected`. `note` says why no links between
 * GPUs are in it, and is left alone where they are. Statuses of tf_topology_signature.
 */
TF_WARN_UNUSED enum tf_status tf_machine_topology_sign(const struct tf_topology *topology,
	uint32_t world, enum tf_topology_class selected, char out[TF_TOPOLOGY_SIGNATURE_BYTES],
	char note[TF_MACHINE_LINKS_NOTE_BYTES], struct tf_error *err);

/*
 * Compares the links of this machine with `signature`, the identity row of a package for GPUs
 * (NULL: it has none). TF_E_MISFIT: they differ, and how. `note` gets "" where they were compared,
 * else why they could not be: what one of the two does not tell is no difference.
 */
TF_WARN_UNUSED enum tf_status tf_machine_links_compare(const char *signature,
	const struct tf_device_roster *roster, uint32_t world, char note[TF_MACHINE_LINKS_NOTE_BYTES],
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
