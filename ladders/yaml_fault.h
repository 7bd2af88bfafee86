/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what libcyaml reports to one message: which schema and which node its backtrace means, and
 * what is wrong there.
 */
#ifndef TF_LADDERS_YAML_FAULT_H
#define TF_LADDERS_YAML_FAULT_H

#include <stdarg.h>

#include <cyaml/cyaml.h>

#include "base/error.h"
#include "ladders/yaml_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A step of the backtrace: a field of a mapping, or the n-th entry of a list, from 1. */
struct tf_yaml_step {
	char key
		[TF_YAML_KEY_BYTES]; /* "" for an entry, and for a mapping whose key is not in the schema */
	unsigned entry;          /* 0 for a mapping */
};

/* What libcyaml logged about one load; {0} to begin with. */
struct tf_yaml_report {
	char problem[128];                            /* its first line, without "Load: " */
	struct tf_yaml_step steps[TF_YAML_DEPTH_MAX]; /* innermost first */
	unsigned step_count;
};

/* The log callback for cyaml_config_t.log_fn; `report` is its log_ctx. */
void tf_yaml_report_line(cyaml_log_t level, void *report, const char *fmt, va_list args)
	__attribute__((format(printf, 3, 0)));

/* The message for `code`; never returns TF_OK. */
enum tf_status tf_yaml_fault(const struct tf_yaml *yaml, const struct cyaml_schema_value *schema,
	const struct tf_yaml_report *report, cyaml_err_t code, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
