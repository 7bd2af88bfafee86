/* SPDX-License-Identifier: Apache-2.0 */
/* Writing groups, candidates, selectors and samples. */
#include "catalog/catalog_insert.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "catalog/program_names.h"

static enum tf_status write_groups(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "tuned_group", 8, err);
	for (uint32_t i = 0; i < program->group_count; i++) {
		const struct tf_group *group = &program->groups[i];

		tf_insert_uint(&insert, i);
		tf_insert_text(&insert, group->name);
		tf_insert_text(&insert, tf_op_name(group->op));
		tf_insert_text(&insert, tf_dtype_name(group->dtype));
		tf_insert_uint(&insert, group->row_elements);
		tf_insert_uint(&insert, group->capacity);
		tf_insert_uint(&insert, group->times);
		tf_insert_uint(&insert, group->buffer_pairs);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_candidates(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "candidate", 16, err);
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *row = &program->candidates[i];

		tf_insert_uint(&insert, i);
		tf_insert_uint(&insert, row->group);
		tf_insert_uint(&insert, row->rung);
		tf_insert_text(&insert, tf_algorithm_name(row->candidate.algorithm));
		tf_insert_text(&insert, tf_writer_name(row->candidate.writer));
		tf_insert_uint(&insert, row->candidate.threads);
		tf_insert_uint(&insert, row->candidate.ctas);
		tf_insert_uint(&insert, row->candidate.chunk_bytes);
		tf_insert_text(&insert, tf_candidate_state_name(row->state));
		tf_insert_text(&insert, row->reason);
		for (int stage = 0; stage < 2; stage++) {
			tf_insert_int_or(&insert, row->stage_median_ns[stage], -1);
			tf_insert_int_or(&insert, row->stage_low_ns[stage], -1);
			tf_insert_int_or(&insert, row->stage_high_ns[stage], -1);
		}
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_selectors(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "selector", 2, err);
	for (uint32_t i = 0; i < program->group_count; i++) {
		tf_insert_uint(&insert, i);
		tf_insert_uint(&insert, program->selectors[i]);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static int compare_sample(const void *a, const void *b)
{
	const struct tf_sample *x = a, *y = b;

	if (x->group_candidate != y->group_candidate)
		return x->group_candidate < y->group_candidate ? -1 : 1;
	if (x->stage != y->stage)
		return x->stage < y->stage ? -1 : 1;
	return (x->pass > y->pass) - (x->pass < y->pass);
}

static enum tf_status insert_samples(
	sqlite3 *db, const struct tf_sample *samples, uint32_t count, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "sample", 5, err);
	for (uint32_t i = 0; i < count; i++) {
		tf_insert_uint(&insert, samples[i].group_candidate);
		tf_insert_uint(&insert, samples[i].stage);
		tf_insert_uint(&insert, samples[i].pass);
		tf_insert_uint(&insert, samples[i].slowest_rank);
		tf_insert_uint(&insert, (uint64_t)samples[i].ns);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_samples(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_sample *sorted = tf_calloc(program->sample_count, sizeof(*sorted));
	enum tf_status status;

	if (!sorted)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to order %u samples", program->sample_count);
	for (uint32_t i = 0; i < program->sample_count; i++)
		sorted[i] = program->samples[i];
	qsort(sorted, program->sample_count, sizeof(*sorted), compare_sample);
	status = insert_samples(db, sorted, program->sample_count, err);
	tf_free(sorted);
	return status;
}

enum tf_status tf_write_tuning(sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	TF_TRY(write_groups(db, program, err));
	TF_TRY(write_candidates(db, program, err));
	TF_TRY(write_selectors(db, program, err));
	return write_samples(db, program, err);
}
