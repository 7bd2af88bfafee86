/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a workload's YAML to struct tf_workload.
 *
 * First libcyaml by the schema of workload_schema.c (words, keys, types), then numbers and names of
 * each collective, then the groups: one for each capacity of each collective, ordered by capacity,
 * then as in the file. The first fault ends it.
 */
#include "prepare/workload/workload.h"
#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "ladders/ladder.h"
#include "ladders/yaml_load.h"
#include "ladders/yaml_value.h"
#include "prepare/workload/workload_raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Operands that one group rotates through unless it says otherwise: enough to leave the second-
 * level cache cold.
 */
#define DEFAULT_PAIRS 4

/* A collective, checked, before it becomes groups. */
struct collective {
	struct tf_group group; /* but for its capacity */
	uint32_t capacities[TF_WORKLOAD_CAPACITIES_MAX];
	uint32_t capacity_count;
};

struct reading {
	const struct tf_yaml *yaml;
	const struct tf_raw_workload *raw;
	struct tf_workload *workload;
	struct collective *collectives; /* (raw->group_count) */
	struct tf_error *err;
	uint32_t index; /* of the collective being read */
	char path[TF_YAML_PATH_BYTES];
};

static const char *path_of(struct reading *r, const char *field)
{
	snprintf(r->path, sizeof(r->path), "groups[%u].%s", (unsigned)r->index, field);
	return r->path;
}

/* Rising numbers at `path`; `out` holds TF_WORKLOAD_CAPACITIES_MAX. */
static enum tf_status read_capacities(
	struct reading *r, const char *path, char *const *texts, uint32_t count, uint32_t *out)
{
	char entry[TF_YAML_PATH_BYTES + 16];
	uint64_t last = 0;
	uint64_t value;

	for (uint32_t i = 0; i < count; i++) {
		snprintf(entry, sizeof(entry), "%s[%u]", path, (unsigned)i);
		TF_TRY(tf_yaml_number(r->yaml, entry, texts[i], 1, TF_CAPACITY_MAX, &value, r->err));
		if (value <= last)
			return tf_yaml_fail(r->yaml, r->err, entry,
				"%" PRIu64 " follows %" PRIu64 ", capacities must rise", value, last);
		out[i] = (uint32_t)value;
		last = value;
	}
	return TF_OK;
}

static int has_capacity(const uint32_t *capacities, uint32_t count, uint32_t capacity)
{
	for (uint32_t i = 0; i < count; i++) {
		if (capacities[i] == capacity)
			return 1;
	}
	return 0;
}

static enum tf_status read_subset(
	struct reading *r, const struct tf_raw_group *raw, struct collective *to)
{
	const struct tf_workload *all = r->workload;

	if (raw->capacities && r->raw->foreign.step)
		return tf_yaml_fail(r->yaml, r->err, path_of(r, "capacities"),
			"a workload with a step calls every group at every capacity");
	if (!raw->capacities) {
		memcpy(to->capacities, all->capacities, sizeof(to->capacities));
		to->capacity_count = all->capacity_count;
		return TF_OK;
	}
	TF_TRY(read_capacities(
		r, path_of(r, "capacities"), raw->capacities, raw->capacity_count, to->capacities));
	to->capacity_count = raw->capacity_count;
	for (uint32_t i = 0; i < to->capacity_count; i++) {
		if (!has_capacity(all->capacities, all->capacity_count, to->capacities[i]))
			return tf_yaml_fail(r->yaml, r->err, r->path,
				"%u is not among the workload's capacities", (unsigned)to->capacities[i]);
	}
	return TF_OK;
}

static enum tf_status read_times(
	struct reading *r, const struct tf_raw_group *raw, struct tf_group *group)
{
	uint64_t times = 1;
	uint64_t pairs;

	if (r->raw->foreign.step && raw->times)
		return tf_yaml_fail(
			r->yaml, r->err, path_of(r, "times"), "a workload with a step counts the calls in it");
	if (r->raw->foreign.step)
		times = group->times;
	if (raw->times)
		TF_TRY(tf_yaml_number(
			r->yaml, path_of(r, "times"), raw->times, 1, TF_TIMES_MAX, &times, r->err));
	pairs = times < DEFAULT_PAIRS ? times : DEFAULT_PAIRS;
	if (raw->input || raw->output)
		pairs = 1;
	if (raw->buffer_pairs && (raw->input || raw->output))
		return tf_yaml_fail(
			r->yaml, r->err, path_of(r, "buffer_pairs"), "operands with a name are one pair");
	if (raw->buffer_pairs)
		TF_TRY(tf_yaml_number(
			r->yaml, path_of(r, "buffer_pairs"), raw->buffer_pairs, 1, times, &pairs, r->err));
	group->times = (uint32_t)times;
	group->buffer_pairs = (uint32_t)pairs;
	return TF_OK;
}

static enum tf_status check_bytes(struct reading *r, const struct collective *collective)
{
	struct tf_group group = collective->group;
	uint64_t bytes;

	group.capacity = collective->capacities[collective->capacity_count - 1];
	bytes = tf_group_input_bytes(&group);
	if (bytes > TF_LADDER_BYTES_MAX)
		return tf_yaml_fail(r->yaml, r->err, path_of(r, "row_elements"),
			"capacity %u makes %" PRIu64 " bytes a rank, allowed: at most %" PRIu64,
			(unsigned)group.capacity, bytes, TF_LADDER_BYTES_MAX);
	return TF_OK;
}

static enum tf_status check_name(
	struct reading *r, const struct tf_raw_group *raw, struct tf_group *group)
{
	TF_TRY(tf_yaml_name(r->yaml, path_of(r, "name"), raw->name, r->err));
	for (uint32_t i = 0; i < r->index; i++) {
		if (!strcmp(r->collectives[i].group.name, raw->name))
			return tf_yaml_fail(r->yaml, r->err, r->path, "'%s' is the name of groups[%u] already",
				raw->name, (unsigned)i);
	}
	snprintf(group->name, sizeof(group->name), "%s", raw->name);
	return TF_OK;
}

static enum tf_status read_collective(struct reading *r)
{
	const struct tf_raw_group *raw = &r->raw->groups[r->index];
	struct collective *collective = &r->collectives[r->index];
	struct tf_group *group = &collective->group;

	group->op = raw->op;
	group->dtype = raw->dtype;
	TF_TRY(check_name(r, raw, group));
	TF_TRY(tf_yaml_number(r->yaml, path_of(r, "row_elements"), raw->row_elements, 1,
		TF_ROW_ELEMENTS_MAX, &group->row_elements, r->err));
	TF_TRY(read_times(r, raw, group));
	TF_TRY(read_subset(r, raw, collective));
	if (raw->numerics && raw->op == TF_OP_ALL_GATHER)
		return tf_yaml_fail(
			r->yaml, r->err, path_of(r, "numerics"), "all_gather sums nothing: it copies");
	if (raw->numerics)
		TF_TRY(tf_workload_allow_any(r->workload, raw->name, r->err));
	return check_bytes(r, collective);
}

/* Appends the groups of one capacity; there must be one. */
static enum tf_status expand_capacity(struct reading *r, uint32_t place)
{
	struct tf_workload *workload = r->workload;
	uint32_t capacity = workload->capacities[place];
	uint32_t before = workload->group_count;

	for (uint32_t i = 0; i < r->raw->group_count; i++) {
		const struct collective *collective = &r->collectives[i];

		if (!has_capacity(collective->capacities, collective->capacity_count, capacity))
			continue;
		workload->groups[workload->group_count] = collective->group;
		workload->groups[workload->group_count++].capacity = capacity;
	}
	if (workload->group_count > before)
		return TF_OK;
	snprintf(r->path, sizeof(r->path), "capacities[%u]", (unsigned)place);
	return tf_yaml_fail(r->yaml, r->err, r->path, "no group has capacity %u", (unsigned)capacity);
}

static enum tf_status expand(struct reading *r)
{
	struct tf_workload *workload = r->workload;
	uint64_t count = 0;

	for (uint32_t i = 0; i < r->raw->group_count; i++)
		count += r->collectives[i].capacity_count;
	if (count > TF_WORKLOAD_GROUPS_MAX)
		return tf_yaml_fail(r->yaml, r->err, "groups",
			"%" PRIu64 " groups over all capacities, allowed: at most %d", count,
			TF_WORKLOAD_GROUPS_MAX);
	workload->groups = tf_calloc(count, sizeof(*workload->groups));
	if (!workload->groups)
		return TF_FAIL(r->err, TF_E_NO_MEMORY, "no memory for %" PRIu64 " groups", count);
	for (uint32_t i = 0; i < workload->capacity_count; i++)
		TF_TRY(expand_capacity(r, i));
	return TF_OK;
}

/* The step, its kernels and the names of operands; sets the calls of each collective. */
static enum tf_status read_foreign(struct reading *r)
{
	const struct tf_raw_workload *raw = r->raw;
	struct tf_raw_call *calls;
	enum tf_status status;
	int has_operands = 0;

	for (uint32_t i = 0; i < raw->group_count; i++)
		has_operands |= raw->groups[i].input || raw->groups[i].output;
	if (!raw->foreign.step) {
		if (raw->foreign.kernels || raw->foreign.buffers || raw->foreign.modules ||
			raw->foreign.repeat || has_operands)
			return tf_yaml_fail(r->yaml, r->err, "",
				"buffers, modules, kernels, repeat and names of operands need a step");
		return TF_OK;
	}
	calls = tf_calloc(raw->group_count, sizeof(calls[0]));
	if (!calls)
		return TF_FAIL(r->err, TF_E_NO_MEMORY, "no memory for %u groups", raw->group_count);
	for (uint32_t i = 0; i < raw->group_count; i++)
		calls[i] = (struct tf_raw_call){raw->groups[i].name, raw->groups[i].input,
			raw->groups[i].output, &r->collectives[i].group.times};
	status = tf_foreign_parse(
		r->yaml, &raw->foreign, calls, raw->group_count, &r->workload->foreign, r->err);
	tf_free(calls);
	return status;
}

static enum tf_status read_workload(struct reading *r, struct tf_raw_workload *raw)
{
	struct tf_workload *workload = r->workload;

	TF_TRY(tf_yaml_name(r->yaml, "name", raw->name, r->err));
	snprintf(workload->name, sizeof(workload->name), "%s", raw->name);
	workload->summary = raw->summary; /* taken */
	raw->summary = NULL;
	TF_TRY(read_capacities(
		r, "capacities", raw->capacities, raw->capacity_count, workload->capacities));
	workload->capacity_count = raw->capacity_count;
	r->collectives = tf_calloc(raw->group_count, sizeof(*r->collectives));
	if (!r->collectives)
		return TF_FAIL(
			r->err, TF_E_NO_MEMORY, "no memory for %u groups", (unsigned)raw->group_count);
	TF_TRY(read_foreign(r));
	for (r->index = 0; r->index < raw->group_count; r->index++)
		TF_TRY(read_collective(r));
	return expand(r);
}

enum tf_status tf_workload_parse(const char *text, size_t size, const char *source,
	struct tf_workload *out, struct tf_error *err)
{
	struct tf_yaml yaml = {0};
	struct tf_workload workload = {0};
	struct reading reading = {.yaml = &yaml, .workload = &workload, .err = err};
	void *raw = NULL;
	enum tf_status status;

	TF_TRY(tf_yaml_scan(text, size, source, tf_raw_workload_hints, &yaml, err));
	status = tf_yaml_load(&yaml, text, size, &tf_raw_workload_schema, &raw, err);
	if (status == TF_OK) {
		reading.raw = raw;
		status = read_workload(&reading, raw);
	}
	if (status == TF_OK)
		*out = workload;
	else
		tf_workload_fini(&workload);
	tf_free(reading.collectives);
	tf_yaml_free(&tf_raw_workload_schema, raw);
	tf_yaml_fini(&yaml);
	return status;
}
