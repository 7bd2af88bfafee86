/* SPDX-License-Identifier: Apache-2.0 */
/* A candidate without a full set of samples neither wins nor is beaten. */
#include "runtime/serve/drift_compare.h"

#include "runtime/collective/startup.h"

static int is_full(const uint64_t *row)
{
	for (int pass = 0; pass < TF_PASSES; pass++) {
		if (row[pass] == TF_NS_NONE)
			return 0;
	}
	return 1;
}

static uint64_t median_of(const uint64_t *row)
{
	uint64_t median, low, high;

	tf_order_statistics(row, &median, &low, &high);
	return median;
}

static void find_winner(const struct tf_program *program, const uint64_t *samples, uint32_t group,
	struct tf_drift_row *row)
{
	const uint64_t *holder = samples + (size_t)row->picked * TF_PASSES;

	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const uint64_t *challenger = samples + (size_t)i * TF_PASSES;
		uint64_t median;

		if (program->candidates[i].group != group || i == row->picked || !is_full(challenger) ||
			!tf_select_beats(challenger, holder))
			continue;
		median = median_of(challenger);
		if (row->winner != TF_PROGRAM_NONE && median >= row->winner_ns)
			continue;
		row->winner = i;
		row->winner_ns = median;
	}
}

void tf_drift_compare(const struct tf_program *program, const uint64_t *samples, uint32_t group,
	struct tf_drift_row *out)
{
	uint32_t picked = program->selectors[group];
	const uint64_t *holder = samples + (size_t)picked * TF_PASSES;

	*out = (struct tf_drift_row){
		.picked = picked,
		.winner = TF_PROGRAM_NONE,
		.packaged_ns = program->candidates[picked].stage_median_ns[0],
		.measured_ns = TF_NS_NONE,
	};
	if (!is_full(holder))
		return;
	out->measured_ns = median_of(holder);
	if (out->packaged_ns > 0)
		out->ratio = (double)out->measured_ns / (double)out->packaged_ns;
	find_winner(program, samples, group, out);
}
