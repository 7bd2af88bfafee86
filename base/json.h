/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON into a byte buffer: commas, quoting and nesting are kept right by the writer. */
#ifndef TF_BASE_JSON_H
#define TF_BASE_JSON_H

#include <stdint.h>

#include "base/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_JSON_DEPTH_MAX 16

/*
 * {.to = &bytes} starts a document. The first failure stays in `status` and later calls do
 * nothing.
 */
struct tf_json {
	struct tf_bytes *to;
	enum tf_status status;
	int depth;
	uint8_t filled[TF_JSON_DEPTH_MAX + 1]; /* whether a level holds a member already */
	uint8_t kind[TF_JSON_DEPTH_MAX + 1];   /* '{' or '[' */
};

/*
 * `key` is NULL inside an array and at the top, and only there; one value stands at the top.
 * Strings must be UTF-8; every other byte is written as U+FFFD. Nothing depends on the locale.
 */
void tf_json_object_begin(struct tf_json *json, const char *key);
void tf_json_object_end(struct tf_json *json);
void tf_json_array_begin(struct tf_json *json, const char *key);
void tf_json_array_end(struct tf_json *json);
void tf_json_text(struct tf_json *json, const char *key, const char *value); /* NULL writes null */
void tf_json_int(struct tf_json *json, const char *key, int64_t value);
void tf_json_uint(struct tf_json *json, const char *key, uint64_t value);
/* The shortest digits that read back as `value`; null where it is not finite. */
void tf_json_real(struct tf_json *json, const char *key, double value);
void tf_json_bool(struct tf_json *json, const char *key, int value);

/*
 * TF_OK when everything was written and every level is closed. TF_E_NO_MEMORY; TF_E_LIMIT: deeper
 * than TF_JSON_DEPTH_MAX; TF_E_INTERNAL: keys or levels did not match, which is a bug of the
 * caller.
 */
TF_WARN_UNUSED enum tf_status tf_json_finish(struct tf_json *json, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
