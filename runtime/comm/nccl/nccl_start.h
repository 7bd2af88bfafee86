/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a communicator: its start-up, from the one-host agreement to the split. */
#ifndef TF_RUNTIME_COMM_NCCL_NCCL_START_H
#define TF_RUNTIME_COMM_NCCL_NCCL_START_H

#include "runtime/comm/nccl/nccl_ending.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Collective. On failure what was made is left to the caller, who ends it. Statuses as
 * tf_nccl_communicator_open.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_start(
	struct tf_nccl_communicator *comm, int64_t deadline_ns, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
