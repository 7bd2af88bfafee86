/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames over a stream socket. A reader and a writer each hold the state of one frame under way,
 * so that an event loop can serve many sockets; tf_frame_send and tf_frame_recv wait for one. No
 * call blocks beyond its deadline, whatever the socket's own mode, and none raises SIGPIPE.
 *
 * File descriptors travel with the first byte of their frame (SCM_RIGHTS) and arrive with close-
 * on-exec. Descriptors that were not announced, come in the middle of a frame or exceed the limit
 * are closed, and the frame is refused.
 */
#ifndef TF_RUNTIME_LINK_STREAM_H
#define TF_RUNTIME_LINK_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "runtime/link/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

/* {.payload_max = n} is an empty reader that refuses payloads over n bytes. */
struct tf_frame_reader {
	size_t payload_max;
	uint8_t header[TF_FRAME_HEADER_BYTES];
	size_t header_have;      /* bytes of the header that came */
	struct tf_frame frame;   /* valid once the header is whole */
	struct tf_bytes payload; /* what came of the payload; keeps its capacity between frames */
	int fds[TF_FRAME_FDS_MAX];
	unsigned fd_count; /* descriptors that the reader owns */
};

/*
 * Takes what the socket has, up to the end of the current frame, without waiting. *out_complete
 * says whether `frame`, `payload` and `fds` now hold a whole frame; they stay until
 * tf_frame_reader_reset. A payload grows as its bytes come: an announced length alone reserves no
 * memory. TF_E_DISCONNECTED: the peer closed (the text tells between frames from inside one).
 * TF_E_INVALID, TF_E_VERSION, TF_E_LIMIT: a bad frame; the stream is of no further use.
 * TF_E_NO_MEMORY, TF_E_SYSTEM.
 */
TF_WARN_UNUSED enum tf_status tf_frame_reader_step(
	struct tf_frame_reader *reader, int fd, int *out_complete, struct tf_error *err);

/* Whether any byte of a frame came. */
int tf_frame_reader_is_started(const struct tf_frame_reader *reader);

/* The i-th descriptor of a whole frame; the caller owns it from now on. */
int tf_frame_reader_take_fd(struct tf_frame_reader *reader, unsigned i);

/* Ready for the next frame: closes descriptors that nobody took, keeps the payload's memory. */
void tf_frame_reader_reset(struct tf_frame_reader *reader);

/* Resets and frees. */
void tf_frame_reader_fini(struct tf_frame_reader *reader);

/* One frame on its way out; owns nothing. {0} is done. */
struct tf_frame_writer {
	uint8_t header[TF_FRAME_HEADER_BYTES];
	const uint8_t *payload;
	size_t size; /* header and payload */
	size_t sent;
	int fds[TF_FRAME_FDS_MAX];
	unsigned fd_count;
};

/*
 * `payload` (frame->length bytes) and the frame->fd_count descriptors are borrowed until the frame
 * is out.
 */
void tf_frame_writer_begin(struct tf_frame_writer *writer, const struct tf_frame *frame,
	const void *payload, const int *fds);

/* Whether every byte is out. */
int tf_frame_writer_is_done(const struct tf_frame_writer *writer);

/* Sends what the socket takes without waiting. TF_E_DISCONNECTED: the peer closed. TF_E_SYSTEM. */
TF_WARN_UNUSED enum tf_status tf_frame_writer_step(
	struct tf_frame_writer *writer, int fd, struct tf_error *err);

/*
 * One whole frame. TF_E_TIMEOUT when the deadline comes first (part of it may be out); else as the
 * step.
 */
TF_WARN_UNUSED enum tf_status tf_frame_send(int fd, const struct tf_frame *frame,
	const void *payload, const int *fds, int64_t deadline_ns, struct tf_error *err);

/*
 * The next whole frame, into a reader that was reset. TF_E_TIMEOUT when the deadline comes first.
 */
TF_WARN_UNUSED enum tf_status tf_frame_recv(
	int fd, struct tf_frame_reader *reader, int64_t deadline_ns, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
