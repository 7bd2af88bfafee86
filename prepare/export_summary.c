/* SPDX-License-Identifier: Apache-2.0 */
/* Every number printed was measured in this run or counted in the program. */
#include "prepare/export_summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "prepare/json_print.h"

struct counts {
	uint32_t by_kind[TF_ALGORITHM_COUNT][TF_WRITER_COUNT];
	uint32_t capacities;
	uint32_t struck;
	struct library_counts {
		uint32_t groups, picked, struck;
		const char *first_reason; /* of those struck */
		double ratio;             /* what the picks take of its time, median over groups; 0: none */
	} library;
};

static int compare_ratios(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Stage 1 sampled both, in the same graph. */
static struct library_counts count_library(const struct tf_program *program)
{
	double *ratios = tf_calloc(program->candidate_count, sizeof(ratios[0]));
	struct library_counts counts = {0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *entry = &program->candidates[i];
		const struct tf_group_candidate *pick =
			&program->candidates[program->selectors[entry->group]];

		if (!tf_candidate_is_library(&entry->candidate))
			continue;
		counts.groups++;
		counts.picked += entry == pick;
		if (entry->state == TF_CANDIDATE_STRUCK && !counts.struck++)
			counts.first_reason = entry->reason;
		if (ratios && entry->stage_median_ns[0] > 0)
			ratios[count++] = (double)pick->stage_median_ns[0] / (double)entry->stage_median_ns[0];
	}
	if (count) {
		qsort(ratios, count, sizeof(ratios[0]), compare_ratios);
		counts.ratio = (ratios[(count - 1) / 2] + ratios[count / 2]) / 2;
	}
	tf_free(ratios);
	return counts;
}

/* Of ours; a library's has a line of its own. */
static int is_struck(const struct tf_group_candidate *entry)
{
	return entry->state == TF_CANDIDATE_STRUCK && !tf_candidate_is_library(&entry->candidate);
}

static struct counts count(const struct tf_program *program)
{
	struct counts counts;

	memset(&counts, 0, sizeof(counts));
	for (uint32_t g = 0; g < program->group_count; g++) {
		const struct tf_candidate *pick = &program->candidates[program->selectors[g]].candidate;

		counts.by_kind[pick->algorithm][pick->writer]++;
		counts.capacities += !g || program->groups[g].capacity != program->groups[g - 1].capacity;
	}
	for (uint32_t i = 0; i < program->candidate_count; i++)
		counts.struck += (uint32_t)is_struck(&program->candidates[i]);
	counts.library = count_library(program);
	return counts;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static void print_struck(FILE *to, const struct tf_program *program)
{
	char name[TF_CANDIDATE_NAME_BYTES];

	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *entry = &program->candidates[i];

		if (is_struck(entry))
			fprintf(to, "  %s, capacity %u: %s: %s\n", program->groups[entry->group].name,
				program->groups[entry->group].capacity, tf_candidate_name(&entry->candidate, name),
				entry->reason);
	}
}

static void print_picks(FILE *to, const struct counts *counts)
{
	fprintf(to, "picks    ");
	for (int a = 0; a < TF_ALGORITHM_COUNT; a++) {
		for (int w = 0; w < TF_WRITER_COUNT; w++) {
			if (counts->by_kind[a][w])
				fprintf(to, " %s/%s %u", tf_algorithm_name((enum tf_algorithm)a),
					tf_writer_name((enum tf_writer)w), counts->by_kind[a][w]);
		}
	}
	fprintf(to, "\n");
}

/* What a reason says behind the state that it begins with. */
static const char *cause_of(const char *reason)
{
	static const char state[] = "struck out: ";

	return strncmp(reason, state, sizeof(state) - 1) ? reason : reason + sizeof(state) - 1;
}

static void print_library(
	FILE *to, const struct tf_program *program, const struct library_counts *counts)
{
	if (!counts->groups)
		return;
	fprintf(to, "nccl      %s: candidate of %u groups, picked in %u",
		tf_program_identity(program, TF_NCCL_SAMPLES_KEY), counts->groups, counts->picked);
	if (counts->ratio > 0)
		fprintf(to, "; the picks take %.2f of its time (median)", counts->ratio);
	if (counts->struck)
		fprintf(to, "; struck out in %u: %s", counts->struck, cause_of(counts->first_reason));
	fprintf(to, "\n");
}

static void print_times(FILE *to, const struct tf_export_result *result)
{
	const struct tf_job_done *job = &result->job;

	fprintf(to, "time      total %.0f ms\n", ms(result->total_ns));
	fprintf(to,
		"  ranks   %.0f ms: open %.1f, verify %.0f, capture %.1f (%u nodes), sample %.0f + %.0f,\n",
		ms(result->tune_ns), ms(job->open_ns), ms(job->tune.verify_ns), ms(job->tune.capture_ns),
		job->tune.nodes, ms(job->tune.sample_ns[0]), ms(job->tune.sample_ns[1]));
	fprintf(to, "          step graphs %.1f, catalog %.0f, release %.1f\n",
		ms(job->steps_capture_ns), ms(job->catalog_ns), ms(job->release_ns));
	if (result->path)
		fprintf(to, "  package write %.0f ms, check in fresh processes %.0f, publish %.1f\n",
			ms(result->write_ns), ms(result->check_ns), ms(result->publish_ns));
}

static void print_text(FILE *to, const struct tf_export_result *result)
{
	const struct tf_program *program = &result->program;
	struct counts counts = count(program);
	char hex[TF_DIGEST_HEX_BYTES];

	fprintf(to, "workload  %s, %u ranks, topology %s on the %s device\n",
		tf_program_identity(program, "workload"), program->world, result->machine.topology,
		result->machine.device);
	fprintf(to, "groups    %u at %u capacities, %u candidates, %u samples\n", program->group_count,
		counts.capacities, program->candidate_count, program->sample_count);
	if (result->job.no_peer_access[0])
		fprintf(to, "peers     no peer access: %s\n", result->job.no_peer_access);
	if (result->machine.links_note[0])
		fprintf(to, "links     not recorded: %s\n", result->machine.links_note);
	print_picks(to, &counts);
	print_library(to, program, &counts.library);
	fprintf(to, "struck    %u%s\n", counts.struck, counts.struck ? ":" : "");
	print_struck(to, program);
	fprintf(to, "memory    %.1f MiB a rank\n", (double)result->job.segment_bytes / 1048576.0);
	print_times(to, result);
	if (!result->path)
		return;
	tf_hex(result->digest, sizeof(result->digest), hex);
	fprintf(to, "package   %s, %" PRIu64 " bytes\nsha256    %s\n", result->path, result->file_bytes,
		hex);
}

static json_t *picks_json(const struct tf_program *program)
{
	json_t *picks = json_array();
	char name[TF_CANDIDATE_NAME_BYTES];

	for (uint32_t g = 0; g < program->group_count; g++) {
		const struct tf_group_candidate *pick = &program->candidates[program->selectors[g]];

		json_array_append_new(picks,
			json_pack("{s:s, s:i, s:s, s:I, s:s}", "group", program->groups[g].name, "capacity",
				(int)program->groups[g].capacity, "candidate",
				tf_candidate_name(&pick->candidate, name), "median_ns",
				(json_int_t)pick->stage_median_ns[1], "reason", pick->reason));
	}
	return picks;
}

static json_t *struck_json(const struct tf_program *program)
{
	json_t *struck = json_array();
	char name[TF_CANDIDATE_NAME_BYTES];

	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *entry = &program->candidates[i];

		if (entry->state == TF_CANDIDATE_STRUCK)
			json_array_append_new(struck,
				json_pack("{s:s, s:i, s:s, s:s}", "group", program->groups[entry->group].name,
					"capacity", (int)program->groups[entry->group].capacity, "candidate",
					tf_candidate_name(&entry->candidate, name), "reason", entry->reason));
	}
	return struck;
}

static json_t *times_json(const struct tf_export_result *result)
{
	const struct tf_job_done *job = &result->job;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "total_ns",
		(json_int_t)result->total_ns, "ranks_ns", (json_int_t)result->tune_ns, "open_ns",
		(json_int_t)job->open_ns, "verify_ns", (json_int_t)job->tune.verify_ns, "capture_ns",
		(json_int_t)job->tune.capture_ns, "sample_first_ns", (json_int_t)job->tune.sample_ns[0],
		"sample_second_ns", (json_int_t)job->tune.sample_ns[1], "step_graphs_ns",
		(json_int_t)job->steps_capture_ns, "catalog_ns", (json_int_t)job->catalog_ns, "release_ns",
		(json_int_t)job->release_ns, "write_ns", (json_int_t)result->write_ns, "check_ns",
		(json_int_t)result->check_ns);
}

static json_t *peers_json(const struct tf_export_result *result)
{
	const char *why = result->job.no_peer_access;

	return why[0] ? json_pack("{s:b, s:s}", "used", 0, "reason", why)
				  : json_pack("{s:b}", "used", 1);
}

static json_t *library_json(const struct tf_program *program)
{
	struct library_counts counts = count_library(program);
	json_t *json = json_pack("{s:s, s:i, s:i, s:i}", "version",
		tf_program_identity(program, TF_NCCL_SAMPLES_KEY), "candidates", (int)counts.groups,
		"picked", (int)counts.picked, "struck", (int)counts.struck);

	if (json && counts.ratio > 0)
		json_object_set_new(json, "ratio", json_real(counts.ratio));
	return json;
}

static enum tf_status print_json(
	FILE *to, const struct tf_export_result *result, struct tf_error *err)
{
	const struct tf_program *program = &result->program;
	char hex[TF_DIGEST_HEX_BYTES] = "";
	json_t *root = json_pack("{s:i, s:s, s:i, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o}", "version",
		1, "workload", tf_program_identity(program, "workload"), "world", (int)program->world,
		"topology", result->machine.topology, "device", result->machine.device, "groups",
		(int)program->group_count, "candidates", (int)program->candidate_count, "samples",
		(int)program->sample_count, "picks", picks_json(program), "struck", struck_json(program),
		"times", times_json(result));

	if (root)
		json_object_set_new(root, "peer_access", peers_json(result));
	if (root && tf_program_tries_library(program))
		json_object_set_new(root, "nccl", library_json(program));
	if (root && result->machine.links_note[0])
		json_object_set_new(root, "links_not_recorded", json_string(result->machine.links_note));
	if (root && result->path) {
		tf_hex(result->digest, sizeof(result->digest), hex);
		json_object_set_new(root, "package",
			json_pack("{s:o, s:I, s:s}", "path", tf_json_string(result->path), "bytes",
				(json_int_t)result->file_bytes, "sha256", hex));
	}
	if (!root || json_dumpf(root, to, JSON_INDENT(2)) || fputc('\n', to) == EOF) {
		json_decref(root);
		return TF_FAIL(err, TF_E_SYSTEM, "cannot write the summary as JSON");
	}
	json_decref(root);
	return TF_OK;
}

enum tf_status tf_export_summary_print(
	FILE *to, const struct tf_export_result *result, int json, struct tf_error *err)
{
	if (json)
		return print_json(to, result, err);
	print_text(to, result);
	return TF_OK;
}
