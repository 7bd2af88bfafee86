/* SPDX-License-Identifier: Apache-2.0 */
/* Reading groups, candidates, selectors and samples. */
#include "catalog/catalog_read_parts.h"

#include "base/alloc.h"
#include "catalog/catalog_rows.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

static enum tf_status read_groups(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_group *items, *item;

	tf_rows_open(&rows, db, "tuned_group",
		"SELECT tuned_group, name, op, dtype, row_elements, capacity, times, buffer_pairs"
		" FROM tuned_group",
		err);
	while (tf_rows_next(&rows)) {
		items = tf_rows_grow(&rows, out->groups, out->group_count, sizeof(*items), TF_GROUPS_MAX);
		if (!items)
			break;
		out->groups = items;
		tf_rows_index(&rows, 0, out->group_count);
		item = &items[out->group_count++];
		tf_rows_text(&rows, 1, item->name, sizeof(item->name));
		item->op = (enum tf_op)tf_rows_enum(&rows, 2, tf_op_parse);
		item->dtype = (enum tf_dtype)tf_rows_enum(&rows, 3, tf_dtype_parse);
		item->row_elements = tf_rows_uint(&rows, 4, TF_ROW_ELEMENTS_MAX);
		item->capacity = (uint32_t)tf_rows_uint(&rows, 5, TF_ROWS_MAX);
		item->times = (uint32_t)tf_rows_uint(&rows, 6, TF_TIMES_MAX);
		item->buffer_pairs = (uint32_t)tf_rows_uint(&rows, 7, TF_TIMES_MAX);
	}
	return tf_rows_close(&rows);
}

/* Columns 1..15 of a candidate's row. */
static void fill_candidate(struct tf_rows *rows, struct tf_group_candidate *item)
{
	item->group = (uint32_t)tf_rows_uint(rows, 1, TF_GROUPS_MAX);
	item->rung = (uint32_t)tf_rows_uint(rows, 2, TF_RUNGS_MAX);
	item->candidate.algorithm = (enum tf_algorithm)tf_rows_enum(rows, 3, tf_algorithm_parse);
	item->candidate.writer = (enum tf_writer)tf_rows_enum(rows, 4, tf_writer_parse);
	item->candidate.threads = (uint32_t)tf_rows_uint(rows, 5, TF_THREADS_MAX);
	item->candidate.ctas = (uint32_t)tf_rows_uint(rows, 6, TF_GRID_MAX);
	item->candidate.chunk_bytes = tf_rows_uint(rows, 7, TF_CHUNK_MAX);
	item->state = (enum tf_candidate_state)tf_rows_enum(rows, 8, tf_candidate_state_parse);
	tf_rows_text(rows, 9, item->reason, sizeof(item->reason));
	for (int stage = 0; stage < 2; stage++) {
		item->stage_median_ns[stage] = tf_rows_int_or(rows, 10 + 3 * stage, -1, INT64_MAX);
		item->stage_low_ns[stage] = tf_rows_int_or(rows, 11 + 3 * stage, -1, INT64_MAX);
		item->stage_high_ns[stage] = tf_rows_int_or(rows, 12 + 3 * stage, -1, INT64_MAX);
	}
}

static enum tf_status read_candidates(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_group_candidate *items;

	tf_rows_open(&rows, db, "candidate",
		"SELECT candidate, tuned_group, rung, algorithm, writer, threads, ctas, chunk_bytes, state,"
		" reason, stage1_median_ns, stage1_low_ns, stage1_high_ns, stage2_median_ns, stage2_low_ns,"
		" stage2_high_ns FROM candidate",
		err);
	while (tf_rows_next(&rows)) {
		items = tf_rows_grow(
			&rows, out->candidates, out->candidate_count, sizeof(*items), TF_CANDIDATES_MAX);
		if (!items)
			break;
		out->candidates = items;
		tf_rows_index(&rows, 0, out->candidate_count);
		fill_candidate(&rows, &items[out->candidate_count++]);
	}
	return tf_rows_close(&rows);
}

static enum tf_status read_selectors(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	uint32_t count = 0;

	if (out->group_count == 0)
		return TF_OK;
	out->selectors = tf_calloc(out->group_count, sizeof(*out->selectors));
	if (!out->selectors)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u selectors", out->group_count);
	tf_rows_open(&rows, db, "selector", "SELECT tuned_group, candidate FROM selector", err);
	while (tf_rows_next(&rows)) {
		tf_rows_index(&rows, 0, count);
		if (count == out->group_count) {
			tf_rows_fail(&rows, TF_E_INVALID, "there are %u groups", out->group_count);
			break;
		}
		out->selectors[count++] = (uint32_t)tf_rows_uint(&rows, 1, TF_CANDIDATES_MAX);
	}
	if (count < out->group_count)
		tf_rows_fail(&rows, TF_E_INVALID, "missing, there are %u groups", out->group_count);
	return tf_rows_close(&rows);
}

static enum tf_status read_samples(sqlite3 *db, struct tf_program *out, struct tf_error *err)
{
	struct tf_rows rows;
	struct tf_sample *items, *item;

	tf_rows_open(
		&rows, db, "sample", "SELECT candidate, stage, pass, slowest_rank, ns FROM sample", err);
	while (tf_rows_next(&rows)) {
		items =
			tf_rows_grow(&rows, out->samples, out->sample_count, sizeof(*items), TF_SAMPLES_MAX);
		if (!items)
			break;
		out->samples = items;
		item = &items[out->sample_count++];
		item->group_candidate = (uint32_t)tf_rows_uint(&rows, 0, TF_CANDIDATES_MAX);
		item->stage = (uint8_t)tf_rows_uint(&rows, 1, TF_SAMPLE_STAGES);
		item->pass = (uint8_t)tf_rows_uint(&rows, 2, TF_SAMPLE_PASSES);
		item->slowest_rank = (uint8_t)tf_rows_uint(&rows, 3, TF_WORLD_MAX);
		item->ns = (int64_t)tf_rows_uint(&rows, 4, INT64_MAX);
	}
	return tf_rows_close(&rows);
}

enum tf_status tf_read_tuning(
	sqlite3 *db, int with_samples, struct tf_program *out, struct tf_error *err)
{
	TF_TRY(read_groups(db, out, err));
	TF_TRY(read_candidates(db, out, err));
	TF_TRY(read_selectors(db, out, err));
	return with_samples ? read_samples(db, out, err) : TF_OK;
}
