/* SPDX-License-Identifier: Apache-2.0 */
/* Which device and topology class a run is for. */
#ifndef TF_PREPARE_EXPORT_TOPOLOGY_CHOICE_H
#define TF_PREPARE_EXPORT_TOPOLOGY_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `device`: "auto" (CUDA where a GPU is found, else host), "host" or "cuda"; `topology`: a class,
 * or NULL / "auto" to detect it.
 * On the host device a class only selects the ladder and "auto" is "local". On GPUs a class that
 * does not match the machine is TF_E_MISFIT, with the pair and the path. TF_E_USAGE: an unknown
 * word. TF_E_UNAVAILABLE: no such device here.
 */
TF_WARN_UNUSED enum tf_status tf_topology_choose(const char *device, const char *topology,
	uint32_t world, char *out_device, size_t device_bytes, char *out_class, size_t class_bytes,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
