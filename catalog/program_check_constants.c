/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_program_check: constants. Afterwards every constant buffer has content for every rank, once.
 */
#include "catalog/program_check.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

static enum tf_status check_constant(
	const struct tf_program *program, const struct tf_constant *constant, struct tf_error *err)
{
	const struct tf_buffer *buffer;

	if (constant->buffer >= program->buffer_count)
		return TF_FAIL(err, TF_E_INVALID, "buffer is %" PRIu32 ", there are %" PRIu32,
			constant->buffer, program->buffer_count);
	buffer = &program->buffers[constant->buffer];
	if (buffer->role != TF_BUFFER_CONSTANT)
		return TF_FAIL(err, TF_E_INVALID, "buffer '%s' has role %s, not constant", buffer->name,
			tf_buffer_role_name(buffer->role));
	if (constant->rank < -1 || constant->rank >= (int32_t)program->world)
		return TF_FAIL(err, TF_E_INVALID, "rank is %" PRId32 ", not -1..%" PRIu32, constant->rank,
			program->world - 1);
	if (constant->member >= program->member_count)
		return TF_FAIL(err, TF_E_INVALID, "member is %" PRIu32 ", there are %" PRIu32,
			constant->member, program->member_count);
	if (program->members[constant->member].bytes > buffer->bytes)
		return TF_FAIL(err, TF_E_INVALID,
			"member '%s' has %" PRIu64 " bytes, buffer '%s' has %" PRIu64,
			program->members[constant->member].name, program->members[constant->member].bytes,
			buffer->name, buffer->bytes);
	return TF_OK;
}

/* ranks_of is (buffer_count): a bit for each rank whose content is known. */
static enum tf_status cover_constants(
	const struct tf_program *program, uint8_t *ranks_of, struct tf_error *err)
{
	const uint32_t all = (1u << program->world) - 1;

	for (uint32_t i = 0; i < program->constant_count; i++) {
		const struct tf_constant *constant = &program->constants[i];
		enum tf_status status = check_constant(program, constant, err);
		uint32_t bits;

		if (status != TF_OK) {
			tf_error_prefix(err, "constant %" PRIu32, i);
			return status;
		}
		bits = constant->rank < 0 ? all : 1u << constant->rank;
		if (ranks_of[constant->buffer] & bits)
			return TF_FAIL(err, TF_E_INVALID,
				"constant %" PRIu32 ": buffer '%s' has content for the same rank already", i,
				program->buffers[constant->buffer].name);
		ranks_of[constant->buffer] |= (uint8_t)bits;
	}
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		if (program->buffers[i].role == TF_BUFFER_CONSTANT && ranks_of[i] != all)
			return TF_FAIL(err, TF_E_INVALID, "buffer '%s' lacks content for rank %d",
				program->buffers[i].name, __builtin_ctz(~(uint32_t)ranks_of[i]));
	}
	return TF_OK;
}

enum tf_status tf_check_constants(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;
	enum tf_status status;
	uint8_t *ranks_of;

	TF_TRY(tf_check_count(
		"constants", program->constants, program->constant_count, TF_CONSTANTS_MAX, err));
	ranks_of = tf_calloc(program->buffer_count, sizeof(*ranks_of));
	if (!ranks_of)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to check %" PRIu32 " constants",
			program->constant_count);
	status = cover_constants(program, ranks_of, err);
	tf_free(ranks_of);
	return status;
}
