/* SPDX-License-Identifier: Apache-2.0 */
/* A whole text file in memory, bounded; and text files that were built into the binary. */
#ifndef TF_LADDERS_TEXT_FILE_H
#define TF_LADDERS_TEXT_FILE_H

#include <stddef.h>

#include "base/bytes.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One file built in by EmbedText.cmake, which generates arrays of these that end with a NULL name.
 */
struct tf_text_file {
	const char *name;   /* without folder and ending: "switched" */
	const char *source; /* from the root of the tree, for messages: "ladders/switched.yaml" */
	const char *text;   /* ends with a NUL that `size` does not count */
	size_t size;
};

/*
 * Appends the file's bytes to *out (freed with tf_bytes_fini by the caller in any case).
 * TF_E_NOT_FOUND: there is none. TF_E_INVALID: not a regular file, or longer than `max_bytes`.
 * TF_E_SYSTEM: cannot be read. TF_E_NO_MEMORY. Never waits: pipes and devices are refused.
 */
TF_WARN_UNUSED enum tf_status tf_text_file_read(
	const char *path, size_t max_bytes, struct tf_bytes *out, struct tf_error *err);

/* The built-in file of that name, or NULL. */
const struct tf_text_file *tf_text_file_find(const struct tf_text_file *files, const char *name);

/*
 * TF_E_NOT_FOUND: "no built-in WHAT 'NAME', did you mean 'NEAR', allowed: A, B, ..."; `also` (may
 * be "") follows the list.
 */
enum tf_status tf_text_file_fail_unknown(const struct tf_text_file *files, const char *what,
	const char *name, const char *also, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
