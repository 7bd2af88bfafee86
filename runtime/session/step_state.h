/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state from which a step with foreign kernels is proven, and the digest of what it leaves: the
 * same at export and at every load, so that outputs without a reference can be compared.
 *
 * Inputs hold generated operands, each buffer from its own start in its rank's stream; an input of
 * a collective starts where the collective's output stands in the program. Outputs hold
 * TF_STEP_POISON. Work buffers that foreign kernels may write hold zeros. Constants hold their
 * content. The digest is SHA-256 of all outputs of the capacity, in the program's order: what a
 * collective's rank owns, and of a buffer that is no collective's the rows of the capacity (all of
 * it where its shape has no rows).
 */
#ifndef TF_RUNTIME_SESSION_STEP_STATE_H
#define TF_RUNTIME_SESSION_STEP_STATE_H

#include "catalog/program.h"
#include "runtime/device/device.h"
#include "runtime/session/rank_window.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_STEP_POISON 0xa5
#define TF_STEP_STREAM 64 /* elements between the starts of two buffers in a stream */

/* Seeds that export proves a capacity from, and the first of them. */
#define TF_STEP_SEEDS      4
#define TF_STEP_SEED_FIRST UINT64_C(0x7466707265700010)

/* One rank; all borrowed. */
struct tf_step_state {
	const struct tf_device_ops *ops;
	struct tf_device *device;
	struct tf_stream *stream;
	const struct tf_rank_window *window; /* connected */
	const struct tf_program *program;
};

/*
 * The seed to take operands from when `seed` is asked for: itself, or where the program has proofs
 * of the capacity, one of theirs (the seed modulo their number).
 */
uint64_t tf_step_state_seed(const struct tf_program *program, uint32_t capacity, uint64_t seed);

/* Fills inputs and work, and enqueues the poison of outputs. Local. */
TF_WARN_UNUSED enum tf_status tf_step_state_fill(
	const struct tf_step_state *state, uint32_t capacity, uint64_t seed, struct tf_error *err);
/* The part of it that is no collective's: inputs and work of foreign kernels. */
TF_WARN_UNUSED enum tf_status tf_step_state_fill_own(
	const struct tf_step_state *state, uint32_t capacity, uint64_t seed, struct tf_error *err);

TF_WARN_UNUSED enum tf_status tf_step_state_digest(const struct tf_step_state *state,
	uint32_t capacity, uint8_t out[TF_DIGEST_BYTES], struct tf_error *err);

/*
 * TF_E_MISMATCH unless the digest is the one that the program holds for capacity, seed and this
 * rank; TF_E_INVALID where it holds none.
 */
TF_WARN_UNUSED enum tf_status tf_step_state_compare(
	const struct tf_step_state *state, uint32_t capacity, uint64_t seed, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
