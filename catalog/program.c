/* SPDX-License-Identifier: Apache-2.0 */
/* The program as data: release, identity, names and counts. */
#include "catalog/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

void tf_program_fini(struct tf_program *program)
{
	if (!program)
		return;
	for (uint32_t i = 0; program->identity && i < program->identity_count; i++)
		tf_free(program->identity[i].value);
	for (uint32_t i = 0; program->graphs && i < program->graph_count; i++) {
		tf_free(program->graphs[i].nodes);
		tf_free(program->graphs[i].edges);
	}
	tf_free(program->identity);
	tf_free(program->groups);
	tf_free(program->candidates);
	tf_free(program->selectors);
	tf_free(program->samples);
	tf_free(program->buffers);
	tf_free(program->constants);
	tf_free(program->modules);
	tf_free(program->kernels);
	tf_free(program->kernel_words);
	tf_free(program->launches);
	tf_free(program->launch_words);
	tf_bytes_fini(&program->args);
	tf_free(program->graphs);
	tf_free(program->members);
	tf_free(program->kernel_params);
	tf_free(program->touched);
	tf_free(program->proofs);
	memset(program, 0, sizeof(*program));
}

/* The first row whose key is not below `key`. */
static uint32_t identity_place(const struct tf_program *program, const char *key)
{
	uint32_t low = 0, high = program->identity_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(program->identity[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int identity_holds(const struct tf_program *program, uint32_t at, const char *key)
{
	return at < program->identity_count && !strcmp(program->identity[at].key, key);
}

enum tf_status tf_program_set_identity(
	struct tf_program *program, const char *key, const char *value, struct tf_error *err)
{
	uint32_t at = identity_place(program, key);
	struct tf_identity *rows;
	char *copy;

	if (strlen(key) >= TF_IDENTITY_KEY_BYTES)
		return TF_FAIL(err, TF_E_LIMIT, "identity key '%s' is %zu bytes, not fewer than %d", key,
			strlen(key), TF_IDENTITY_KEY_BYTES);
	copy = tf_strdup(value);
	if (!copy)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for identity '%s'", key);
	if (identity_holds(program, at, key)) {
		tf_free(program->identity[at].value);
		program->identity[at].value = copy;
		return TF_OK;
	}
	rows = tf_reallocarray(program->identity, (size_t)program->identity_count + 1, sizeof(*rows));
	if (!rows) {
		tf_free(copy);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for identity '%s'", key);
	}
	program->identity = rows;
	memmove(rows + at + 1, rows + at, (program->identity_count - at) * sizeof(*rows));
	memset(&rows[at], 0, sizeof(rows[at]));
	memcpy(rows[at].key, key, strlen(key));
	rows[at].value = copy;
	program->identity_count++;
	return TF_OK;
}

const char *tf_program_identity(const struct tf_program *program, const char *key)
{
	uint32_t at = identity_place(program, key);

	return identity_holds(program, at, key) ? program->identity[at].value : NULL;
}

char *tf_candidate_name(const struct tf_candidate *candidate, char *out)
{
	const char *algorithm = tf_algorithm_name(candidate->algorithm);
	const char *writer = tf_writer_name(candidate->writer);
	int used;

	if (tf_candidate_is_library(candidate)) {
		snprintf(out, TF_CANDIDATE_NAME_BYTES, "%s", writer ? writer : "unknown");
		return out;
	}
	used = snprintf(out, TF_CANDIDATE_NAME_BYTES, "%s/%s/t%" PRIu32 "/c%" PRIu32,
		algorithm ? algorithm : "unknown", writer ? writer : "unknown", candidate->threads,
		candidate->ctas);

	if (candidate->chunk_bytes)
		snprintf(out + used, TF_CANDIDATE_NAME_BYTES - (size_t)used, "/k%" PRIu64,
			candidate->chunk_bytes);
	return out;
}

int tf_graph_calls_library(const struct tf_graph *graph)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].kind == TF_NODE_COMM)
			return 1;
	}
	return 0;
}

int tf_program_calls_library(const struct tf_program *program)
{
	for (uint32_t i = 0; i < program->graph_count; i++) {
		if (tf_graph_calls_library(&program->graphs[i]))
			return 1;
	}
	return 0;
}

int tf_program_tries_library(const struct tf_program *program)
{
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		if (tf_candidate_is_library(&program->candidates[i].candidate))
			return 1;
	}
	return 0;
}

int tf_program_allows_any(const struct tf_program *program, uint32_t group)
{
	const char *at = tf_program_identity(program, TF_NUMERICS_ANY_KEY);
	const char *name = program->groups[group].name;
	size_t bytes = strlen(name);

	while (at && *at) {
		size_t word = strcspn(at, " ");

		if (word == bytes && !memcmp(at, name, bytes))
			return 1;
		at += word + (at[word] == ' ');
	}
	return 0;
}

int tf_program_rounds(const struct tf_program *program, uint32_t group)
{
	const struct tf_candidate *pick = &program->candidates[program->selectors[group]].candidate;

	return tf_candidate_is_library(pick) && tf_program_allows_any(program, group);
}

int tf_program_is_touched(const struct tf_program *program, uint32_t buffer)
{
	for (uint32_t i = 0; i < program->touched_count; i++) {
		if (program->touched[i] == buffer)
			return 1;
	}
	return 0;
}

int tf_program_has_foreign(const struct tf_program *program)
{
	for (uint32_t i = 0; i < program->module_count; i++) {
		if (program->modules[i].kind == TF_MODULE_HOST &&
			program->modules[i].member != TF_PROGRAM_NONE)
			return 1;
	}
	return program->kernel_param_count || program->touched_count || program->proof_count;
}

int tf_candidate_equal(const struct tf_candidate *a, const struct tf_candidate *b)
{
	return a->algorithm == b->algorithm && a->writer == b->writer && a->threads == b->threads &&
		a->ctas == b->ctas && a->chunk_bytes == b->chunk_bytes;
}

uint64_t tf_shard_count(uint64_t count, uint32_t world)
{
	return count / world + (count % world != 0);
}

uint64_t tf_group_input_count(const struct tf_group *group)
{
	return group->row_elements * group->capacity;
}

uint64_t tf_group_output_count(const struct tf_group *group, uint32_t world)
{
	uint64_t count = tf_group_input_count(group);

	switch (group->op) {
	case TF_OP_ALL_GATHER:
		return count * world;
	case TF_OP_REDUCE_SCATTER:
		return tf_shard_count(count, world);
	default:
		return count;
	}
}

uint64_t tf_group_input_bytes(const struct tf_group *group)
{
	return tf_group_input_count(group) * tf_dtype_bytes(group->dtype);
}

uint64_t tf_group_output_bytes(const struct tf_group *group, uint32_t world)
{
	return tf_group_output_count(group, world) * tf_dtype_bytes(group->dtype);
}
