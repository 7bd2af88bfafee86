/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups, candidates and samples. Samples are found through an index sorted by candidate, whatever
 * their order in the program.
 */
#include "prepare/report/report_data.h"

#include "base/alloc.h"
#include "catalog/program_limits.h"

/* The samples of candidate c are order[first[c]] .. order[first[c + 1] - 1]. */
struct sample_index {
	uint32_t *first;
	uint32_t *order;
};

/* One stage of one candidate; ns is -1 where a pass has no sample. */
struct stage {
	int64_t ns[TF_SAMPLE_PASSES];
	uint8_t slowest_rank[TF_SAMPLE_PASSES];
	int64_t min_ns, max_ns;
	uint32_t count;
};

static void index_fini(struct sample_index *index)
{
	tf_free(index->first);
	tf_free(index->order);
}

/* A counting sort: `first` holds the ends while the places are handed out from behind. */
static enum tf_status index_init(
	struct sample_index *index, const struct tf_program *program, struct tf_error *err)
{
	uint32_t candidates = program->candidate_count;

	index->first = tf_calloc((size_t)candidates + 1, sizeof(*index->first));
	index->order = tf_calloc(program->sample_count, sizeof(*index->order));
	if (!index->first || !index->order) {
		index_fini(index);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to sort %u samples", program->sample_count);
	}
	for (uint32_t i = 0; i < program->sample_count; i++)
		index->first[program->samples[i].group_candidate]++;
	for (uint32_t c = 0, end = 0; c <= candidates; c++) {
		end += index->first[c];
		index->first[c] = end;
	}
	for (uint32_t i = program->sample_count; i-- > 0;)
		index->order[--index->first[program->samples[i].group_candidate]] = i;
	return TF_OK;
}

static void collect(const struct tf_program *program, const struct sample_index *index,
	uint32_t candidate, int stage, struct stage *out)
{
	*out = (struct stage){.min_ns = -1, .max_ns = -1};
	for (int pass = 0; pass < TF_SAMPLE_PASSES; pass++)
		out->ns[pass] = -1;
	for (uint32_t i = index->first[candidate]; i < index->first[candidate + 1]; i++) {
		const struct tf_sample *sample = &program->samples[index->order[i]];

		if (sample->stage != stage + 1 || sample->pass >= TF_SAMPLE_PASSES)
			continue;
		out->ns[sample->pass] = sample->ns;
		out->slowest_rank[sample->pass] = sample->slowest_rank;
		out->min_ns = out->count && out->min_ns < sample->ns ? out->min_ns : sample->ns;
		out->max_ns = out->max_ns > sample->ns ? out->max_ns : sample->ns;
		out->count++;
	}
}

static void put_time(struct tf_json *json, const char *key, int64_t ns)
{
	if (ns < 0)
		tf_json_text(json, key, NULL);
	else
		tf_json_int(json, key, ns);
}

static void put_samples(struct tf_json *json, const struct stage *stage)
{
	tf_json_array_begin(json, "ns");
	for (int pass = 0; pass < TF_SAMPLE_PASSES; pass++)
		put_time(json, NULL, stage->ns[pass]);
	tf_json_array_end(json);
	tf_json_array_begin(json, "slowest_rank");
	for (int pass = 0; pass < TF_SAMPLE_PASSES; pass++)
		put_time(json, NULL, stage->ns[pass] < 0 ? -1 : stage->slowest_rank[pass]);
	tf_json_array_end(json);
}

static void put_stage(struct tf_json *json, const struct tf_report_source *source,
	const struct sample_index *index, uint32_t candidate, int number)
{
	const struct tf_group_candidate *entry = &source->program->candidates[candidate];
	struct stage stage;

	if (entry->stage_median_ns[number] < 0) {
		tf_json_text(json, NULL, NULL);
		return;
	}
	collect(source->program, index, candidate, number, &stage);
	tf_json_object_begin(json, NULL);
	tf_json_int(json, "median_ns", entry->stage_median_ns[number]);
	tf_json_int(json, "low_ns", entry->stage_low_ns[number]);
	tf_json_int(json, "high_ns", entry->stage_high_ns[number]);
	put_time(json, "min_ns", stage.min_ns);
	put_time(json, "max_ns", stage.max_ns);
	tf_json_uint(json, "samples", stage.count);
	if (!tf_report_drops_samples(source))
		put_samples(json, &stage);
	tf_json_object_end(json);
}

static void put_candidate(struct tf_json *json, const struct tf_report_source *source,
	const struct sample_index *index, uint32_t i)
{
	const struct tf_group_candidate *entry = &source->program->candidates[i];
	const struct tf_candidate *candidate = &entry->candidate;
	char name[TF_CANDIDATE_NAME_BYTES];

	tf_json_object_begin(json, NULL);
	tf_json_uint(json, "rung", entry->rung);
	tf_json_text(json, "name", tf_candidate_name(candidate, name));
	tf_json_text(json, "algorithm", tf_algorithm_name(candidate->algorithm));
	tf_json_text(json, "writer", tf_writer_name(candidate->writer));
	tf_json_uint(json, "threads", candidate->threads);
	tf_json_uint(json, "ctas", candidate->ctas);
	tf_json_uint(json, "chunk_bytes", candidate->chunk_bytes);
	tf_json_text(json, "state", tf_candidate_state_name(entry->state));
	tf_json_text(json, "reason", entry->reason);
	tf_json_array_begin(json, "stages");
	for (int stage = 0; stage < TF_SAMPLE_STAGES; stage++)
		put_stage(json, source, index, i, stage);
	tf_json_array_end(json);
	tf_json_object_end(json);
}

/* Candidates of a group lie together; `at` is the first and becomes the first of the next group. */
static void put_group(struct tf_json *json, const struct tf_report_source *source,
	const struct sample_index *index, uint32_t g, uint32_t *at)
{
	const struct tf_program *program = source->program;
	const struct tf_group *group = &program->groups[g];
	uint64_t omitted = 0;

	tf_json_object_begin(json, NULL);
	tf_json_text(json, "name", group->name);
	tf_json_uint(json, "capacity", group->capacity);
	tf_json_text(json, "op", tf_op_name(group->op));
	tf_json_text(json, "dtype", tf_dtype_name(group->dtype));
	tf_json_uint(json, "row_elements", group->row_elements);
	tf_json_uint(json, "bytes", tf_group_input_bytes(group));
	tf_json_uint(json, "times", group->times);
	tf_json_uint(json, "pick", program->candidates[program->selectors[g]].rung);
	tf_json_array_begin(json, "candidates");
	for (; *at < program->candidate_count && program->candidates[*at].group == g; (*at)++) {
		enum tf_candidate_state state = program->candidates[*at].state;

		if (tf_report_drops_candidates(source) && program->selectors[g] != *at &&
			state != TF_CANDIDATE_SURVIVED)
			omitted++;
		else
			put_candidate(json, source, index, *at);
	}
	tf_json_array_end(json);
	tf_json_uint(json, "omitted", omitted);
	tf_json_object_end(json);
}

enum tf_status tf_report_groups(
	struct tf_json *json, const struct tf_report_source *source, struct tf_error *err)
{
	struct sample_index index = {0};
	uint32_t at = 0;

	TF_TRY(index_init(&index, source->program, err));
	tf_json_array_begin(json, "groups");
	for (uint32_t g = 0; g < source->program->group_count; g++)
		put_group(json, source, &index, g, &at);
	tf_json_array_end(json);
	index_fini(&index);
	return TF_OK;
}
