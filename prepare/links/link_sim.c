/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run: a heap of tasks that wait for their time, a list of flows under way. Each step goes to
 * the next begin or end, whichever is sooner.
 */
#include "prepare/links/link_sim.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

/* Bytes that rounding may leave of a flow; a millionth of the smallest payload. */
#define REST_BYTES 1e-6

struct edge {
	double delay_ns;
	uint32_t after, next; /* the next edge of the same `before` */
};

struct pending {
	double at_ns;
	uint32_t task;
};

struct tf_sim {
	struct tf_sim_task *tasks;
	struct edge *edges;
	struct tf_sim_resource *resources;
	struct pending *heap;
	uint32_t *flows; /* under way, in the order in which they began */
	uint32_t task_count, edge_count, resource_count, heap_count, flow_count;
	uint32_t tasks_max, edges_max, resources_max;
};

enum tf_status tf_sim_create(uint32_t tasks_max, uint32_t edges_max, uint32_t resources_max,
	struct tf_sim **out, struct tf_error *err)
{
	struct tf_sim *sim = tf_calloc(1, sizeof(*sim));

	if (!sim)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a simulation");
	sim->tasks_max = tasks_max;
	sim->edges_max = edges_max;
	sim->resources_max = resources_max;
	sim->tasks = tf_calloc(tasks_max, sizeof(sim->tasks[0]));
	sim->edges = tf_calloc(edges_max, sizeof(sim->edges[0]));
	sim->resources = tf_calloc(resources_max, sizeof(sim->resources[0]));
	sim->heap = tf_calloc(tasks_max, sizeof(sim->heap[0]));
	sim->flows = tf_calloc(tasks_max, sizeof(sim->flows[0]));
	if (!sim->tasks || !sim->edges || !sim->resources || !sim->heap || !sim->flows) {
		tf_sim_destroy(sim);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a simulation of %u tasks", tasks_max);
	}
	*out = sim;
	return TF_OK;
}

void tf_sim_destroy(struct tf_sim *sim)
{
	if (!sim)
		return;
	tf_free(sim->tasks);
	tf_free(sim->edges);
	tf_free(sim->resources);
	tf_free(sim->heap);
	tf_free(sim->flows);
	tf_free(sim);
}

void tf_sim_clear(struct tf_sim *sim)
{
	sim->task_count = sim->edge_count = sim->resource_count = 0;
	sim->heap_count = sim->flow_count = 0;
}

uint16_t tf_sim_resource(struct tf_sim *sim, const struct tf_sim_resource *resource)
{
	struct tf_sim_resource *own = &sim->resources[sim->resource_count];

	assert(sim->resource_count < sim->resources_max);
	*own = *resource;
	own->flows = own->writes = 0;
	memset(own->writes_to, 0, sizeof(own->writes_to));
	return (uint16_t)sim->resource_count++;
}

uint32_t tf_sim_task(struct tf_sim *sim, const struct tf_sim_task *task)
{
	struct tf_sim_task *own = &sim->tasks[sim->task_count];

	assert(sim->task_count < sim->tasks_max);
	*own = *task;
	own->waits_for = 0;
	own->first_edge = TF_SIM_NONE;
	own->end_ns = -1;
	return sim->task_count++;
}

void tf_sim_after(struct tf_sim *sim, uint32_t after, uint32_t before, double delay_ns)
{
	if (before == TF_SIM_NONE)
		return;
	assert(sim->edge_count < sim->edges_max && before < after);
	sim->edges[sim->edge_count] =
		(struct edge){.delay_ns = delay_ns, .after = after, .next = sim->tasks[before].first_edge};
	sim->tasks[before].first_edge = sim->edge_count++;
	sim->tasks[after].waits_for++;
}

static bool sooner(const struct pending *a, const struct pending *b)
{
	return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->task < b->task);
}

static void heap_push(struct tf_sim *sim, uint32_t task, double at_ns)
{
	struct pending item = {at_ns, task};
	uint32_t at = sim->heap_count++;

	while (at && sooner(&item, &sim->heap[(at - 1) / 2])) {
		sim->heap[at] = sim->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	sim->heap[at] = item;
}

static uint32_t heap_pop(struct tf_sim *sim)
{
	uint32_t task = sim->heap[0].task, at = 0, child;
	struct pending item = sim->heap[--sim->heap_count];

	while ((child = 2 * at + 1) < sim->heap_count) {
		if (child + 1 < sim->heap_count && sooner(&sim->heap[child + 1], &sim->heap[child]))
			child++;
		if (!sooner(&sim->heap[child], &item))
			break;
		sim->heap[at] = sim->heap[child];
		at = child;
	}
	sim->heap[at] = item;
	return task;
}

static void take_place(struct tf_sim *sim, const struct tf_sim_task *task, int by)
{
	for (uint32_t i = 0; i < task->path_count; i++) {
		struct tf_sim_resource *resource = &sim->resources[task->path[i]];

		resource->flows += (uint32_t)by;
		if (!task->write)
			continue;
		resource->writes += (uint32_t)by;
		resource->writes_to[task->destination] += (uint32_t)by;
	}
}

static bool has_collapsed(const struct tf_sim_resource *resource)
{
	uint32_t destinations = 0;

	if (!resource->collapse_destinations)
		return false;
	for (uint32_t d = 0; d < TF_SIM_DESTINATIONS_MAX; d++)
		destinations += resource->writes_to[d] != 0;
	return destinations >= resource->collapse_destinations;
}

static double rate_of(const struct tf_sim *sim, const struct tf_sim_task *task)
{
	double rate = task->cap_gbps;

	for (uint32_t i = 0; i < task->path_count; i++) {
		const struct tf_sim_resource *resource = &sim->resources[task->path[i]];
		double share = resource->gbps / resource->flows;

		if (task->write && has_collapsed(resource))
			share = resource->collapsed_gbps / resource->writes;
		if (share < rate)
			rate = share;
	}
	return rate;
}

static void end_task(struct tf_sim *sim, uint32_t index, double now_ns)
{
	struct tf_sim_task *task = &sim->tasks[index];

	task->end_ns = now_ns;
	for (uint32_t e = task->first_edge; e != TF_SIM_NONE; e = sim->edges[e].next) {
		struct tf_sim_task *after = &sim->tasks[sim->edges[e].after];
		double at_ns = now_ns + sim->edges[e].delay_ns;

		if (at_ns > after->from_ns)
			after->from_ns = at_ns;
		if (!--after->waits_for)
			heap_push(sim, sim->edges[e].after, after->from_ns + after->work_ns);
	}
}

/* Its wait and its work are over. */
static void begin_flow(struct tf_sim *sim, uint32_t index, double now_ns)
{
	struct tf_sim_task *task = &sim->tasks[index];

	if (task->bytes <= 0) {
		end_task(sim, index, now_ns);
		return;
	}
	task->left_bytes = task->bytes;
	take_place(sim, task, 1);
	sim->flows[sim->flow_count++] = index;
}

/* Sets all rates; the time until the first flow ends. Only with flows under way. */
static double first_end(struct tf_sim *sim)
{
	double least = -1;

	for (uint32_t i = 0; i < sim->flow_count; i++) {
		struct tf_sim_task *task = &sim->tasks[sim->flows[i]];
		double need_ns;

		task->rate_gbps = rate_of(sim, task);
		need_ns = task->left_bytes / task->rate_gbps;
		if (least < 0 || need_ns < least)
			least = need_ns;
	}
	return least;
}

/* Moves all flows on by `step_ns` to `now_ns`; ends those that are done. */
static void advance(struct tf_sim *sim, double step_ns, double now_ns)
{
	uint32_t kept = 0, count = sim->flow_count;

	for (uint32_t i = 0; i < count; i++) {
		struct tf_sim_task *task = &sim->tasks[sim->flows[i]];

		task->left_bytes -= task->rate_gbps * step_ns;
		if (task->left_bytes > REST_BYTES) {
			sim->flows[kept++] = sim->flows[i];
			continue;
		}
		take_place(sim, task, -1);
		end_task(sim, sim->flows[i], now_ns);
	}
	sim->flow_count = kept;
}

void tf_sim_run(struct tf_sim *sim)
{
	double now_ns = 0;

	for (uint32_t i = 0; i < sim->task_count; i++) {
		if (!sim->tasks[i].waits_for)
			heap_push(sim, i, sim->tasks[i].from_ns + sim->tasks[i].work_ns);
	}
	while (sim->heap_count || sim->flow_count) {
		double begin_ns = sim->heap_count ? sim->heap[0].at_ns : 0;
		double step_ns = sim->flow_count ? first_end(sim) : 0;

		if (!sim->flow_count || (sim->heap_count && begin_ns <= now_ns + step_ns)) {
			advance(sim, begin_ns > now_ns ? begin_ns - now_ns : 0, begin_ns);
			now_ns = begin_ns;
			begin_flow(sim, heap_pop(sim), now_ns);
		} else {
			now_ns += step_ns;
			advance(sim, step_ns, now_ns);
		}
	}
}

double tf_sim_end_ns(const struct tf_sim *sim, uint32_t task)
{
	assert(sim->tasks[task].end_ns >= 0);
	return sim->tasks[task].end_ns;
}
