/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a YAML text by a libcyaml schema, with messages for people.
 *
 * libcyaml decides; its log lines and its backtrace say where it stopped; the tree and the schema
 * say what was found there and what is allowed. Numbers are loaded as texts and read with
 * yaml_value.h: libcyaml 1.3 takes "64KB" for 64.
 */
#ifndef TF_LADDERS_YAML_LOAD_H
#define TF_LADDERS_YAML_LOAD_H

#include <stddef.h>

#include <cyaml/cyaml.h>

#include "base/error.h"
#include "ladders/yaml_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Loads `text`, the one that `yaml` was scanned from, by `schema` (a mapping, CYAML_FLAG_POINTER);
 * *out is freed with tf_yaml_free and the same schema. TF_E_INVALID names source, line, field, what
 * was found and what is allowed: an unknown key (with the nearest known one), a missing one, a
 * wrong type or word, a wrong number of entries. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_yaml_load(const struct tf_yaml *yaml, const char *text,
	size_t size, const struct cyaml_schema_value *schema, void **out, struct tf_error *err);

/* Takes NULL. Strings that the caller took must be NULL in `data` by now. */
void tf_yaml_free(const struct cyaml_schema_value *schema, void *data);

#ifdef __cplusplus
}
#endif
#endif
