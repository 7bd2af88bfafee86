/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. Steps run from the stream that was captured, not from the graph: the graph is what is proven.
 * 2. A capacity is run twice from its first seed: outputs that differ between two runs cannot be
 *    proven later, and are refused here.
 */
#include "prepare/tune/prove.h"

#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "prepare/capture/foreign_launch.h"
#include "prepare/tune/plan.h"
#include "prepare/tune/plan_foreign.h"
#include "runtime/session/step_state.h"

#define STEP_TIMEOUTS 30 /* a step holds many bounded waits; this is the last resort */

static enum tf_status write_constants(const struct tf_bench_rank *rank, struct tf_error *err)
{
	const struct tf_program *program = rank->program;

	for (uint32_t i = 0; i < program->constant_count; i++) {
		const struct tf_constant *constant = &program->constants[i];
		const struct tf_bytes *bytes =
			tf_plan_foreign_member(rank->foreign, program->members[constant->member].digest);
		uint64_t off = program->buffers[constant->buffer].segment_off;

		TF_TRY(rank->ops->write(
			rank->device, tf_rank_window_at(&rank->window, 0, off), bytes->data, bytes->size, err));
	}
	return TF_OK;
}

static enum tf_status run_step(struct tf_bench_rank *rank, uint32_t capacity, struct tf_error *err)
{
	struct tf_window_view window = tf_rank_window_view(&rank->window);

	TF_TRY(tf_foreign_record(rank, &window, capacity, err));
	TF_TRY(rank->ops->stream_wait(
		rank->stream, tf_deadline_after(STEP_TIMEOUTS * rank->timeout_ns), err));
	return tf_bench_rank_fault(rank, err);
}

/* One step from `seed` on all ranks, and the digest of each. */
static enum tf_status prove_one(struct tf_bench_rank *rank, uint32_t capacity, uint64_t seed,
	uint8_t (*out_digests)[TF_DIGEST_BYTES], struct tf_error *err)
{
	struct tf_step_state state = {
		rank->ops, rank->device, rank->stream, &rank->window, rank->program};
	int64_t bound = tf_deadline_after(STEP_TIMEOUTS * rank->timeout_ns);
	uint8_t mine[TF_DIGEST_BYTES] = {0};
	struct tf_error local = {0};

	if (tf_step_state_fill(&state, capacity, seed, &local) == TF_OK)
		(void)!rank->ops->stream_wait(rank->stream, bound, &local);
	TF_TRY(tf_link_agree_ok(rank->link, &local, bound, err));
	if (run_step(rank, capacity, &local) == TF_OK)
		(void)!tf_step_state_digest(&state, capacity, mine, &local);
	if (local.status != TF_OK)
		tf_rank_memory_abort(&rank->memory);
	TF_TRY(tf_link_agree_ok(rank->link, &local, bound, err));
	return tf_link_exchange_fixed(rank->link, mine, sizeof(mine), out_digests, bound, err);
}

static enum tf_status prove_seed(
	struct tf_bench_rank *rank, uint32_t capacity, uint64_t seed, int twice, struct tf_error *err)
{
	struct tf_program *program = rank->program;
	uint8_t digests[TF_WORLD_MAX][TF_DIGEST_BYTES], again[TF_WORLD_MAX][TF_DIGEST_BYTES];

	TF_TRY(prove_one(rank, capacity, seed, digests, err));
	if (twice)
		TF_TRY(prove_one(rank, capacity, seed, again, err));
	for (uint32_t r = 0; r < program->world; r++) {
		struct tf_proof *proof = &program->proofs[program->proof_count++];

		if (twice && memcmp(digests[r], again[r], TF_DIGEST_BYTES) != 0)
			return TF_FAIL(err, TF_E_MISMATCH,
				"rank %u: two steps of capacity %u from the same operands left different outputs: "
				"a foreign kernel is not deterministic, or reads what nothing wrote",
				r, capacity);
		*proof = (struct tf_proof){.capacity = capacity, .seed = seed, .rank = r};
		memcpy(proof->digest, digests[r], TF_DIGEST_BYTES);
	}
	return TF_OK;
}

enum tf_status tf_prove_steps(struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_program *program = rank->program;
	struct tf_error local = {0};

	if (!program->touched_count)
		return TF_OK;
	program->proofs = tf_calloc(
		(size_t)program->graph_count * TF_STEP_SEEDS * program->world, sizeof(program->proofs[0]));
	if (!program->proofs)
		(void)!TF_FAIL(&local, TF_E_NO_MEMORY, "no memory for proofs");
	else
		(void)!write_constants(rank, &local);
	TF_TRY(tf_link_agree_ok(rank->link, &local, tf_deadline_after(rank->timeout_ns), err));
	TF_TRY(tf_bench_rank_reset(rank, err));
	for (uint32_t i = 0; i < program->graph_count; i++) {
		const struct tf_graph *graph = &program->graphs[i];

		for (uint64_t s = 0; graph->kind == TF_GRAPH_STEP && s < TF_STEP_SEEDS; s++)
			TF_TRY(prove_seed(rank, graph->capacity, TF_STEP_SEED_FIRST + s, s == 0, err));
	}
	return TF_OK;
}
