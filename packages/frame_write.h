/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting ranges of bytes into frames, compressing them, writing them, and the tail behind them. */
#ifndef TF_PACKAGES_FRAME_WRITE_H
#define TF_PACKAGES_FRAME_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include <sodium.h>
#include <zstd.h>

#include "packages/frame_table.h"
#include "packages/temporary_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* tf_zframe_writer_init fills it, tf_zframe_writer_fini frees it, also where init failed. */
struct tf_zframe_writer {
	struct tf_temporary *file; /* borrowed */
	ZSTD_CCtx *cctx;
	uint8_t *raw;    /* [TF_PACKAGE_FRAME_BYTES]: the frame being filled */
	uint8_t *packed; /* [TF_FRAME_PACKED_MAX] */
	size_t raw_used;
	size_t head_bytes;   /* of the frame being filled: end a block behind them; 0 for none */
	uint64_t range_left; /* bytes of the range that have not come yet */
	struct tf_zframe_table table;
	crypto_hash_sha256_state sha; /* of everything written */
	uint64_t file_bytes;
};

TF_WARN_UNUSED enum tf_status tf_zframe_writer_init(
	struct tf_zframe_writer *writer, struct tf_temporary *file, struct tf_error *err);

/*
 * Announces a range of `range_bytes` that starts its own frame, with a block of `head_bytes` first.
 */
void tf_zframe_writer_begin(
	struct tf_zframe_writer *writer, uint64_t range_bytes, size_t head_bytes);

/* The next bytes of the range. TF_E_INTERNAL: more than was announced. */
TF_WARN_UNUSED enum tf_status tf_zframe_writer_push(
	struct tf_zframe_writer *writer, const void *data, size_t bytes, struct tf_error *err);

/* Writes seal and seek table. table.catalog_sha256 must be set. */
TF_WARN_UNUSED enum tf_status tf_zframe_writer_finish(
	struct tf_zframe_writer *writer, struct tf_error *err);

void tf_zframe_writer_fini(struct tf_zframe_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
