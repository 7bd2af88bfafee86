/* SPDX-License-Identifier: Apache-2.0 */
/* A candidate without a full set of samples neither wins nor is beaten. */
#include "runtime/serve/drift_compare.h"

#include <string.h>

#include "runtime/collective/select.h"

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

		if (program->candidates[i].group != group || i == row->picked ||
			!tf_select_competes(challenger) || !tf_select_beats(challenger, holder))
			continue;
		median = median_of(challenger);
		if (row->winner != TF_PROGRAM_NONE && median >= row->winner_ns)
			continue;
		row->winner = i;
		row->winner_ns = median;
	}
}

const char *tf_drift_change_name(enum tf_drift_change change)
{
	static const char *const names[] = {
		[TF_DRIFT_UNKNOWN] = "unknown",
		[TF_DRIFT_ALIKE] = "alike",
		[TF_DRIFT_SLOWER] = "slower",
		[TF_DRIFT_FASTER] = "faster",
	};

	return names[change];
}

const char *tf_drift_other_clock(const struct tf_program *program, const char *clock)
{
	const char *packaged = tf_program_identity(program, "samples.clock");

	return packaged && strcmp(packaged, clock) != 0 ? packaged : NULL;
}

/* More than a tie apart, and no overlap of what bounds the two medians. */
static enum tf_drift_change change_of(const struct tf_drift_row *row)
{
	if (row->ratio <= 0)
		return TF_DRIFT_UNKNOWN;
	if (row->ratio * 100 > 100 + TF_TIE_PERCENT &&
		row->measured_low_ns > (uint64_t)row->packaged_high_ns)
		return TF_DRIFT_SLOWER;
	if (row->ratio * 100 < 100 - TF_TIE_PERCENT &&
		row->measured_high_ns < (uint64_t)row->packaged_low_ns)
		return TF_DRIFT_FASTER;
	return TF_DRIFT_ALIKE;
}

void tf_drift_compare(const struct tf_program *program, const uint64_t *samples, const char *clock,
	uint32_t group, struct tf_drift_row *out)
{
	uint32_t picked = program->selectors[group];
	const uint64_t *holder = samples + (size_t)picked * TF_PASSES;

	*out = (struct tf_drift_row){
		.picked = picked,
		.winner = TF_PROGRAM_NONE,
		.packaged_ns = program->candidates[picked].stage_median_ns[0],
		.packaged_low_ns = program->candidates[picked].stage_low_ns[0],
		.packaged_high_ns = program->candidates[picked].stage_high_ns[0],
		.measured_ns = TF_NS_NONE,
		.measured_low_ns = TF_NS_NONE,
		.measured_high_ns = TF_NS_NONE,
	};
	if (!tf_select_competes(holder))
		return;
	tf_order_statistics(holder, &out->measured_ns, &out->measured_low_ns, &out->measured_high_ns);
	if (out->packaged_ns > 0 && !tf_drift_other_clock(program, clock))
		out->ratio = (double)out->measured_ns / (double)out->packaged_ns;
	out->change = change_of(out);
	find_winner(program, samples, group, out);
}
