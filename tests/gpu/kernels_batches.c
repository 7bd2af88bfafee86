/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls by the batch, all of whose bytes are compared: the matrix launches every kernel once,
 * sequences and copies launch back to back without a wait.
 */
#include "tests/gpu/kernels_parts.h"

#include <stdio.h>

#include "tests/gpu/kernels_compare.h"

static int is_left_out(uint32_t one_in)
{
	static uint32_t batches;

	return batches++ % one_in != 0;
}

/* All kernels of (op, dtype, count, fill, shift) in one batch: kernel k writes to area k. */
static void matrix_batch(struct rig *rig, struct rig_call call, enum tf_fill fill)
{
	static uint8_t inputs[TF_WORLD_MAX * COUNT_MAX * 4];
	static const uint32_t threads[] = {256, 32, 512, 1024, 64};
	struct rig_call calls[AREAS];
	uint32_t count = 0;
	char text[160];

	call.area_in = 0;
	kernels_upload(rig, &call, call.count * 31 + (uint64_t)fill, fill, inputs);
	for (int algorithm = 0; algorithm < TF_ALGORITHM_COUNT; algorithm++) {
		if (algorithm == TF_ALGORITHM_LIBRARY ||
			(algorithm == TF_ALGORITHM_TWO_SHOT && call.op != TF_OP_ALL_REDUCE))
			continue;
		for (int writer = 0; writer < RIG_WRITERS; writer++) {
			for (uint32_t ctas = 1; ctas <= 4 && kernels_may_run(rig, writer); ctas += 3) {
				call.algorithm = (enum tf_algorithm)algorithm;
				call.writer = (enum tf_writer)writer;
				call.ctas = ctas;
				call.threads = threads[(count + call.count) % 5];
				if (rig->world * ctas * call.threads > 16384)
					call.threads = 256;
				call.chunk_bytes = writer == TF_WRITER_QUEUED ? 1024 : 0;
				call.area_out = count;
				if (count == AREAS)
					kernels_give_up("a batch of more kernels than AREAS");
				calls[count++] = call;
			}
		}
	}
	for (uint32_t i = 0; i < count; i++)
		kernels_poison(rig, i);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t r = 0; r < rig->world; r++)
			rig_launch(rig, r, &calls[i]);
	}
	if (kernels_settle(rig, rig_call_text(&call, text, sizeof(text)), 0))
		return;
	for (uint32_t i = 0; i < count; i++)
		kernels_compare(rig, &calls[i], inputs);
}

void kernels_matrix(struct rig *rig, uint32_t one_in)
{
	const uint64_t counts[] = {1, 5, 64 * rig->world, 1000, 1024 * rig->world, 4099};
	uint32_t before = kernels_tally.failures;

	for (int op = 0; op < TF_OP_COUNT; op++) {
		for (int dtype = 0; dtype < TF_DTYPE_COUNT; dtype++) {
			for (uint32_t i = 0; i < 2 * sizeof(counts) / sizeof(counts[0]); i++) {
				struct rig_call call = {.op = (enum tf_op)op,
					.dtype = (enum tf_dtype)dtype,
					.count = counts[i / 2],
					.shift = counts[i / 2] == 1000};

				if (is_left_out(one_in))
					continue;
				matrix_batch(rig, call, i % 2 ? TF_FILL_SPECIAL : TF_FILL_RANDOM);
			}
		}
	}
	printf("matrix world %u: %u failures\n", rig->world, kernels_tally.failures - before);
	fflush(stdout);
}

static uint32_t draw(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* `kernel` below 0: mixed; else (algorithm, writer) of all_reduce, with sizes up and down. */
static struct rig_call sequence_call(uint32_t step, int kernel, uint32_t world, uint32_t *state)
{
	static const uint64_t sizes[] = {8192, 40, 4099, 1, 6144, 264};
	struct rig_call call = {.op = (enum tf_op)(draw(state) % TF_OP_COUNT),
		.dtype = (enum tf_dtype)(draw(state) % TF_DTYPE_COUNT),
		.writer = (enum tf_writer)(draw(state) % RIG_WRITERS),
		.count = 1 + draw(state) % COUNT_MAX,
		.ctas = 1 + draw(state) % 5,
		.threads = 64u << draw(state) % 3,
		.area_in = step,
		.area_out = step};

	if (call.count % 2)
		call.count = (call.count / (16 * world) + 1) * 16 * world;
	if (call.count > COUNT_MAX)
		call.count = 1024;
	if (call.op == TF_OP_ALL_REDUCE)
		call.algorithm = (enum tf_algorithm)(draw(state) % TF_ALGORITHM_LIBRARY);
	if (kernel >= 0) {
		call.op = TF_OP_ALL_REDUCE;
		call.algorithm = (enum tf_algorithm)(kernel / RIG_WRITERS);
		call.writer = (enum tf_writer)(kernel % RIG_WRITERS);
		call.count = sizes[step % 6];
	}
	call.chunk_bytes = call.writer == TF_WRITER_QUEUED ? 2048 : 0;
	return call;
}

/* Back to back, no wait between launches. */
static void sequence(
	struct rig *rig, int kernel, uint32_t first_epoch, uint32_t seed, int programmatic)
{
	static uint8_t inputs[AREAS][TF_WORLD_MAX * COUNT_MAX * 4];
	struct rig_call calls[AREAS];
	uint32_t state = seed;
	char what[96];

	snprintf(what, sizeof(what), "sequence world %u kernel %d epoch %x%s", rig->world, kernel,
		first_epoch, programmatic ? " programmatic" : "");
	rig_reset(rig, TIMEOUT_NS, first_epoch);
	for (uint32_t i = 0; i < AREAS; i++) {
		calls[i] = sequence_call(i, kernel, rig->world, &state);
		if (rig->parted) {
			calls[i].writer = TF_WRITER_STAGED;
			calls[i].chunk_bytes = 0;
		}
		calls[i].programmatic = programmatic;
		kernels_upload(rig, &calls[i], seed + i,
			draw(&state) % 2 ? TF_FILL_SPECIAL : TF_FILL_RANDOM, inputs[i]);
		kernels_poison(rig, i);
	}
	for (uint32_t i = 0; i < AREAS; i++) {
		for (uint32_t r = 0; r < rig->world; r++)
			rig_launch(rig, r, &calls[i]);
	}
	if (kernels_settle(rig, what, 0))
		return;
	for (uint32_t i = 0; i < AREAS; i++)
		kernels_compare(rig, &calls[i], inputs[i]);
}

void kernels_sequences(struct rig *rig, uint32_t one_in)
{
	static const uint32_t epochs[] = {0, 0x3ffffff4u, 0x7ffffff4u, 0xffffffe8u};
	/* Ready launches of one rank could fill a device that another rank needs. */
	const int programmatic = rig->device_count >= rig->world;
	uint32_t before = kernels_tally.failures;

	for (uint32_t e = 0; e < 4; e++) {
		for (uint32_t seed = 1; seed <= 6; seed++)
			if (!is_left_out(one_in))
				sequence(rig, -1, epochs[e] + (seed & 1), seed * 77 + e, programmatic && seed % 2);
		for (int kernel = 0; kernel < 2 * RIG_WRITERS; kernel++)
			if (kernels_may_run(rig, kernel % RIG_WRITERS) && !is_left_out(one_in))
				sequence(rig, kernel, epochs[e] + (kernel & 1), 9, programmatic);
	}
	printf("sequences world %u: %u failures\n", rig->world, kernels_tally.failures - before);
	fflush(stdout);
}

/* Back to back, from epochs at which flags are refreshed and at which they wrap. */
void kernels_copies(struct rig *rig)
{
	static const uint32_t epochs[] = {0, 0x3ffffffeu, 0x7ffffffeu, 0xfffffffcu};
	static const uint64_t counts[] = {1, 4096, 8191, 100, 9000, 5};
	static uint8_t inputs[6][TF_WORLD_MAX * COUNT_MAX * 4];
	struct tf_control control;

	for (uint32_t e = 0; e < 4; e++) {
		struct rig_call calls[6];

		rig_reset(rig, TIMEOUT_NS, epochs[e]);
		for (uint32_t i = 0; i < 6; i++) {
			calls[i] = (struct rig_call){.op = TF_OP_ALL_GATHER,
				.writer = TF_WRITER_COPY_ENGINE,
				.dtype = (enum tf_dtype)(i % TF_DTYPE_COUNT),
				.count = counts[i],
				.area_in = i,
				.area_out = i};
			kernels_upload(rig, &calls[i], 50 + i, TF_FILL_SPECIAL, inputs[i]);
			kernels_poison(rig, i);
		}
		for (uint32_t i = 0; i < 6; i++)
			for (uint32_t r = 0; r < rig->world; r++)
				rig_launch_copies(rig, r, &calls[i]);
		if (kernels_settle(rig, "copies", 0))
			return;
		for (uint32_t i = 0; i < 6; i++)
			kernels_compare(rig, &calls[i], inputs[i]);
		rig_control(rig, 0, &control);
		if (control.writer_calls[TF_WRITER_COPY_ENGINE] != 6 || control.calls != 6)
			kernels_fail(rig, 0, &calls[0], "the counters do not tell six calls");
	}
	printf("copies world %u done\n", rig->world);
}
