/* SPDX-License-Identifier: Apache-2.0 */
/* A file that takes its name only when it is complete: temporary name, sync, rename. */
#ifndef TF_PACKAGES_TEMPORARY_FILE_H
#define TF_PACKAGES_TEMPORARY_FILE_H

#include <stddef.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* TF_TEMPORARY_NONE holds nothing; tf_temporary_close ends it. */
struct tf_temporary {
	int fd;
	int folder_fd;
	int renamed;
	char *path;   /* of the temporary, in the target's folder */
	char *target; /* as the caller gave it */
};

#define TF_TEMPORARY_NONE ((struct tf_temporary){.fd = -1, .folder_fd = -1})

/*
 * Creates `tfprep-PID-RANDOM.tmp` beside `target` (copied), open for writing. Names of the same
 * form there, whose process is gone, are reported through tf_log. *out must be TF_TEMPORARY_NONE.
 * TF_E_USAGE: `target` is a folder or a special file, or names none.
 * TF_E_NOT_FOUND: its folder does not exist.
 */
TF_WARN_UNUSED enum tf_status tf_temporary_open(
	const char *target, struct tf_temporary *out, struct tf_error *err);

/* Whether it could be opened: does so, and takes the file away again. The same statuses. */
TF_WARN_UNUSED enum tf_status tf_temporary_try(const char *target, struct tf_error *err);

/* Writes all of it at the file's end. */
TF_WARN_UNUSED enum tf_status tf_temporary_write(
	struct tf_temporary *file, const void *data, size_t bytes, struct tf_error *err);

/* Blocks until the bytes are on the disk. */
TF_WARN_UNUSED enum tf_status tf_temporary_sync(struct tf_temporary *file, struct tf_error *err);

/* Renames over the target and syncs the folder. */
TF_WARN_UNUSED enum tf_status tf_temporary_rename(struct tf_temporary *file, struct tf_error *err);

/* Unlinks the file unless it was renamed. */
void tf_temporary_close(struct tf_temporary *file);

#ifdef __cplusplus
}
#endif
#endif
