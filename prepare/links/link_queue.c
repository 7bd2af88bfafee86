/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queued: entries (chunk, destination) in chunk-major order, dealt in turn to the writing CTAs;
 * the others consume chunk by chunk. two_shot stores each chunk of the sum to all peers when it is
 * summed.
 */
#include "prepare/links/link_exchange.h"

struct queue {
	double chunk_bytes; /* of one simulated step */
	uint32_t steps;     /* simulated chunks of the longest range */
	uint32_t releases;  /* real chunks in one of them */
	uint32_t slots;     /* writing CTAs at different destinations at a time */
	double cap_gbps;    /* of what stands for one of them */
	uint32_t writers;   /* writing CTAs */
};

static struct queue queue_of(const struct tf_link_exchange *x)
{
	const struct tf_candidate *candidate = &x->call->candidate;
	uint64_t chunk = candidate->chunk_bytes, chunks;
	struct queue q = {.releases = 1};

	if (chunk > x->longest_bytes || !chunk)
		chunk = x->longest_bytes ? x->longest_bytes : 1;
	chunks = (x->longest_bytes + chunk - 1) / chunk;
	if (chunks > TF_LINK_CHUNKS_MAX)
		q.releases = (uint32_t)((chunks + TF_LINK_CHUNKS_MAX - 1) / TF_LINK_CHUNKS_MAX);
	q.chunk_bytes = (double)(chunk * q.releases);
	q.steps = (uint32_t)((chunks + q.releases - 1) / q.releases);
	q.writers = (candidate->ctas + 1) / 2;
	q.slots = q.writers < x->world - 1 ? q.writers : x->world - 1;
	q.cap_gbps = x->links->device.cta_write_gbps * candidate->threads / 512 * q.writers / q.slots;
	return q;
}

/* Bytes of a range in simulated chunk `step`. */
static double part(const struct queue *q, double range, uint32_t step)
{
	double left = range - step * q->chunk_bytes;

	return left < 0 ? 0 : left < q->chunk_bytes ? left : q->chunk_bytes;
}

/* All entries of rank `s`; sent[d][step] are the flows; returns the last of them. */
static uint32_t send(struct tf_link_exchange *x, const struct queue *q, uint32_t s,
	uint32_t (*sent)[TF_WORLD_MAX][TF_LINK_CHUNKS_MAX])
{
	uint32_t last[TF_WORLD_MAX], entry = 0, flow = x->begin[s];
	double wait_ns[TF_WORLD_MAX] = {0};

	for (uint32_t slot = 0; slot < q->slots; slot++)
		last[slot] = x->begin[s];
	for (uint32_t step = 0; step < q->steps; step++) {
		for (uint32_t k = 1; k < x->world; k++, entry++) {
			uint32_t d = tf_link_peer(x, s, k), slot = entry % q->slots;

			flow =
				tf_link_store_capped(x, s, d, part(q, tf_link_range(x, s, d), step), q->cap_gbps);
			tf_sim_after(x->sim, flow, last[slot], wait_ns[slot]);
			last[slot] = flow;
			wait_ns[slot] = q->releases * x->latency_ns[s][d];
			sent[s][d][step] = flow;
		}
	}
	return flow;
}

/* By the CTAs that do not write; all of them where only one does everything. */
static double consume_ns(
	const struct tf_link_exchange *x, const struct queue *q, uint32_t rank, uint32_t step)
{
	uint32_t ctas = x->call->candidate.ctas;
	double share = ctas > q->writers ? (double)(ctas - q->writers) / ctas : 1;
	double whole = tf_link_range(x, rank, rank), bytes = part(q, whole, step);

	if (!bytes)
		return 0;
	return tf_link_own_ns(x, rank, tf_link_home_bytes(x, rank) * bytes / whole) / share;
}

static void receive(struct tf_link_exchange *x, const struct queue *q, uint32_t d,
	uint32_t own_last, uint32_t (*sent)[TF_WORLD_MAX][TF_LINK_CHUNKS_MAX])
{
	uint32_t before = x->begin[d], seen;

	if (x->call->candidate.ctas == 1)
		before = own_last;
	for (uint32_t step = 0; step < q->steps; step++) {
		uint32_t here = tf_link_work(x, d, 0), consumed = tf_link_work(x, d, 0);

		tf_sim_after(x->sim, here, before, 0);
		for (uint32_t s = 0; s < x->world; s++) {
			if (s != d)
				tf_sim_after(x->sim, here, sent[s][d][step], 2 * x->latency_ns[s][d]);
		}
		tf_sim_after(x->sim, consumed, here, consume_ns(x, q, d, step));
		x->chunk_done[d][step] = before = consumed;
	}
	seen = tf_link_done(x, d, 0);
	tf_sim_after(x->sim, seen, before, 0);
}

static void first_exchange(struct tf_link_exchange *x)
{
	uint32_t sent[TF_WORLD_MAX][TF_WORLD_MAX][TF_LINK_CHUNKS_MAX];
	uint32_t last[TF_WORLD_MAX];
	struct queue q = queue_of(x);

	for (uint32_t s = 0; s < x->world; s++)
		last[s] = send(x, &q, s, sent);
	for (uint32_t d = 0; d < x->world; d++)
		receive(x, &q, d, last[d], sent);
}

/* Each summed chunk to all peers at once, and its flags. */
static void second_exchange(struct tf_link_exchange *x)
{
	uint32_t last[TF_WORLD_MAX][TF_WORLD_MAX];
	struct queue q = queue_of(x);

	for (uint32_t s = 0; s < x->world; s++) {
		for (uint32_t step = 0; step < q.steps; step++) {
			for (uint32_t k = 1; k < x->world; k++) {
				uint32_t d = tf_link_peer(x, s, k);
				uint32_t flow = tf_link_store(x, s, d, part(&q, (double)x->shard[s], step));

				tf_sim_after(x->sim, flow, x->chunk_done[s][step], 0);
				if (step)
					tf_sim_after(x->sim, flow, last[s][d], 0);
				last[s][d] = flow;
			}
		}
	}
	for (uint32_t d = 0; d < x->world; d++) {
		uint32_t seen = tf_link_done(x, d, 0);

		for (uint32_t s = 0; s < x->world; s++) {
			if (s != d)
				tf_sim_after(x->sim, seen, last[s][d], 2 * x->latency_ns[s][d]);
		}
	}
}

void tf_link_exchange_queued(struct tf_link_exchange *x)
{
	if (x->second)
		second_exchange(x);
	else
		first_exchange(x);
}
