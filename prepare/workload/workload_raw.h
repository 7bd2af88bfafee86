/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: what libcyaml loads of a workload, numbers as texts. */
#ifndef TF_PREPARE_WORKLOAD_WORKLOAD_RAW_H
#define TF_PREPARE_WORKLOAD_WORKLOAD_RAW_H

#include <cyaml/cyaml.h>

#include "ladders/yaml_load.h"
#include "prepare/workload/foreign_raw.h"
#include "prepare/workload/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_raw_group {
	char *name;
	enum tf_op op;
	enum tf_dtype dtype;
	char *row_elements, *times, *buffer_pairs;
	uint32_t numerics; /* 1: any */
	char **capacities;
	uint32_t capacity_count;
	char *input, *output;
};

struct tf_raw_workload {
	char *name, *summary;
	char **capacities;
	uint32_t capacity_count;
	struct tf_raw_group *groups;
	uint32_t group_count;
	struct tf_raw_foreign foreign;
};

extern const cyaml_schema_value_t tf_raw_workload_schema; /* of struct tf_raw_workload */
extern const struct tf_yaml_hint tf_raw_workload_hints[]; /* ends with {NULL, NULL} */

#ifdef __cplusplus
}
#endif
#endif
