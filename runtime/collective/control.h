/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control words at the start of every rank's segment, shared by kernels on every device.
 * Plain integers of fixed width, accessed with atomic operations by the kernels; 128-byte lines
 * keep what peers write apart from what the owner writes.
 *
 * Who writes what: "own" = only the owning rank, "peer" = any rank.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CONTROL_H
#define TF_RUNTIME_COLLECTIVE_CONTROL_H

#include <stdint.h>

#include "base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_CONTROL_BYTES 8192 /* reserved in every segment; sizeof(struct tf_control) fits */
#define TF_LINE_BYTES    128
#define TF_CTAS_MAX      128 /* of a launch; more never helped small exchanges */

/*
 * One scratch region and one epoch a protocol family (DESIGN 6): writers of a family share layout
 * and counter.
 */
enum tf_family {
	TF_FAMILY_LL = 0,
	TF_FAMILY_SENTINEL,
	TF_FAMILY_FLAG, /* direct, serial, queued, pull, staged, copy_engine */
	TF_FAMILY_COUNT
};

enum tf_fault_code {
	TF_FAULT_NONE = 0,
	TF_FAULT_TIMEOUT,    /* no arrival from `peer` within the bound */
	TF_FAULT_ABORTED,    /* `peer` raised our abort word */
	TF_FAULT_ARGUMENT,   /* the launch broke a constraint that the host side should have refused */
	TF_FAULT_UNREADABLE, /* set by the host side alone: the control words could not be read */
};

/*
 * The first fault of this rank since the last reset. Later kernels see code != 0 and return at
 * once.
 */
struct tf_fault {
	uint32_t code;  /* enum tf_fault_code; written last */
	uint32_t group; /* args.group of the kernel */
	uint32_t peer;  /* absolute rank */
	uint32_t epoch;
	uint32_t writer;
	uint32_t call; /* control.calls when it happened */
};

/* Where a family stands; read and written whole, 8 bytes. */
struct tf_epoch_word {
	uint32_t epoch; /* of the last exchange; never 0 or 1 after a wrap (collective.h) */
	uint32_t turn;  /* sentinel: slot of that exchange, 0..2; no epoch modulo 3 survives a wrap */
};

struct tf_control {
	/* own: set by the host side before the first launch */
	uint32_t rank, world;
	uint64_t
		timeout_ns; /* the bound of every wait; read at run time, so a package does not freeze it */
	uint8_t pad0[TF_LINE_BYTES - 16];

	/* peer: 0, or 1 + the rank that wants everyone to stop */
	uint32_t abort;
	uint8_t pad1[TF_LINE_BYTES - 4];

	/* own */
	struct tf_fault fault;
	uint32_t calls; /* collectives finished or failed; on GPUs: begun; wraps */
	uint32_t barrier_epoch;
	uint32_t pass;               /* startup graph: the pass being sampled */
	uint32_t stage;              /* startup graph: 1 or 2 */
	uint64_t sentinel_extent[3]; /* words a source that the slot's last use may have written */
	/* own: what the CTAs of one GPU launch agree through (cuda/device_call.cuh) */
	uint32_t ticket;                 /* CTAs that are done with the call; 0 between calls */
	uint32_t fault_claim;            /* 1: a thread has begun to record the fault */
	uint32_t gate[TF_FAMILY_COUNT];  /* epoch whose rare preparations are done */
	uint32_t gate_second;            /* the same of the second exchange of ll */
	uint32_t gate_count;             /* CTAs that stand before the second gate; else 0 */
	uint32_t queue_head, queue_tail; /* queued: next entry to send, chunk to consume; else 0 */
	uint8_t pad2[TF_LINE_BYTES - 24 - 16 - 24 - 24 - 4 * TF_FAMILY_COUNT];

	/* own: proof of which writer ran */
	uint64_t writer_calls[TF_WRITER_COUNT];
	uint64_t writer_bytes
		[TF_WRITER_COUNT]; /* stored into peers' segments; pull, staged: read from them */
	uint64_t barriers;
	uint8_t pad3[2 * TF_LINE_BYTES - 8 * (2 * TF_WRITER_COUNT + 1)];

	/* peer: arrival of rank r at the barrier, each on its own line */
	struct {
		uint32_t epoch;
		uint32_t pad0;
		/* r's virtual time (virtual_clock.h) by the epoch's parity: r may be one barrier ahead */
		uint64_t clock_ns[2];
		uint8_t pad1[TF_LINE_BYTES - 24];
	} barrier[TF_WORLD_MAX];

	/*
	 * own: where each family stands, a copy a CTA: CTA c of a launch of n reads copy c and writes
	 * the copies c, c + n, c + 2 n ... The host device uses copy 0 alone.
	 */
	struct tf_epoch_word family[TF_FAMILY_COUNT][TF_CTAS_MAX];
};

/*
 * What tells whether a step counts, once it has ended: no fault of ours, and nobody who wants
 * everyone to stop. The words of struct tf_control from `abort` on, to be read in one go.
 */
struct tf_verdict {
	uint32_t abort;
	uint8_t pad[TF_LINE_BYTES - 4];
	struct tf_fault fault;
};

#ifdef __cplusplus
}
#endif
#endif
