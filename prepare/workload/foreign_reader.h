/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: a workload's foreign part while it is read; what its files share. */
#ifndef TF_PREPARE_WORKLOAD_FOREIGN_READER_H
#define TF_PREPARE_WORKLOAD_FOREIGN_READER_H

#include "prepare/workload/foreign.h"
#include "prepare/workload/foreign_raw.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_foreign_reader {
	const struct tf_yaml *yaml;
	const struct tf_raw_foreign *raw;
	const struct tf_raw_call *collectives;
	uint32_t collective_count;
	struct tf_foreign *foreign; /* what is read already */
	struct tf_error *err;
	char path[TF_YAML_PATH_BYTES]; /* of the field under way, for messages */
};

/* TF_OK, so that it fits into a chain. */
enum tf_status tf_foreign_set_path(struct tf_foreign_reader *p, const char *fmt, ...)
	TF_PRINTF(2, 3);

/* A number in [min, max] of the field at `path`; TF_E_INVALID names it. */
TF_WARN_UNUSED enum tf_status tf_foreign_read_number(
	struct tf_foreign_reader *p, const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* A name that must be of the form of names, into `out` of TF_NAME_BYTES. TF_E_INVALID. */
TF_WARN_UNUSED enum tf_status tf_foreign_read_name(
	struct tf_foreign_reader *p, const char *text, char *out);

/* Whether a buffer or a named operand bears the name already. */
int tf_foreign_is_place(const struct tf_foreign *foreign, const char *name);

/* The index of a module, or module_count. */
uint32_t tf_foreign_module_of(const struct tf_foreign *foreign, const char *name);

/* Kernel `i` of the file, with its arguments (foreign_kernels.c). TF_E_INVALID. */
TF_WARN_UNUSED enum tf_status tf_foreign_read_kernel(struct tf_foreign_reader *p, uint32_t i);

#ifdef __cplusplus
}
#endif
#endif
