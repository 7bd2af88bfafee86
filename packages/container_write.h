/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a package (docs/FORMAT.md) into a temporary file beside its target, which is renamed over
 * the target when it is complete. A crash, a full disk or a kill leaves the old file or none.
 *
 *   create --add--> open --add--> open --seal--> sealed --publish--> published
 *     any state --destroy--> gone; the temporary is unlinked unless it was published
 *     a failed write --> broken: every later call gives that failure again
 *
 * The same members give the same bytes with the same versions of libarchive and libzstd.
 * One thread at a time a writer; writers to one target may run side by side, the last rename wins.
 */
#ifndef TF_PACKAGES_CONTAINER_WRITE_H
#define TF_PACKAGES_CONTAINER_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_package_writer;

/*
 * Makes the temporary file `tfprep-PID-RANDOM.tmp` in the folder of `path` (copied). Temporaries
 * there whose process is gone are named through tf_log, not removed: the folder may be shared by
 * machines. TF_E_USAGE: `path` is a folder or ends in none. TF_E_NOT_FOUND: no such folder.
 * TF_E_SYSTEM, TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_package_writer_create(
	const char *path, struct tf_package_writer **out, struct tf_error *err);

/*
 * Adds a member; `data` is borrowed for the call. The first is TF_PACKAGE_CATALOG, the others
 * follow in the order of their names' bytes. A name is parts of [A-Za-z0-9._+-], none "." or "..",
 * joined by '/', at most TF_PACKAGE_NAME_MAX bytes.
 * TF_E_USAGE: a name against these rules, or after seal. TF_E_LIMIT: too many members or bytes.
 * TF_E_SYSTEM: the file cannot be written (full disk). TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_package_writer_add(struct tf_package_writer *writer,
	const char *name, const void *data, uint64_t bytes, struct tf_error *err);

/*
 * Whether tf_package_writer_create would begin a file at `path`: does so and takes it away again,
 * so that a folder that takes none is found out before the work. The same statuses.
 */
TF_WARN_UNUSED enum tf_status tf_package_writer_try(const char *path, struct tf_error *err);

/* The temporary's path, borrowed, so that it can be opened and checked once it is sealed. */
const char *tf_package_writer_path(const struct tf_package_writer *writer);

/*
 * Writes the end and syncs the file: complete, under its temporary name. TF_E_USAGE: no member yet.
 */
TF_WARN_UNUSED enum tf_status tf_package_writer_seal(
	struct tf_package_writer *writer, struct tf_error *err);

/*
 * Renames the sealed file over the target and syncs the folder. The outputs, each of which may be
 * NULL, are the file's size and SHA-256. TF_E_USAGE: not sealed. A failure to sync the folder is
 * reported, but the file has its name by then.
 */
TF_WARN_UNUSED enum tf_status tf_package_writer_publish(struct tf_package_writer *writer,
	uint64_t *out_bytes, uint8_t *out_digest, struct tf_error *err);

/* Takes NULL. Unlinks the temporary file unless it was published. */
void tf_package_writer_destroy(struct tf_package_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
