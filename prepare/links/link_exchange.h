/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One exchange in the making: what the writers of the model (link_writers.c) share. Private to
 * this folder; the equations are in link_model.h.
 */
#ifndef TF_PREPARE_LINKS_LINK_EXCHANGE_H
#define TF_PREPARE_LINKS_LINK_EXCHANGE_H

#include "prepare/links/link_model.h"
#include "prepare/links/link_sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What rank s sends to rank d. */
enum tf_link_ranges {
	TF_LINK_SAME = 0, /* its whole input */
	TF_LINK_SHARDS,   /* d's shard */
	TF_LINK_SPREAD    /* its own shard */
};

struct tf_link_exchange {
	const struct tf_links *links;
	const struct tf_link_call *call;
	struct tf_sim *sim;
	uint32_t world;
	uint64_t bytes, shard[TF_WORLD_MAX], longest_bytes;
	enum tf_link_ranges ranges;
	int gathers; /* copies, else sums */
	int two_shot, second;

	/* drawn for this collective */
	double own[TF_WORLD_MAX];                      /* factor of a rank's own work */
	double latency_ns[TF_WORLD_MAX][TF_WORLD_MAX]; /* from, to */
	double stretch[TF_WORLD_MAX][TF_WORLD_MAX];    /* factor of bytes */

	/* resources of the simulation */
	uint16_t port_out[TF_WORLD_MAX], port_in[TF_WORLD_MAX];
	uint16_t stores[TF_WORLD_MAX], loads[TF_WORLD_MAX]; /* what a rank can issue */
	uint16_t shared[TF_LINKS_RESOURCES_MAX];

	/* tasks */
	uint32_t begin[TF_WORLD_MAX], done[TF_WORLD_MAX];
	uint32_t chunk_done[TF_WORLD_MAX][TF_LINK_CHUNKS_MAX]; /* queued, two_shot: first exchange */
};

struct tf_link_writer {
	/* Adds the tasks of an exchange behind x->begin and sets x->done. */
	void (*exchange)(struct tf_link_exchange *x);
	int clears; /* a slot at the beginning */
	int single; /* two_shot is one exchange */
};

/* NULL: not modelled. */
const struct tf_link_writer *tf_link_writer_of(enum tf_writer writer);

/* What rank s sends to rank d. */
double tf_link_range(const struct tf_link_exchange *x, uint32_t s, uint32_t d);

/* c(bytes) of a rank. */
double tf_link_own_ns(const struct tf_link_exchange *x, uint32_t rank, double bytes);

/* Bytes that a rank reads and writes at home to sum or copy what came, its own part included. */
double tf_link_home_bytes(const struct tf_link_exchange *x, uint32_t rank);

/* A flow by stores of `from` into `to`, or by loads of `to` from `from`; behind nothing yet. */
uint32_t tf_link_store(struct tf_link_exchange *x, uint32_t from, uint32_t to, double bytes);
/* The same at no more than `cap_gbps`. */
uint32_t tf_link_store_capped(
	struct tf_link_exchange *x, uint32_t from, uint32_t to, double bytes, double cap_gbps);
/* By a copy engine: no CTA issues it. */
uint32_t tf_link_copy(struct tf_link_exchange *x, uint32_t from, uint32_t to, double bytes);
uint32_t tf_link_load(struct tf_link_exchange *x, uint32_t from, uint32_t to, double bytes);

/* Work of a rank's own, behind nothing yet. */
uint32_t tf_link_work(struct tf_link_exchange *x, uint32_t rank, double ns);

/*
 * Sets x->done[rank]: it has begun, has seen what the caller puts before the task that is
 * returned, and then consumes for `consume_ns`.
 */
uint32_t tf_link_done(struct tf_link_exchange *x, uint32_t rank, double consume_ns);

/* c of what came; nothing where it was stored straight into the output (second of two_shot). */
double tf_link_consume_ns(const struct tf_link_exchange *x, uint32_t rank);

void tf_link_exchange_queued(struct tf_link_exchange *x);
void tf_link_exchange_pull(struct tf_link_exchange *x);
void tf_link_exchange_staged(struct tf_link_exchange *x);

static inline uint32_t tf_link_peer(const struct tf_link_exchange *x, uint32_t rank, uint32_t k)
{
	return (rank + k) % x->world;
}

#ifdef __cplusplus
}
#endif
#endif
