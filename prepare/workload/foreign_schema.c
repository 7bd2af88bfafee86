/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of buffers, modules, kernels and their arguments. */
#include "prepare/workload/foreign_raw.h"

#include "prepare/workload/foreign.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TEXT(key, structure, member, flag, max)                                                    \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flag), structure, member, 1, max)
#define LIST(key, structure, member, count, entry, flag, min, max)                                 \
	CYAML_FIELD_SEQUENCE_COUNT(                                                                    \
		key, CYAML_FLAG_POINTER | (flag), structure, member, count, entry, min, max)

static const cyaml_strval_t roles[] = {{"input", TF_BUFFER_INPUT}, {"output", TF_BUFFER_OUTPUT},
	{"constant", TF_BUFFER_CONSTANT}, {"work", TF_BUFFER_WORK}};
static const cyaml_strval_t dtypes[] = {
	{"bf16", TF_DTYPE_BF16}, {"f16", TF_DTYPE_F16}, {"f32", TF_DTYPE_F32}};

const cyaml_schema_value_t tf_raw_word_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 64)};

static const cyaml_schema_field_t buffer_fields[] = {
	TEXT("name", struct tf_raw_buffer, name, 0, 400),
	CYAML_FIELD_ENUM("role", CYAML_FLAG_STRICT, struct tf_raw_buffer, role, roles, COUNT(roles)),
	CYAML_FIELD_ENUM(
		"dtype", CYAML_FLAG_STRICT, struct tf_raw_buffer, dtype, dtypes, COUNT(dtypes)),
	TEXT("row_elements", struct tf_raw_buffer, row_elements, CYAML_FLAG_OPTIONAL, 32),
	TEXT("elements", struct tf_raw_buffer, elements, CYAML_FLAG_OPTIONAL, 32),
	TEXT("file", struct tf_raw_buffer, file, CYAML_FLAG_OPTIONAL, 4000),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t tf_raw_buffer_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_buffer, buffer_fields)};

static const cyaml_schema_field_t image_fields[] = {
	TEXT("device", struct tf_raw_image, device, 0, 64),
	TEXT("file", struct tf_raw_image, file, 0, 4000),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t image_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_image, image_fields)};

static const cyaml_schema_field_t module_fields[] = {
	TEXT("name", struct tf_raw_module, name, 0, 400),
	LIST("images", struct tf_raw_module, images, image_count, &image_schema, 0, 1,
		TF_FOREIGN_IMAGES_MAX),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t tf_raw_module_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_module, module_fields)};

static const cyaml_schema_field_t argument_fields[] = {
	TEXT("buffer", struct tf_raw_argument, buffer, CYAML_FLAG_OPTIONAL, 400),
	TEXT("offset", struct tf_raw_argument, offset, CYAML_FLAG_OPTIONAL, 32),
	TEXT("access", struct tf_raw_argument, access, CYAML_FLAG_OPTIONAL, 32),
	TEXT("u32", struct tf_raw_argument, u32, CYAML_FLAG_OPTIONAL, 32),
	TEXT("i32", struct tf_raw_argument, i32, CYAML_FLAG_OPTIONAL, 32),
	TEXT("f32", struct tf_raw_argument, f32, CYAML_FLAG_OPTIONAL, 64),
	TEXT("u64", struct tf_raw_argument, u64, CYAML_FLAG_OPTIONAL, 32),
	TEXT("rows", struct tf_raw_argument, rows, CYAML_FLAG_OPTIONAL, 32),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t argument_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_argument, argument_fields)};

static const cyaml_schema_field_t kernel_fields[] = {
	TEXT("name", struct tf_raw_kernel, name, 0, 400),
	TEXT("module", struct tf_raw_kernel, module, 0, 400),
	TEXT("function", struct tf_raw_kernel, function, CYAML_FLAG_OPTIONAL, 400),
	LIST("grid", struct tf_raw_kernel, grid, grid_count, &tf_raw_word_schema, 0, 1, 3),
	LIST("block", struct tf_raw_kernel, block, block_count, &tf_raw_word_schema, 0, 1, 3),
	TEXT("shared_bytes", struct tf_raw_kernel, shared_bytes, CYAML_FLAG_OPTIONAL, 64),
	TEXT("programmatic", struct tf_raw_kernel, programmatic, CYAML_FLAG_OPTIONAL, 32),
	LIST("arguments", struct tf_raw_kernel, arguments, argument_count, &argument_schema, 0, 1,
		TF_FOREIGN_ARGUMENTS_MAX),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t tf_raw_kernel_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_kernel, kernel_fields)};
