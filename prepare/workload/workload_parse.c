/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a workload's YAML to struct tf_workload.
 *
 * First libcyaml by the schema below (words, keys, types), then numbers and names of each
 * collective, then the groups: one for each capacity of each collective, ordered by capacity, then
 * as in the file. The first fault ends it.
 */
#include "prepare/workload/workload.h"
#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "ladders/ladder.h"
#include "ladders/yaml_load.h"
#include "ladders/yaml_value.h"
#include "prepare/workload/foreign_raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Operands that one group rotates through unless it says otherwise: enough to leave the second-
 * level cache cold.
 */
#define DEFAULT_PAIRS 4

struct raw_group {
	char *name;
	enum tf_op op;
	enum tf_dtype dtype;
	char *row_elements, *times, *buffer_pairs;
	uint32_t numerics; /* place in `numerics` */
	char **capacities;
	uint32_t capacity_count;
	char *input, *output;
};

struct raw_workload {
	char *name, *summary;
	char **capacities;
	uint32_t capacity_count;
	struct raw_group *groups;
	uint32_t group_count;
	struct tf_raw_foreign foreign;
};

/* A collective, checked, before it becomes groups. */
struct collective {
	struct tf_group group; /* but for its capacity */
	uint32_t capacities[TF_WORKLOAD_CAPACITIES_MAX];
	uint32_t capacity_count;
};

static const cyaml_strval_t ops[] = {{"all_reduce", TF_OP_ALL_REDUCE},
	{"all_gather", TF_OP_ALL_GATHER}, {"reduce_scatter", TF_OP_REDUCE_SCATTER}};
static const cyaml_strval_t dtypes[] = {
	{"bf16", TF_DTYPE_BF16}, {"f16", TF_DTYPE_F16}, {"f32", TF_DTYPE_F32}};
static const cyaml_strval_t numerics[] = {{"rank_order", 0}, {"any", 1}};

static const struct tf_yaml_hint hints[] = {
	{"name", "1 to 63 of A-Z a-z 0-9 . _ -"},
	{"capacities", "a list of 1 to 32 rising numbers of rows"},
	{"capacities[]", "a number of rows from 1 to 65536"},
	{"groups", "a list of 1 to 4096 collectives"},
	{"row_elements", "a number from 1 to 16777216"},
	{"times", "a number from 1 to 65536"},
	{"buffer_pairs", "a number from 1 to times"},
	{"input", "1 to 63 of A-Z a-z 0-9 . _ -"},
	{"output", "1 to 63 of A-Z a-z 0-9 . _ -"},
	{"buffer", "the name of a buffer or operand"},
	{"module", "the name of a module"},
	{"function", "1 to 63 of A-Z a-z 0-9 . _ -"},
	{"buffers", "a list of 1 to 256 buffers"},
	{"modules", "a list of 1 to 64 modules"},
	{"images", "a list of 1 to 16 images"},
	{"device", "host, sm_NN, or cuda for any GPU"},
	{"kernels", "a list of 1 to 256 kernels"},
	{"arguments", "a list of 1 to 32 arguments"},
	{"elements", "a number from 1 to 2147483648"},
	{"grid", "a list of 1 to 3 sizes"},
	{"grid[]", "N, rows or N*rows, and /M behind it if one likes"},
	{"block", "a list of 1 to 3 sizes"},
	{"block[]", "N, rows or N*rows, and /M behind it if one likes"},
	{"shared_bytes", "N, rows or N*rows, and /M behind it if one likes"},
	{"programmatic", "true or false"},
	{"offset", "a number of bytes"},
	{"access", "read or write"},
	{"u32", "a number from 0 to 4294967295"},
	{"i32", "a number from -2147483648 to 2147483647"},
	{"u64", "a number from 0 to 18446744073709551615"},
	{"f32", "a number"},
	{"rows", "u32"},
	{"step", "a list of 1 to 1024 names of groups and kernels"},
	{"repeat", "a number from 1 to 4096"},
	{NULL, NULL},
};

static const cyaml_schema_value_t number_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 32)};

#define TEXT(key, structure, member, flag, max)                                                    \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flag), structure, member, 1, max)
#define CAPACITIES(structure, flag)                                                                \
	CYAML_FIELD_SEQUENCE_COUNT("capacities", CYAML_FLAG_POINTER | (flag), structure, capacities,   \
		capacity_count, &number_schema, 1, TF_WORKLOAD_CAPACITIES_MAX)

#define FOREIGN(key, member, count, schema, max)                                                   \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct raw_workload, \
		foreign.member, foreign.count, &schema, 1, max)

static const cyaml_schema_field_t group_fields[] = {
	TEXT("name", struct raw_group, name, 0, 400),
	CYAML_FIELD_ENUM("op", CYAML_FLAG_STRICT, struct raw_group, op, ops, COUNT(ops)),
	CYAML_FIELD_ENUM("dtype", CYAML_FLAG_STRICT, struct raw_group, dtype, dtypes, COUNT(dtypes)),
	TEXT("row_elements", struct raw_group, row_elements, 0, 32),
	TEXT("times", struct raw_group, times, CYAML_FLAG_OPTIONAL, 32),
	TEXT("buffer_pairs", struct raw_group, buffer_pairs, CYAML_FLAG_OPTIONAL, 32),
	CYAML_FIELD_ENUM("numerics", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, struct raw_group,
		numerics, numerics, COUNT(numerics)),
	CAPACITIES(struct raw_group, CYAML_FLAG_OPTIONAL),
	TEXT("input", struct raw_group, input, CYAML_FLAG_OPTIONAL, 400),
	TEXT("output", struct raw_group, output, CYAML_FLAG_OPTIONAL, 400),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t group_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_group, group_fields)};

static const cyaml_schema_field_t workload_fields[] = {
	TEXT("name", struct raw_workload, name, 0, 400),
	TEXT("summary", struct raw_workload, summary, 0, 1000),
	CAPACITIES(struct raw_workload, 0),
	CYAML_FIELD_SEQUENCE_COUNT("groups", CYAML_FLAG_POINTER, struct raw_workload, groups,
		group_count, &group_schema, 1, TF_WORKLOAD_GROUPS_MAX),
	FOREIGN("buffers", buffers, buffer_count, tf_raw_buffer_schema, TF_FOREIGN_BUFFERS_MAX),
	FOREIGN("modules", modules, module_count, tf_raw_module_schema, TF_FOREIGN_MODULES_MAX),
	FOREIGN("kernels", kernels, kernel_count, tf_raw_kernel_schema, TF_FOREIGN_KERNELS_MAX),
	FOREIGN("step", step, step_count, tf_raw_word_schema, TF_FOREIGN_CALLS_MAX),
	TEXT("repeat", struct raw_workload, foreign.repeat, CYAML_FLAG_OPTIONAL, 32),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t workload_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct raw_workload, workload_fields)};

struct reading {
	const struct tf_yaml *yaml;
	const struct raw_workload *raw;
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
	struct reading *r, const struct raw_group *raw, struct collective *to)
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
	struct reading *r, const struct raw_group *raw, struct tf_group *group)
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
	struct reading *r, const struct raw_group *raw, struct tf_group *group)
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
	const struct raw_group *raw = &r->raw->groups[r->index];
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
	const struct raw_workload *raw = r->raw;
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

static enum tf_status read_workload(struct reading *r, struct raw_workload *raw)
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

	TF_TRY(tf_yaml_scan(text, size, source, hints, &yaml, err));
	status = tf_yaml_load(&yaml, text, size, &workload_schema, &raw, err);
	if (status == TF_OK) {
		reading.raw = raw;
		status = read_workload(&reading, raw);
	}
	if (status == TF_OK)
		*out = workload;
	else
		tf_workload_fini(&workload);
	tf_free(reading.collectives);
	tf_yaml_free(&workload_schema, raw);
	tf_yaml_fini(&yaml);
	return status;
}
