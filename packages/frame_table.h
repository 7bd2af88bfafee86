/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a package and its tail: the seal (a skippable frame with the container's version
 * and two digests) and the seek table (zstd's seekable format). All of the tail follows from this
 * struct, so a tail is checked by building it again.
 */
#ifndef TF_PACKAGES_FRAME_TABLE_H
#define TF_PACKAGES_FRAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "packages/container_read.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_FRAME_HEADER_BYTES 9 /* the most that tf_zframe_header_build writes */

/* A header, an empty block and a checksum need this much. */
#define TF_FRAME_PACKED_MIN 12

/* What cannot be compressed grows by block headers; above this a frame is no honest one. */
#define TF_FRAME_PACKED_MAX (TF_PACKAGE_FRAME_BYTES + TF_PACKAGE_FRAME_BYTES / 128)

struct tf_zframe {
	uint64_t file_off;
	uint32_t packed_bytes;
	uint32_t raw_bytes;
	uint32_t checksum; /* low half of XXH64 of the raw bytes, also the frame's last four bytes */
};

/* {0} is empty. tf_zframe_table_fini frees it. */
struct tf_zframe_table {
	struct tf_zframe *frames; /* [count]: those with data; the seal is not among them */
	size_t count;
	size_t capacity;
	uint8_t catalog_sha256[TF_DIGEST_BYTES]; /* of the catalog's bytes */
	uint8_t body_sha256[TF_DIGEST_BYTES];    /* of the file before the seal */
};

/* The one zstd frame header of a frame with `raw_bytes` >= 256; returns its bytes. */
size_t tf_zframe_header_build(uint32_t raw_bytes, uint8_t out[TF_FRAME_HEADER_BYTES]);

/* TF_E_LIMIT above TF_PACKAGE_FRAMES_MAX. */
TF_WARN_UNUSED enum tf_status tf_zframe_table_append(struct tf_zframe_table *table,
	uint32_t packed_bytes, uint32_t raw_bytes, uint32_t checksum, struct tf_error *err);

/* Bytes of the file before the seal. */
uint64_t tf_zframe_table_body_bytes(const struct tf_zframe_table *table);

/* Appends seal and seek table to `out`. */
TF_WARN_UNUSED enum tf_status tf_zframe_table_encode(
	const struct tf_zframe_table *table, struct tf_bytes *out, struct tf_error *err);

/*
 * Reads the tail of a file of `file_bytes` bytes; `out` must be empty. The statuses are those of
 * tf_package_open.
 */
TF_WARN_UNUSED enum tf_status tf_zframe_table_read(
	int fd, uint64_t file_bytes, struct tf_zframe_table *out, struct tf_error *err);

/* TF_E_DAMAGED unless the file's tail is what tf_zframe_table_encode gives. */
TF_WARN_UNUSED enum tf_status tf_zframe_table_compare(
	const struct tf_zframe_table *table, int fd, struct tf_error *err);

void tf_zframe_table_fini(struct tf_zframe_table *table);

#ifdef __cplusplus
}
#endif
#endif
