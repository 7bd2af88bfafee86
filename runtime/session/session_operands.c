/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands of a session: generated inputs, what the outputs must then be, and the comparison.
 *
 * 1. Expected outputs are computed from the operands of all ranks, never read from a peer.
 * 2. One stream of operands a rank serves all buffers, each from a start of its own, so that
 *    buffers differ and a capacity costs no more than its largest input to generate.
 * 3. Memory is kept between fills: a second fill of the same size allocates nothing.
 */
#include "runtime/session/session_private.h"

#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/output_check.h"
#include "runtime/session/step_state.h"

/* Whether a buffer is an operand of a group of this capacity. */
static int belongs(const struct tf_session *session, const struct tf_buffer *buffer,
	uint32_t capacity, enum tf_buffer_role role)
{
	return buffer->role == role && buffer->group != TF_PROGRAM_NONE &&
		session->package.program.groups[buffer->group].capacity == capacity;
}

static uint64_t outputs_bytes(const struct tf_session *session, uint32_t capacity)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < session->package.program.buffer_count; i++) {
		if (belongs(session, &session->package.program.buffers[i], capacity, TF_BUFFER_OUTPUT))
			total += session->package.program.buffers[i].bytes;
	}
	return total;
}

static uint64_t owned_bytes(const struct tf_session *session, const struct tf_group *group)
{
	return tf_owned_count(group->op, tf_group_input_count(group), session->rank, session->world) *
		tf_dtype_bytes(group->dtype);
}

/* The input that goes with an output: the buffer before it, or whichever bears the same pair. */
static uint32_t input_of(const struct tf_session *session, uint32_t output)
{
	const struct tf_buffer *buffers = session->package.program.buffers;

	for (uint32_t i = output; i-- > 0;) {
		if (buffers[i].role == TF_BUFFER_INPUT && buffers[i].group == buffers[output].group &&
			buffers[i].pair == buffers[output].pair)
			return i;
	}
	return TF_PROGRAM_NONE;
}

/* All ranks' inputs of an output: each from its own start in the ranks' streams. */
static void operands_of(
	const struct tf_session *session, uint32_t output, const void *inputs[TF_WORLD_MAX])
{
	enum tf_dtype dtype = session->package.program.buffers[output].dtype;
	uint64_t width = tf_dtype_bytes(dtype), first = (uint64_t)output * TF_STEP_STREAM;

	for (uint32_t r = 0; r < session->world; r++)
		inputs[r] = session->streams[dtype] + (r * session->stream_count + first) * width;
}

/* Writes this rank's input and prepares the output that must come of all ranks' inputs. */
static enum tf_status fill_pair(
	struct tf_session *session, uint32_t output, uint8_t *expected, struct tf_error *err)
{
	const struct tf_buffer *buffer = &session->package.program.buffers[output];
	const struct tf_group *group = &session->package.program.groups[buffer->group];
	const void *inputs[TF_WORLD_MAX];
	uint32_t target = input_of(session, output);

	if (target == TF_PROGRAM_NONE)
		return TF_FAIL(err, TF_E_INVALID, "buffer '%s' has no input", buffer->name);
	operands_of(session, output, inputs);
	tf_expected_output(group, session->world, session->rank, inputs, expected);
	return session->ops->write(session->device, tf_session_buffer_data(session, target),
		inputs[session->rank], tf_group_input_bytes(group), err);
}

/* Elements that the streams need for a capacity: its largest input behind the last start. */
static uint64_t stream_elements(const struct tf_session *session, uint32_t capacity)
{
	const struct tf_program *program = &session->package.program;
	uint64_t largest = 0;

	for (uint32_t i = 0; i < program->group_count; i++) {
		uint64_t count = tf_group_input_count(&program->groups[i]);

		if (program->groups[i].capacity == capacity && count > largest)
			largest = count;
	}
	return largest + (uint64_t)program->buffer_count * TF_STEP_STREAM;
}

static enum tf_status grow(uint8_t **buffer, uint64_t bytes, struct tf_error *err)
{
	uint8_t *grown = tf_reallocarray(*buffer, 1, bytes);

	if (!grown)
		return TF_FAIL(
			err, TF_E_NO_MEMORY, "no memory for %llu bytes of operands", (unsigned long long)bytes);
	*buffer = grown;
	return TF_OK;
}

static int has_dtype(const struct tf_program *program, enum tf_dtype dtype)
{
	for (uint32_t g = 0; g < program->group_count; g++) {
		if (program->groups[g].dtype == dtype)
			return 1;
	}
	return 0;
}

/*
 * Every rank's stream of `seed` in each data type that the program uses; nothing where they are
 * there already.
 */
static enum tf_status make_streams(
	struct tf_session *session, uint64_t count, uint64_t seed, struct tf_error *err)
{
	int grows;

	if (session->stream_count >= count && session->stream_seed == seed)
		return TF_OK;
	if (count < session->stream_count)
		count = session->stream_count;
	grows = count > session->stream_count;
	session->stream_count = 0; /* until all are of one length and seed, none counts */
	for (int d = 0; d < TF_DTYPE_COUNT; d++) {
		enum tf_dtype dtype = (enum tf_dtype)d;
		uint64_t stride = count * tf_dtype_bytes(dtype);

		if (!has_dtype(&session->package.program, dtype))
			continue;
		if (grows)
			TF_TRY(grow(&session->streams[d], session->world * stride, err));
		for (uint32_t r = 0; r < session->world; r++)
			tf_operand_fill(
				TF_FILL_RANDOM, dtype, seed, r, count, session->streams[d] + r * stride);
	}
	session->stream_count = count;
	session->stream_seed = seed;
	return TF_OK;
}

static struct tf_step_state state_of(struct tf_session *session)
{
	return (struct tf_step_state){session->ops, session->device, session->stream, &session->window,
		&session->package.program};
}

enum tf_status tf_session_fill(
	struct tf_session *session, uint64_t rows, uint64_t seed, struct tf_error *err)
{
	uint64_t at = 0, bytes;
	uint32_t capacity;

	TF_TRY(tf_session_capacity_for(session, rows, &capacity, err));
	session->expected_capacity = 0;
	seed = tf_step_state_seed(&session->package.program, capacity, seed);
	bytes = outputs_bytes(session, capacity);
	if (session->expected_bytes < bytes) {
		TF_TRY(grow(&session->expected, bytes, err));
		session->expected_bytes = bytes;
	}
	TF_TRY(make_streams(session, stream_elements(session, capacity), seed, err));
	for (uint32_t i = 0; i < session->package.program.buffer_count; i++) {
		const struct tf_buffer *buffer = &session->package.program.buffers[i];

		if (!belongs(session, buffer, capacity, TF_BUFFER_OUTPUT))
			continue;
		TF_TRY(fill_pair(session, i, session->expected + at, err));
		at += buffer->bytes;
	}
	if (session->package.program.proof_count) {
		struct tf_step_state state = state_of(session);

		TF_TRY(tf_step_state_fill_own(&state, capacity, seed, err));
	}
	session->expected_capacity = capacity;
	session->expected_seed = seed;
	return TF_OK;
}

void tf_session_poison(struct tf_session *session, uint64_t rows)
{
	uint32_t capacity;

	if (tf_session_capacity_for(session, rows, &capacity, NULL) != TF_OK)
		return;
	for (uint32_t i = 0; i < session->package.program.buffer_count; i++) {
		const struct tf_buffer *buffer = &session->package.program.buffers[i];

		if (belongs(session, buffer, capacity, TF_BUFFER_OUTPUT) ||
			(buffer->role == TF_BUFFER_OUTPUT && buffer->group == TF_PROGRAM_NONE))
			(void)!session->ops->stream_set(session->stream, tf_session_buffer_data(session, i),
				TF_STEP_POISON, buffer->bytes, NULL);
	}
}

/* Names the first element that differs, with both values in hex. */
static enum tf_status mismatch(const struct tf_session *session, const struct tf_buffer *buffer,
	const uint8_t *found, const uint8_t *wanted, struct tf_error *err)
{
	size_t width = tf_dtype_bytes(buffer->dtype), at = 0;
	char found_hex[16], wanted_hex[16];

	while (found[at] == wanted[at])
		at++;
	at -= at % width;
	tf_hex(found + at, width, found_hex);
	tf_hex(wanted + at, width, wanted_hex);
	return TF_FAIL(err, TF_E_MISMATCH,
		"rank %u: buffer '%s', element %zu holds bytes %s where the reference has %s",
		session->rank, buffer->name, at / width, found_hex, wanted_hex);
}

/* A buffer's bytes in place, or copied to memory that the session keeps. */
static enum tf_status look_at(struct tf_session *session, uint32_t buffer, uint64_t bytes,
	const uint8_t **out_found, struct tf_error *err)
{
	void *data = tf_session_buffer_data(session, buffer);

	if (session->properties.capabilities & TF_DEVICE_ADDRESSABLE) {
		*out_found = data;
		return TF_OK;
	}
	if (session->found_bytes < bytes) {
		TF_TRY(grow(&session->found, bytes, err));
		session->found_bytes = bytes;
	}
	*out_found = session->found;
	return bytes ? session->ops->read(session->device, session->found, data, bytes, err) : TF_OK;
}

/*
 * Whether the reference can tell what an output must be: no foreign kernel may have written what it
 * is made of.
 */
static int has_reference(const struct tf_session *session, uint32_t output)
{
	const struct tf_program *program = &session->package.program;

	return !tf_program_is_touched(program, output) &&
		!tf_program_is_touched(program, input_of(session, output));
}

/* Where the workload allows sums of another numerics class, and the pick makes such. */
static int is_rounded(const struct tf_session *session, uint32_t output, const uint8_t *expected,
	const uint8_t *found)
{
	const struct tf_program *program = &session->package.program;
	uint32_t index = program->buffers[output].group;
	const struct tf_group *group = &program->groups[index];
	const void *inputs[TF_WORLD_MAX];
	uint64_t element;

	if (!tf_program_rounds(program, index))
		return 0;
	operands_of(session, output, inputs);
	return tf_output_check(group, session->world, session->rank, inputs, expected, found,
			   &element) == TF_OUTPUT_ROUNDED;
}

static enum tf_status compare_references(
	struct tf_session *session, uint32_t capacity, struct tf_error *err)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < session->package.program.buffer_count; i++) {
		const struct tf_buffer *buffer = &session->package.program.buffers[i];
		const uint8_t *found = NULL;
		uint64_t bytes;

		if (!belongs(session, buffer, capacity, TF_BUFFER_OUTPUT))
			continue;
		bytes = has_reference(session, i)
			? owned_bytes(session, &session->package.program.groups[buffer->group])
			: 0;
		TF_TRY(look_at(session, i, bytes, &found, err));
		if (bytes && memcmp(found, session->expected + at, bytes) != 0 &&
			!is_rounded(session, i, session->expected + at, found))
			return mismatch(session, buffer, found, session->expected + at, err);
		at += buffer->bytes;
	}
	return TF_OK;
}

/* What foreign kernels have a hand in: the digest that the package holds for these operands. */
static enum tf_status compare_proof(
	struct tf_session *session, uint32_t capacity, struct tf_error *err)
{
	struct tf_step_state state = state_of(session);

	if (!session->package.program.touched_count)
		return TF_OK;
	return tf_step_state_compare(&state, capacity, session->expected_seed, err);
}

enum tf_status tf_session_compare(struct tf_session *session, uint64_t rows, struct tf_error *err)
{
	uint32_t capacity;

	TF_TRY(tf_session_capacity_for(session, rows, &capacity, err));
	if (capacity != session->expected_capacity)
		return TF_FAIL(err, TF_E_INTERNAL, "no expected outputs for capacity %u", capacity);
	TF_TRY(compare_references(session, capacity, err));
	return compare_proof(session, capacity, err);
}
