/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep inspect --json`. Times are those of the stage that decided. */
#include "prepare/inspect_print.h"

#include "prepare/json_print.h"

static json_t *pack_identity(const struct tf_program *program)
{
	json_t *object = json_object();

	for (uint32_t i = 0; object && i < program->identity_count; i++) {
		if (json_object_set_new(
				object, program->identity[i].key, json_string(program->identity[i].value))) {
			json_decref(object);
			object = NULL;
		}
	}
	return object;
}

static json_t *pack_graphs(const struct tf_program *program)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < program->graph_count; i++) {
		const struct tf_graph *graph = &program->graphs[i];
		int startup = graph->kind == TF_GRAPH_STARTUP;

		array = tf_json_append(array,
			json_pack("{s:s, s:o, s:I, s:I}", "kind", startup ? "startup" : "step", "capacity",
				startup ? json_null() : json_integer(graph->capacity), "nodes",
				(json_int_t)graph->node_count, "edges", (json_int_t)graph->edge_count));
	}
	return array;
}

static json_t *pack_pick(const struct tf_program *program, uint32_t index)
{
	const struct tf_group *group = &program->groups[index];
	const struct tf_group_candidate *pick = &program->candidates[program->selectors[index]];
	int stage = tf_candidate_stage(pick);
	int64_t median = stage < 0 ? -1 : pick->stage_median_ns[stage];

	return json_pack("{s:s, s:I, s:s, s:s, s:I, s:I, s:o, s:I, s:o, s:o, s:s}", "group",
		group->name, "capacity", (json_int_t)group->capacity, "op", tf_op_name(group->op), "dtype",
		tf_dtype_name(group->dtype), "bytes", (json_int_t)tf_group_input_bytes(group), "times",
		(json_int_t)group->times, "candidate", tf_json_candidate(&pick->candidate), "rung",
		(json_int_t)pick->rung, "stage", stage < 0 ? json_null() : json_integer(stage + 1), "time",
		tf_json_times(median, stage < 0 ? -1 : pick->stage_low_ns[stage],
			stage < 0 ? -1 : pick->stage_high_ns[stage]),
		"reason", pick->reason);
}

static json_t *pack_picks(const struct tf_program *program)
{
	json_t *array = json_array();

	for (uint32_t g = 0; array && g < program->group_count; g++)
		array = tf_json_append(array, pack_pick(program, g));
	return array;
}

static json_t *pack_member(const char *name, uint64_t bytes, const uint8_t *digest)
{
	char hex[TF_DIGEST_HEX_BYTES];

	tf_hex(digest, TF_DIGEST_BYTES, hex);
	return json_pack("{s:s, s:I, s:s}", "name", name, "bytes", (json_int_t)bytes, "sha256", hex);
}

static json_t *pack_members(const struct tf_package_view *view)
{
	json_t *array = tf_json_append(
		json_array(), pack_member(TF_PACKAGE_CATALOG, view->catalog.size, view->catalog_sha256));

	for (uint32_t i = 0; array && i < view->program.member_count; i++) {
		const struct tf_member *member = &view->program.members[i];

		array = tf_json_append(array, pack_member(member->name, member->bytes, member->digest));
	}
	return array;
}

enum tf_status tf_inspect_print_json(
	FILE *to, const struct tf_package_view *view, struct tf_error *err)
{
	const struct tf_program *program = &view->program;
	char hex[TF_DIGEST_HEX_BYTES];

	tf_hex(view->file_sha256, sizeof(view->file_sha256), hex);
	return tf_json_print(to,
		json_pack("{s:i, s:{s:o, s:I, s:s}, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "version",
			TF_INSPECT_JSON_VERSION, "package", "path",
			tf_json_string(tf_package_path(view->package)), "bytes",
			(json_int_t)tf_package_file_bytes(view->package), "sha256", hex, "world",
			(json_int_t)program->world, "segment_bytes", (json_int_t)program->layout.segment_bytes,
			"candidates", (json_int_t)program->candidate_count, "samples",
			(json_int_t)program->sample_count, "identity", pack_identity(program), "graphs",
			pack_graphs(program), "picks", pack_picks(program), "members", pack_members(view)),
		err);
}
