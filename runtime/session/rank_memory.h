/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host side's hand in a rank's segments: control words, protocol memory, startup storage.
 * Where the CPU may dereference the window it does; elsewhere every access is a copy by the
 * device.
 */
#ifndef TF_RUNTIME_SESSION_RANK_MEMORY_H
#define TF_RUNTIME_SESSION_RANK_MEMORY_H

#include "catalog/program.h"
#include "runtime/collective/control.h"
#include "runtime/device/device.h"
#include "runtime/session/rank_window.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_rank_memory {
	const struct tf_device_ops *ops;
	struct tf_device *device;
	const struct tf_rank_window *window; /* borrowed, connected */
	uint32_t capabilities;
};

/*
 * tf_protocol_reset of this rank's segment for the lanes of `layout` (those of no bytes are left
 * out). Not collective: fences are the caller's. TF_E_NO_MEMORY, and what the device's write
 * returns.
 */
TF_WARN_UNUSED enum tf_status tf_rank_memory_reset(const struct tf_rank_memory *memory,
	const struct tf_layout *layout, int64_t timeout_ns, struct tf_error *err);

/* tf_startup_prepare of this rank's storage. */
TF_WARN_UNUSED enum tf_status tf_rank_memory_prepare_startup(
	const struct tf_rank_memory *memory, const struct tf_program *program, struct tf_error *err);

/*
 * The control words of a peer (0: this rank): in place, or copied to `copy`. Where they cannot be
 * read, `copy` says so as a fault of its own, so that silence never reads as success.
 */
const struct tf_control *tf_rank_memory_control(
	const struct tf_rank_memory *memory, uint32_t peer, struct tf_control *copy);

/*
 * Whether what this rank's steps have made so far counts: struct tf_verdict, read alone, which is
 * what a step has to look at. 0 also where it cannot be read.
 */
int tf_rank_memory_counts(const struct tf_rank_memory *memory);
int tf_verdict_counts(const struct tf_verdict *verdict);

/*
 * Raises the abort word of every rank that none has raised yet; best effort, and no more where the
 * device does not copy any longer: what it is told next waits as long.
 */
void tf_rank_memory_abort(const struct tf_rank_memory *memory);

/*
 * The same of a rank that uses NCCL, as NCCL's caller wants it (`ending`); `user`: its struct
 * tf_rank_memory. The peers' verdicts are read behind their graphs: what is raised here before
 * NCCL's abort comes home there.
 */
void tf_rank_memory_ending(void *user);

#ifdef __cplusplus
}
#endif
#endif
