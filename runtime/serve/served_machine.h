/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor finds out about the machine before any rank starts. */
#ifndef TF_RUNTIME_SERVE_SERVED_MACHINE_H
#define TF_RUNTIME_SERVE_SERVED_MACHINE_H

#include "catalog/program.h"
#include "runtime/topology/machine_links.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_served_machine {
	uint32_t device_count; /* rank r takes device r modulo this */
	/* why the links between GPUs were not compared with the maker's; "": they were, or none are */
	char links_note[TF_MACHINE_LINKS_NOTE_BYTES];
};

/*
 * `device`: "auto" or NULL for what the program is for, "host" or "cuda". TF_E_MISFIT: GPUs are
 * joined otherwise than the maker's, or with `strict` that cannot be told; TF_E_UNAVAILABLE: no
 * such device; TF_E_INVALID: the program does not say what it is for.
 */
TF_WARN_UNUSED enum tf_status tf_served_machine_look(const struct tf_program *program,
	const char *device, int strict, struct tf_served_machine *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
