/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, costs and flows that all modelled writers are made of. */
#include "prepare/links/link_exchange.h"

double tf_link_range(const struct tf_link_exchange *x, uint32_t s, uint32_t d)
{
	if (x->ranges == TF_LINK_SAME)
		return (double)x->bytes;
	return (double)x->shard[x->ranges == TF_LINK_SHARDS ? d : s];
}

double tf_link_own_ns(const struct tf_link_exchange *x, uint32_t rank, double bytes)
{
	const struct tf_links_device *device = &x->links->device;
	double gbps =
		x->call->candidate.ctas * device->cta_local_gbps * x->call->candidate.threads / 512;

	if (gbps > device->memory_gbps)
		gbps = device->memory_gbps;
	return bytes / gbps * x->own[rank];
}

double tf_link_home_bytes(const struct tf_link_exchange *x, uint32_t rank)
{
	double bytes = 0;

	for (uint32_t s = 0; s < x->world; s++)
		bytes += tf_link_range(x, s, rank);
	return x->gathers ? 2 * bytes : bytes + tf_link_range(x, rank, rank);
}

static void add_shared(
	const struct tf_link_exchange *x, const struct tf_links_pair *pair, struct tf_sim_task *task)
{
	for (uint32_t i = 0; i < pair->through_count; i++)
		task->path[task->path_count++] = x->shared[pair->through[i]];
}

uint32_t tf_link_store(struct tf_link_exchange *x, uint32_t from, uint32_t to, double bytes)
{
	return tf_link_store_capped(x, from, to, bytes, x->links->pairs[from][to].write_gbps);
}

uint32_t tf_link_store_capped(
	struct tf_link_exchange *x, uint32_t from, uint32_t to, double bytes, double cap_gbps)
{
	const struct tf_links_pair *pair = &x->links->pairs[from][to];
	struct tf_sim_task task = {
		.bytes = bytes * x->stretch[from][to],
		.cap_gbps = cap_gbps < pair->write_gbps ? cap_gbps : pair->write_gbps,
		.path = {x->stores[from], x->port_out[from], x->port_in[to]},
		.path_count = 3,
		.write = true,
		.destination = (uint8_t)x->links->root_complex[to],
	};

	add_shared(x, pair, &task);
	return tf_sim_task(x->sim, &task);
}

uint32_t tf_link_copy(struct tf_link_exchange *x, uint32_t from, uint32_t to, double bytes)
{
	const struct tf_links_pair *pair = &x->links->pairs[from][to];
	struct tf_sim_task task = {
		.bytes = bytes * x->stretch[from][to],
		.cap_gbps = pair->write_gbps,
		.path = {x->port_out[from], x->port_in[to]},
		.path_count = 2,
		.write = true,
		.destination = (uint8_t)x->links->root_complex[to],
	};

	add_shared(x, pair, &task);
	return tf_sim_task(x->sim, &task);
}

uint32_t tf_link_load(struct tf_link_exchange *x, uint32_t from, uint32_t to, double bytes)
{
	struct tf_sim_task task = {
		.bytes = bytes * x->stretch[to][from],
		.cap_gbps = x->links->pairs[to][from].read_gbps,
		.path = {x->loads[to], x->port_out[from], x->port_in[to]},
		.path_count = 3,
	};

	add_shared(x, &x->links->pairs[from][to], &task);
	return tf_sim_task(x->sim, &task);
}

uint32_t tf_link_work(struct tf_link_exchange *x, uint32_t rank, double ns)
{
	return tf_sim_task(x->sim, &(struct tf_sim_task){.work_ns = ns * x->own[rank]});
}

uint32_t tf_link_done(struct tf_link_exchange *x, uint32_t rank, double consume_ns)
{
	uint32_t seen = tf_link_work(x, rank, x->links->device.poll_ns);

	tf_sim_after(x->sim, seen, x->begin[rank], 0);
	x->done[rank] = seen;
	if (consume_ns > 0) {
		x->done[rank] = tf_link_work(x, rank, 0);
		tf_sim_after(x->sim, x->done[rank], seen, consume_ns);
	}
	return seen;
}

double tf_link_consume_ns(const struct tf_link_exchange *x, uint32_t rank)
{
	return x->second ? 0 : tf_link_own_ns(x, rank, tf_link_home_bytes(x, rank));
}
