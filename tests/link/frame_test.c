/* SPDX-License-Identifier: Apache-2.0 */
/* The frame contract: golden bytes, every malformed kind, descriptors, and channels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/link/channel.h"
#include "runtime/link/stream.h"
#include "tests/link/rank_threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint8_t golden[TF_FRAME_HEADER_BYTES] = {
	'T',
	'F',
	'L',
	'K',
	1,
	0,
	9,
	0,
	2,
	0,
	0,
	0,
	3,
	0,
	0,
	0,
	0x78,
	0x56,
	0x34,
	0x12,
	0x05,
	0x01,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
};

static const struct tf_frame golden_frame = {
	.type = TF_FRAME_EXCHANGE,
	.fd_count = 2,
	.sender = 3,
	.tag = 0x12345678,
	.length = 0x105,
};

static void test_golden_bytes(void **state)
{
	uint8_t header[TF_FRAME_HEADER_BYTES];
	struct tf_frame frame;

	(void)state;
	tf_frame_encode(&golden_frame, header);
	assert_memory_equal(header, golden, sizeof(golden));
	assert_int_equal(tf_frame_decode(golden, &frame, NULL), TF_OK);
	assert_memory_equal(&frame, &golden_frame, sizeof(frame));
}

static void test_malformed_headers(void **state)
{
	static const struct {
		size_t off;
		uint8_t value;
		enum tf_status status;
		const char *text;
	} cases[] = {
		{0, 'X', TF_E_INVALID,
			"frame starts with 0x4b4c4658, not with the magic number 0x4b4c4654"},
		{4, 2, TF_E_VERSION, "frame has version 2, this build speaks up to version 1"},
		{4, 0, TF_E_INVALID, "frame has version 0, versions start at 1"},
		{6, 0, TF_E_INVALID, "frame has type 0, types start at 1"},
		{9, 1, TF_E_INVALID, "frame has unknown flags 0x100"},
		{8, 9, TF_E_LIMIT, "frame announces 9 file descriptors, the limit is 8"},
		{22, 0x81, TF_E_LIMIT, "frame announces 8454405 bytes, the limit is 8388640"},
		{31, 1, TF_E_INVALID, "frame has reserved bytes that are not zero"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t header[TF_FRAME_HEADER_BYTES];
		struct tf_frame frame = golden_frame;
		struct tf_error err;

		memcpy(header, golden, sizeof(header));
		header[cases[i].off] = cases[i].value;
		assert_int_equal(tf_frame_decode(header, &frame, &err), cases[i].status);
		assert_string_equal(err.text, cases[i].text);
		assert_memory_equal(&frame, &golden_frame, sizeof(frame));
	}
}

static void test_unexpected_type_and_tag(void **state)
{
	struct tf_error err;

	(void)state;
	assert_int_equal(tf_frame_expect(&golden_frame, TF_FRAME_EXCHANGE, 0x12345678, &err), TF_OK);
	assert_int_equal(
		tf_frame_expect(&golden_frame, TF_FRAME_BARRIER, 0x12345678, &err), TF_E_INVALID);
	assert_string_equal(
		err.text, "unexpected frame 'exchange' (type 9) instead of 'barrier' (type 8)");
	assert_int_equal(tf_frame_expect(&golden_frame, TF_FRAME_EXCHANGE, 7, &err), TF_E_INVALID);
	assert_string_equal(err.text, "frame 'exchange' has tag 305419896 instead of 7");
	assert_string_equal(tf_frame_type_name(TF_FRAME_USER + 5), "user");
	assert_string_equal(tf_frame_type_name(TF_FRAME_TYPE_COUNT), "unknown");
	assert_string_equal(tf_frame_type_name(0), "unknown");
}

static void test_notes(void **state)
{
	static const uint8_t no_failure[4] = {0, 0, 0, 0};
	static const uint8_t no_status[4] = {200, 0, 0, 0};
	char longest[2 * TF_ERROR_TEXT_BYTES];
	uint8_t note[TF_FRAME_NOTE_MAX];
	struct tf_error out, err;

	(void)state;
	assert_int_equal(tf_frame_note_encode(TF_E_TIMEOUT, "a\nb\033c", note), 9);
	assert_int_equal(tf_frame_note_decode(note, 9, &out, &err), TF_OK);
	assert_int_equal(out.status, TF_E_TIMEOUT);
	assert_string_equal(out.text, "a?b?c");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(tf_frame_note_encode(TF_E_ABORTED, longest, note), TF_FRAME_NOTE_MAX);
	assert_int_equal(tf_frame_note_decode(note, TF_FRAME_NOTE_MAX, &out, &err), TF_OK);
	assert_int_equal(strlen(out.text), TF_ERROR_TEXT_BYTES - 1);
	assert_int_equal(tf_frame_note_decode(note, 3, &out, &err), TF_E_INVALID);
	assert_int_equal(tf_frame_note_decode(note, TF_FRAME_NOTE_MAX + 1, &out, &err), TF_E_INVALID);
	assert_int_equal(tf_frame_note_decode(no_failure, 4, &out, &err), TF_E_INVALID);
	assert_int_equal(tf_frame_note_decode(no_status, 4, &out, &err), TF_E_INVALID);
	assert_string_equal(err.text, "note has status 200, which names no failure");
}

static void make_pair(int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
}

static void close_pair(int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

static void test_bytewise_arrival(void **state)
{
	struct tf_frame_reader reader = {.payload_max = 100};
	uint8_t bytes[TF_FRAME_HEADER_BYTES + 5];
	size_t size = make_frame(bytes, TF_FRAME_BARRIER, 1, 2, "hello", 5);
	int complete = 1;
	int pair[2];

	(void)state;
	make_pair(pair);
	for (int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < size; i++) {
			assert_int_equal(tf_frame_reader_step(&reader, pair[0], &complete, NULL), TF_OK);
			assert_false(complete);
			assert_int_equal(tf_frame_reader_is_started(&reader), i > 0);
			send_raw(pair[1], bytes + i, 1, NULL, 0);
		}
		assert_int_equal(tf_frame_reader_step(&reader, pair[0], &complete, NULL), TF_OK);
		assert_true(complete);
		assert_int_equal(reader.frame.tag, 2);
		assert_int_equal(reader.payload.size, 5);
		assert_memory_equal(reader.payload.data, "hello", 5);
		tf_frame_reader_reset(&reader);
	}
	tf_frame_reader_fini(&reader);
	close_pair(pair);
}

static void test_large_frame_through_small_buffers(void **state)
{
	struct tf_frame frame = {.type = TF_FRAME_USER, .length = TF_FRAME_PAYLOAD_MAX};
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_PAYLOAD_MAX};
	uint8_t *payload = tf_calloc(TF_FRAME_PAYLOAD_MAX, 1);
	struct tf_frame_writer writer;
	int complete = 0;
	int pair[2];

	(void)state;
	make_pair(pair);
	for (uint32_t i = 0; i < TF_FRAME_PAYLOAD_MAX; i++)
		payload[i] = (uint8_t)(i * 2654435761u >> 24);
	tf_frame_writer_begin(&writer, &frame, payload, NULL);
	while (!complete) {
		assert_int_equal(tf_frame_writer_step(&writer, pair[1], NULL), TF_OK);
		assert_int_equal(tf_frame_reader_step(&reader, pair[0], &complete, NULL), TF_OK);
	}
	assert_true(tf_frame_writer_is_done(&writer));
	assert_memory_equal(reader.payload.data, payload, TF_FRAME_PAYLOAD_MAX);
	tf_free(payload);
	tf_frame_reader_fini(&reader);
	close_pair(pair);
}

/* What a reader says to these bytes, followed by the end of the stream. */
static enum tf_status read_once(
	const void *bytes, size_t size, const int *fds, unsigned fd_count, struct tf_error *err)
{
	struct tf_frame_reader reader = {.payload_max = 64};
	enum tf_status status;
	int pair[2];

	make_pair(pair);
	if (size)
		send_raw(pair[1], bytes, size, fds, fd_count);
	close(pair[1]);
	status = tf_frame_recv(pair[0], &reader, SOON, err);
	tf_frame_reader_fini(&reader);
	close(pair[0]);
	return status;
}

static void test_truncated_and_too_long(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + 5];
	size_t size = make_frame(bytes, TF_FRAME_BARRIER, 1, 2, "hello", 5);
	struct tf_error err;

	(void)state;
	assert_int_equal(read_once(bytes, size, NULL, 0, &err), TF_OK);
	assert_int_equal(read_once(bytes, 0, NULL, 0, &err), TF_E_DISCONNECTED);
	assert_string_equal(err.text, "peer closed the connection between frames");
	for (size_t cut = 1; cut < size; cut++) {
		assert_int_equal(read_once(bytes, cut, NULL, 0, &err), TF_E_DISCONNECTED);
		assert_string_equal(err.text, "peer closed the connection in the middle of a frame");
	}
	tf_put_le32(bytes + 20, 65);
	assert_int_equal(read_once(bytes, size, NULL, 0, &err), TF_E_LIMIT);
	assert_string_equal(
		err.text, "frame 'barrier' announces 65 bytes, at most 64 are accepted here");
}

static void test_an_announced_length_reserves_nothing(void **state)
{
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_PAYLOAD_MAX};
	struct tf_frame frame = {.type = TF_FRAME_USER, .length = TF_FRAME_PAYLOAD_MAX};
	uint8_t header[TF_FRAME_HEADER_BYTES];
	int complete;
	int pair[2];

	(void)state;
	make_pair(pair);
	tf_frame_encode(&frame, header);
	send_raw(pair[1], header, sizeof(header), NULL, 0);
	assert_int_equal(tf_frame_reader_step(&reader, pair[0], &complete, NULL), TF_OK);
	assert_false(complete);
	assert_true(reader.payload.capacity < 256 * 1024);
	tf_frame_reader_fini(&reader);
	close_pair(pair);
}

static void test_descriptors_arrive(void **state)
{
	struct tf_frame frame = {.type = TF_FRAME_FDS, .fd_count = 2, .length = 3};
	struct tf_frame_reader reader = {.payload_max = 3};
	unsigned before = count_fds();
	int pipes[2], pair[2];
	char byte = 0;
	int fd;

	(void)state;
	make_pair(pair);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(tf_frame_send(pair[1], &frame, "abc", pipes, SOON, NULL), TF_OK);
	assert_int_equal(tf_frame_recv(pair[0], &reader, SOON, NULL), TF_OK);
	assert_int_equal(reader.fd_count, 2);
	fd = tf_frame_reader_take_fd(&reader, 1);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	tf_frame_reader_fini(&reader); /* closes the one that was not taken */
	assert_int_equal(write(fd, "z", 1), 1);
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(byte, 'z');
	close(fd);
	close_pair(pipes);
	close_pair(pair);
	assert_int_equal(count_fds(), before);
}

static void test_descriptors_refused(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + 5];
	size_t size = make_frame(bytes, TF_FRAME_FDS, 1, 2, "hello", 5);
	struct tf_frame_reader reader = {.payload_max = 64};
	unsigned before = count_fds();
	struct tf_error err;
	int fds[9], pair[2];

	(void)state;
	for (int i = 0; i < 9; i++)
		fds[i] = STDERR_FILENO;
	assert_int_equal(read_once(bytes, size, fds, 1, &err), TF_E_INVALID);
	assert_string_equal(err.text, "frame 'fds' announces 0 file descriptors, 1 came");
	assert_int_equal(read_once(bytes, size, fds, 9, &err), TF_E_LIMIT);
	assert_non_null(strstr(err.text, "more than 8 file descriptors"));
	bytes[8] = 2;
	assert_int_equal(read_once(bytes, size, fds, 1, &err), TF_E_INVALID);
	assert_string_equal(err.text, "frame 'fds' announces 2 file descriptors, 1 came");

	make_pair(pair);
	bytes[8] = 0;
	send_raw(pair[1], bytes, TF_FRAME_HEADER_BYTES, NULL, 0);
	send_raw(pair[1], bytes + TF_FRAME_HEADER_BYTES, 5, fds, 2);
	assert_int_equal(tf_frame_recv(pair[0], &reader, SOON, &err), TF_E_INVALID);
	assert_string_equal(err.text, "peer sent 2 file descriptors in the middle of a frame");
	tf_frame_reader_fini(&reader);
	close_pair(pair);
	assert_int_equal(count_fds(), before);
}

static void test_channel(void **state)
{
	struct tf_bytes data = {0};
	uint16_t type;
	uint32_t tag;
	int pair[2];

	(void)state;
	make_pair(pair);
	assert_int_equal(tf_channel_send(pair[0], TF_FRAME_USER + 1, 7, "work", 4, SOON, NULL), TF_OK);
	assert_int_equal(tf_channel_send(pair[0], 0xffff, 8, NULL, 0, SOON, NULL), TF_OK);
	assert_int_equal(tf_channel_recv(pair[1], &type, &tag, &data, SOON, NULL), TF_OK);
	assert_int_equal(type, TF_FRAME_USER + 1);
	assert_int_equal(tag, 7);
	assert_int_equal(data.size, 4);
	assert_memory_equal(data.data, "work", 4);
	assert_int_equal(tf_channel_recv(pair[1], &type, &tag, &data, SOON, NULL), TF_OK);
	assert_int_equal(type, 0xffff);
	assert_int_equal(data.size, 0);
	tf_bytes_fini(&data);
	close_pair(pair);
}

static void test_channel_failures(void **state)
{
	int64_t now = tf_now_ns();
	uint8_t bytes[TF_FRAME_HEADER_BYTES];
	struct tf_bytes data = {0};
	struct tf_error err;
	uint16_t type = 1;
	uint32_t tag = 1;
	int fd = STDERR_FILENO;
	int pair[2];

	(void)state;
	make_pair(pair);
	assert_int_equal(tf_channel_send(pair[0], TF_FRAME_USER - 1, 0, "", 0, SOON, &err), TF_E_USAGE);
	assert_int_equal(
		tf_channel_send(pair[0], TF_FRAME_USER, 0, bytes, TF_FRAME_RECORD_MAX + 1, SOON, &err),
		TF_E_LIMIT);
	assert_int_equal(tf_channel_recv(pair[1], &type, &tag, &data, now, &err), TF_E_TIMEOUT);
	make_frame(bytes, TF_FRAME_BARRIER, 0, 0, NULL, 0);
	send_raw(pair[0], bytes, sizeof(bytes), NULL, 0);
	assert_int_equal(tf_channel_recv(pair[1], &type, &tag, &data, SOON, &err), TF_E_INVALID);
	assert_string_equal(
		err.text, "unexpected frame 'barrier' (type 8) on a channel, types start at 256");
	make_frame(bytes, TF_FRAME_USER, 0, 0, NULL, 0);
	bytes[8] = 1;
	send_raw(pair[0], bytes, sizeof(bytes), &fd, 1);
	assert_int_equal(tf_channel_recv(pair[1], &type, &tag, &data, SOON, &err), TF_E_INVALID);
	assert_string_equal(err.text, "channel message carries 1 file descriptors, none are accepted");
	send_raw(pair[0], bytes, 9, NULL, 0);
	assert_int_equal(tf_channel_recv(pair[1], &type, &tag, &data, now, &err), TF_E_DAMAGED);
	close(pair[0]);
	assert_int_equal(tf_channel_recv(pair[1], &type, &tag, &data, SOON, &err), TF_E_DISCONNECTED);
	assert_int_equal(
		tf_channel_send(pair[1], TF_FRAME_USER, 0, "", 0, SOON, &err), TF_E_DISCONNECTED);
	assert_int_equal(type, 1);
	assert_null(data.data);
	close(pair[1]);
}

static void test_channel_to_a_peer_that_does_not_read(void **state)
{
	uint8_t *data = tf_calloc(TF_FRAME_RECORD_MAX, 1);
	struct tf_error err;
	int pair[2];

	(void)state;
	make_pair(pair);
	assert_int_equal(tf_channel_send(pair[0], TF_FRAME_USER, 0, data, TF_FRAME_RECORD_MAX,
						 tf_deadline_after(20 * TF_NS_PER_MS), &err),
		TF_E_TIMEOUT);
	assert_string_equal(err.text, "peer took no whole frame in time");
	tf_free(data);
	close_pair(pair);
}

static void test_channel_without_memory(void **state)
{
	uint64_t failed = 0;

	(void)state;
	for (uint64_t nth = 1;; nth++) {
		uint64_t made = tf_alloc_count();
		struct tf_bytes data = {0};
		struct tf_error err;
		enum tf_status status;
		uint16_t type;
		uint32_t tag;
		int pair[2];

		make_pair(pair);
		tf_alloc_fail_at(nth);
		assert_int_equal(tf_channel_send(pair[0], TF_FRAME_USER, 0, "work", 4, SOON, &err), TF_OK);
		status = tf_channel_recv(pair[1], &type, &tag, &data, SOON, &err);
		tf_alloc_fail_at(0);
		tf_bytes_fini(&data);
		close_pair(pair);
		if (tf_alloc_count() - made < nth) {
			assert_int_equal(status, TF_OK);
			break;
		}
		assert_int_equal(status, TF_E_NO_MEMORY);
		failed++;
	}
	assert_true(failed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_bytes),
		cmocka_unit_test(test_malformed_headers),
		cmocka_unit_test(test_unexpected_type_and_tag),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_bytewise_arrival),
		cmocka_unit_test(test_large_frame_through_small_buffers),
		cmocka_unit_test(test_truncated_and_too_long),
		cmocka_unit_test(test_an_announced_length_reserves_nothing),
		cmocka_unit_test(test_descriptors_arrive),
		cmocka_unit_test(test_descriptors_refused),
		cmocka_unit_test(test_channel),
		cmocka_unit_test(test_channel_failures),
		cmocka_unit_test(test_channel_to_a_peer_that_does_not_read),
		cmocka_unit_test(test_channel_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
