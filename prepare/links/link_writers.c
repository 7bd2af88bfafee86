/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writers of the model, one exchange each. What their kernels do is written in
 * runtime/collective/cuda/; the order of sends, waits and releases here is theirs.
 */
#include "prepare/links/link_exchange.h"

/* To all at once, seen word by word: what came is consumed while the rest is on its way. */
static void exchange_words(struct tf_link_exchange *x, double factor)
{
	uint32_t flows[TF_WORLD_MAX][TF_WORLD_MAX];

	for (uint32_t s = 0; s < x->world; s++) {
		for (uint32_t k = 1; k < x->world; k++) {
			uint32_t d = tf_link_peer(x, s, k);

			flows[s][d] = tf_link_store(x, s, d, factor * tf_link_range(x, s, d));
			tf_sim_after(x->sim, flows[s][d], x->begin[s], 0);
		}
	}
	for (uint32_t d = 0; d < x->world; d++) {
		uint32_t begin = x->begin[d], task = tf_link_done(x, d, 0);

		tf_sim_after(x->sim, task, begin, tf_link_own_ns(x, d, factor * tf_link_home_bytes(x, d)));
		for (uint32_t s = 0; s < x->world; s++) {
			if (s != d)
				tf_sim_after(x->sim, task, flows[s][d], x->latency_ns[s][d]);
		}
	}
}

static void exchange_ll(struct tf_link_exchange *x)
{
	exchange_words(x, 2);
}

static void exchange_sentinel(struct tf_link_exchange *x)
{
	exchange_words(x, 1);
}

/* Flags of a rank leave when all its stores have arrived everywhere. */
static void exchange_direct(struct tf_link_exchange *x)
{
	uint32_t released[TF_WORLD_MAX];

	for (uint32_t s = 0; s < x->world; s++) {
		uint32_t flows[TF_WORLD_MAX];

		for (uint32_t k = 1; k < x->world; k++) {
			uint32_t d = tf_link_peer(x, s, k);

			flows[d] = tf_link_store(x, s, d, tf_link_range(x, s, d));
			tf_sim_after(x->sim, flows[d], x->begin[s], 0);
		}
		released[s] = tf_link_work(x, s, 0);
		for (uint32_t d = 0; d < x->world; d++) {
			if (d != s)
				tf_sim_after(x->sim, released[s], flows[d], x->latency_ns[s][d]);
		}
	}
	for (uint32_t d = 0; d < x->world; d++) {
		uint32_t task = tf_link_done(x, d, tf_link_consume_ns(x, d));

		for (uint32_t s = 0; s < x->world; s++) {
			if (s != d)
				tf_sim_after(x->sim, task, released[s], x->latency_ns[s][d]);
		}
	}
}

/* The next destination begins when the last one's stores have arrived and its flag has left. */
static void exchange_serial(struct tf_link_exchange *x)
{
	uint32_t flows[TF_WORLD_MAX][TF_WORLD_MAX];

	for (uint32_t s = 0; s < x->world; s++) {
		uint32_t before = x->begin[s];
		double wait_ns = 0;

		for (uint32_t k = 1; k < x->world; k++) {
			uint32_t d = tf_link_peer(x, s, k);

			flows[s][d] = tf_link_store(x, s, d, tf_link_range(x, s, d));
			tf_sim_after(x->sim, flows[s][d], before, wait_ns);
			before = flows[s][d];
			wait_ns = x->latency_ns[s][d];
		}
	}
	for (uint32_t d = 0; d < x->world; d++) {
		uint32_t task = tf_link_done(x, d, tf_link_consume_ns(x, d));

		for (uint32_t s = 0; s < x->world; s++) {
			if (s != d)
				tf_sim_after(x->sim, task, flows[s][d], 2 * x->latency_ns[s][d]);
		}
	}
}

/*
 * Entry flags; copy nodes, one peer after the other and the own part last, each when the one before
 * has landed; a closing kernel, and exit flags.
 */
static void exchange_copy_engine(struct tf_link_exchange *x)
{
	double launch_ns = x->links->device.launch_ns;
	uint32_t closed[TF_WORLD_MAX];

	for (uint32_t s = 0; s < x->world; s++) {
		uint32_t before = tf_link_work(x, s, 0);
		double wait_ns = launch_ns * x->own[s];

		for (uint32_t r = 0; r < x->world; r++)
			tf_sim_after(x->sim, before, x->begin[r], r == s ? 0 : x->latency_ns[r][s]);
		for (uint32_t k = 1; k < x->world; k++) {
			uint32_t d = tf_link_peer(x, s, k);
			uint32_t copy = tf_link_copy(x, s, d, tf_link_range(x, s, d));

			tf_sim_after(x->sim, copy, before, wait_ns);
			before = copy;
			wait_ns = launch_ns * x->own[s] + x->latency_ns[s][d];
		}
		closed[s] = tf_link_work(
			x, s, launch_ns + 2 * tf_link_range(x, s, s) / x->links->device.memory_gbps);
		tf_sim_after(x->sim, closed[s], before, wait_ns);
	}
	for (uint32_t d = 0; d < x->world; d++) {
		uint32_t seen = tf_link_done(x, d, 0);

		for (uint32_t s = 0; s < x->world; s++)
			tf_sim_after(x->sim, seen, closed[s], s == d ? 0 : x->latency_ns[s][d]);
	}
}

static const struct tf_link_writer writers[TF_WRITER_COUNT] = {
	[TF_WRITER_LL] = {.exchange = exchange_ll},
	[TF_WRITER_SENTINEL] = {.exchange = exchange_sentinel, .clears = 1},
	[TF_WRITER_DIRECT] = {.exchange = exchange_direct},
	[TF_WRITER_SERIAL] = {.exchange = exchange_serial},
	[TF_WRITER_QUEUED] = {.exchange = tf_link_exchange_queued},
	[TF_WRITER_PULL] = {.exchange = tf_link_exchange_pull, .single = 1},
	[TF_WRITER_COPY_ENGINE] = {.exchange = exchange_copy_engine},
	[TF_WRITER_STAGED] = {.exchange = tf_link_exchange_staged},
};

const struct tf_link_writer *tf_link_writer_of(enum tf_writer writer)
{
	if (writer >= TF_WRITER_COUNT || !writers[writer].exchange)
		return NULL;
	return &writers[writer];
}
