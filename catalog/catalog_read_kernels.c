/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading modules, kernels, launches and their words. Words come by owner and are kept in one
 * array; an owner knows its first and how many.
 */
#include "catalog/catalog_read_parts.h"

#include <inttypes.h>
#include <string.h>

#include "catalog/catalog_rows.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

/*
 * Argument structs start on this boundary in program.args, so that host code may read them in
 * place.
 */
#define ARGS_ALIGN 16

static enum tf_status read_modules(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_module *items, *item;
	const void *digest;

	tf_rows_open(&rows, db, "module",
		"SELECT module, name, kind, compute_capability, member, digest FROM module", err);
	while (tf_rows_next(&rows)) {
		items =
			tf_rows_grow(&rows, out->modules, out->module_count, sizeof(*items), TF_MODULES_MAX);
		if (!items)
			break;
		out->modules = items;
		tf_rows_index(&rows, 0, out->module_count);
		item = &items[out->module_count++];
		tf_rows_text(&rows, 1, item->name, sizeof(item->name));
		item->kind = (enum tf_module_kind)tf_rows_enum(&rows, 2, tf_module_kind_parse);
		item->compute_capability = (uint32_t)tf_rows_uint(&rows, 3, UINT32_MAX);
		item->member = (uint32_t)tf_rows_int_or(&rows, 4, TF_PROGRAM_NONE, TF_MEMBERS_MAX);
		digest = tf_rows_blob(&rows, 5, TF_DIGEST_BYTES);
		if (digest)
			memcpy(item->digest, digest, TF_DIGEST_BYTES);
	}
	return tf_rows_close(&rows);
}

static enum tf_status read_kernel_rows(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_kernel *items, *item;

	tf_rows_open(&rows, db, "kernel", "SELECT kernel, name, module, args_bytes FROM kernel", err);
	while (tf_rows_next(&rows)) {
		items =
			tf_rows_grow(&rows, out->kernels, out->kernel_count, sizeof(*items), TF_KERNELS_MAX);
		if (!items)
			break;
		out->kernels = items;
		tf_rows_index(&rows, 0, out->kernel_count);
		item = &items[out->kernel_count++];
		tf_rows_text(&rows, 1, item->name, sizeof(item->name));
		item->module = (uint32_t)tf_rows_uint(&rows, 2, TF_MODULES_MAX);
		item->args_bytes = (uint32_t)tf_rows_uint(&rows, 3, TF_KERNEL_ARGS_MAX);
	}
	return tf_rows_close(&rows);
}

/* Whether `owner` is not before `last` and exists; else a fault. */
static int owner_is_next(struct tf_rows *rows, uint64_t owner, uint32_t last, uint32_t count)
{
	if (rows->status != TF_OK)
		return 0;
	if (owner >= last && owner < count)
		return 1;
	tf_rows_fail(rows, TF_E_INVALID, "owner is %" PRIu64 ", not %" PRIu32 " or later of %" PRIu32,
		owner, last, count);
	return 0;
}

static enum tf_status read_kernel_words(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_kernel_word *items, *item;
	uint32_t last = 0; /* words_first is known up to this kernel */

	tf_rows_open(&rows, db, "kernel_word",
		"SELECT kernel, arg_off, kind, nullable, name FROM kernel_word", err);
	while (tf_rows_next(&rows)) {
		uint64_t kernel = tf_rows_uint(&rows, 0, TF_KERNELS_MAX);

		if (!owner_is_next(&rows, kernel, last, out->kernel_count))
			break;
		items = tf_rows_grow(
			&rows, out->kernel_words, out->kernel_word_count, sizeof(*items), TF_KERNEL_WORDS_MAX);
		if (!items)
			break;
		out->kernel_words = items;
		while (last < kernel)
			out->kernels[++last].words_first = out->kernel_word_count;
		out->kernels[kernel].words_count++;
		item = &items[out->kernel_word_count++];
		item->arg_off = (uint32_t)tf_rows_uint(&rows, 1, TF_KERNEL_ARGS_MAX);
		item->kind = (enum tf_word_kind)tf_rows_uint(&rows, 2, TF_WORD_RANK);
		item->nullable = (uint8_t)tf_rows_uint(&rows, 3, 1);
		tf_rows_text(&rows, 4, item->name, sizeof(item->name));
	}
	while (last + 1 < out->kernel_count)
		out->kernels[++last].words_first = out->kernel_word_count;
	return tf_rows_close(&rows);
}

static void read_args(
	struct tf_rows *rows, int column, struct tf_program *out, struct tf_launch *launch)
{
	const void *blob;
	void *to;
	uint32_t size;
	uint64_t padding = tf_align_up(out->args.size, ARGS_ALIGN) - out->args.size;

	if (rows->status != TF_OK)
		return;
	if (launch->kernel >= out->kernel_count) {
		tf_rows_fail(rows, TF_E_INVALID, "kernel is %" PRIu32 ", there are %" PRIu32,
			launch->kernel, out->kernel_count);
		return;
	}
	size = out->kernels[launch->kernel].args_bytes;
	blob = tf_rows_blob(rows, column, size);
	if (!blob) /* a fault, or a kernel without arguments */
		return;
	launch->args_off = out->args.size + padding;
	if (launch->args_off + size > TF_ARGS_MAX) {
		tf_rows_fail(rows, TF_E_LIMIT, "more than %" PRIu64 " bytes of arguments", TF_ARGS_MAX);
		return;
	}
	rows->status = tf_bytes_extend(&out->args, padding + size, &to, rows->err);
	if (rows->status == TF_OK)
		memcpy(out->args.data + launch->args_off, blob, size);
}

static enum tf_status read_launches(
	sqlite3 *db, uint32_t launch_end, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_launch *items, *item;

	tf_rows_open(&rows, db, "launch",
		"SELECT launch, kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, "
		"args"
		" FROM launch",
		err);
	while (out->launch_count < launch_end && tf_rows_next(&rows)) {
		items =
			tf_rows_grow(&rows, out->launches, out->launch_count, sizeof(*items), TF_LAUNCHES_MAX);
		if (!items)
			break;
		out->launches = items;
		tf_rows_index(&rows, 0, out->launch_count);
		item = &items[out->launch_count++];
		item->kernel = (uint32_t)tf_rows_uint(&rows, 1, TF_KERNELS_MAX);
		for (int i = 0; i < 3; i++) {
			item->grid[i] = (uint32_t)tf_rows_uint(&rows, 2 + i, UINT32_MAX);
			item->block[i] = (uint32_t)tf_rows_uint(&rows, 5 + i, UINT32_MAX);
		}
		item->shared_bytes = (uint32_t)tf_rows_uint(&rows, 8, UINT32_MAX);
		read_args(&rows, 9, out, item);
	}
	return tf_rows_close(&rows);
}

/* Without the startup graph, words of launches behind those loaded end the reading. */
static enum tf_status read_launch_words(
	sqlite3 *db, int is_partial, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_launch_word *items, *item;
	uint32_t last = 0;

	tf_rows_open(&rows, db, "launch_word",
		"SELECT launch, arg_off, kind, peer, segment_off FROM launch_word", err);
	while (tf_rows_next(&rows)) {
		uint64_t launch = tf_rows_uint(&rows, 0, TF_LAUNCHES_MAX);

		if (is_partial && launch >= out->launch_count)
			break;
		if (!owner_is_next(&rows, launch, last, out->launch_count))
			break;
		items = tf_rows_grow(
			&rows, out->launch_words, out->launch_word_count, sizeof(*items), TF_LAUNCH_WORDS_MAX);
		if (!items)
			break;
		out->launch_words = items;
		while (last < launch)
			out->launches[++last].words_first = out->launch_word_count;
		out->launches[launch].words_count++;
		item = &items[out->launch_word_count++];
		item->arg_off = (uint32_t)tf_rows_uint(&rows, 1, TF_KERNEL_ARGS_MAX);
		item->kind = (enum tf_word_kind)tf_rows_uint(&rows, 2, TF_WORD_RANK);
		item->peer = (uint32_t)tf_rows_uint(&rows, 3, TF_WORLD_MAX);
		item->segment_off = tf_rows_uint(&rows, 4, INT64_MAX);
	}
	while (last + 1 < out->launch_count)
		out->launches[++last].words_first = out->launch_word_count;
	return tf_rows_close(&rows);
}

enum tf_status tf_read_kernels(
	sqlite3 *db, uint32_t launch_end, struct tf_program *out, struct tf_error *err)
{
	TF_TRY(read_modules(db, out, err));
	TF_TRY(read_kernel_rows(db, out, err));
	TF_TRY(read_kernel_words(db, out, err));
	TF_TRY(read_launches(db, launch_end, out, err));
	return read_launch_words(db, launch_end != TF_PROGRAM_NONE, out, err);
}
