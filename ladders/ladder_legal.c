/* SPDX-License-Identifier: Apache-2.0 */
/* Which rungs may carry a group, and, where none may, which came nearest and what it lacked. */
#include "ladders/ladder.h"

#include <inttypes.h>
#include <stdio.h>

/* In the order of the checks: a rung that fails a later one came nearer. */
enum fault {
	FAULT_OP = 0,
	FAULT_DTYPE,
	FAULT_WRITER,
	FAULT_NEEDS,
	FAULT_SHARDS,
	FAULT_WORLD,
	FAULT_CTAS,
	FAULT_ALIGN,
	FAULT_BYTES,
	FAULT_NONE
};

struct question {
	const struct tf_group *group;
	uint64_t bytes;
	uint32_t world;
	uint32_t capabilities;
};

static enum fault fault_of(const struct tf_rung *rung, const struct question *q)
{
	if (!(rung->ops & 1u << q->group->op))
		return FAULT_OP;
	if (!(rung->dtypes & 1u << q->group->dtype))
		return FAULT_DTYPE;
	if (!(TF_WRITERS_AVAILABLE & 1u << rung->candidate.writer))
		return FAULT_WRITER;
	if (rung->needs & ~q->capabilities || rung->without & q->capabilities)
		return FAULT_NEEDS;
	if (tf_candidate_is_library(&rung->candidate) && q->group->op == TF_OP_REDUCE_SCATTER &&
		tf_group_input_count(q->group) % q->world)
		return FAULT_SHARDS;
	if (q->world < rung->world_min || q->world > rung->world_max)
		return FAULT_WORLD;
	if (rung->ctas_per_peer * (q->world - 1) > rung->candidate.ctas)
		return FAULT_CTAS;
	if (q->bytes % rung->align_bytes)
		return FAULT_ALIGN;
	if (q->bytes < rung->bytes_min || q->bytes > rung->bytes_max)
		return FAULT_BYTES;
	return FAULT_NONE;
}

static uint64_t world_away(const struct tf_rung *rung, const struct question *q)
{
	return q->world < rung->world_min ? rung->world_min - q->world : q->world - rung->world_max;
}

/* How far the bytes lie outside of the rung's. */
static uint64_t bytes_away(const struct tf_rung *rung, const struct question *q)
{
	if (q->bytes < rung->bytes_min)
		return rung->bytes_min - q->bytes;
	return q->bytes > rung->bytes_max ? q->bytes - rung->bytes_max : 0;
}

static void explain_links(const char *verb, uint32_t bits, const char *end, char *out, size_t size)
{
	if (bits & TF_LINK_LIBRARY)
		snprintf(out, size, "needs NCCL, which is off ('--nccl on')");
	else
		snprintf(out, size, "%s%s%s%s%s", verb, bits & TF_LINK_PEER_WRITE ? " peer_write" : "",
			bits & TF_LINK_PEER_READ ? " peer_read" : "",
			bits & TF_LINK_PEER_ATOMIC ? " peer_atomic" : "", end);
}

static void explain(
	const struct tf_rung *rung, const struct question *q, enum fault fault, char *out, size_t size)
{
	uint32_t lacks = rung->needs & ~q->capabilities, beside = rung->without & q->capabilities;

	switch (fault) {
	case FAULT_OP:
		snprintf(out, size, "is not for %s", tf_op_name(q->group->op));
		return;
	case FAULT_DTYPE:
		snprintf(out, size, "is not for %s", tf_dtype_name(q->group->dtype));
		return;
	case FAULT_WRITER:
		snprintf(out, size, "writer '%s' is not available in this build",
			tf_writer_name(rung->candidate.writer));
		return;
	case FAULT_NEEDS:
		explain_links(lacks ? "needs" : "is for links without", lacks ? lacks : beside,
			lacks ? " of the links" : "", out, size);
		return;
	case FAULT_SHARDS:
		snprintf(out, size, "NCCL scatters equal shards, and its elements are no multiple of %u",
			(unsigned)q->world);
		return;
	case FAULT_WORLD:
		snprintf(out, size, "world %u is outside its %u to %u", (unsigned)q->world,
			(unsigned)rung->world_min, (unsigned)rung->world_max);
		return;
	case FAULT_CTAS:
		snprintf(out, size, "%u CTAs are fewer than its %u for each of %u peers",
			(unsigned)rung->candidate.ctas, (unsigned)rung->ctas_per_peer, (unsigned)q->world - 1);
		return;
	case FAULT_ALIGN:
		snprintf(out, size, "%" PRIu64 " bytes are no multiple of its align %u", q->bytes,
			(unsigned)rung->align_bytes);
		return;
	default:
		snprintf(out, size, "%" PRIu64 " bytes are outside its %" PRIu64 " to %" PRIu64, q->bytes,
			rung->bytes_min, rung->bytes_max);
	}
}

static enum tf_status fail_none(const struct tf_ladder *ladder, const struct question *q,
	uint32_t nearest, enum fault fault, struct tf_error *err)
{
	const struct tf_rung *rung = &ladder->rungs[nearest];
	char name[TF_CANDIDATE_NAME_BYTES];
	char why[160];

	explain(rung, q, fault, why, sizeof(why));
	return TF_FAIL(err, TF_E_INVALID,
		"group '%s' (%s %s, capacity %u, %" PRIu64
		" bytes a rank, world %u): no rung of ladder '%s' may carry "
		"it; the nearest is rungs[%u] (%s): %s",
		q->group->name, tf_op_name(q->group->op), tf_dtype_name(q->group->dtype),
		(unsigned)q->group->capacity, q->bytes, (unsigned)q->world, ladder->name, (unsigned)nearest,
		tf_candidate_name(&rung->candidate, name), why);
}

enum tf_status tf_ladder_legal(const struct tf_ladder *ladder, const struct tf_group *group,
	uint32_t world, uint32_t capabilities, uint32_t *out, uint32_t *out_count, struct tf_error *err)
{
	struct question q = {group, tf_group_input_bytes(group), world, capabilities};
	enum fault nearest_fault = FAULT_OP;
	uint64_t nearest_away = UINT64_MAX;
	uint32_t nearest = 0;
	uint32_t legal[TF_LADDER_RUNGS_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < ladder->rung_count && i < TF_LADDER_RUNGS_MAX; i++) {
		enum fault fault = fault_of(&ladder->rungs[i], &q);
		uint64_t away = fault == FAULT_WORLD ? world_away(&ladder->rungs[i], &q)
											 : bytes_away(&ladder->rungs[i], &q);

		if (fault == FAULT_NONE)
			legal[count++] = i;
		if (fault > nearest_fault || (fault == nearest_fault && away < nearest_away)) {
			nearest_fault = fault;
			nearest_away = away;
			nearest = i;
		}
	}
	if (!count)
		return fail_none(ladder, &q, nearest, nearest_fault, err);
	for (uint32_t i = 0; i < count; i++)
		out[i] = legal[i];
	*out_count = count;
	return TF_OK;
}
