/* SPDX-License-Identifier: Apache-2.0 */
/* Filling and digesting go buffer by buffer, through one block of host memory of the largest. */
#include "runtime/session/step_state.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/collective.h"

/* Proofs of a capacity stand together: the first and how many, all ranks. */
static uint32_t proofs_of(const struct tf_program *program, uint32_t capacity, uint32_t *out_first)
{
	uint32_t first = 0, count = 0;

	while (first < program->proof_count && program->proofs[first].capacity != capacity)
		first++;
	while (
		first + count < program->proof_count && program->proofs[first + count].capacity == capacity)
		count++;
	*out_first = first;
	return count;
}

uint64_t tf_step_state_seed(const struct tf_program *program, uint32_t capacity, uint64_t seed)
{
	uint32_t first, count = proofs_of(program, capacity, &first);
	uint32_t seeds = count / program->world;

	return seeds ? program->proofs[first + seed % seeds * program->world].seed : seed;
}

static void *data_of(const struct tf_step_state *state, uint32_t buffer)
{
	return tf_rank_window_at(state->window, 0, state->program->buffers[buffer].segment_off);
}

static int is_of_capacity(
	const struct tf_program *program, const struct tf_buffer *buffer, uint32_t capacity)
{
	return buffer->group != TF_PROGRAM_NONE && program->groups[buffer->group].capacity == capacity;
}

/* Operands of this rank in `buffer`, from the start that belongs to buffer `place`. */
static enum tf_status write_operands(const struct tf_step_state *state, uint32_t buffer,
	uint32_t place, uint64_t bytes, uint64_t seed, struct tf_error *err)
{
	enum tf_dtype dtype = state->program->buffers[buffer].dtype;
	uint64_t width = tf_dtype_bytes(dtype), first = (uint64_t)place * TF_STEP_STREAM;
	uint8_t *stream = tf_calloc(first + bytes / width, width);
	enum tf_status status;

	if (!stream)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the operands of '%s'",
			state->program->buffers[buffer].name);
	tf_operand_fill(
		TF_FILL_RANDOM, dtype, seed, state->window->rank, first + bytes / width, stream);
	status = state->ops->write(
		state->device, data_of(state, buffer), stream + first * width, bytes, err);
	tf_free(stream);
	return status;
}

enum tf_status tf_step_state_fill_own(
	const struct tf_step_state *state, uint32_t capacity, uint64_t seed, struct tf_error *err)
{
	const struct tf_program *program = state->program;

	(void)capacity;
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		const struct tf_buffer *buffer = &program->buffers[i];

		if (buffer->group != TF_PROGRAM_NONE)
			continue;
		if (buffer->role == TF_BUFFER_INPUT)
			TF_TRY(write_operands(state, i, i, buffer->bytes, seed, err));
		else if (buffer->role == TF_BUFFER_WORK && tf_program_is_touched(program, i))
			TF_TRY(state->ops->stream_set(state->stream, data_of(state, i), 0, buffer->bytes, err));
	}
	return TF_OK;
}

/* The input that an output's collective reads, TF_PROGRAM_NONE if there is none. */
static uint32_t input_of(const struct tf_program *program, uint32_t output)
{
	const struct tf_buffer *buffers = program->buffers;
	uint32_t i = output;

	while (i-- > 0) {
		if (buffers[i].role == TF_BUFFER_INPUT && buffers[i].group == buffers[output].group &&
			buffers[i].pair == buffers[output].pair)
			return i;
	}
	return TF_PROGRAM_NONE;
}

static enum tf_status fill_pair(
	const struct tf_step_state *state, uint32_t output, uint64_t seed, struct tf_error *err)
{
	const struct tf_program *program = state->program;
	uint32_t input = input_of(program, output);

	if (input == TF_PROGRAM_NONE)
		return TF_FAIL(
			err, TF_E_INVALID, "buffer '%s' has no input", program->buffers[output].name);
	return write_operands(state, input, output,
		tf_group_input_bytes(&program->groups[program->buffers[output].group]), seed, err);
}

enum tf_status tf_step_state_fill(
	const struct tf_step_state *state, uint32_t capacity, uint64_t seed, struct tf_error *err)
{
	const struct tf_program *program = state->program;

	for (uint32_t i = 0; i < program->buffer_count; i++) {
		const struct tf_buffer *buffer = &program->buffers[i];
		int is_own = buffer->group == TF_PROGRAM_NONE;

		if (buffer->role != TF_BUFFER_OUTPUT ||
			(!is_own && !is_of_capacity(program, buffer, capacity)))
			continue;
		if (!is_own)
			TF_TRY(fill_pair(state, i, seed, err));
		TF_TRY(state->ops->stream_set(
			state->stream, data_of(state, i), TF_STEP_POISON, buffer->bytes, err));
	}
	return tf_step_state_fill_own(state, capacity, seed, err);
}

/* Bytes of an output that belong into the digest. */
static uint64_t proven_bytes(
	const struct tf_step_state *state, const struct tf_buffer *buffer, uint32_t capacity)
{
	const struct tf_group *group;

	if (buffer->group == TF_PROGRAM_NONE)
		return buffer->dims_count == 2 && capacity < buffer->dims[0]
			? buffer->bytes / buffer->dims[0] * capacity
			: buffer->bytes;
	group = &state->program->groups[buffer->group];
	return tf_owned_count(
			   group->op, tf_group_input_count(group), state->window->rank, state->program->world) *
		tf_dtype_bytes(group->dtype);
}

static enum tf_status digest_buffer(const struct tf_step_state *state, uint32_t buffer,
	uint64_t bytes, crypto_hash_sha256_state *sha, struct tf_error *err)
{
	uint8_t *copy = tf_calloc(bytes, 1);
	enum tf_status status;

	if (!copy)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a copy of '%s'",
			state->program->buffers[buffer].name);
	status = state->ops->read(state->device, copy, data_of(state, buffer), bytes, err);
	if (status == TF_OK)
		crypto_hash_sha256_update(sha, copy, bytes);
	tf_free(copy);
	return status;
}

enum tf_status tf_step_state_digest(const struct tf_step_state *state, uint32_t capacity,
	uint8_t out[TF_DIGEST_BYTES], struct tf_error *err)
{
	const struct tf_program *program = state->program;
	crypto_hash_sha256_state sha;

	crypto_hash_sha256_init(&sha);
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		const struct tf_buffer *buffer = &program->buffers[i];
		uint64_t bytes;

		if (buffer->role != TF_BUFFER_OUTPUT ||
			(buffer->group != TF_PROGRAM_NONE && !is_of_capacity(program, buffer, capacity)))
			continue;
		bytes = proven_bytes(state, buffer, capacity);
		if (bytes)
			TF_TRY(digest_buffer(state, i, bytes, &sha, err));
	}
	crypto_hash_sha256_final(&sha, out);
	return TF_OK;
}

enum tf_status tf_step_state_compare(
	const struct tf_step_state *state, uint32_t capacity, uint64_t seed, struct tf_error *err)
{
	const struct tf_program *program = state->program;
	uint32_t rank = state->window->rank, first, count = proofs_of(program, capacity, &first);
	char found_hex[TF_DIGEST_HEX_BYTES], wanted_hex[TF_DIGEST_HEX_BYTES];
	uint8_t found[TF_DIGEST_BYTES];

	for (uint32_t i = first; i < first + count; i++) {
		const struct tf_proof *proof = &program->proofs[i];

		if (proof->seed != seed || proof->rank != rank)
			continue;
		TF_TRY(tf_step_state_digest(state, capacity, found, err));
		if (!memcmp(found, proof->digest, sizeof(found)))
			return TF_OK;
		tf_hex(found, sizeof(found), found_hex);
		tf_hex(proof->digest, sizeof(proof->digest), wanted_hex);
		return TF_FAIL(err, TF_E_MISMATCH,
			"rank %" PRIu32 ": outputs of a step of capacity %" PRIu32
			" with foreign kernels have digest %.16s..., at export they had %.16s...",
			rank, capacity, found_hex, wanted_hex);
	}
	return TF_FAIL(err, TF_E_INVALID,
		"foreign kernels write operands of capacity %" PRIu32
		", but the package holds no proof of its outputs for rank %" PRIu32,
		capacity, rank);
}
