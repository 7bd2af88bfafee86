/* SPDX-License-Identifier: Apache-2.0 */
/* The keys and words of a workload, and what a message says is allowed. */
#include "prepare/workload/workload_raw.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const cyaml_strval_t ops[] = {{"all_reduce", TF_OP_ALL_REDUCE},
	{"all_gather", TF_OP_ALL_GATHER}, {"reduce_scatter", TF_OP_REDUCE_SCATTER}};
static const cyaml_strval_t dtypes[] = {
	{"bf16", TF_DTYPE_BF16}, {"f16", TF_DTYPE_F16}, {"f32", TF_DTYPE_F32}};
static const cyaml_strval_t numerics[] = {{"rank_order", 0}, {"any", 1}};

const struct tf_yaml_hint tf_raw_workload_hints[] = {
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
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,                      \
		struct tf_raw_workload, foreign.member, foreign.count, &schema, 1, max)

static const cyaml_schema_field_t group_fields[] = {
	TEXT("name", struct tf_raw_group, name, 0, 400),
	CYAML_FIELD_ENUM("op", CYAML_FLAG_STRICT, struct tf_raw_group, op, ops, COUNT(ops)),
	CYAML_FIELD_ENUM("dtype", CYAML_FLAG_STRICT, struct tf_raw_group, dtype, dtypes, COUNT(dtypes)),
	TEXT("row_elements", struct tf_raw_group, row_elements, 0, 32),
	TEXT("times", struct tf_raw_group, times, CYAML_FLAG_OPTIONAL, 32),
	TEXT("buffer_pairs", struct tf_raw_group, buffer_pairs, CYAML_FLAG_OPTIONAL, 32),
	CYAML_FIELD_ENUM("numerics", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, struct tf_raw_group,
		numerics, numerics, COUNT(numerics)),
	CAPACITIES(struct tf_raw_group, CYAML_FLAG_OPTIONAL),
	TEXT("input", struct tf_raw_group, input, CYAML_FLAG_OPTIONAL, 400),
	TEXT("output", struct tf_raw_group, output, CYAML_FLAG_OPTIONAL, 400),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t group_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_group, group_fields)};

static const cyaml_schema_field_t workload_fields[] = {
	TEXT("name", struct tf_raw_workload, name, 0, 400),
	TEXT("summary", struct tf_raw_workload, summary, 0, 1000),
	CAPACITIES(struct tf_raw_workload, 0),
	CYAML_FIELD_SEQUENCE_COUNT("groups", CYAML_FLAG_POINTER, struct tf_raw_workload, groups,
		group_count, &group_schema, 1, TF_WORKLOAD_GROUPS_MAX),
	FOREIGN("buffers", buffers, buffer_count, tf_raw_buffer_schema, TF_FOREIGN_BUFFERS_MAX),
	FOREIGN("modules", modules, module_count, tf_raw_module_schema, TF_FOREIGN_MODULES_MAX),
	FOREIGN("kernels", kernels, kernel_count, tf_raw_kernel_schema, TF_FOREIGN_KERNELS_MAX),
	FOREIGN("step", step, step_count, tf_raw_word_schema, TF_FOREIGN_CALLS_MAX),
	TEXT("repeat", struct tf_raw_workload, foreign.repeat, CYAML_FLAG_OPTIONAL, 32),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t tf_raw_workload_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tf_raw_workload, workload_fields)};
