/* SPDX-License-Identifier: Apache-2.0 */
/* What `tfprep diff` prints. */
#ifndef TF_PREPARE_DIFF_PRINT_H
#define TF_PREPARE_DIFF_PRINT_H

#include <stdio.h>

#include "prepare/package_diff.h"
#include "prepare/package_view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_DIFF_JSON_VERSION 1

/* `views` are the two packages that `diff` was made of. */
TF_WARN_UNUSED enum tf_status tf_diff_print_table(FILE *to, const struct tf_package_view *views,
	const struct tf_package_diff *diff, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_diff_print_json(FILE *to, const struct tf_package_view *views,
	const struct tf_package_diff *diff, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
