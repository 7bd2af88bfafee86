/* SPDX-License-Identifier: Apache-2.0 */
/* Decompressing frames, one at a time; each thread has a reader of its own. */
#ifndef TF_PACKAGES_FRAME_READ_H
#define TF_PACKAGES_FRAME_READ_H

#include <stddef.h>
#include <stdint.h>

#include <zstd.h>

#include "packages/frame_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* {0} is ready for use; tf_zframe_reader_fini frees it. */
struct tf_zframe_reader {
	ZSTD_DCtx *dctx;
	uint8_t *packed; /* the frame read last, as it lies in the file */
	size_t packed_capacity;
};

/*
 * Decompresses a whole frame into `to`, which holds frame->raw_bytes. TF_E_DAMAGED unless its
 * header is the right one, it ends where the table says, and its checksum and the table's are that
 * of the data.
 */
TF_WARN_UNUSED enum tf_status tf_zframe_reader_read(struct tf_zframe_reader *reader, int fd,
	const struct tf_zframe *frame, void *to, struct tf_error *err);

/*
 * Decompresses only the frame's first `bytes` bytes: no checksum is looked at. Cheap where the
 * frame's first block is short, as the writer makes it.
 */
TF_WARN_UNUSED enum tf_status tf_zframe_reader_head(struct tf_zframe_reader *reader, int fd,
	const struct tf_zframe *frame, void *to, size_t bytes, struct tf_error *err);

void tf_zframe_reader_fini(struct tf_zframe_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
