/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a program as a catalog: the same program gives the same bytes. Not part of the runtime.
 */
#ifndef TF_CATALOG_CATALOG_WRITE_H
#define TF_CATALOG_CATALOG_WRITE_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Appends the SQLite file's bytes to `out` (built in memory, serialised). Checks the program
 * first.
 */
TF_WARN_UNUSED enum tf_status tf_catalog_write(
	const struct tf_program *program, struct tf_bytes *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
