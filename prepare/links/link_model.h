/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each rank is done with one collective over emulated links.
 *
 * Input: the links, the candidate with its sizes, the time at which each rank enters, and a key.
 * All ranks hold the same input (the times were exchanged at the rendezvous before) and each
 * computes the times of all, so they agree without a word; nothing depends on how fast this machine
 * runs. The payload itself moves elsewhere, through the host bodies.
 *
 * A rank's own work of `x` bytes takes  c(x) = x / min(ctas * cta_local * threads / 512, memory).
 * A flow from a to b is limited by write (or read) of the pair, by the ports, by everything it goes
 * `through`, by collapse, and by its issuer: ctas * cta_write * threads / 512 for stores,
 * ctas * threads * read_in_flight / latency for loads (link_sim.h: shares, collapse).
 * L is the pair's latency; a load's way there and back is one L, as a flag's one L is a store's
 * way and the load that sees it. A release costs one L before the flag leaves: all stores before it
 * must have arrived.
 *
 * begin  = entry + launch + ctas * cta
 * ll       2 x bytes to all at once; done = last arrival + L + poll, not before begin + c
 * sentinel bytes to all at once, after clearing as many; done as before
 * direct   bytes to all at once; flags leave when all have arrived; done = flag + L + poll + c
 * serial   one destination after the other, from rank + 1 on; each: bytes, L, flag
 * queued   (chunk, destination), chunk-major, dealt in turn to half of the CTAs; each: bytes, L,
 *          flag; the other half consumes chunk by chunk
 * pull     entry flag L; reads of all peers; exit flag L. Gathers read one peer after another
 * staged   each rank stores into host memory once; flag; each peer reads what it needs
 * copy_engine entry flag L; world nodes of a launch each, one after the other: bytes and L; a
 *          closing kernel; exit flag L
 * two_shot the same twice, with shards; pull: reads, and writes to all at once beside them
 *
 * Every cost is multiplied by 1 + percent / 100 * u. u in [0, 1) is a hash of (seed, key, kind of
 * cost, from, to): the same on every rank, another for every key.
 *
 * Bounds: at most TF_LINK_CHUNKS_MAX chunks a destination are simulated one by one; of more, as
 * many are taken together as needed, with all their releases. Writer CTAs beyond world - 1 make the
 * others faster.
 */
#ifndef TF_PREPARE_LINKS_LINK_MODEL_H
#define TF_PREPARE_LINKS_LINK_MODEL_H

#include <stdint.h>

#include "prepare/links/links.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LINK_CHUNKS_MAX 32

struct tf_link_call {
	enum tf_op op;
	struct tf_candidate candidate;
	uint32_t world;
	uint64_t count; /* elements of one rank's input */
	uint32_t element_bytes;
};

struct tf_link_model;

TF_WARN_UNUSED enum tf_status tf_link_model_create(
	const struct tf_links *links, struct tf_link_model **out, struct tf_error *err);
void tf_link_model_destroy(struct tf_link_model *model); /* takes NULL */

/* Whether the model knows a writer. */
int tf_link_model_knows(enum tf_writer writer);

/*
 * done_ns[r] of each rank below call->world, from entry_ns[r]. `key` tells this collective from
 * others. The writer is known, world at most the links'.
 */
void tf_link_model_run(struct tf_link_model *model, const struct tf_link_call *call,
	const uint64_t *entry_ns, uint64_t key, uint64_t *done_ns);

#ifdef __cplusplus
}
#endif
#endif
