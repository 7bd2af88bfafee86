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

/*
 * One scratch region and one epoch a protocol family (DESIGN 6): writers of a family share layout
 * and counter.
 */
enum tf_family {
	TF_FAMILY_LL = 0,
	TF_FAMILY_SENTINEL,
	TF_FAMILY_FLAG, /* direct, serial, queued, pull */
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
	uint32_t calls; /* collectives finished or failed; wraps */
	uint32_t
		epoch[TF_FAMILY_COUNT]; /* of the last call; never 0 or 1 after a wrap (collective.h) */
	uint32_t barrier_epoch;
	uint32_t pass;          /* startup graph: the pass being sampled */
	uint32_t stage;         /* startup graph: 1 or 2 */
	uint32_t sentinel_turn; /* slot of the last call, 0..2; no epoch modulo 3 survives a wrap */
	uint64_t sentinel_extent[3]; /* words a source that the slot's last use may have written */
	/* own: what the CTAs of one GPU launch agree through; 0 between calls (cuda/device_call.cuh) */
	uint32_t ticket;      /* CTAs that have read the words of this call */
	uint32_t fault_claim; /* 1: a thread has begun to record the fault */
	uint32_t gate[2];    /* epoch whose rare preparations are done: of the first exchange, second */
	uint32_t gate_count; /* CTAs that stand before the second gate */
	uint32_t queue_head, queue_tail; /* queued: next entry to send, next chunk to consume */
	uint8_t pad2[TF_LINE_BYTES - 24 - 4 * (5 + TF_FAMILY_COUNT) - 24 - 28];

	/* own: proof of which writer ran */
	uint64_t writer_calls[TF_WRITER_COUNT];
	uint64_t
		writer_bytes[TF_WRITER_COUNT]; /* stored into peers' segments, or read from them by pull */
	uint64_t barriers;
	uint8_t pad3[2 * TF_LINE_BYTES - 8 * (2 * TF_WRITER_COUNT + 1)];

	/* peer: arrival of rank r at the barrier, each on its own line */
	struct {
		uint32_t epoch;
		uint8_t pad[TF_LINE_BYTES - 4];
	} barrier[TF_WORLD_MAX];
};

#ifdef __cplusplus
}
#endif
#endif
