/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep diff` for people: what differs, then one line that sums it up. */
#include "prepare/diff_print.h"

#include <inttypes.h>

#include "prepare/text_table.h"

static const char *const verdict_texts[TF_DIFF_VERDICT_COUNT] = {
	[TF_DIFF_TIE] = "tie: neither beats the other",
	[TF_DIFF_JUSTIFIED] = "justified: its pick beats the other",
	[TF_DIFF_BEATEN] = "its pick is beaten by the other",
	[TF_DIFF_ABSENT] = "the other is not on its ladder",
	[TF_DIFF_STRUCK] = "the other was struck out in verification",
	[TF_DIFF_UNSAMPLED] = "no stage sampled both",
};

static void print_files(FILE *to, const struct tf_package_view *views)
{
	for (int i = 0; i < 2; i++)
		fprintf(to, "%c  %s, %u groups, %u ranks\n", 'A' + i, tf_package_path(views[i].package),
			views[i].program.group_count, views[i].program.world);
}

static enum tf_status print_identity(
	FILE *to, const struct tf_package_diff *diff, struct tf_error *err)
{
	struct tf_text_table table = {.align = "lll"};

	if (!diff->identity_count) {
		fprintf(to, "identity  equal\n");
		return TF_OK;
	}
	fprintf(to, "identity  %u of the keys differ\n", diff->identity_count);
	for (uint32_t i = 0; i < diff->identity_count; i++) {
		tf_text_table_cell(&table, "%s", diff->identity[i].key);
		for (int s = 0; s < 2; s++)
			tf_text_table_cell(&table, "%c %s", 'A' + s,
				diff->identity[i].value[s] ? diff->identity[i].value[s] : "(none)");
	}
	return tf_text_table_print(&table, to, "  ", err);
}

static void print_group(FILE *to, const struct tf_group *group)
{
	fprintf(to, "  %s at capacity %u: %s of %s, %" PRIu64 " bytes", group->name, group->capacity,
		tf_op_name(group->op), tf_dtype_name(group->dtype), tf_group_input_bytes(group));
}

static void print_only(
	FILE *to, const struct tf_package_view *views, const struct tf_package_diff *diff)
{
	for (int s = 0; s < 2; s++) {
		if (diff->only_count[s])
			fprintf(to, "only in %c  %u groups\n", 'A' + s, diff->only_count[s]);
		for (uint32_t i = 0; i < diff->only_count[s]; i++) {
			print_group(to, &views[s].program.groups[diff->only[s][i]]);
			fputc('\n', to);
		}
	}
}

static void add_side(struct tf_text_table *table, const struct tf_program *program,
	const struct tf_diff_side *side, int index)
{
	const struct tf_group_candidate *pick = &program->candidates[side->pick];
	char name[TF_CANDIDATE_NAME_BYTES];
	int stage = side->stage;

	tf_text_table_cell(table, "%c", 'A' + index);
	tf_text_table_cell(table, "%s", tf_candidate_name(&pick->candidate, name));
	if (stage < 0) {
		tf_text_table_cell(table, "-");
		tf_text_table_cell(table, "-");
	} else {
		const struct tf_group_candidate *other = &program->candidates[side->other];

		tf_text_table_cell(table, "%.2f us [%.2f, %.2f]",
			(double)pick->stage_median_ns[stage] / 1e3, (double)pick->stage_low_ns[stage] / 1e3,
			(double)pick->stage_high_ns[stage] / 1e3);
		tf_text_table_cell(table, "%c's pick %.2f us [%.2f, %.2f]", 'A' + !index,
			(double)other->stage_median_ns[stage] / 1e3, (double)other->stage_low_ns[stage] / 1e3,
			(double)other->stage_high_ns[stage] / 1e3);
	}
	if (stage < 0)
		tf_text_table_cell(table, "%s", verdict_texts[side->verdict]);
	else
		tf_text_table_cell(table, "%s (stage %d)", verdict_texts[side->verdict], side->stage + 1);
}

static enum tf_status print_pick(FILE *to, const struct tf_package_view *views,
	const struct tf_diff_pick *pick, struct tf_error *err)
{
	struct tf_text_table table = {.align = "lllll"};

	print_group(to, &views[0].program.groups[pick->group[0]]);
	fprintf(to, ": %s\n", tf_diff_outcome_name(pick->outcome));
	for (int s = 0; s < 2; s++)
		add_side(&table, &views[s].program, &pick->side[s], s);
	return tf_text_table_print(&table, to, "    ", err);
}

static void print_summary(FILE *to, const struct tf_package_diff *diff)
{
	uint32_t equal = diff->common_count - diff->pick_count;

	if (!diff->common_count) {
		fprintf(to, "no group is in both\n");
		return;
	}
	fprintf(to, "%u of %u picks equal (%.1f %%)", equal, diff->common_count,
		100.0 * equal / diff->common_count);
	if (diff->pick_count)
		fprintf(to, "; changed: %u justified, %u one-sided, %u ties",
			diff->outcome_count[TF_DIFF_OUTCOME_JUSTIFIED],
			diff->outcome_count[TF_DIFF_OUTCOME_ONE_SIDED],
			diff->outcome_count[TF_DIFF_OUTCOME_TIE]);
	fputc('\n', to);
}

enum tf_status tf_diff_print_table(FILE *to, const struct tf_package_view *views,
	const struct tf_package_diff *diff, struct tf_error *err)
{
	print_files(to, views);
	TF_TRY(print_identity(to, diff, err));
	print_only(to, views, diff);
	if (diff->pick_count)
		fprintf(to, "changed picks\n");
	for (uint32_t i = 0; i < diff->pick_count; i++)
		TF_TRY(print_pick(to, views, &diff->picks[i], err));
	print_summary(to, diff);
	return TF_OK;
}
