/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame header and the note payload, byte by byte. Every field of a peer is checked here,
 * once.
 */
#include "runtime/link/frame.h"
#include "base/bytes.h"

#include <assert.h>
#include <string.h>

#define FLAGS_FDS UINT32_C(0xf) /* the only bits with a meaning */

static const char *const type_names[TF_FRAME_TYPE_COUNT] = {
	[TF_FRAME_HELLO] = "hello",
	[TF_FRAME_CHALLENGE] = "challenge",
	[TF_FRAME_PROOF] = "proof",
	[TF_FRAME_ACCEPT] = "accept",
	[TF_FRAME_WELCOME] = "welcome",
	[TF_FRAME_REFUSE] = "refuse",
	[TF_FRAME_FAULT] = "fault",
	[TF_FRAME_BARRIER] = "barrier",
	[TF_FRAME_EXCHANGE] = "exchange",
	[TF_FRAME_BROADCAST] = "broadcast",
	[TF_FRAME_FDS] = "fds",
};

static void put_le16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

static uint16_t get_le16(const uint8_t *from)
{
	return (uint16_t)(from[0] | from[1] << 8);
}

void tf_frame_encode(const struct tf_frame *frame, void *to)
{
	uint8_t *p = to;

	assert(frame->fd_count <= TF_FRAME_FDS_MAX && frame->length <= TF_FRAME_PAYLOAD_MAX);
	tf_put_le32(p, TF_FRAME_MAGIC);
	put_le16(p + 4, TF_FRAME_VERSION);
	put_le16(p + 6, frame->type);
	tf_put_le32(p + 8, frame->fd_count);
	tf_put_le32(p + 12, frame->sender);
	tf_put_le32(p + 16, frame->tag);
	tf_put_le32(p + 20, frame->length);
	tf_put_le64(p + 24, 0);
}

enum tf_status tf_frame_decode(const void *from, struct tf_frame *out_frame, struct tf_error *err)
{
	const uint8_t *p = from;
	uint32_t magic = tf_get_le32(p);
	uint32_t flags = tf_get_le32(p + 8);
	uint32_t length = tf_get_le32(p + 20);
	uint16_t version = get_le16(p + 4);

	if (magic != TF_FRAME_MAGIC)
		return TF_FAIL(err, TF_E_INVALID,
			"frame starts with 0x%08x, not with the magic number 0x%08x", magic, TF_FRAME_MAGIC);
	if (version > TF_FRAME_VERSION)
		return TF_FAIL(err, TF_E_VERSION,
			"frame has version %u, this build speaks up to version %u", version, TF_FRAME_VERSION);
	if (version == 0)
		return TF_FAIL(err, TF_E_INVALID, "frame has version 0, versions start at 1");
	if (get_le16(p + 6) == 0)
		return TF_FAIL(err, TF_E_INVALID, "frame has type 0, types start at 1");
	if (flags & ~FLAGS_FDS)
		return TF_FAIL(err, TF_E_INVALID, "frame has unknown flags 0x%x", flags & ~FLAGS_FDS);
	if (flags > TF_FRAME_FDS_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "frame announces %u file descriptors, the limit is %u",
			flags, TF_FRAME_FDS_MAX);
	if (length > TF_FRAME_PAYLOAD_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "frame announces %u bytes, the limit is %u", length,
			TF_FRAME_PAYLOAD_MAX);
	if (tf_get_le64(p + 24) != 0)
		return TF_FAIL(err, TF_E_INVALID, "frame has reserved bytes that are not zero");
	*out_frame = (struct tf_frame){
		.type = get_le16(p + 6),
		.fd_count = (uint16_t)flags,
		.sender = tf_get_le32(p + 12),
		.tag = tf_get_le32(p + 16),
		.length = length,
	};
	return TF_OK;
}

enum tf_status tf_frame_expect(
	const struct tf_frame *frame, uint16_t type, uint32_t tag, struct tf_error *err)
{
	if (frame->type != type)
		return TF_FAIL(err, TF_E_INVALID,
			"unexpected frame '%s' (type %u) instead of '%s' (type %u)",
			tf_frame_type_name(frame->type), frame->type, tf_frame_type_name(type), type);
	if (frame->tag != tag)
		return TF_FAIL(err, TF_E_INVALID, "frame '%s' has tag %u instead of %u",
			tf_frame_type_name(type), frame->tag, tag);
	return TF_OK;
}

const char *tf_frame_type_name(uint16_t type)
{
	if (type >= TF_FRAME_USER)
		return "user";
	if (type >= TF_FRAME_TYPE_COUNT || !type_names[type])
		return "unknown";
	return type_names[type];
}

size_t tf_frame_note_encode(enum tf_status status, const char *text, void *to)
{
	size_t bytes = strnlen(text, TF_ERROR_TEXT_BYTES - 1);

	tf_put_le32(to, (uint32_t)status);
	memcpy((uint8_t *)to + 4, text, bytes);
	return 4 + bytes;
}

enum tf_status tf_frame_note_decode(
	const void *payload, size_t bytes, struct tf_error *out_note, struct tf_error *err)
{
	char text[TF_ERROR_TEXT_BYTES] = {0};
	uint32_t status;

	if (bytes < 4 || bytes > TF_FRAME_NOTE_MAX)
		return TF_FAIL(err, TF_E_INVALID, "note has %zu bytes, between 4 and %d are allowed", bytes,
			TF_FRAME_NOTE_MAX);
	status = tf_get_le32(payload);
	if (status == TF_OK || status >= TF_STATUS_COUNT)
		return TF_FAIL(err, TF_E_INVALID, "note has status %u, which names no failure", status);
	memcpy(text, (const uint8_t *)payload + 4, bytes - 4);
	for (size_t i = 0; i < bytes - 4; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	TF_FAIL(out_note, (enum tf_status)status, "%s", text);
	return TF_OK;
}
