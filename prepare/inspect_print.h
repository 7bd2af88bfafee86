/* SPDX-License-Identifier: Apache-2.0 */
/* What `tfprep inspect` prints. `json`: one object {"version": 1, ...}, else text for people. */
#ifndef TF_PREPARE_INSPECT_PRINT_H
#define TF_PREPARE_INSPECT_PRINT_H

#include <stdio.h>

#include "prepare/package_view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_INSPECT_JSON_VERSION 1 /* within a version, members are only added */

/* The whole package: digest, identity, graphs, picks, members. The view is verified. */
TF_WARN_UNUSED enum tf_status tf_inspect_print_table(
	FILE *to, const struct tf_package_view *view, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_inspect_print_json(
	FILE *to, const struct tf_package_view *view, struct tf_error *err);

/*
 * The candidates of the groups of that name, at every capacity or (`capacity` not 0) at one.
 * TF_E_NOT_FOUND: no such group, with the nearest name; or none at that capacity, with those there
 * are.
 */
TF_WARN_UNUSED enum tf_status tf_inspect_print_why(FILE *to, const struct tf_program *program,
	const char *group, uint32_t capacity, int json, struct tf_error *err);

/*
 * One statement's rows. Text: a line of names, then a line a row, columns split by tabs; NULL is
 * \N, and backslash, tab, newline and other control bytes are \\, \t, \n and \xNN. The header is
 * printed with the first row. Statuses as tf_catalog_query.
 */
TF_WARN_UNUSED enum tf_status tf_inspect_print_query(
	FILE *to, const struct tf_package_view *view, const char *sql, int json, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
