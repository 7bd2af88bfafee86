/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file says to our own kernels. Their bodies trust the arguments: a package that was made by
 * hand, or damaged before it was sealed, must not lead them outside their memory.
 */
#ifndef TF_RUNTIME_COLLECTIVE_LAUNCH_CHECK_H
#define TF_RUNTIME_COLLECTIVE_LAUNCH_CHECK_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Whether every launch of a kernel of ours (of the built-in module; launches of a user's kernels
 * are tf_program_check's) is one that its group's candidates make: the words are this build's, the
 * arguments those of tf_collective_args_fill, operands lie whole in a buffer, lanes have room.
 * `program` has passed tf_program_check and tf_protocol_check; one without its startup graph will
 * do, and whether its storage has room is the session's to see. TF_E_INVALID names the launch, its
 * kernel and what is wrong. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_launches_check(
	const struct tf_program *program, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
