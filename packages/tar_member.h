/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tar form of a member: a header that follows from name and size alone, the data, zeros up to
 * the next block. There is exactly one right header for a name and a size, so a header is checked
 * by building it again.
 */
#ifndef TF_PACKAGES_TAR_MEMBER_H
#define TF_PACKAGES_TAR_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "packages/container_read.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_TAR_BLOCK_BYTES  512
#define TF_TAR_HEADER_BYTES 1536 /* the most: pax header, pax record, header */
#define TF_TAR_END_BYTES    1024 /* two zero blocks end an archive */

/* Whether a name keeps the rules of container_write.h. */
int tf_tar_name_is_valid(const char *name);

/*
 * Writes the header of a valid name and a size within TF_PACKAGE_MEMBER_BYTES_MAX; returns its
 * bytes.
 */
size_t tf_tar_header_build(const char *name, uint64_t bytes, uint8_t out[TF_TAR_HEADER_BYTES]);

/* The bytes of a header: one block, or three from 8 GiB on. */
size_t tf_tar_header_bytes(uint64_t bytes);

/* The same, told from the header's first block. */
size_t tf_tar_header_wanted(const uint8_t block[TF_TAR_BLOCK_BYTES]);

/* Header, data and padding. */
uint64_t tf_tar_range_bytes(uint64_t bytes);

/*
 * Reads name and size from a header of tf_tar_header_wanted bytes.
 * TF_E_INVALID: the name breaks the rules. TF_E_DAMAGED: any other byte is not the one that
 * tf_tar_header_build writes.
 */
TF_WARN_UNUSED enum tf_status tf_tar_header_parse(const uint8_t *header,
	char out_name[TF_PACKAGE_NAME_MAX + 1], uint64_t *out_bytes, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
