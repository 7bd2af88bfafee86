/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep diff --json`. Sides are "a" and "b"; what a side lacks is null. */
#include "prepare/diff_print.h"

#include "prepare/json_print.h"

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *pack_identity(const struct tf_package_diff *diff)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < diff->identity_count; i++) {
		const struct tf_diff_identity *row = &diff->identity[i];

		array = tf_json_append(array,
			json_pack("{s:s, s:o, s:o}", "key", row->key, "a", text_or_null(row->value[0]), "b",
				text_or_null(row->value[1])));
	}
	return array;
}

static json_t *pack_group(const struct tf_group *group)
{
	return json_pack("{s:s, s:I, s:s, s:s, s:I}", "group", group->name, "capacity",
		(json_int_t)group->capacity, "op", tf_op_name(group->op), "dtype",
		tf_dtype_name(group->dtype), "bytes", (json_int_t)tf_group_input_bytes(group));
}

static json_t *pack_only(const struct tf_program *program, const uint32_t *groups, uint32_t count)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < count; i++)
		array = tf_json_append(array, pack_group(&program->groups[groups[i]]));
	return array;
}

static json_t *pack_times(const struct tf_program *program, uint32_t index, int stage)
{
	const struct tf_group_candidate *entry;

	if (stage < 0 || index == TF_PROGRAM_NONE)
		return json_null();
	entry = &program->candidates[index];
	return tf_json_times(
		entry->stage_median_ns[stage], entry->stage_low_ns[stage], entry->stage_high_ns[stage]);
}

static json_t *pack_side(const struct tf_program *program, const struct tf_diff_side *side)
{
	return json_pack("{s:o, s:s, s:o, s:o, s:o}", "pick",
		tf_json_candidate(&program->candidates[side->pick].candidate), "verdict",
		tf_diff_verdict_name(side->verdict), "stage",
		side->stage < 0 ? json_null() : json_integer(side->stage + 1), "time",
		pack_times(program, side->pick, side->stage), "other_time",
		pack_times(program, side->other, side->stage));
}

static json_t *pack_changed(const struct tf_package_view *views, const struct tf_package_diff *diff)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < diff->pick_count; i++) {
		const struct tf_diff_pick *pick = &diff->picks[i];

		array = tf_json_append(array,
			json_pack("{s:o, s:s, s:o, s:o}", "group",
				pack_group(&views[0].program.groups[pick->group[0]]), "outcome",
				tf_diff_outcome_name(pick->outcome), "a",
				pack_side(&views[0].program, &pick->side[0]), "b",
				pack_side(&views[1].program, &pick->side[1])));
	}
	return array;
}

enum tf_status tf_diff_print_json(FILE *to, const struct tf_package_view *views,
	const struct tf_package_diff *diff, struct tf_error *err)
{
	return tf_json_print(to,
		json_pack("{s:i, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "version", TF_DIFF_JSON_VERSION,
			"a", tf_json_string(tf_package_path(views[0].package)), "b",
			tf_json_string(tf_package_path(views[1].package)), "groups_in_both",
			(json_int_t)diff->common_count, "picks_equal",
			(json_int_t)(diff->common_count - diff->pick_count), "identity", pack_identity(diff),
			"only_in_a", pack_only(&views[0].program, diff->only[0], diff->only_count[0]),
			"only_in_b", pack_only(&views[1].program, diff->only[1], diff->only_count[1]),
			"changed", pack_changed(views, diff)),
		err);
}
