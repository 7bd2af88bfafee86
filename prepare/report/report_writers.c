/* SPDX-License-Identifier: Apache-2.0 */
/* All sampled candidates are sorted so that the first of each (op, dtype, writer, bytes) is it. */
#include "prepare/report/report_writers.h"

#include <stdlib.h>

#include "base/alloc.h"

struct entry {
	struct tf_report_cost cost;
	int64_t median_ns;
};

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_place(const struct tf_report_cost *a, const struct tf_report_cost *b)
{
	int order = ORDER(a->op, b->op);

	if (!order)
		order = ORDER(a->dtype, b->dtype);
	if (!order)
		order = ORDER(a->writer, b->writer);
	return order ? order : ORDER(a->bytes, b->bytes);
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = compare_place(&a->cost, &b->cost);

	if (!order)
		order = ORDER(a->median_ns, b->median_ns);
	return order ? order : ORDER(a->cost.candidate, b->cost.candidate);
}

static uint32_t take_sampled(const struct tf_program *program, struct entry *entries)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *from = &program->candidates[i];
		const struct tf_group *group = &program->groups[from->group];

		if (from->stage_median_ns[0] < 0)
			continue;
		entries[count++] = (struct entry){
			.cost = {group->op, group->dtype, from->candidate.writer, tf_group_input_bytes(group),
				i},
			.median_ns = from->stage_median_ns[0],
		};
	}
	return count;
}

enum tf_status tf_report_costs(const struct tf_program *program, struct tf_report_cost **out,
	uint32_t *out_count, struct tf_error *err)
{
	struct entry *entries = tf_calloc(program->candidate_count, sizeof(*entries));
	struct tf_report_cost *costs = tf_calloc(program->candidate_count, sizeof(*costs));
	uint32_t sampled, count = 0;

	if (!entries || !costs) {
		tf_free(entries);
		tf_free(costs);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the costs of %u candidates",
			program->candidate_count);
	}
	sampled = take_sampled(program, entries);
	qsort(entries, sampled, sizeof(*entries), compare);
	for (uint32_t i = 0; i < sampled; i++) {
		if (!count || compare_place(&entries[i].cost, &costs[count - 1]))
			costs[count++] = entries[i].cost;
	}
	tf_free(entries);
	*out = costs;
	*out_count = count;
	return TF_OK;
}
