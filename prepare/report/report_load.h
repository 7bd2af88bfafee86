/* SPDX-License-Identifier: Apache-2.0 */
/* One measured load of a package: what `tfrun PACKAGE --check --json` printed, kept in a file. */
#ifndef TF_PREPARE_REPORT_REPORT_LOAD_H
#define TF_PREPARE_REPORT_REPORT_LOAD_H

#include <stdint.h>

#include "base/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_REPORT_LOAD_BYTES_MAX  65536 /* of the file; tfrun prints less than 1 KiB */
#define TF_REPORT_LOAD_PHASES_MAX 32    /* there are nine, and their sum */
#define TF_REPORT_PHASE_BYTES     32

struct tf_report_load {
	uint32_t phase_count;
	struct {
		char name[TF_REPORT_PHASE_BYTES];
		int64_t ns;                      /* on the slowest rank */
	} phases[TF_REPORT_LOAD_PHASES_MAX]; /* in the file's order */
	int64_t total_ns;
};

/*
 * Reads `path` into `out`. TF_E_NOT_FOUND: no such file. TF_E_INVALID: not what tfrun prints, or
 * too long. TF_E_VERSION: of another version. TF_E_MISFIT: it measured a package of another digest
 * than `sha256`. TF_E_LIMIT, TF_E_NO_MEMORY, TF_E_SYSTEM.
 */
TF_WARN_UNUSED enum tf_status tf_report_load_read(const char *path,
	const uint8_t sha256[TF_DIGEST_BYTES], struct tf_report_load *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
