/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a collective to tasks of the simulation, and from their ends to times. One function a way of
 * writing; all take the tasks at whose ends the ranks begin and leave those at which they are done.
 */
#include "prepare/links/link_model.h"

#include <string.h>

#include "base/alloc.h"
#include "prepare/links/link_exchange.h"

/* Two exchanges of TF_LINK_CHUNKS_MAX chunks over all pairs, and what joins them. */
#define TASKS_MAX 8192
#define EDGES_MAX 32768
#define RESOURCES (4 * TF_WORLD_MAX + TF_LINKS_RESOURCES_MAX)

struct tf_link_model {
	struct tf_links links;
	struct tf_sim *sim;
};

enum tf_status tf_link_model_create(
	const struct tf_links *links, struct tf_link_model **out, struct tf_error *err)
{
	struct tf_link_model *model = tf_calloc(1, sizeof(*model));
	enum tf_status status;

	if (!model)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the model of links");
	model->links = *links;
	status = tf_sim_create(TASKS_MAX, EDGES_MAX, RESOURCES, &model->sim, err);
	if (status == TF_OK)
		*out = model;
	else
		tf_free(model);
	return status;
}

void tf_link_model_destroy(struct tf_link_model *model)
{
	if (!model)
		return;
	tf_sim_destroy(model->sim);
	tf_free(model);
}

int tf_link_model_knows(enum tf_writer writer)
{
	return tf_link_writer_of(writer) != NULL;
}

/* splitmix64's finaliser: every bit of the input changes half of the output's. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

enum cost { COST_OWN = 1, COST_LATENCY, COST_BYTES };

/* 1 + percent / 100 * u; a rank that jitters more has its own percentage. */
static double jitter(
	const struct tf_links *links, uint64_t key, enum cost cost, uint32_t from, uint32_t to)
{
	uint64_t bits = mix(mix(mix(links->seed) ^ key) ^ ((uint64_t)cost << 16 | from << 8 | to));
	double percent = links->jitter_percent;

	if (links->ranks[from].jitter_percent > percent)
		percent = links->ranks[from].jitter_percent;
	return 1 + percent / 100 * ((double)(bits >> 11) / 9007199254740992.0);
}

static void draw(struct tf_link_exchange *x, uint64_t key)
{
	const struct tf_links *links = x->links;

	for (uint32_t a = 0; a < x->world; a++) {
		x->own[a] = links->ranks[a].slow * jitter(links, key, COST_OWN, a, a);
		for (uint32_t b = 0; b < x->world; b++) {
			x->latency_ns[a][b] =
				links->pairs[a][b].latency_ns * jitter(links, key, COST_LATENCY, a, b);
			x->stretch[a][b] = jitter(links, key, COST_BYTES, a, b);
		}
	}
}

static double stores_gbps(const struct tf_link_exchange *x)
{
	return x->call->candidate.ctas * x->links->device.cta_write_gbps * x->call->candidate.threads /
		512;
}

/* Bytes in flight by the time of the farthest read. */
static double loads_gbps(const struct tf_link_exchange *x, uint32_t rank)
{
	double farthest_ns = 1;

	for (uint32_t s = 0; s < x->world; s++) {
		if (s != rank && x->links->pairs[rank][s].latency_ns > farthest_ns)
			farthest_ns = x->links->pairs[rank][s].latency_ns;
	}
	return (double)x->call->candidate.ctas * x->call->candidate.threads *
		x->links->device.read_in_flight_bytes / farthest_ns;
}

static uint16_t plain(struct tf_sim *sim, double gbps)
{
	return tf_sim_resource(sim, &(struct tf_sim_resource){.gbps = gbps});
}

static void add_resources(struct tf_link_exchange *x)
{
	const struct tf_links *links = x->links;

	for (uint32_t r = 0; r < x->world; r++) {
		double slow = x->links->ranks[r].slow;

		x->port_out[r] = plain(x->sim, links->port_gbps);
		x->port_in[r] = plain(x->sim, links->port_gbps);
		x->stores[r] = plain(x->sim, stores_gbps(x) / slow);
		x->loads[r] = plain(x->sim, loads_gbps(x, r) / slow);
	}
	for (uint32_t i = 0; i < links->resource_count; i++)
		x->shared[i] = tf_sim_resource(x->sim,
			&(struct tf_sim_resource){.gbps = links->resources[i].gbps,
				.collapse_destinations = links->resources[i].collapse_destinations,
				.collapsed_gbps = links->resources[i].collapsed_gbps});
}

static void add_begins(
	struct tf_link_exchange *x, const double *entry_ns, const struct tf_link_writer *writer)
{
	const struct tf_links_device *device = &x->links->device;
	double work_ns = device->launch_ns + x->call->candidate.ctas * device->cta_ns;

	for (uint32_t r = 0; r < x->world; r++) {
		struct tf_sim_task task = {.from_ns = entry_ns[r], .work_ns = work_ns * x->own[r]};

		if (writer->clears)
			task.work_ns += tf_link_own_ns(x, r, (double)x->world * (double)x->longest_bytes);
		x->begin[r] = tf_sim_task(x->sim, &task);
	}
}

static void set_sizes(struct tf_link_exchange *x)
{
	const struct tf_link_call *call = x->call;
	uint64_t each = (call->count + call->world - 1) / call->world;

	x->bytes = call->count * call->element_bytes;
	for (uint32_t r = 0; r < call->world; r++) {
		uint64_t begin = r * each < call->count ? r * each : call->count;
		uint64_t end = begin + each < call->count ? begin + each : call->count;

		x->shard[r] = (end - begin) * call->element_bytes;
	}
	x->ranges = TF_LINK_SAME;
	x->longest_bytes = x->bytes;
	if (call->op == TF_OP_REDUCE_SCATTER || call->candidate.algorithm == TF_ALGORITHM_TWO_SHOT) {
		x->ranges = TF_LINK_SHARDS;
		x->longest_bytes = x->shard[0];
	}
	x->gathers = call->op == TF_OP_ALL_GATHER;
	x->two_shot = call->candidate.algorithm == TF_ALGORITHM_TWO_SHOT;
}

/* The second exchange of two_shot: each rank's sum goes to all. */
static void turn_to_second(struct tf_link_exchange *x)
{
	memcpy(x->begin, x->done, sizeof(x->begin));
	x->ranges = TF_LINK_SPREAD;
	x->gathers = 1;
	x->second = 1;
}

void tf_link_model_run(struct tf_link_model *model, const struct tf_link_call *call,
	const uint64_t *entry_ns, uint64_t key, uint64_t *done_ns)
{
	const struct tf_link_writer *writer = tf_link_writer_of(call->candidate.writer);
	struct tf_link_exchange x = {
		.links = &model->links, .call = call, .sim = model->sim, .world = call->world};
	uint64_t first_ns = entry_ns[0];
	double entry[TF_WORLD_MAX];

	for (uint32_t r = 1; r < call->world; r++)
		first_ns = entry_ns[r] < first_ns ? entry_ns[r] : first_ns;
	for (uint32_t r = 0; r < call->world; r++)
		entry[r] = (double)(entry_ns[r] - first_ns);
	tf_sim_clear(model->sim);
	set_sizes(&x);
	draw(&x, key);
	add_resources(&x);
	add_begins(&x, entry, writer);
	writer->exchange(&x);
	if (x.two_shot && !writer->single) {
		turn_to_second(&x);
		writer->exchange(&x);
	}
	tf_sim_run(model->sim);
	for (uint32_t r = 0; r < call->world; r++)
		done_ns[r] = first_ns + (uint64_t)(tf_sim_end_ns(model->sim, x.done[r]) + 0.5);
}
