/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity: what a machine must have in common with the one a package was made on. The same
 * function describes the maker's machine at export and the present one at load, so the two can
 * never be described differently.
 */
#ifndef TF_RUNTIME_SESSION_MACHINE_IDENTITY_H
#define TF_RUNTIME_SESSION_MACHINE_IDENTITY_H

#include "catalog/program.h"
#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the keys "abi", "device.*", "numerics", "topology.signature" and "world" in `program`. */
TF_WARN_UNUSED enum tf_status tf_identity_describe(struct tf_program *program,
	const struct tf_device_properties *properties, uint32_t world, struct tf_error *err);

/*
 * TF_OK, or TF_E_MISFIT with every differing key in one text: "device.sm_count: package 132,
 * machine 148; ...". `world` is the group's. How GPUs are joined is not looked at
 * (runtime/topology/machine_links.h).
 */
TF_WARN_UNUSED enum tf_status tf_identity_compare(const struct tf_program *program,
	const struct tf_device_properties *properties, uint32_t world, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
