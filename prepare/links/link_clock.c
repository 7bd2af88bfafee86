/* SPDX-License-Identifier: Apache-2.0 */
/* All ranks' times, moved alike on every rank. */
#include "prepare/links/link_clock.h"

#include <string.h>

#include "base/alloc.h"
#include "prepare/links/link_model.h"

struct tf_link_clock {
	struct tf_virtual_clock virtual_clock; /* first: what the runtime holds is this */
	struct tf_links links;
	struct tf_link_model *model;
	uint32_t rank, world;
	uint64_t times_ns[TF_WORLD_MAX];
};

static uint64_t now(const struct tf_virtual_clock *virtual_clock)
{
	const struct tf_link_clock *clock = (const struct tf_link_clock *)virtual_clock;

	return clock->times_ns[clock->rank];
}

/*
 * All leave together. Left to each rank's own latencies, the skew between them would be that of
 * whoever came last in the sample before, and chance would decide between near candidates.
 */
static void meet(struct tf_virtual_clock *virtual_clock, const uint64_t *arrivals, uint32_t world)
{
	struct tf_link_clock *clock = (struct tf_link_clock *)virtual_clock;
	uint64_t latest = 0;

	for (uint32_t s = 0; s < world && s < clock->world; s++) {
		for (uint32_t r = 0; r < clock->world; r++) {
			uint64_t way = s == r ? 0 : (uint64_t)(clock->links.pairs[s][r].latency_ns + 0.5);

			if (arrivals[s] + way > latest)
				latest = arrivals[s] + way;
		}
	}
	for (uint32_t r = 0; r < clock->world; r++)
		clock->times_ns[r] = latest;
}

static void collective(struct tf_virtual_clock *virtual_clock,
	const struct tf_collective_args *args, enum tf_op op, enum tf_algorithm algorithm,
	enum tf_writer writer)
{
	struct tf_link_clock *clock = (struct tf_link_clock *)virtual_clock;
	struct tf_link_call call = {
		.op = op,
		.candidate = {.algorithm = algorithm,
			.writer = writer,
			.threads = args->threads,
			.ctas = args->ctas,
			.chunk_bytes = args->chunk_bytes},
		.world = clock->world,
		.count = args->count,
		.element_bytes = (uint32_t)tf_dtype_bytes((enum tf_dtype)args->dtype),
	};
	uint64_t done[TF_WORLD_MAX], key = 0;

	for (uint32_t r = 0; r < clock->world; r++)
		key = clock->times_ns[r] > key ? clock->times_ns[r] : key;
	tf_link_model_run(clock->model, &call, clock->times_ns, key, done);
	memcpy(clock->times_ns, done, clock->world * sizeof(done[0]));
}

enum tf_status tf_link_clock_create(const struct tf_links *links, uint32_t rank, uint32_t world,
	struct tf_link_clock **out, struct tf_error *err)
{
	struct tf_link_clock *clock;
	enum tf_status status;

	if (world > links->world || rank >= world)
		return TF_FAIL(err, TF_E_MISFIT, "rank %u of %u: the links '%s' have %u ranks", rank, world,
			links->name, links->world);
	clock = tf_calloc(1, sizeof(*clock));
	if (!clock)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a clock");
	clock->virtual_clock =
		(struct tf_virtual_clock){.now = now, .meet = meet, .collective = collective};
	clock->links = *links;
	clock->rank = rank;
	clock->world = world;
	status = tf_link_model_create(links, &clock->model, err);
	if (status == TF_OK)
		*out = clock;
	else
		tf_free(clock);
	return status;
}

void tf_link_clock_destroy(struct tf_link_clock *clock)
{
	if (!clock)
		return;
	tf_link_model_destroy(clock->model);
	tf_free(clock);
}

struct tf_virtual_clock *tf_link_clock_virtual(struct tf_link_clock *clock)
{
	return &clock->virtual_clock;
}
