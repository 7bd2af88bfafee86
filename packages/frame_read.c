/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame from the file into memory.
 * 1. The frame header is compared with the one that follows from the table before zstd sees the
 *    frame, so no window, dictionary or size of the file's own choosing reaches it.
 * 2. The stored bytes are exactly one frame.
 */
#include "packages/frame_read.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "packages/read_at.h"
#include "packages/zstd_call.h"

#define HEAD_CHUNK_BYTES 2048 /* a tar header and its block take a few hundred */

static enum tf_status need_dctx(struct tf_zframe_reader *reader, struct tf_error *err)
{
	if (!reader->dctx)
		reader->dctx = ZSTD_createDCtx();
	if (!reader->dctx)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a zstd decoder");
	return TF_OK;
}

static enum tf_status need_packed(
	struct tf_zframe_reader *reader, size_t bytes, struct tf_error *err)
{
	uint8_t *packed;

	if (bytes <= reader->packed_capacity)
		return TF_OK;
	packed = tf_reallocarray(reader->packed, bytes, 1);
	if (!packed)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a frame of %zu bytes", bytes);
	reader->packed = packed;
	reader->packed_capacity = bytes;
	return TF_OK;
}

static enum tf_status check_header(
	const struct tf_zframe *frame, const uint8_t *packed, struct tf_error *err)
{
	uint8_t right[TF_FRAME_HEADER_BYTES];
	size_t bytes = tf_zframe_header_build(frame->raw_bytes, right);

	if (memcmp(packed, right, bytes) != 0)
		return TF_FAIL(err, TF_E_DAMAGED,
			"zstd frame header is not the one of a frame of %" PRIu32 " bytes", frame->raw_bytes);
	return TF_OK;
}

static enum tf_status decompress(
	struct tf_zframe_reader *reader, const struct tf_zframe *frame, void *to, struct tf_error *err)
{
	const uint8_t *packed = reader->packed;
	size_t size = frame->packed_bytes;
	size_t result;

	TF_ZSTD(err, TF_E_DAMAGED, result, ZSTD_findFrameCompressedSize(packed, size));
	if (result != size)
		return TF_FAIL(
			err, TF_E_DAMAGED, "frame ends after %zu of its %zu packed bytes", result, size);
	TF_ZSTD(err, TF_E_DAMAGED, result,
		ZSTD_decompressDCtx(reader->dctx, to, frame->raw_bytes, packed, size));
	if (result != frame->raw_bytes)
		return TF_FAIL(err, TF_E_DAMAGED, "frame holds %zu bytes, the seek table says %" PRIu32,
			result, frame->raw_bytes);
	if (tf_get_le32(packed + size - 4) != frame->checksum)
		return TF_FAIL(err, TF_E_DAMAGED,
			"frame's checksum is 0x%08" PRIx32 ", the seek table says 0x%08" PRIx32,
			tf_get_le32(packed + size - 4), frame->checksum);
	return TF_OK;
}

enum tf_status tf_zframe_reader_read(struct tf_zframe_reader *reader, int fd,
	const struct tf_zframe *frame, void *to, struct tf_error *err)
{
	TF_TRY(need_dctx(reader, err));
	TF_TRY(need_packed(reader, frame->packed_bytes, err));
	TF_TRY(tf_read_at(fd, reader->packed, frame->packed_bytes, frame->file_off, err));
	TF_TRY(check_header(frame, reader->packed, err));
	return decompress(reader, frame, to, err);
}

/* Feeds one chunk. *out_more: whether the frame goes on and `out` has room. */
static enum tf_status feed(
	ZSTD_DCtx *dctx, ZSTD_inBuffer *in, ZSTD_outBuffer *out, int *out_more, struct tf_error *err)
{
	size_t left = 1; /* 0: the frame is complete */

	while (left != 0 && in->pos < in->size && out->pos < out->size)
		TF_ZSTD(err, TF_E_DAMAGED, left, ZSTD_decompressStream(dctx, out, in));
	*out_more = left != 0 && out->pos < out->size;
	return TF_OK;
}

enum tf_status tf_zframe_reader_head(struct tf_zframe_reader *reader, int fd,
	const struct tf_zframe *frame, void *to, size_t bytes, struct tf_error *err)
{
	uint8_t chunk[HEAD_CHUNK_BYTES];
	ZSTD_outBuffer out = {to, bytes, 0};
	uint64_t off = 0;
	size_t result;
	int more = 1;

	TF_TRY(need_dctx(reader, err));
	TF_ZSTD(err, TF_E_INTERNAL, result, ZSTD_DCtx_reset(reader->dctx, ZSTD_reset_session_only));
	while (more && off < frame->packed_bytes) {
		uint64_t left = frame->packed_bytes - off;
		ZSTD_inBuffer in = {chunk, left < sizeof(chunk) ? (size_t)left : sizeof(chunk), 0};

		TF_TRY(tf_read_at(fd, chunk, in.size, frame->file_off + off, err));
		if (off == 0)
			TF_TRY(check_header(frame, chunk, err));
		TF_TRY(feed(reader->dctx, &in, &out, &more, err));
		off += in.size;
	}
	if (out.pos < bytes)
		return TF_FAIL(
			err, TF_E_DAMAGED, "frame ends after %zu of %zu bytes of a tar header", out.pos, bytes);
	return TF_OK;
}

void tf_zframe_reader_fini(struct tf_zframe_reader *reader)
{
	ZSTD_freeDCtx(reader->dctx);
	tf_free(reader->packed);
	memset(reader, 0, sizeof(*reader));
}
