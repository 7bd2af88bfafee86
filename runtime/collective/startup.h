/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the startup graph, and the storage they share (DESIGN 8).
 *
 * The graph: for pass p = 0..20: "pass_begin", then for every (group, candidate) in the pass's
 * rotated order "sample_begin" (dirties the rank's input, as the kernel before it would in an
 * engine; rendezvous of the ranks; time stamp), the candidate's collective kernel, "sample_end"
 * (time stamp, duration stored); at the end "select". It is launched TF_LAUNCHES times; a
 * masked-off candidate is skipped, with its rendezvous.
 *
 * After launch 1, stage 1, "select" exchanges durations between ranks, takes the maximum over
 * ranks by sample and writes the mask of survivors. The later launches are stage 2: each is one
 * look at the survivors. After the last, "select" takes the maximum over ranks of every look,
 * makes one sample a pass of them (tf_sample_of_looks), picks, and writes selector and status of
 * every group and the aggregate status.
 *
 * Storage of one rank, at layout.startup_off, peers may read it:
 *   struct tf_startup_header
 *   uint32_t mask[slots]                   a slot = one (group, candidate)
 *   uint64_t ns[TF_LAUNCHES][slots][TF_PASSES]  this rank's durations; TF_NS_NONE where not
 *                                                sampled
 *   uint64_t maximum[2][slots][TF_PASSES]  a stage's samples (the same on every rank)
 *   uint8_t  slowest[2][slots][TF_PASSES]  the rank that took longest (stage 2: in its last look)
 *   struct tf_startup_group groups[group_count]
 */
#ifndef TF_RUNTIME_COLLECTIVE_STARTUP_H
#define TF_RUNTIME_COLLECTIVE_STARTUP_H

#include <stdint.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/select.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LAUNCHES (1 + TF_LOOKS) /* of the startup graph: the first stage, then the looks */

struct tf_startup_group {
	uint32_t first_slot,
		slot_count;    /* its candidates, in ladder order; set before the first launch */
	uint32_t selector; /* slot picked; UINT32_MAX before */
	uint32_t status;   /* 0: picked; else enum tf_startup_status */
};

enum tf_startup_status {
	TF_STARTUP_OK = 0,
	TF_STARTUP_NO_SAMPLES = 1, /* no candidate has a full set of fresh samples */
	TF_STARTUP_FAULT = 2,      /* a wait ended by its bound or abort */
	TF_STARTUP_PENDING = 3,
};

struct tf_startup_header {
	uint32_t group_count, slot_count;
	uint32_t aggregate; /* 0: every group has a selector; else the first failing status */
	uint32_t launch;    /* the next one, from 1; TF_LAUNCHES + 1 after the last */
	uint64_t begin_ns;  /* stamp of the sample under way */
};

/*
 * Offsets inside the storage for (groups, slots); returns total bytes. Any out pointer may be
 * NULL.
 */
uint64_t tf_startup_places(uint32_t groups, uint32_t slots, uint64_t *out_mask, uint64_t *out_ns,
	uint64_t *out_maximum, uint64_t *out_slowest, uint64_t *out_groups);

/*
 * Brings a rank's storage (host-accessible, at `storage`) to the state before the first launch:
 * slot i is program->candidates[i], struck candidates are masked off, nothing is sampled.
 * Collective: fence across ranks before the launch.
 */
void tf_startup_prepare(void *storage, const struct tf_program *program);

/*
 * Arguments of "pass_begin", "sample_begin", "sample_end" and "select". Words: control[k], input,
 * rank.
 */
struct tf_startup_args {
	struct tf_control *control[TF_WORLD_MAX]; /* as in tf_collective_args */
	uint64_t startup_off;
	void *input; /* sample_begin: the operand to dirty, in the own segment; else NULL */
	uint64_t input_bytes;
	uint32_t rank; /* word */
	uint32_t world;
	uint32_t slot; /* sample_begin, sample_end */
	uint32_t pass; /* pass_begin */
};

const struct tf_kernel_word *tf_startup_words(uint32_t *out_count);

/* Those four names; their number in out_count. */
const char *const *tf_startup_kernel_names(uint32_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
