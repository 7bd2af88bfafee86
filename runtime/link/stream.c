/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames over sockets.
 *
 * 1. A read never passes the end of the header or of the payload, so descriptors always belong to
 *    the frame being read.
 * 2. Every receive has room for descriptors: without it the kernel would drop them unseen.
 * 3. A descriptor that came is in `reader->fds` or closed.
 */
#include "runtime/link/stream.h"
#include "base/deadline.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)64 * 1024) /* the payload grows by this much at a time */

/* Room for the descriptors of one message, aligned as the kernel wants it. */
union control {
	struct cmsghdr align;
	char room[CMSG_SPACE(TF_FRAME_FDS_MAX * sizeof(int))];
};

static int payload_is_whole(const struct tf_frame_reader *reader)
{
	return reader->header_have == TF_FRAME_HEADER_BYTES &&
		reader->payload.size == reader->frame.length;
}

/* Stores the descriptors of one message, closing what exceeds the room. */
static unsigned keep_fds(struct tf_frame_reader *reader, struct msghdr *msg)
{
	unsigned came = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++, came++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (reader->fd_count < TF_FRAME_FDS_MAX)
				reader->fds[reader->fd_count++] = fd;
			else
				close(fd);
		}
	}
	return came;
}

/* One receive of up to `bytes`; *out_got is 0 when the socket is empty. */
static enum tf_status receive(struct tf_frame_reader *reader, int fd, void *to, size_t bytes,
	size_t *out_got, struct tf_error *err)
{
	int in_payload = reader->header_have == TF_FRAME_HEADER_BYTES;
	struct iovec iov = {.iov_base = to, .iov_len = bytes};
	union control control;
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	unsigned came;
	ssize_t got;

	*out_got = 0;
	do {
		got = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return TF_OK;
	if (got == 0 || (got < 0 && (errno == ECONNRESET || errno == EPIPE)))
		return TF_FAIL(err, TF_E_DISCONNECTED, "peer closed the connection %s",
			tf_frame_reader_is_started(reader) ? "in the middle of a frame" : "between frames");
	if (got < 0)
		return TF_FAIL_ERRNO(err, "cannot receive from a peer");
	came = keep_fds(reader, &msg);
	if (msg.msg_flags & MSG_CTRUNC)
		return TF_FAIL(err, TF_E_LIMIT,
			"peer sent more than %d file descriptors, or this process can hold no more",
			TF_FRAME_FDS_MAX);
	if (came && in_payload)
		return TF_FAIL(
			err, TF_E_INVALID, "peer sent %u file descriptors in the middle of a frame", came);
	*out_got = (size_t)got;
	return TF_OK;
}

static enum tf_status header_came(struct tf_frame_reader *reader, struct tf_error *err)
{
	TF_TRY(tf_frame_decode(reader->header, &reader->frame, err));
	if (reader->frame.length > reader->payload_max)
		return TF_FAIL(err, TF_E_LIMIT,
			"frame '%s' announces %u bytes, at most %zu are accepted here",
			tf_frame_type_name(reader->frame.type), reader->frame.length, reader->payload_max);
	if (reader->frame.fd_count != reader->fd_count)
		return TF_FAIL(err, TF_E_INVALID, "frame '%s' announces %u file descriptors, %u came",
			tf_frame_type_name(reader->frame.type), reader->frame.fd_count, reader->fd_count);
	return TF_OK;
}

static enum tf_status read_header(
	struct tf_frame_reader *reader, int fd, size_t *out_got, struct tf_error *err)
{
	TF_TRY(receive(reader, fd, reader->header + reader->header_have,
		TF_FRAME_HEADER_BYTES - reader->header_have, out_got, err));
	reader->header_have += *out_got;
	if (*out_got && reader->header_have == TF_FRAME_HEADER_BYTES)
		return header_came(reader, err);
	return TF_OK;
}

static enum tf_status read_payload(
	struct tf_frame_reader *reader, int fd, size_t *out_got, struct tf_error *err)
{
	size_t chunk = reader->frame.length - reader->payload.size;
	enum tf_status status;
	void *to;

	*out_got = 0;
	if (chunk > CHUNK_BYTES)
		chunk = CHUNK_BYTES;
	TF_TRY(tf_bytes_extend(&reader->payload, chunk, &to, err));
	status = receive(reader, fd, to, chunk, out_got, err);
	reader->payload.size -= chunk - *out_got;
	return status;
}

enum tf_status tf_frame_reader_step(
	struct tf_frame_reader *reader, int fd, int *out_complete, struct tf_error *err)
{
	size_t got = 1;

	while (got && !payload_is_whole(reader)) {
		if (reader->header_have < TF_FRAME_HEADER_BYTES)
			TF_TRY(read_header(reader, fd, &got, err));
		else
			TF_TRY(read_payload(reader, fd, &got, err));
	}
	*out_complete = payload_is_whole(reader);
	return TF_OK;
}

int tf_frame_reader_is_started(const struct tf_frame_reader *reader)
{
	return reader->header_have > 0;
}

int tf_frame_reader_take_fd(struct tf_frame_reader *reader, unsigned i)
{
	int fd = reader->fds[i];

	reader->fds[i] = -1;
	return fd;
}

void tf_frame_reader_reset(struct tf_frame_reader *reader)
{
	for (unsigned i = 0; i < reader->fd_count; i++)
		if (reader->fds[i] >= 0)
			close(reader->fds[i]);
	reader->fd_count = 0;
	reader->header_have = 0;
	reader->payload.size = 0;
}

void tf_frame_reader_fini(struct tf_frame_reader *reader)
{
	tf_frame_reader_reset(reader);
	tf_bytes_fini(&reader->payload);
}

void tf_frame_writer_begin(struct tf_frame_writer *writer, const struct tf_frame *frame,
	const void *payload, const int *fds)
{
	tf_frame_encode(frame, writer->header);
	writer->payload = payload;
	writer->size = TF_FRAME_HEADER_BYTES + (size_t)frame->length;
	writer->sent = 0;
	writer->fd_count = frame->fd_count;
	for (unsigned i = 0; i < frame->fd_count; i++)
		writer->fds[i] = fds[i];
}

int tf_frame_writer_is_done(const struct tf_frame_writer *writer)
{
	return writer->sent == writer->size;
}

/* The descriptors go with the first byte and never again. */
static void attach_fds(
	const struct tf_frame_writer *writer, union control *control, struct msghdr *msg)
{
	size_t bytes = writer->fd_count * sizeof(int);
	struct cmsghdr *c;

	if (writer->sent || !writer->fd_count)
		return;
	memset(control, 0, sizeof(*control));
	msg->msg_control = control;
	msg->msg_controllen = CMSG_SPACE(bytes);
	c = CMSG_FIRSTHDR(msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), writer->fds, bytes);
}

/* What is left to send, in one or two pieces. */
static size_t left_to_send(struct tf_frame_writer *writer, struct iovec iov[2])
{
	size_t payload_sent = 0;
	size_t count = 0;

	if (writer->sent < TF_FRAME_HEADER_BYTES)
		iov[count++] = (struct iovec){
			.iov_base = writer->header + writer->sent,
			.iov_len = TF_FRAME_HEADER_BYTES - writer->sent,
		};
	else
		payload_sent = writer->sent - TF_FRAME_HEADER_BYTES;
	if (writer->size > TF_FRAME_HEADER_BYTES)
		iov[count++] = (struct iovec){
			.iov_base = (void *)(uintptr_t)(writer->payload + payload_sent),
			.iov_len = writer->size - TF_FRAME_HEADER_BYTES - payload_sent,
		};
	return count;
}

enum tf_status tf_frame_writer_step(struct tf_frame_writer *writer, int fd, struct tf_error *err)
{
	while (!tf_frame_writer_is_done(writer)) {
		union control control;
		struct iovec iov[2];
		struct msghdr msg = {.msg_iov = iov};
		ssize_t sent;

		msg.msg_iovlen = left_to_send(writer, iov);
		attach_fds(writer, &control, &msg);
		sent = sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent >= 0)
			writer->sent += (size_t)sent;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return TF_OK;
		else if (errno == EPIPE || errno == ECONNRESET)
			return TF_FAIL(
				err, TF_E_DISCONNECTED, "peer closed the connection before it took a frame");
		else if (errno != EINTR)
			return TF_FAIL_ERRNO(err, "cannot send to a peer");
	}
	return TF_OK;
}

/* Waits until the socket has one of `events` (or an error, which the next step reports). */
static enum tf_status wait_for(int fd, short events, int64_t deadline_ns, struct tf_error *err)
{
	struct pollfd watch = {.fd = fd, .events = events};

	/* The clock is asked first: a peer that trickles is always ready. */
	while (!tf_deadline_passed(deadline_ns)) {
		int ready = poll(&watch, 1, tf_deadline_poll_ms(deadline_ns));

		if (ready > 0)
			return TF_OK;
		if (ready < 0 && errno != EINTR)
			return TF_FAIL_ERRNO(err, "cannot wait for a peer");
	}
	return TF_FAIL(err, TF_E_TIMEOUT, "peer %s in time",
		events & POLLIN ? "sent no whole frame" : "took no whole frame");
}

enum tf_status tf_frame_send(int fd, const struct tf_frame *frame, const void *payload,
	const int *fds, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_frame_writer writer;

	tf_frame_writer_begin(&writer, frame, payload, fds);
	for (;;) {
		TF_TRY(tf_frame_writer_step(&writer, fd, err));
		if (tf_frame_writer_is_done(&writer))
			return TF_OK;
		TF_TRY(wait_for(fd, POLLOUT, deadline_ns, err));
	}
}

enum tf_status tf_frame_recv(
	int fd, struct tf_frame_reader *reader, int64_t deadline_ns, struct tf_error *err)
{
	for (;;) {
		int complete;

		TF_TRY(tf_frame_reader_step(reader, fd, &complete, err));
		if (complete)
			return TF_OK;
		TF_TRY(wait_for(fd, POLLIN, deadline_ns, err));
	}
}
