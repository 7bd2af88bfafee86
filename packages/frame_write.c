/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames into the file.
 * 1. A frame's bytes follow from its raw bytes and the length of its head alone: fixed level and
 *    window, one thread, all input at hand before the first call.
 * 2. A frame is compared with what a reader demands before it is written.
 */
#include "packages/frame_write.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "packages/zstd_call.h"

#define LEVEL      3
#define WINDOW_LOG 23 /* TF_PACKAGE_FRAME_BYTES: every frame is a single segment */

static enum tf_status configure(ZSTD_CCtx *cctx, struct tf_error *err)
{
	static const struct {
		ZSTD_cParameter name;
		int value;
	} settings[] = {
		{ZSTD_c_compressionLevel, LEVEL},
		{ZSTD_c_windowLog, WINDOW_LOG},
		{ZSTD_c_contentSizeFlag, 1},
		{ZSTD_c_checksumFlag, 1},
		{ZSTD_c_dictIDFlag, 0},
	};
	size_t result;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		TF_ZSTD(err, TF_E_INTERNAL, result,
			ZSTD_CCtx_setParameter(cctx, settings[i].name, settings[i].value));
	return TF_OK;
}

enum tf_status tf_zframe_writer_init(
	struct tf_zframe_writer *writer, struct tf_temporary *file, struct tf_error *err)
{
	memset(writer, 0, sizeof(*writer));
	writer->file = file;
	crypto_hash_sha256_init(&writer->sha);
	writer->raw = tf_calloc(TF_PACKAGE_FRAME_BYTES, 1);
	writer->packed = tf_calloc(TF_FRAME_PACKED_MAX, 1);
	writer->cctx = ZSTD_createCCtx();
	if (!writer->raw || !writer->packed || !writer->cctx)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to compress frames");
	return configure(writer->cctx, err);
}

void tf_zframe_writer_begin(
	struct tf_zframe_writer *writer, uint64_t range_bytes, size_t head_bytes)
{
	writer->range_left = range_bytes;
	writer->head_bytes = head_bytes;
	writer->raw_used = 0;
}

static enum tf_status compress(
	struct tf_zframe_writer *writer, size_t *out_packed, struct tf_error *err)
{
	ZSTD_inBuffer in = {writer->raw, writer->head_bytes, 0};
	ZSTD_outBuffer out = {writer->packed, TF_FRAME_PACKED_MAX, 0};
	size_t left;

	TF_ZSTD(err, TF_E_INTERNAL, left, ZSTD_CCtx_reset(writer->cctx, ZSTD_reset_session_only));
	TF_ZSTD(err, TF_E_INTERNAL, left, ZSTD_CCtx_setPledgedSrcSize(writer->cctx, writer->raw_used));
	if (writer->head_bytes)
		TF_ZSTD(
			err, TF_E_INTERNAL, left, ZSTD_compressStream2(writer->cctx, &out, &in, ZSTD_e_flush));
	in.size = writer->raw_used;
	TF_ZSTD(err, TF_E_INTERNAL, left, ZSTD_compressStream2(writer->cctx, &out, &in, ZSTD_e_end));
	if (left != 0 || in.pos != in.size)
		return TF_FAIL(err, TF_E_INTERNAL, "a frame of %zu bytes packs to more than %" PRIu32,
			writer->raw_used, TF_FRAME_PACKED_MAX);
	*out_packed = out.pos;
	return TF_OK;
}

static enum tf_status put(
	struct tf_zframe_writer *writer, const void *data, size_t bytes, struct tf_error *err)
{
	TF_TRY(tf_temporary_write(writer->file, data, bytes, err));
	crypto_hash_sha256_update(&writer->sha, data, bytes);
	writer->file_bytes += bytes;
	return TF_OK;
}

static enum tf_status write_frame(struct tf_zframe_writer *writer, struct tf_error *err)
{
	uint8_t header[TF_FRAME_HEADER_BYTES];
	uint32_t raw_bytes = (uint32_t)writer->raw_used;
	size_t header_bytes = tf_zframe_header_build(raw_bytes, header);
	size_t packed = 0;

	TF_TRY(compress(writer, &packed, err));
	if (packed < TF_FRAME_PACKED_MIN || memcmp(writer->packed, header, header_bytes) != 0)
		return TF_FAIL(err, TF_E_INTERNAL,
			"libzstd %s writes another frame header than this format's", ZSTD_versionString());
	TF_TRY(put(writer, writer->packed, packed, err));
	writer->raw_used = 0;
	writer->head_bytes = 0;
	return tf_zframe_table_append(
		&writer->table, (uint32_t)packed, raw_bytes, tf_get_le32(writer->packed + packed - 4), err);
}

enum tf_status tf_zframe_writer_push(
	struct tf_zframe_writer *writer, const void *data, size_t bytes, struct tf_error *err)
{
	const uint8_t *from = data;

	if (bytes > writer->range_left)
		return TF_FAIL(err, TF_E_INTERNAL, "%zu bytes came where %" PRIu64 " were announced", bytes,
			writer->range_left);
	while (bytes > 0) {
		size_t room = TF_PACKAGE_FRAME_BYTES - writer->raw_used;
		size_t n = bytes < room ? bytes : room;

		memcpy(writer->raw + writer->raw_used, from, n);
		writer->raw_used += n;
		writer->range_left -= n;
		from += n;
		bytes -= n;
		if (writer->raw_used == TF_PACKAGE_FRAME_BYTES || writer->range_left == 0)
			TF_TRY(write_frame(writer, err));
	}
	return TF_OK;
}

enum tf_status tf_zframe_writer_finish(struct tf_zframe_writer *writer, struct tf_error *err)
{
	crypto_hash_sha256_state body = writer->sha;
	struct tf_bytes tail = {0};
	enum tf_status status;

	crypto_hash_sha256_final(&body, writer->table.body_sha256);
	status = tf_zframe_table_encode(&writer->table, &tail, err);
	if (status == TF_OK)
		status = put(writer, tail.data, tail.size, err);
	tf_bytes_fini(&tail);
	return status;
}

void tf_zframe_writer_fini(struct tf_zframe_writer *writer)
{
	ZSTD_freeCCtx(writer->cctx);
	tf_free(writer->raw);
	tf_free(writer->packed);
	tf_zframe_table_fini(&writer->table);
	memset(writer, 0, sizeof(*writer));
}
