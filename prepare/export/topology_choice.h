/* SPDX-License-Identifier: Apache-2.0 */
/* Which device and topology class a run is for. */
#ifndef TF_PREPARE_EXPORT_TOPOLOGY_CHOICE_H
#define TF_PREPARE_EXPORT_TOPOLOGY_CHOICE_H

#include <stdint.h>

#include "runtime/topology/machine_links.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_topology_choice {
	char device[16], topology[32]; /* the kind; the class */
	uint32_t device_count;
	/* of the GPUs that ranks run on; "" on the host device, and where the machine shows no GPUs */
	char signature[TF_TOPOLOGY_SIGNATURE_BYTES];
	/* why no links between GPUs are in it; "" where they are, and on the host device */
	char links_note[TF_MACHINE_LINKS_NOTE_BYTES];
};

/*
 * `device`: "auto" (CUDA where a GPU is found, else host), "host" or "cuda"; `topology`: a class,
 * or NULL / "auto" to detect it.
 * On the host device a class only selects the ladder and "auto" is "local". On GPUs a class that
 * does not match the machine is TF_E_MISFIT, with the pair and the path. TF_E_USAGE: an unknown
 * word. TF_E_UNAVAILABLE: no such device here. Where the machine does not show the driver's GPUs
 * (a container without NVML and PCI tree), a class that was named is believed, and to detect one
 * is TF_E_NOT_FOUND.
 */
TF_WARN_UNUSED enum tf_status tf_topology_choose(const char *device, const char *topology,
	uint32_t world, struct tf_topology_choice *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
