/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_program_check: foreign kernels. Invariants afterwards:
 * 1. Parameters of a kernel rise, do not overlap and lie inside its argument struct; each address
 *    word lies inside one of them.
 * 2. Every address of a foreign launch lies in a declared buffer of the rank's own segment, and in
 *    none of the protocol.
 * 3. Proofs are ordered, and hold every rank for each (capacity, seed).
 */
#include "catalog/program_check.h"

#include <inttypes.h>

#include "catalog/program_limits.h"
#include "catalog/program_names.h"

/* Whether one parameter holds all of the word. */
static int is_in_param(const struct tf_program *program, const struct tf_kernel *kernel,
	const struct tf_kernel_word *word)
{
	for (uint32_t i = 0; i < kernel->params_count; i++) {
		const struct tf_kernel_param *param = &program->kernel_params[kernel->params_first + i];

		if (word->arg_off >= param->arg_off && param->bytes >= tf_word_bytes(word->kind) &&
			word->arg_off - param->arg_off <= param->bytes - tf_word_bytes(word->kind))
			return 1;
	}
	return 0;
}

static enum tf_status check_params(
	const struct tf_program *program, const struct tf_kernel *kernel, struct tf_error *err)
{
	uint64_t free_off = 0;

	if (kernel->params_first > program->kernel_param_count ||
		kernel->params_count > program->kernel_param_count - kernel->params_first)
		return TF_FAIL(err, TF_E_INVALID,
			"parameters %" PRIu32 " + %" PRIu32 " pass the %" PRIu32 " there are",
			kernel->params_first, kernel->params_count, program->kernel_param_count);
	if (kernel->params_count > TF_PARAMS_A_KERNEL)
		return TF_FAIL(err, TF_E_LIMIT, "%" PRIu32 " parameters, at most %d are allowed",
			kernel->params_count, TF_PARAMS_A_KERNEL);
	for (uint32_t i = 0; i < kernel->params_count; i++) {
		const struct tf_kernel_param *param = &program->kernel_params[kernel->params_first + i];

		if (param->arg_off < free_off || !param->bytes)
			return TF_FAIL(err, TF_E_INVALID,
				"parameter %" PRIu32 ": %" PRIu32 " bytes at %" PRIu32
				" are none, or lie before or inside the one before",
				i, param->bytes, param->arg_off);
		free_off = (uint64_t)param->arg_off + param->bytes;
		if (free_off > kernel->args_bytes)
			return TF_FAIL(err, TF_E_INVALID,
				"parameter %" PRIu32 " passes the %" PRIu32 " bytes of the arguments", i,
				kernel->args_bytes);
	}
	for (uint32_t i = 0; kernel->params_count && i < kernel->words_count; i++) {
		const struct tf_kernel_word *word = &program->kernel_words[kernel->words_first + i];

		if (!is_in_param(program, kernel, word))
			return TF_FAIL(err, TF_E_INVALID,
				"word '%s' at arg_off %" PRIu32 " lies in no parameter", word->name, word->arg_off);
	}
	return TF_OK;
}

/* tf_check_place has found the word in some place; here it must be a buffer, and the rank's own. */
static enum tf_status check_address(
	const struct tf_program *program, const struct tf_launch_word *word, struct tf_error *err)
{
	if (word->kind != TF_WORD_ADDRESS)
		return TF_OK;
	if (word->peer)
		return TF_FAIL(err, TF_E_INVALID,
			"the word at arg_off %" PRIu32 " lies in the segment of peer %" PRIu32, word->arg_off,
			word->peer);
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		const struct tf_buffer *buffer = &program->buffers[i];

		if (buffer->role != TF_BUFFER_PROTOCOL && word->segment_off >= buffer->segment_off &&
			word->segment_off - buffer->segment_off < buffer->bytes)
			return TF_OK;
	}
	return TF_FAIL(err, TF_E_INVALID,
		"the word at arg_off %" PRIu32 ", offset %" PRIu64 ", lies in no declared buffer",
		word->arg_off, word->segment_off);
}

static enum tf_status check_launches(const struct tf_program *program, struct tf_error *err)
{
	for (uint32_t i = 0; i < program->launch_count; i++) {
		const struct tf_launch *launch = &program->launches[i];
		const struct tf_kernel *kernel = &program->kernels[launch->kernel];

		for (uint32_t w = 0; kernel->params_count && w < launch->words_count; w++) {
			enum tf_status status =
				check_address(program, &program->launch_words[launch->words_first + w], err);

			if (status != TF_OK) {
				tf_error_prefix(err, "launch %" PRIu32 " of foreign kernel '%s'", i, kernel->name);
				return status;
			}
		}
	}
	return TF_OK;
}

static enum tf_status check_touched(const struct tf_program *program, struct tf_error *err)
{
	TF_TRY(tf_check_count(
		"touched buffers", program->touched, program->touched_count, TF_BUFFERS_MAX, err));
	for (uint32_t i = 0; i < program->touched_count; i++) {
		if (program->touched[i] >= program->buffer_count ||
			(i && program->touched[i] <= program->touched[i - 1]))
			return TF_FAIL(err, TF_E_INVALID,
				"touched %" PRIu32 ": buffer is %" PRIu32 ", not rising below %" PRIu32, i,
				program->touched[i], program->buffer_count);
	}
	return TF_OK;
}

/* The next rank must follow, or rank 0 of a later (capacity, seed) after the last one. */
static enum tf_status check_proof(
	const struct tf_program *program, const struct tf_proof *proof, struct tf_error *err)
{
	const struct tf_proof *last = proof == program->proofs ? NULL : proof - 1;
	uint32_t rank = last ? (last->rank + 1) % program->world : 0;
	int is_same = last && last->capacity == proof->capacity && last->seed == proof->seed;
	int rises = !last || last->capacity < proof->capacity ||
		(last->capacity == proof->capacity && last->seed < proof->seed);

	if (proof->capacity == 0 || proof->capacity > TF_ROWS_MAX || proof->seed > INT64_MAX)
		return TF_FAIL(err, TF_E_INVALID, "capacity is %" PRIu32 ", not 1..%d, or seed is negative",
			proof->capacity, TF_ROWS_MAX);
	if (proof->rank != rank || (rank ? !is_same : !rises))
		return TF_FAIL(err, TF_E_INVALID,
			"capacity %" PRIu32 ", seed %" PRIu64 ", rank %" PRIu32
			" is out of order, or lacks a rank before it",
			proof->capacity, proof->seed, proof->rank);
	return TF_OK;
}

static enum tf_status check_proofs(const struct tf_program *program, struct tf_error *err)
{
	TF_TRY(tf_check_count("proofs", program->proofs, program->proof_count, TF_PROOFS_MAX, err));
	for (uint32_t i = 0; i < program->proof_count; i++) {
		enum tf_status status = check_proof(program, &program->proofs[i], err);

		if (status != TF_OK) {
			tf_error_prefix(err, "proof %" PRIu32, i);
			return status;
		}
	}
	if (program->proof_count % program->world)
		return TF_FAIL(err, TF_E_INVALID,
			"%" PRIu32 " proofs, the last seed lacks ranks of %" PRIu32, program->proof_count,
			program->world);
	return TF_OK;
}

enum tf_status tf_check_foreign(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	TF_TRY(tf_check_count("parameters", program->kernel_params, program->kernel_param_count,
		TF_KERNEL_PARAMS_MAX, err));
	for (uint32_t i = 0; i < program->kernel_count; i++) {
		enum tf_status status = check_params(program, &program->kernels[i], err);

		if (status != TF_OK) {
			tf_error_prefix(err, "kernel %" PRIu32 " '%s'", i, program->kernels[i].name);
			return status;
		}
	}
	TF_TRY(check_launches(program, err));
	TF_TRY(check_touched(program, err));
	return check_proofs(program, err);
}
