/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building and printing JSON for the verbs. A failed part is NULL and json_pack passes that on, so
 * one test at the end sees every failure.
 */
#ifndef TF_PREPARE_JSON_PRINT_H
#define TF_PREPARE_JSON_PRINT_H

#include <stdio.h>

#include <jansson.h>

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends `value` (taken); on a failure frees both and returns NULL. */
json_t *tf_json_append(json_t *array, json_t *value);

/* A string, like base/json.h: each byte that is not UTF-8, as a path may hold, becomes U+FFFD. */
json_t *tf_json_string(const char *text);

/* {"median_ns", "low_ns", "high_ns"}, or null where `median_ns` is negative. */
json_t *tf_json_times(int64_t median_ns, int64_t low_ns, int64_t high_ns);

/* {"name", "algorithm", "writer", "threads", "ctas", "chunk_bytes"} */
json_t *tf_json_candidate(const struct tf_candidate *candidate);

/* Prints `root` (taken, NULL is out of memory) and a newline. TF_E_NO_MEMORY, TF_E_SYSTEM. */
TF_WARN_UNUSED enum tf_status tf_json_print(FILE *to, json_t *root, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
