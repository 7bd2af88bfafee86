/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives: the argument struct, the kernels' names, the protocol memory, and the reference.
 *
 * Each kernel is named "OP_ALGORITHM_WRITER" ("all_reduce_two_shot_direct"), takes struct
 * tf_collective_args by value and has a host body here and, on GPUs, a CUDA body of the same
 * name. Sums run over ranks 0..world-1 in FP32 and round once (to nearest, ties to even); a NaN
 * sum is the quiet NaN 0x7fc0 / 0x7e00 / 0x7fc00000. So all ranks and candidates give the same
 * bytes. An all-gather moves bytes unchanged, NaN payloads included.
 *
 * Shards of reduce-scatter: rank r owns elements [r * s, min(count, (r + 1) * s)), s = ceil(count
 * / world); the output buffer has s elements and only the owned ones are written.
 */
#ifndef TF_RUNTIME_COLLECTIVE_COLLECTIVE_H
#define TF_RUNTIME_COLLECTIVE_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/error.h"
#include "catalog/program.h"
#include "runtime/collective/control.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Slots of a lane, by family; each holds `world` sources. */
#define TF_SLOTS_LL       2
#define TF_SLOTS_SENTINEL 3
#define TF_SLOTS_STAGING  2

#define TF_CHUNKS_MAX 1024 /* queued: chunks a destination; bounds the flag region */

/*
 * Arguments of every collective kernel. Words that differ by rank or base: input, output,
 * control[k], mask, rank. control[k] is the segment of rank (rank + k) mod world, k < world; the
 * rest are NULL. All offsets are from a segment's start, the same in every segment.
 */
struct tf_collective_args {
	const void *input; /* own segment; all_reduce, reduce_scatter: (count); all_gather: (count) */
	/* own segment; all_reduce: (count); all_gather: (world, count); reduce_scatter: one shard */
	void *output;
	struct tf_control *control[TF_WORLD_MAX];
	const uint32_t
		*mask; /* own segment or NULL: run only where *mask != 0, the same value on all ranks */
	uint64_t count;             /* elements of one rank's input, >= 1 */
	uint64_t chunk_bytes;       /* queued: bytes a queue entry; else 0 */
	uint64_t lane_off;          /* the family's slots */
	uint64_t lane_source_bytes; /* bytes a (slot, source) */
	uint64_t flag_off;          /* struct tf_flags */
	uint32_t rank;              /* word */
	uint32_t world;
	uint32_t dtype; /* enum tf_dtype */
	uint32_t ctas;
	uint32_t threads;
	uint32_t group; /* for faults: index into program.groups */
};

/*
 * Barrier and sampling kernels of the startup graph ("sample_begin", "sample_end", "pass_begin",
 * "select"): startup.h.
 */

/* Every word of struct tf_collective_args that the loader must fill; count of rows in out_count. */
const struct tf_kernel_word *tf_collective_words(uint32_t *out_count);

/*
 * The kernel's name for (op, algorithm, writer), a static string; NULL where no such kernel
 * exists.
 */
const char *tf_collective_kernel_name(
	enum tf_op op, enum tf_algorithm algorithm, enum tf_writer writer);
enum tf_family tf_writer_family(enum tf_writer writer);

/*
 * Protocol memory. tf_protocol_plan adds to `layout` what one candidate of one group needs (call
 * for all of them; it raises maxima); tf_protocol_place then gives offsets (control, ll,
 * sentinel, flag, staging, in this order, from 0) and returns the first free offset, a multiple
 * of 4096.
 */
void tf_protocol_plan(struct tf_layout *layout, const struct tf_group *group,
	const struct tf_candidate *candidate, uint32_t world);
uint64_t tf_protocol_place(struct tf_layout *layout, uint32_t world);

/*
 * Whether a layout that came from a file has these parts where tf_protocol_place puts them, as the
 * control words are sought at a segment's start, and resets go by this build's sizes. TF_E_INVALID
 * names the first field that differs, and both values.
 */
TF_WARN_UNUSED enum tf_status tf_protocol_check(
	const struct tf_layout *layout, uint32_t world, struct tf_error *err);

/*
 * Brings a rank's control words and protocol memory to their first state: epochs, empty flags,
 * poisoned sentinel slots. `segment` is host-accessible memory of layout->segment_bytes.
 * Collective: all ranks reset, then a fence across ranks, before the first launch. first_epoch is
 * 0 in production; tests start near 2^31 and 2^32.
 */
void tf_protocol_reset(void *segment, const struct tf_layout *layout, uint32_t rank, uint32_t world,
	uint64_t timeout_ns, uint32_t first_epoch);

/*
 * `layout` with nothing in the lanes of families that no pick of the program uses: what a session
 * that only runs step graphs has to reset.
 */
struct tf_layout tf_protocol_in_use(const struct tf_program *program);

/*
 * Fills args for a call; `segment_of(k)` addresses are base + ((rank + k) % world) * stride. mask
 * may be NULL.
 */
void tf_collective_args_fill(struct tf_collective_args *args, const struct tf_layout *layout,
	const struct tf_group *group, uint32_t group_index, const struct tf_candidate *candidate,
	uint64_t base, uint32_t rank, uint32_t world, const void *input, void *output,
	const uint32_t *mask);

/*
 * Registers the host bodies (collectives and startup kernels) with the host device's built-in
 * module. Idempotent, thread-safe.
 */
void tf_collective_register_host(void);

/*
 * The text of a fault: "group 'NAME': no arrival from rank 2 within 2000 ms (ll, epoch 17)".
 * TF_E_ABORTED also where a peer has raised the abort word and no wait of ours has seen it: the
 * peer's last words may have taken the place of those that our calls read. TF_OK when there is
 * neither.
 */
enum tf_status tf_fault_to_error(
	const struct tf_control *control, const struct tf_program *program, struct tf_error *err);

/* Raises the abort word in every segment of the window: all ranks' waits end. */
void tf_collective_abort(uint64_t base, uint64_t stride, uint32_t world, uint32_t rank);

/*
 * The reference every candidate must equal, and the deterministic operands that tests, tuning and
 * the probe use. inputs[r] is rank r's input (count); output is rank's output. Plain loops, no
 * protocol.
 */
void tf_reference(enum tf_op op, enum tf_dtype dtype, uint32_t world, uint32_t rank, uint64_t count,
	const void *const *inputs, void *output);

enum tf_fill {
	TF_FILL_RANDOM = 0, /* finite values whose sums depend on order and rounding */
	/* zeros, -0.0, subnormals, NaNs with payloads, infinities, maxima, the sentinel's pattern */
	TF_FILL_SPECIAL,
};
/*
 * Rank's operand of (seed, buffer): elements depend on nothing else. Vectorises: about a
 * nanosecond for four elements.
 */
void tf_operand_fill(enum tf_fill fill, enum tf_dtype dtype, uint64_t seed, uint32_t rank,
	uint64_t count, void *out);

/*
 * Elements of a rank's output that the operation writes: all, but for an uneven reduce-scatter's
 * last shards.
 */
uint64_t tf_owned_count(enum tf_op op, uint64_t count, uint32_t rank, uint32_t world);

/*
 * tf_reference for a group, with the vector loops: the output that must come of all ranks'
 * inputs. inputs[r] is (input count); out_output (output bytes). Elements that the rank does not
 * own stay as they are.
 */
void tf_expected_output(const struct tf_group *group, uint32_t world, uint32_t rank,
	const void *const *inputs, void *out_output);

#ifdef __cplusplus
}
#endif
#endif
