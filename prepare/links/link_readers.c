/* SPDX-License-Identifier: Apache-2.0 */
/* Writers whose payload is read by who needs it: from the peer's memory, or from the host's. */
#include "prepare/links/link_exchange.h"

/* Loads of `rank` from all peers behind ready[rank]: sums from all at once, gathers in turn. */
static void add_loads(
	struct tf_link_exchange *x, uint32_t rank, uint32_t ready, uint32_t loads[TF_WORLD_MAX])
{
	uint32_t before = ready;
	double wait_ns = 0;

	for (uint32_t k = 1; k < x->world; k++) {
		uint32_t s = tf_link_peer(x, rank, k);

		loads[s] = tf_link_load(x, s, rank, tf_link_range(x, s, rank));
		if (k == 1 || !x->gathers) {
			before = ready;
			wait_ns = x->latency_ns[rank][s] / 2;
		}
		tf_sim_after(x->sim, loads[s], before, wait_ns);
		before = loads[s];
		wait_ns = 0;
	}
}

/* Joins what `rank` has loaded from all peers, and consumes it. */
static uint32_t after_loads(struct tf_link_exchange *x, uint32_t rank, const uint32_t *loads)
{
	uint32_t arrived = tf_link_work(x, rank, 0), consumed = tf_link_work(x, rank, 0);

	for (uint32_t s = 0; s < x->world; s++) {
		if (s != rank)
			tf_sim_after(x->sim, arrived, loads[s], x->latency_ns[rank][s] / 2);
	}
	/* what is read far away is not read at home once more */
	tf_sim_after(
		x->sim, consumed, arrived, tf_link_own_ns(x, rank, 2 * tf_link_range(x, rank, rank)));
	return consumed;
}

/* two_shot: the sums go to all peers at once, from the first data on; then a release. */
static uint32_t spread_sums(
	struct tf_link_exchange *x, uint32_t rank, uint32_t ready, uint32_t read)
{
	uint32_t stores[TF_WORLD_MAX], released;

	for (uint32_t k = 1; k < x->world; k++) {
		uint32_t d = tf_link_peer(x, rank, k);

		stores[d] = tf_link_store(x, rank, d, (double)x->shard[rank]);
		tf_sim_after(x->sim, stores[d], ready, x->latency_ns[rank][d]);
	}
	released = tf_link_work(x, rank, 0);
	tf_sim_after(x->sim, released, read, 0);
	for (uint32_t d = 0; d < x->world; d++) {
		if (d != rank)
			tf_sim_after(x->sim, released, stores[d], x->latency_ns[rank][d]);
	}
	return released;
}

void tf_link_exchange_pull(struct tf_link_exchange *x)
{
	uint32_t left[TF_WORLD_MAX];

	for (uint32_t r = 0; r < x->world; r++) {
		uint32_t loads[TF_WORLD_MAX], ready = tf_link_work(x, r, 0);

		for (uint32_t s = 0; s < x->world; s++)
			tf_sim_after(x->sim, ready, x->begin[s], s == r ? 0 : x->latency_ns[s][r]);
		add_loads(x, r, ready, loads);
		left[r] = after_loads(x, r, loads);
		if (x->two_shot)
			left[r] = spread_sums(x, r, ready, left[r]);
	}
	for (uint32_t r = 0; r < x->world; r++) {
		uint32_t seen = tf_link_done(x, r, 0);

		for (uint32_t s = 0; s < x->world; s++)
			tf_sim_after(x->sim, seen, left[s], s == r ? 0 : x->latency_ns[s][r]);
	}
}

/* What a rank stores into host memory: each byte once, whoever reads it. */
static double published_bytes(const struct tf_link_exchange *x, uint32_t rank)
{
	double bytes = 0;

	if (x->ranges != TF_LINK_SHARDS)
		return tf_link_range(x, rank, rank);
	for (uint32_t d = 0; d < x->world; d++)
		bytes += d == rank ? 0 : tf_link_range(x, rank, d);
	return bytes;
}

/* Into the host's memory: the path towards the next rank, whose port it does not use. */
static uint32_t publish(struct tf_link_exchange *x, uint32_t rank)
{
	const struct tf_links_pair *pair = &x->links->pairs[rank][tf_link_peer(x, rank, 1)];
	struct tf_sim_task task = {
		.bytes = published_bytes(x, rank) * x->stretch[rank][rank],
		.cap_gbps = pair->write_gbps,
		.path = {x->stores[rank], x->port_out[rank]},
		.path_count = 2,
	};
	uint32_t stored, arrived;

	for (uint32_t i = 0; i < pair->through_count; i++)
		task.path[task.path_count++] = x->shared[pair->through[i]];
	stored = tf_sim_task(x->sim, &task);
	tf_sim_after(x->sim, stored, x->begin[rank], 0);
	arrived = tf_link_work(x, rank, 0);
	tf_sim_after(x->sim, arrived, stored, x->latency_ns[rank][tf_link_peer(x, rank, 1)]);
	return arrived;
}

void tf_link_exchange_staged(struct tf_link_exchange *x)
{
	uint32_t published[TF_WORLD_MAX];

	for (uint32_t r = 0; r < x->world; r++)
		published[r] = publish(x, r);
	for (uint32_t r = 0; r < x->world; r++) {
		uint32_t loads[TF_WORLD_MAX], ready = tf_link_work(x, r, 0), read, seen;

		for (uint32_t s = 0; s < x->world; s++)
			tf_sim_after(x->sim, ready, published[s], s == r ? 0 : x->latency_ns[s][r]);
		add_loads(x, r, ready, loads);
		read = after_loads(x, r, loads);
		seen = tf_link_done(x, r, 0);
		tf_sim_after(x->sim, seen, read, 0);
	}
}
