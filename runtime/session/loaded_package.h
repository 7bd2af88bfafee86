/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A package read and checked, before any device is touched. A parent that is about to fork its
 * ranks reads it once, and the children open their sessions from their copy of its memory.
 */
#ifndef TF_RUNTIME_SESSION_LOADED_PACKAGE_H
#define TF_RUNTIME_SESSION_LOADED_PACKAGE_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_loaded_package {
	struct tf_program program;
	uint8_t digest[TF_DIGEST_BYTES]; /* SHA-256 of the file */
	uint64_t file_bytes;
	struct tf_bytes
		*images; /* (program.module_count): what carries each module; empty for the host's */
	struct tf_bytes *constants; /* (program.constant_count): what fills each */
	uint32_t idle_members;      /* members that nothing of this load refers to */
	char idle_text[256];        /* "'a', 'b'", cut */
};

/*
 * Reads the catalog (digests checked) and looks every member up. `parts`: enum tf_catalog_parts.
 * Under `strict` an idle member is
 * TF_E_MISFIT. Statuses as tf_package_open and tf_catalog_read; the text begins with "cannot load
 * 'PATH'".
 */
TF_WARN_UNUSED enum tf_status tf_loaded_package_open(const char *path, unsigned parts, int strict,
	struct tf_loaded_package *out, struct tf_error *err);
void tf_loaded_package_fini(struct tf_loaded_package *package);

#ifdef __cplusplus
}
#endif
#endif
