/* SPDX-License-Identifier: Apache-2.0 */
/* What an export or a tuning tells when it is done. */
#ifndef TF_PREPARE_EXPORT_SUMMARY_H
#define TF_PREPARE_EXPORT_SUMMARY_H

#include <stdio.h>

#include "prepare/export/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Groups, picks by writer, what was struck out, where the time went, the file's size and digest.
 * `json`: {"version": 1, ...}.
 */
TF_WARN_UNUSED enum tf_status tf_export_summary_print(
	FILE *to, const struct tf_export_result *result, int json, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
