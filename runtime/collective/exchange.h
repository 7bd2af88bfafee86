/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One exchange: the part of a host body that one epoch of its family covers.
 *
 * Each rank sends a range of its bytes to every peer and consumes a range of every rank: it
 * copies each to its place, or sums all of them (ranks 0..world-1, FP32, one rounding). Every
 * collective is one or two exchanges:
 *   all_gather      the same range to all, copied
 *   reduce_scatter  shard d to rank d, summed
 *   all_reduce      one_shot: the same range to all, summed; two_shot: shards summed, then each
 *   sum to all, copied
 * A writer says how a range travels (struct tf_writer_ops); host_exchange.c consumes.
 *
 * CTAs. CTA c of a rank owns the c-th part of every range, cut at multiples of 16 bytes; the host
 * runs the CTAs of a rank one after another, first all sends, then all receives. CTA 0 also
 * stands for an empty range: each rank sends at least one word or flag to every peer in every
 * exchange, and that is what makes two slots enough without a barrier.
 */
#ifndef TF_RUNTIME_COLLECTIVE_EXCHANGE_H
#define TF_RUNTIME_COLLECTIVE_EXCHANGE_H

#include <stdint.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/flags.h"
#include "runtime/collective/host_simd.h"
#include "runtime/collective/wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CTAs and blocks start at multiples of it: a whole ll line, any element */
#define TF_PART_ALIGN 16

enum tf_placing {
	TF_PLACE_STAGED = 0, /* through the peer's protocol memory */
	TF_PLACE_STRAIGHT,   /* into the peer's output: it is known to have entered the call */
	TF_PLACE_FORWARDED   /* already there, stored while it was summed: only flags are left */
};

struct tf_exchange {
	struct tf_waiter waiter; /* .epoch is this exchange's */
	const struct tf_collective_args *args;
	const struct tf_writer_ops *ops;
	const struct tf_host_simd *simd;
	struct tf_control *own;
	uint8_t *segment[TF_WORLD_MAX]; /* by absolute rank */
	uint32_t rank, world, ctas;
	enum tf_dtype dtype;
	int sum;                 /* else copy */
	int forward;             /* sum: store the sums into every peer's output as well */
	int shards;              /* each destination gets another range */
	enum tf_placing placing; /* copy */
	const uint8_t *input;    /* what is sent: input + send_off[d], send_bytes[d] to rank d */
	uint8_t *output;         /* rank s's range goes to output + recv_off[s]; sum: to output */
	uint64_t send_off[TF_WORLD_MAX], send_bytes[TF_WORLD_MAX];
	uint64_t recv_off[TF_WORLD_MAX], recv_bytes[TF_WORLD_MAX]; /* sum: all equal */
	uint64_t longest_bytes;            /* of any range of any rank: every rank knows the same */
	uint64_t block_bytes;              /* of one fetch */
	uint64_t chunk_bytes, sent_chunks; /* queued */
};

struct tf_writer_ops {
	enum tf_family family;
	/* Of one fetch, a multiple of TF_PART_ALIGN; `send` may set x->block_bytes. */
	uint64_t block_bytes;
	int straight; /* the second exchange of two_shot may store into peers' outputs */
	int forwards; /* ... and does so while it sums */
	int single;   /* two_shot is one exchange: `finish` proves the peers' arrival as well */
	/* Peers read what is sent from the sender's slot: one range, or a shard for each. */
	int publishes;
	/* Bytes a (slot, source) for a range of `bytes`. */
	uint64_t (*lane_bytes)(uint64_t bytes);
	/* Sends what can be sent without waiting. */
	void (*send)(struct tf_exchange *x);
	/*
	 * Waits for bytes [off, off + bytes) of source's range, a part of CTA `cta`; `bytes` is 0
	 * where the range is empty. Returns where they lie: `scratch`, if it had to be unpacked, or
	 * shared memory. NULL: a fault, recorded.
	 */
	const uint8_t *(*fetch)(struct tf_exchange *x, uint32_t cta, uint32_t source, uint64_t off,
		uint64_t bytes, uint8_t *scratch);
	/* After everything is consumed; NULL if there is nothing to do. 0 or a fault's code. */
	int (*finish)(struct tf_exchange *x);
};

/* NULL for writers without a host body. */
const struct tf_writer_ops *tf_writer_ops_of(enum tf_writer writer);

/* Bytes a (slot, source) for a longest range of `bytes`; `shards`: one for each destination. */
uint64_t tf_writer_lane_bytes(
	const struct tf_writer_ops *ops, uint64_t bytes, int shards, uint32_t world);

extern const struct tf_writer_ops tf_writer_ll_ops, tf_writer_sentinel_ops, tf_writer_direct_ops,
	tf_writer_serial_ops, tf_writer_queued_ops, tf_writer_pull_ops, tf_writer_staged_ops,
	tf_writer_copy_engine_ops; /* of the last only family and lane_bytes: copy_engine.h */

/*
 * Fills `x` for a call. 0: there is nothing to run, because the mask is off, the rank has a fault,
 * or its arguments are refused (a fault then, and counted).
 */
int tf_exchange_enter(struct tf_exchange *x, const struct tf_collective_args *args, enum tf_op op,
	enum tf_algorithm algorithm, enum tf_writer writer);

/* Runs one exchange and advances the family's epoch. 0, or the fault's code. */
int tf_exchange_run(struct tf_exchange *x);

/*
 * The part of a range that CTA `cta` owns: [*begin, *end). Returns whether it takes part (CTA 0
 * always does).
 */
int tf_exchange_part(uint64_t bytes, uint32_t ctas, uint32_t cta, uint64_t *begin, uint64_t *end);

static inline uint32_t tf_exchange_peer(const struct tf_exchange *x, uint32_t k)
{
	uint32_t peer = x->rank + k;

	return peer < x->world ? peer : peer - x->world;
}

static inline struct tf_flags *tf_exchange_flags(const struct tf_exchange *x, uint32_t rank)
{
	return (struct tf_flags *)(void *)(x->segment[rank] + x->args->flag_off);
}

/* Where source's range lies in rank's segment, in `slot`. */
static inline uint8_t *tf_exchange_slot(
	const struct tf_exchange *x, uint32_t rank, uint32_t slot, uint32_t source)
{
	uint64_t index = (uint64_t)slot * x->world + source;

	return x->segment[rank] + x->args->lane_off + index * x->args->lane_source_bytes;
}

/* Our own range at `to`, for writers that store plain bytes. */
static inline uint8_t *tf_exchange_target(const struct tf_exchange *x, uint32_t to)
{
	if (x->placing == TF_PLACE_STAGED)
		return tf_exchange_slot(x, to, x->waiter.epoch & 1, x->rank);
	return x->segment[to] + (x->output - x->segment[x->rank]) + x->recv_off[x->rank];
}

/* What fetch returns for such writers. */
static inline const uint8_t *tf_exchange_arrived(
	const struct tf_exchange *x, uint32_t source, uint64_t off)
{
	if (x->placing == TF_PLACE_STAGED)
		return tf_exchange_slot(x, x->rank, x->waiter.epoch & 1, source) + off;
	return x->output + x->recv_off[source] + off;
}

/* Stores CTA `cta`'s flag of the arrive array at `to`, if it takes part (release). */
void tf_exchange_flag(const struct tf_exchange *x, uint32_t to, uint32_t cta);

/* Waits for it from `source`. */
int tf_exchange_wait_arrive(const struct tf_exchange *x, uint32_t source, uint32_t cta);

/* Stores the last epoch into all our flags of the family at every rank (flags.h). */
void tf_exchange_refresh_family(const struct tf_exchange *x);

/* The same for `count` flags of one kind. */
void tf_exchange_refresh(const struct tf_exchange *x, size_t flags_member_off, size_t source_bytes,
	uint32_t count, uint32_t step_bytes);

#ifdef __cplusplus
}
#endif
#endif
