/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a member. Its range (header, data, padding) is cut every TF_PACKAGE_FRAME_BYTES:
 * frame k holds the bytes from k * TF_PACKAGE_FRAME_BYTES on. The header lies wholly in frame 0.
 */
#include "packages/package.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "packages/tar_member.h"

static uint64_t frame_begin(size_t k)
{
	return (uint64_t)k * TF_PACKAGE_FRAME_BYTES;
}

struct tf_zframe_span tf_package_frame_span(
	const struct tf_package_member *member, size_t k, uint64_t off, uint64_t bytes)
{
	uint64_t frame = frame_begin(k);
	uint64_t begin = tf_tar_header_bytes(member->bytes) + off;
	uint64_t end = begin + bytes;

	begin = begin > frame ? begin : frame;
	end = end < frame + TF_PACKAGE_FRAME_BYTES ? end : frame + TF_PACKAGE_FRAME_BYTES;
	if (end <= begin)
		return (struct tf_zframe_span){0, 0};
	return (struct tf_zframe_span){begin - frame, end - begin};
}

static enum tf_status check_padding(const struct tf_package_member *member, size_t k,
	const uint8_t *raw, uint32_t raw_bytes, struct tf_error *err)
{
	uint64_t data_end = tf_tar_header_bytes(member->bytes) + member->bytes;
	uint64_t frame = frame_begin(k);

	for (uint64_t i = data_end > frame ? data_end - frame : 0; i < raw_bytes; i++) {
		if (raw[i] != 0)
			return TF_FAIL(
				err, TF_E_DAMAGED, "padding behind the data is not zero at byte %" PRIu64, i);
	}
	return TF_OK;
}

enum tf_status tf_package_read_frame(const struct tf_package *package,
	struct tf_zframe_reader *reader, const struct tf_package_member *member, size_t k, uint8_t *to,
	struct tf_error *err)
{
	const struct tf_zframe *frame = &package->table.frames[member->first_frame + k];
	uint8_t header[TF_TAR_HEADER_BYTES];
	enum tf_status status = tf_zframe_reader_read(reader, package->fd, frame, to, err);

	if (status == TF_OK && k == 0) {
		size_t bytes = tf_tar_header_build(member->name, member->bytes, header);

		if (memcmp(to, header, bytes) != 0)
			status = TF_FAIL(err, TF_E_DAMAGED, "tar header changed since the package was opened");
	}
	if (status == TF_OK)
		status = check_padding(member, k, to, frame->raw_bytes, err);
	if (status != TF_OK)
		tf_error_prefix(err, "'%s': member '%s': frame %zu at byte %" PRIu64, package->path,
			member->name, member->first_frame + k, frame->file_off);
	return status;
}

uint8_t *tf_package_frame_room(const struct tf_package_member *member)
{
	uint64_t range = tf_tar_range_bytes(member->bytes);

	return tf_calloc(range < TF_PACKAGE_FRAME_BYTES ? (size_t)range : TF_PACKAGE_FRAME_BYTES, 1);
}
