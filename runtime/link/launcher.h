/* SPDX-License-Identifier: Apache-2.0 */
/* What a launcher told this process in its environment. */
#ifndef TF_RUNTIME_LINK_LAUNCHER_H
#define TF_RUNTIME_LINK_LAUNCHER_H

#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LAUNCHER_ADDRESS_BYTES 104 /* a name that fits a Unix socket's, with "unix:" */

struct tf_launcher {
	uint32_t rank, world, local_rank;
	/* where ranks of this host meet: "unix:@..." made of what all of them were told alike */
	char address[TF_LAUNCHER_ADDRESS_BYTES];
};

/*
 * torchrun's variables: RANK and WORLD_SIZE; LOCAL_RANK (default RANK), LOCAL_WORLD_SIZE (default
 * WORLD_SIZE), MASTER_ADDR, MASTER_PORT, TORCHELASTIC_RUN_ID and TORCHELASTIC_RESTART_COUNT where
 * they are set. MASTER_PORT itself belongs to the launcher's store, so it only names the group.
 * TF_E_NOT_FOUND: neither RANK nor WORLD_SIZE; TF_E_USAGE: one of them is missing, or a variable is
 * no number of its range; TF_E_UNAVAILABLE: LOCAL_WORLD_SIZE is below WORLD_SIZE. Reads the
 * environment: not beside a thread that changes it.
 */
TF_WARN_UNUSED enum tf_status tf_launcher_read(struct tf_launcher *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
