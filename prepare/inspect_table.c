/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep inspect` for people: one block a subject, numbers with their intervals. */
#include "prepare/inspect_print.h"

#include <inttypes.h>

#include "prepare/text_table.h"

#define INDENT "  "

static void print_head(FILE *to, const struct tf_package_view *view)
{
	const struct tf_program *program = &view->program;
	char hex[TF_DIGEST_HEX_BYTES];

	tf_hex(view->file_sha256, sizeof(view->file_sha256), hex);
	fprintf(to, "package   %s, %" PRIu64 " bytes\nsha256    %s\n", tf_package_path(view->package),
		tf_package_file_bytes(view->package), hex);
	fprintf(to, "tuned     %u groups at %u capacities, %u candidates, %u samples\n",
		program->group_count, tf_program_capacity_count(program), program->candidate_count,
		program->sample_count);
	fprintf(to, "memory    %.1f MiB a rank, %u ranks\n",
		(double)program->layout.segment_bytes / 1048576.0, program->world);
}

static void print_graphs(FILE *to, const struct tf_program *program)
{
	fprintf(to, "graphs   ");
	for (uint32_t i = 0; i < program->graph_count; i++) {
		const struct tf_graph *graph = &program->graphs[i];

		if (graph->kind == TF_GRAPH_STARTUP)
			fprintf(to, "%s startup (%u nodes)", i ? "," : "", graph->node_count);
		else
			fprintf(to, "%s step %u (%u nodes)", i ? "," : "", graph->capacity, graph->node_count);
	}
	fprintf(to, "\n");
}

static enum tf_status print_identity(
	FILE *to, const struct tf_program *program, struct tf_error *err)
{
	struct tf_text_table table = {.align = "ll"};

	for (uint32_t i = 0; i < program->identity_count; i++) {
		tf_text_table_cell(&table, "%s", program->identity[i].key);
		tf_text_table_cell(&table, "%s", program->identity[i].value);
	}
	fprintf(to, "identity\n");
	return tf_text_table_print(&table, to, INDENT, err);
}

static void add_words(struct tf_text_table *table, const char *const *words)
{
	for (; *words; words++)
		tf_text_table_cell(table, "%s", *words);
}

static void add_chunk(struct tf_text_table *table, uint64_t chunk_bytes)
{
	if (chunk_bytes)
		tf_text_table_cell(table, "%" PRIu64, chunk_bytes);
	else
		tf_text_table_cell(table, "-");
}

static void add_times(struct tf_text_table *table, const struct tf_group_candidate *entry)
{
	int stage = tf_candidate_stage(entry);

	if (stage < 0) {
		tf_text_table_cell(table, "-");
		tf_text_table_cell(table, "-");
		return;
	}
	tf_text_table_cell(table, "%.2f", (double)entry->stage_median_ns[stage] / 1e3);
	tf_text_table_cell(table, "[%.2f, %.2f]", (double)entry->stage_low_ns[stage] / 1e3,
		(double)entry->stage_high_ns[stage] / 1e3);
}

static void add_pick(struct tf_text_table *table, const struct tf_program *program, uint32_t index)
{
	const struct tf_group *group = &program->groups[index];
	const struct tf_group_candidate *pick = &program->candidates[program->selectors[index]];

	tf_text_table_cell(table, "%s", group->name);
	tf_text_table_cell(table, "%u", group->capacity);
	tf_text_table_cell(table, "%s", tf_op_name(group->op));
	tf_text_table_cell(table, "%s", tf_dtype_name(group->dtype));
	tf_text_table_cell(table, "%" PRIu64, tf_group_input_bytes(group));
	tf_text_table_cell(table, "%s", tf_algorithm_name(pick->candidate.algorithm));
	tf_text_table_cell(table, "%s", tf_writer_name(pick->candidate.writer));
	tf_text_table_cell(table, "%u", pick->candidate.threads);
	tf_text_table_cell(table, "%u", pick->candidate.ctas);
	add_chunk(table, pick->candidate.chunk_bytes);
	add_times(table, pick);
	tf_text_table_cell(table, "%u", pick->rung);
}

static enum tf_status print_picks(FILE *to, const struct tf_program *program, struct tf_error *err)
{
	static const char *const head[] = {"group", "capacity", "op", "dtype", "bytes", "algorithm",
		"writer", "threads", "ctas", "chunk", "median us", "[low, high]", "rung", NULL};
	struct tf_text_table table = {.align = "lrllrllrrrrrr"};

	add_words(&table, head);
	for (uint32_t g = 0; g < program->group_count; g++)
		add_pick(&table, program, g);
	fprintf(to, "picks\n");
	return tf_text_table_print(&table, to, INDENT, err);
}

static enum tf_status print_members(
	FILE *to, const struct tf_package_view *view, struct tf_error *err)
{
	struct tf_text_table table = {.align = "lrl"};
	char hex[TF_DIGEST_HEX_BYTES];

	tf_hex(view->catalog_sha256, sizeof(view->catalog_sha256), hex);
	tf_text_table_cell(&table, "%s", TF_PACKAGE_CATALOG);
	tf_text_table_cell(&table, "%zu", view->catalog.size);
	tf_text_table_cell(&table, "%s", hex);
	for (uint32_t i = 0; i < view->program.member_count; i++) {
		const struct tf_member *member = &view->program.members[i];

		tf_hex(member->digest, sizeof(member->digest), hex);
		tf_text_table_cell(&table, "%s", member->name);
		tf_text_table_cell(&table, "%" PRIu64, member->bytes);
		tf_text_table_cell(&table, "%s", hex);
	}
	fprintf(to, "members\n");
	return tf_text_table_print(&table, to, INDENT, err);
}

enum tf_status tf_inspect_print_table(
	FILE *to, const struct tf_package_view *view, struct tf_error *err)
{
	print_head(to, view);
	print_graphs(to, &view->program);
	TF_TRY(print_identity(to, &view->program, err));
	TF_TRY(print_picks(to, &view->program, err));
	return print_members(to, view, err);
}
