/* SPDX-License-Identifier: Apache-2.0 */
/* Channels: whole frames of user types, one at a time. No state lives between two calls. */
#include "runtime/link/channel.h"
#include "runtime/link/stream.h"

enum tf_status tf_channel_send(int fd, uint16_t type, uint32_t tag, const void *data, size_t bytes,
	int64_t deadline_ns, struct tf_error *err)
{
	struct tf_frame frame = {.type = type, .tag = tag};

	if (type < TF_FRAME_USER)
		return TF_FAIL(
			err, TF_E_USAGE, "channel type %u is reserved, types start at %u", type, TF_FRAME_USER);
	if (bytes > TF_FRAME_RECORD_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "channel message has %zu bytes, the limit is %u", bytes,
			TF_FRAME_RECORD_MAX);
	frame.length = (uint32_t)bytes;
	return tf_frame_send(fd, &frame, data, NULL, deadline_ns, err);
}

static enum tf_status check_word(const struct tf_frame *frame, struct tf_error *err)
{
	if (frame->type < TF_FRAME_USER)
		return TF_FAIL(err, TF_E_INVALID,
			"unexpected frame '%s' (type %u) on a channel, types start at %u",
			tf_frame_type_name(frame->type), frame->type, TF_FRAME_USER);
	if (frame->fd_count)
		return TF_FAIL(err, TF_E_INVALID,
			"channel message carries %u file descriptors, none are accepted", frame->fd_count);
	return TF_OK;
}

enum tf_status tf_channel_recv(int fd, uint16_t *out_type, uint32_t *out_tag,
	struct tf_bytes *out_data, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_RECORD_MAX};
	enum tf_status status;

	status = tf_frame_recv(fd, &reader, deadline_ns, err);
	if (status == TF_E_TIMEOUT && tf_frame_reader_is_started(&reader))
		status = TF_FAIL(err, TF_E_DAMAGED, "peer began a frame and did not finish it in time");
	if (status == TF_OK)
		status = check_word(&reader.frame, err);
	if (status == TF_OK) {
		struct tf_bytes old = *out_data;

		*out_data = reader.payload;
		reader.payload = old;
		*out_type = reader.frame.type;
		*out_tag = reader.frame.tag;
	}
	tf_frame_reader_fini(&reader);
	return status;
}
