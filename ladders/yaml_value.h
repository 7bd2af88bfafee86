/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and sizes of a YAML text, read strictly: all of the text counts, and the range is the
 * caller's.
 */
#ifndef TF_LADDERS_YAML_VALUE_H
#define TF_LADDERS_YAML_VALUE_H

#include <stdint.h>

#include "base/error.h"
#include "ladders/yaml_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `text`, the value at `path`, as a decimal number without sign, blanks or leading zeros, min <=
 * *out <= max. TF_E_INVALID: the message of tf_yaml_fail_value with the hint of the path.
 */
TF_WARN_UNUSED enum tf_status tf_yaml_number(const struct tf_yaml *yaml, const char *path,
	const char *text, uint64_t min, uint64_t max, uint64_t *out, struct tf_error *err);

/*
 * The same for bytes, with KiB, MiB or GiB right behind the number if one likes: "65536", "64KiB".
 */
TF_WARN_UNUSED enum tf_status tf_yaml_size(const struct tf_yaml *yaml, const char *path,
	const char *text, uint64_t min, uint64_t max, uint64_t *out, struct tf_error *err);

/* Every entry of the list at `path` is there once, and there is one at least. */
TF_WARN_UNUSED enum tf_status tf_yaml_distinct(
	const struct tf_yaml *yaml, const char *path, struct tf_error *err);

/* [A-Za-z0-9._-]+, shorter than TF_NAME_BYTES. */
TF_WARN_UNUSED enum tf_status tf_yaml_name(
	const struct tf_yaml *yaml, const char *path, const char *text, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
