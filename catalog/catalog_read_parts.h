/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal to tf_catalog_read: one function a table group. Each fills its arrays of `out`
 * (half-filled on a fault; the caller releases it) with values whose type, range and place in the
 * order are checked; what refers to what is left to tf_program_check.
 */
#ifndef TF_CATALOG_CATALOG_READ_PARTS_H
#define TF_CATALOG_CATALOG_READ_PARTS_H

#include <sqlite3.h>

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* identity, program, member, buffer, constant */
TF_WARN_UNUSED enum tf_status tf_read_memory(
	sqlite3 *db, struct tf_program *out, struct tf_error *err);

/* tuned_group, candidate, selector, and sample if with_samples */
TF_WARN_UNUSED enum tf_status tf_read_tuning(
	sqlite3 *db, int with_samples, struct tf_program *out, struct tf_error *err);

/* graph, node, edge; the startup graph only if with_startup */
TF_WARN_UNUSED enum tf_status tf_read_graphs(
	sqlite3 *db, int with_startup, struct tf_program *out, struct tf_error *err);

/*
 * module, kernel, kernel_word, launch, launch_word; launches below launch_end (TF_PROGRAM_NONE:
 * all)
 */
TF_WARN_UNUSED enum tf_status tf_read_kernels(
	sqlite3 *db, uint32_t launch_end, struct tf_program *out, struct tf_error *err);

/* host_image, kernel_param, touched, proof: tables of schema 1.1, absent in a file of 1.0 */
TF_WARN_UNUSED enum tf_status tf_read_foreign(
	sqlite3 *db, struct tf_program *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
