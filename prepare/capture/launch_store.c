/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches are unique within a program by (kernel, geometry, argument bytes, words): a graph of
 * tens of thousands of nodes has a few thousand of them.
 */
#include "prepare/capture/launch_store.h"

#include <string.h>

#include "base/alloc.h"

/* Everything that makes a launch what it is, as one hash and as one comparison. */
static uint64_t hash_launch(const struct tf_launch *launch, const uint8_t *args,
	uint32_t args_bytes, const struct tf_launch_word *words)
{
	uint64_t hash = tf_fnv64(TF_FNV_START, launch->grid, sizeof(launch->grid));

	hash = tf_fnv64(hash, launch->block, sizeof(launch->block));
	hash = tf_fnv64(hash, &launch->kernel, sizeof(launch->kernel));
	hash = tf_fnv64(hash, args, args_bytes);
	for (uint32_t i = 0; i < launch->words_count; i++)
		hash = tf_fnv64(hash, &words[i].segment_off, sizeof(words[i].segment_off));
	return hash;
}

static int same_launch(const struct tf_program *program, const struct tf_launch *have,
	const struct tf_launch_draft *draft)
{
	const struct tf_launch *want = &draft->launch;
	uint32_t args_bytes = program->kernels[want->kernel].args_bytes;

	if (have->kernel != want->kernel || have->shared_bytes != want->shared_bytes ||
		have->words_count != want->words_count ||
		memcmp(have->grid, want->grid, sizeof(want->grid)) != 0 ||
		memcmp(have->block, want->block, sizeof(want->block)) != 0 ||
		memcmp(program->args.data + have->args_off, draft->args, args_bytes) != 0)
		return 0;
	for (uint32_t i = 0; i < want->words_count; i++) {
		const struct tf_launch_word *a = &program->launch_words[have->words_first + i];
		const struct tf_launch_word *b = &draft->words[i];

		if (a->arg_off != b->arg_off || a->kind != b->kind || a->peer != b->peer ||
			a->segment_off != b->segment_off)
			return 0;
	}
	return 1;
}

static uint64_t hash_stored(const struct tf_program *program, uint32_t index)
{
	const struct tf_launch *launch = &program->launches[index];

	return hash_launch(launch, program->args.data + launch->args_off,
		program->kernels[launch->kernel].args_bytes, program->launch_words + launch->words_first);
}

/* Doubles the table and enters every launch of the program anew. */
static enum tf_status grow_table(
	struct tf_launch_store *store, const struct tf_program *program, struct tf_error *err)
{
	uint32_t size = store->size ? 2 * store->size : 1024;
	uint32_t *table;

	while (size < 4 * (program->launch_count + 1))
		size *= 2;
	table = tf_calloc(size, sizeof(table[0]));
	if (!table)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a table of %u launches", size);
	for (uint32_t i = 0; i < program->launch_count; i++) {
		uint32_t at = (uint32_t)hash_stored(program, i) & (size - 1);

		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = i + 1;
	}
	tf_free(store->table);
	store->table = table;
	store->size = size;
	store->used = program->launch_count;
	return TF_OK;
}

static enum tf_status append(
	struct tf_program *program, struct tf_launch_draft *draft, struct tf_error *err)
{
	struct tf_launch *launches =
		tf_reallocarray(program->launches, program->launch_count + 1, sizeof(program->launches[0]));
	struct tf_launch_word *words;

	if (!launches)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a launch");
	program->launches = launches;
	words = tf_reallocarray(program->launch_words,
		program->launch_word_count + draft->launch.words_count, sizeof(program->launch_words[0]));
	if (!words)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a launch's words");
	program->launch_words = words;
	draft->launch.args_off = program->args.size;
	draft->launch.words_first = program->launch_word_count;
	TF_TRY(tf_bytes_append(
		&program->args, draft->args, program->kernels[draft->launch.kernel].args_bytes, err));
	memcpy(words + program->launch_word_count, draft->words,
		draft->launch.words_count * sizeof(draft->words[0]));
	program->launch_word_count += draft->launch.words_count;
	launches[program->launch_count++] = draft->launch;
	return TF_OK;
}

enum tf_status tf_launch_store_put(struct tf_launch_store *store, struct tf_program *program,
	struct tf_launch_draft *draft, uint32_t *out_launch, struct tf_error *err)
{
	uint32_t at;

	if (2 * (store->used + 1) > store->size)
		TF_TRY(grow_table(store, program, err));
	at = (uint32_t)hash_launch(&draft->launch, draft->args,
			 program->kernels[draft->launch.kernel].args_bytes, draft->words) &
		(store->size - 1);
	for (; store->table[at]; at = (at + 1) & (store->size - 1)) {
		uint32_t index = store->table[at] - 1;

		if (same_launch(program, &program->launches[index], draft)) {
			*out_launch = index;
			return TF_OK;
		}
	}
	TF_TRY(append(program, draft, err));
	*out_launch = program->launch_count - 1;
	store->table[at] = program->launch_count;
	store->used++;
	return TF_OK;
}

void tf_launch_store_fini(struct tf_launch_store *store)
{
	tf_free(store->table);
	memset(store, 0, sizeof(*store));
}
