/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's side of the benchmark on GPUs: a communicator over the rank group, memory of its own for
 * the operands, and the same chains as ours, as graphs that the device launches and stamps alike.
 *
 * Its memory mirrors the window's operands: a buffer lies at its segment_off less
 * layout.exchange_off, once in memory as an engine's allocator gives it, once in a symmetric
 * window.
 */
#ifndef TF_PREPARE_BENCH_NCCL_SIDE_H
#define TF_PREPARE_BENCH_NCCL_SIDE_H

#include "prepare/tune/bench_rank.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tf_nccl_memory { TF_NCCL_PLAIN = 0, TF_NCCL_SYMMETRIC, TF_NCCL_MEMORIES };

#define TF_NCCL_TEXT_BYTES 256

struct tf_nccl_side; /* of one rank; used by one thread */

/* What of NCCL there is, in words; the same on all ranks. */
struct tf_nccl_found {
	char version[TF_NCCL_TEXT_BYTES];   /* "2.28.3", or "" */
	char missing[TF_NCCL_TEXT_BYTES];   /* why there is no NCCL at all, or "" */
	char no_window[TF_NCCL_TEXT_BYTES]; /* why there are no symmetric windows, or "" */
};

/*
 * Opens NCCL in the rank's device's primary context. Collective. Where the library is absent or too
 * old on any rank, *out is NULL, `found` says why, and TF_OK is returned; likewise symmetric
 * windows may be missing alone. `rank` is borrowed and open.
 * Fails, on all ranks alike, with what a call of NCCL's or of the driver's failed with:
 * TF_E_SYSTEM,
 * TF_E_DISCONNECTED, TF_E_NO_MEMORY. A call that does not return is the parent's to end.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_side_open(struct tf_bench_rank *rank,
	struct tf_nccl_side **out, struct tf_nccl_found *found, struct tf_error *err);

/*
 * Gives everything back, windows before memory before the communicator; every graph of it is gone
 * by then. The first call that fails is told, and the others are made all the same. Takes NULL.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_side_close(struct tf_nccl_side *side, struct tf_error *err);

int tf_nccl_side_has(const struct tf_nccl_side *side, enum tf_nccl_memory memory);

/* Where `buffer` of the program lies in the side's memory. */
void *tf_nccl_side_at(
	const struct tf_nccl_side *side, enum tf_nccl_memory memory, const struct tf_buffer *buffer);

/* Copies between the host and the side's memory; synchronous. */
TF_WARN_UNUSED enum tf_status tf_nccl_side_write(
	struct tf_nccl_side *side, void *to, const void *from, uint64_t bytes, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_nccl_side_read(
	struct tf_nccl_side *side, void *to, const void *from, uint64_t bytes, struct tf_error *err);

/*
 * Runs the step of groups [first_group, first_group + group_count) once, which lets NCCL connect
 * and load, and then captures it between "sample_begin" and "sample_end". Collective. TF_E_TIMEOUT:
 * the run was not done in time. *out is destroyed with the device's graph_destroy.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_side_build(struct tf_nccl_side *side,
	enum tf_nccl_memory memory, uint32_t first_group, uint32_t group_count, struct tf_exec **out,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
