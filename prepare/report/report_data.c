/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything but the groups. '<' can stand only inside JSON strings, where \u003c means the same,
 * so replacing it afterwards keeps the document and cannot end the element it lies in.
 */
#include "prepare/report/report_data.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "packages/container_read.h"
#include "prepare/report/report_writers.h"
#include "runtime/topology/signature_parse.h"

int tf_report_drops_samples(const struct tf_report_source *source)
{
	return source->program->sample_count >
		(source->samples_max ? source->samples_max : TF_REPORT_SAMPLES_MAX);
}

int tf_report_drops_candidates(const struct tf_report_source *source)
{
	return source->program->candidate_count >
		(source->candidates_max ? source->candidates_max : TF_REPORT_CANDIDATES_MAX);
}

static void put_file(
	struct tf_json *json, const char *key, const char *name, uint64_t bytes, const uint8_t *sha256)
{
	char hex[TF_DIGEST_HEX_BYTES];

	tf_hex(sha256, TF_DIGEST_BYTES, hex);
	tf_json_object_begin(json, key);
	tf_json_text(json, "name", name);
	tf_json_uint(json, "bytes", bytes);
	tf_json_text(json, "sha256", hex);
	tf_json_object_end(json);
}

static void put_head(struct tf_json *json, const struct tf_report_source *source)
{
	const struct tf_program *program = source->program;

	tf_json_uint(json, "version", TF_REPORT_DATA_VERSION);
	tf_json_object_begin(json, "tool");
	tf_json_text(json, "name", "tfprep");
	tf_json_text(json, "version", source->tool_version);
	tf_json_object_end(json);
	put_file(json, "package", source->name, source->bytes, source->sha256);
	tf_json_uint(json, "world", program->world);
	tf_json_uint(json, "segment_bytes", program->layout.segment_bytes);
	tf_json_uint(json, "candidates", program->candidate_count);
	tf_json_uint(json, "samples", program->sample_count);
	tf_json_object_begin(json, "shown");
	tf_json_text(json, "samples", tf_report_drops_samples(source) ? "bounds" : "all");
	tf_json_text(json, "candidates", tf_report_drops_candidates(source) ? "survivors" : "all");
	tf_json_object_end(json);
}

static void put_identity(struct tf_json *json, const struct tf_program *program)
{
	tf_json_array_begin(json, "identity");
	for (uint32_t i = 0; i < program->identity_count; i++) {
		tf_json_object_begin(json, NULL);
		tf_json_text(json, "key", program->identity[i].key);
		tf_json_text(json, "value", program->identity[i].value);
		tf_json_object_end(json);
	}
	tf_json_array_end(json);
}

static void put_links(struct tf_json *json, const struct tf_signature *topology)
{
	tf_json_array_begin(json, "links");
	for (uint32_t i = 0; i < topology->ranks; i++) {
		tf_json_array_begin(json, NULL);
		for (uint32_t j = 0; j < topology->ranks; j++) {
			const struct tf_signature_link *link = &topology->links[i][j];

			tf_json_object_begin(json, NULL);
			tf_json_text(json, "link", link->name);
			if (link->bandwidth_gbps)
				tf_json_uint(json, "bandwidth_gbps", link->bandwidth_gbps);
			else
				tf_json_text(json, "bandwidth_gbps", NULL);
			tf_json_object_end(json);
		}
		tf_json_array_end(json);
	}
	tf_json_array_end(json);
}

/* Why there is no matrix; null where there is one. */
static void put_note(struct tf_json *json, const struct tf_signature *topology, uint32_t world)
{
	char damaged[128];

	snprintf(damaged, sizeof(damaged),
		"the links in the package's topology.signature are no square matrix of at most %u ranks",
		world);
	tf_json_text(json, "note",
		topology->ranks         ? NULL
			: topology->damaged ? damaged
								: "the package records no links between ranks");
}

static void put_topology(struct tf_json *json, const struct tf_program *program)
{
	struct tf_signature topology;

	tf_signature_parse(
		tf_program_identity(program, "topology.signature"), program->world, &topology);
	tf_json_object_begin(json, "topology");
	tf_json_text(json, "class", tf_program_identity(program, "topology.class"));
	tf_json_text(json, "device", tf_program_identity(program, "device.kind"));
	if (topology.ranks)
		put_links(json, &topology);
	else
		tf_json_text(json, "links", NULL);
	tf_json_array_begin(json, "models");
	for (uint32_t i = 0; i < topology.ranks; i++)
		tf_json_text(json, NULL, topology.models[i][0] ? topology.models[i] : NULL);
	tf_json_array_end(json);
	put_note(json, &topology, program->world);
	tf_json_object_end(json);
}

static void put_graphs(struct tf_json *json, const struct tf_program *program)
{
	tf_json_array_begin(json, "graphs");
	for (uint32_t i = 0; i < program->graph_count; i++) {
		const struct tf_graph *graph = &program->graphs[i];
		int startup = graph->kind == TF_GRAPH_STARTUP;

		tf_json_object_begin(json, NULL);
		tf_json_text(json, "kind", startup ? "startup" : "step");
		if (startup)
			tf_json_text(json, "capacity", NULL);
		else
			tf_json_uint(json, "capacity", graph->capacity);
		tf_json_uint(json, "nodes", graph->node_count);
		tf_json_uint(json, "edges", graph->edge_count);
		tf_json_object_end(json);
	}
	tf_json_array_end(json);
}

/* The catalog comes first and is not in itself. */
static void put_members(struct tf_json *json, const struct tf_report_source *source)
{
	tf_json_array_begin(json, "members");
	put_file(json, NULL, TF_PACKAGE_CATALOG, source->catalog_bytes, source->catalog_sha256);
	for (uint32_t i = 0; i < source->program->member_count; i++) {
		const struct tf_member *member = &source->program->members[i];

		put_file(json, NULL, member->name, member->bytes, member->digest);
	}
	tf_json_array_end(json);
}

static enum tf_status put_writers(
	struct tf_json *json, const struct tf_program *program, struct tf_error *err)
{
	struct tf_report_cost *costs = NULL;
	char name[TF_CANDIDATE_NAME_BYTES];
	uint32_t count = 0;

	TF_TRY(tf_report_costs(program, &costs, &count, err));
	tf_json_array_begin(json, "writers");
	for (uint32_t i = 0; i < count; i++) {
		const struct tf_group_candidate *entry = &program->candidates[costs[i].candidate];
		const struct tf_group *group = &program->groups[entry->group];

		tf_json_object_begin(json, NULL);
		tf_json_text(json, "op", tf_op_name(costs[i].op));
		tf_json_text(json, "dtype", tf_dtype_name(costs[i].dtype));
		tf_json_text(json, "writer", tf_writer_name(costs[i].writer));
		tf_json_uint(json, "bytes", costs[i].bytes);
		tf_json_text(json, "group", group->name);
		tf_json_uint(json, "capacity", group->capacity);
		tf_json_text(json, "candidate", tf_candidate_name(&entry->candidate, name));
		tf_json_int(json, "median_ns", entry->stage_median_ns[0]);
		tf_json_int(json, "low_ns", entry->stage_low_ns[0]);
		tf_json_int(json, "high_ns", entry->stage_high_ns[0]);
		tf_json_object_end(json);
	}
	tf_json_array_end(json);
	tf_free(costs);
	return TF_OK;
}

static void put_load(struct tf_json *json, const struct tf_report_load *load)
{
	if (!load) {
		tf_json_text(json, "load", NULL);
		return;
	}
	tf_json_object_begin(json, "load");
	tf_json_array_begin(json, "phases");
	for (uint32_t i = 0; i < load->phase_count; i++) {
		tf_json_object_begin(json, NULL);
		tf_json_text(json, "name", load->phases[i].name);
		tf_json_int(json, "ns", load->phases[i].ns);
		tf_json_object_end(json);
	}
	tf_json_array_end(json);
	tf_json_int(json, "total_ns", load->total_ns);
	tf_json_object_end(json);
}

static enum tf_status put_all(
	struct tf_json *json, const struct tf_report_source *source, struct tf_error *err)
{
	tf_json_object_begin(json, NULL);
	put_head(json, source);
	put_identity(json, source->program);
	put_topology(json, source->program);
	put_graphs(json, source->program);
	put_members(json, source);
	put_load(json, source->load);
	TF_TRY(put_writers(json, source->program, err));
	TF_TRY(tf_report_groups(json, source, err));
	tf_json_object_end(json);
	return tf_json_finish(json, err);
}

/* Appends `from` with every '<' written as its JSON escape. */
static enum tf_status append_guarded(
	struct tf_bytes *out, const struct tf_bytes *from, struct tf_error *err)
{
	const uint8_t *at = from->data, *end = from->data + from->size;

	while (at < end) {
		const uint8_t *angle = memchr(at, '<', (size_t)(end - at));
		size_t run = (size_t)((angle ? angle : end) - at);

		TF_TRY(tf_bytes_append(out, at, run, err));
		at += run;
		if (!angle)
			break;
		TF_TRY(tf_bytes_append(out, "\\u003c", 6, err));
		at++;
	}
	return TF_OK;
}

enum tf_status tf_report_data(
	const struct tf_report_source *source, struct tf_bytes *out, struct tf_error *err)
{
	struct tf_bytes text = {0};
	struct tf_json json = {.to = &text};
	enum tf_status status = put_all(&json, source, err);

	if (status == TF_OK)
		status = append_guarded(out, &text, err);
	tf_bytes_fini(&text);
	return status;
}
