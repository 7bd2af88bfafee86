/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a part of a file that must be there in full. */
#ifndef TF_PACKAGES_READ_AT_H
#define TF_PACKAGES_READ_AT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* pread of exactly `bytes` bytes. TF_E_DAMAGED: the file ends before. TF_E_SYSTEM. Thread-safe. */
TF_WARN_UNUSED enum tf_status tf_read_at(
	int fd, void *to, size_t bytes, uint64_t off, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
