/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: what libcyaml loads of a workload's buffers, modules, kernels and step, as texts. */
#ifndef TF_PREPARE_WORKLOAD_FOREIGN_RAW_H
#define TF_PREPARE_WORKLOAD_FOREIGN_RAW_H

#include <cyaml/cyaml.h>

#include "ladders/yaml_tree.h"
#include "prepare/workload/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_raw_buffer {
	char *name;
	enum tf_buffer_role role;
	enum tf_dtype dtype;
	char *row_elements, *elements, *file;
};

struct tf_raw_image {
	char *device, *file;
};

struct tf_raw_module {
	char *name;
	struct tf_raw_image *images;
	uint32_t image_count;
};

struct tf_raw_argument {
	char *buffer, *offset, *access, *u32, *i32, *f32, *u64, *rows;
};

struct tf_raw_kernel {
	char *name, *module, *function;
	char **grid, **block;
	uint32_t grid_count, block_count;
	char *shared_bytes, *programmatic;
	struct tf_raw_argument *arguments;
	uint32_t argument_count;
};

/* The part of a workload's raw mapping that this is; {0} where it has none of it. */
struct tf_raw_foreign {
	struct tf_raw_buffer *buffers;
	uint32_t buffer_count;
	struct tf_raw_module *modules;
	uint32_t module_count;
	struct tf_raw_kernel *kernels;
	uint32_t kernel_count;
	char **step;
	uint32_t step_count;
	char *repeat;
};

extern const cyaml_schema_value_t tf_raw_buffer_schema, tf_raw_module_schema, tf_raw_kernel_schema,
	tf_raw_word_schema;

/* A collective as the step sees it. */
struct tf_raw_call {
	const char *name, *input, *output; /* operands NULL where unnamed */
	uint32_t *times;                   /* set to how often a step calls it */
};

/*
 * Reads and checks it all into fresh memory. `collectives` are those of the workload in order.
 * TF_E_INVALID names source, line and field; TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_foreign_parse(const struct tf_yaml *yaml,
	const struct tf_raw_foreign *raw, const struct tf_raw_call *collectives,
	uint32_t collective_count, struct tf_foreign **out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
