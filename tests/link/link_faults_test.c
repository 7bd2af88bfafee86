/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link whose other ends are raw sockets: malformed words at every place, silence, and the health
 * check.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/deadline.h"
#include "runtime/link/star.h"
#include "runtime/link/stream.h"
#include "tests/link/rank_threads.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE tf_now_ns()

static struct tf_link_ends ends;
static struct tf_link *link_under_test;

static void open_link(uint32_t world, uint32_t rank)
{
	assert_int_equal(tf_link_create_pairs(world, &ends, NULL), TF_OK);
	assert_int_equal(tf_link_attach(&ends, rank, &link_under_test, NULL), TF_OK);
}

static void close_link(void)
{
	tf_link_close(link_under_test);
	tf_link_ends_fini(&ends);
}

/* The fault that a raw end was told; it must come next on its socket. */
static void assert_told(int fd, enum tf_status status, const char *text)
{
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_NOTE_MAX};
	struct tf_error note;

	assert_int_equal(tf_frame_recv(fd, &reader, SOON, NULL), TF_OK);
	assert_int_equal(reader.frame.type, TF_FRAME_FAULT);
	assert_int_equal(
		tf_frame_note_decode(reader.payload.data, reader.payload.size, &note, NULL), TF_OK);
	tf_frame_reader_fini(&reader);
	assert_string_equal(note.text, text);
	assert_int_equal(note.status, status);
}

struct bad_request {
	const char *what;
	size_t off; /* of a header byte to change, or */
	uint8_t value;
	uint32_t sender, tag;
	unsigned fd_count;
	enum tf_status status;
	const char *text;
};

static const struct bad_request bad_requests[] = {
	{"magic", 0, 'X', 1, 1, 0, TF_E_INVALID, "frame starts with"},
	{"version", 4, 9, 1, 1, 0, TF_E_VERSION,
		"frame has version 9, this build speaks up to version 1"},
	{"length", 22, 0x11, 1, 1, 0, TF_E_LIMIT,
		"announces 1114112 bytes, at most 1048576 are accepted here"},
	{"type", 6, TF_FRAME_EXCHANGE, 1, 1, 0, TF_E_INVALID, "unexpected frame 'exchange'"},
	{"unknown type", 7, 0x7f, 1, 1, 0, TF_E_INVALID, "unexpected frame 'user'"},
	{"tag", 0, 'T', 1, 2, 0, TF_E_INVALID, "frame 'barrier' has tag 2 instead of 1"},
	{"sender", 0, 'T', 2, 1, 0, TF_E_INVALID, "frame 'barrier' says it is from rank 2"},
	{"descriptors", 8, 1, 1, 1, 1, TF_E_INVALID, "frame 'barrier' carries 1 file descriptors"},
	{"hidden descriptors", 0, 'T', 1, 1, 1, TF_E_INVALID, "announces 0 file descriptors, 1 came"},
};

static void test_bad_requests_at_rank_0(void **state)
{
	unsigned before = count_fds();
	int stderr_fd = STDERR_FILENO;

	(void)state;
	for (size_t i = 0; i < sizeof(bad_requests) / sizeof(bad_requests[0]); i++) {
		const struct bad_request *bad = &bad_requests[i];
		uint8_t bytes[TF_FRAME_HEADER_BYTES];
		struct tf_error err;

		open_link(3, 0);
		make_frame(bytes, TF_FRAME_BARRIER, 2, 1, NULL, 0);
		send_raw(ends.peer_fds[2], bytes, sizeof(bytes), NULL, 0);
		make_frame(bytes, TF_FRAME_BARRIER, bad->sender, bad->tag, NULL, 0);
		bytes[bad->off] = bad->value;
		send_raw(ends.peer_fds[1], bytes, sizeof(bytes), &stderr_fd, bad->fd_count);
		assert_int_equal(tf_link_barrier(link_under_test, SOON, &err), bad->status);
		if (strncmp(err.text, "rank 1 sent a bad frame: ", 25) != 0 || !strstr(err.text, bad->text))
			fail_msg("%s: %s", bad->what, err.text);
		assert_told(ends.peer_fds[2], bad->status, err.text);
		close_link();
	}
	assert_int_equal(count_fds(), before);
}

static void test_bad_answers_of_rank_0(void **state)
{
	static const struct {
		uint32_t lengths[2];
		uint32_t bytes; /* of the payload */
		const char *text;
	} cases[] = {
		{{1, 2}, 7, "answer of 7 bytes, its table says 8"},
		{{1, 2}, 11, "record of rank 1 has 2 bytes, 2 are left"},
		{{0xffffffff, 2}, 12, "record of rank 0 has 4294967295 bytes, 4 are left"},
		{{1, 0xffffffff}, 12, "record of rank 1 has 4294967295 bytes, 3 are left"},
		{{1, 2}, 12, "answer of 12 bytes, its table says 11"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[TF_FRAME_HEADER_BYTES + 16], payload[16] = {0};
		struct tf_bytes records[2] = {0};
		struct tf_error err = {0};
		enum tf_status status;
		size_t size;

		open_link(2, 1);
		tf_put_le32(payload, cases[i].lengths[0]);
		tf_put_le32(payload + 4, cases[i].lengths[1]);
		size = make_frame(bytes, TF_FRAME_EXCHANGE, 0, 1, payload, cases[i].bytes);
		send_raw(ends.root_fds[1], bytes, size, NULL, 0);
		status = tf_link_exchange(link_under_test, "ab", 2, records, SOON, &err);
		if (i == 1) { /* the one that adds up */
			assert_int_equal(status, TF_OK);
			assert_int_equal(records[0].size + 10 * records[1].size, 21);
		} else {
			assert_int_equal(status, TF_E_INVALID);
			assert_non_null(strstr(err.text, cases[i].text));
			assert_null(records[0].data);
		}
		tf_bytes_fini(&records[0]);
		tf_bytes_fini(&records[1]);
		close_link();
	}
}

static void test_bad_answer_to_descriptors(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + 2];
	int fds[2] = {STDERR_FILENO, STDERR_FILENO};
	unsigned before = count_fds();
	struct tf_error err;

	(void)state;
	open_link(2, 1);
	make_frame(bytes, TF_FRAME_FDS, 0, 1, "\1\1", 2);
	bytes[8] = 2;
	send_raw(ends.root_fds[1], bytes, sizeof(bytes), fds, 2);
	assert_int_equal(tf_link_exchange_fds(link_under_test, -1, fds, SOON, &err), TF_E_INVALID);
	assert_string_equal(
		err.text, "rank 0 sent a bad frame: 2 marks and 2 file descriptors for 2 ranks");
	close_link();
	assert_int_equal(count_fds(), before);
}

static void test_bad_faults(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + 4];
	struct tf_error err;

	(void)state;
	open_link(2, 0);
	send_raw(
		ends.peer_fds[1], bytes, make_frame(bytes, TF_FRAME_FAULT, 1, 0, "\0\0\0\0", 4), NULL, 0);
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_E_INVALID);
	assert_string_equal(
		err.text, "rank 1 sent a bad frame: note has status 0, which names no failure");
	close_link();

	open_link(2, 0);
	for (int i = 0; i < 2; i++)
		send_raw(
			ends.peer_fds[1], bytes, make_frame(bytes, TF_FRAME_BARRIER, 1, 1, NULL, 0), NULL, 0);
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_E_INVALID);
	assert_string_equal(err.text,
		"rank 1 sent a bad frame: frame 'barrier' came before the one ahead of it was answered");
	close_link();
}

static void test_health_check(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES];
	struct tf_error err;
	int fds[TF_WORLD_MAX];

	(void)state;
	open_link(4, 0);
	assert_int_equal(tf_link_fds(link_under_test, fds), 3);
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_OK);
	/* A rank that is ahead, with its request sent, is well; dead behind its request it is not. */
	make_frame(bytes, TF_FRAME_BARRIER, 2, 1, NULL, 0);
	send_raw(ends.peer_fds[2], bytes, sizeof(bytes), NULL, 0);
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_OK);
	close(ends.peer_fds[2]);
	ends.peer_fds[2] = -1;
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_E_DISCONNECTED);
	assert_string_equal(err.text, "rank 2 departed");
	assert_told(ends.peer_fds[1], TF_E_DISCONNECTED, "rank 2 departed");
	assert_told(ends.peer_fds[3], TF_E_DISCONNECTED, "rank 2 departed");
	assert_int_equal(tf_link_barrier(link_under_test, SOON, &err), TF_E_DISCONNECTED);
	close_link();
}

static void test_health_check_hears_all_that_lies_there(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + TF_FRAME_NOTE_MAX], note[TF_FRAME_NOTE_MAX];
	size_t size = tf_frame_note_encode(TF_E_TIMEOUT, "no word from rank 0", note);
	struct tf_error err;

	(void)state;
	open_link(3, 0);
	send_raw(ends.peer_fds[1], bytes, make_frame(bytes, TF_FRAME_BARRIER, 1, 1, NULL, 0), NULL, 0);
	send_raw(ends.peer_fds[1], bytes, make_frame(bytes, TF_FRAME_FAULT, 1, 1, note, (uint32_t)size),
		NULL, 0);
	close(ends.peer_fds[1]);
	ends.peer_fds[1] = -1;
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_E_ABORTED);
	assert_string_equal(err.text, "rank 1 failed: no word from rank 0");
	assert_told(ends.peer_fds[2], TF_E_ABORTED, "rank 1 failed: no word from rank 0");
	close_link();
}

static void test_health_check_of_another_rank(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + 64], note[TF_FRAME_NOTE_MAX];
	size_t size = tf_frame_note_encode(TF_E_DISCONNECTED, "rank 3 departed", note);
	struct tf_error err;
	int fds[TF_WORLD_MAX];

	(void)state;
	open_link(4, 1);
	assert_int_equal(tf_link_fds(link_under_test, fds), 1);
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_OK);
	send_raw(ends.root_fds[1], bytes, make_frame(bytes, TF_FRAME_FAULT, 0, 1, note, (uint32_t)size),
		NULL, 0);
	close(ends.root_fds[1]);
	ends.root_fds[1] = -1;
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_E_DISCONNECTED);
	assert_string_equal(err.text, "rank 3 departed");
	close_link();
}

/* The reason lies in the socket although sending fails first. */
static void test_reason_behind_a_closed_socket(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + 64], note[TF_FRAME_NOTE_MAX];
	size_t size =
		tf_frame_note_encode(TF_E_TIMEOUT, "barrier 4 timed out: no word from rank 2", note);
	struct tf_error err;

	(void)state;
	open_link(3, 1);
	send_raw(ends.root_fds[1], bytes, make_frame(bytes, TF_FRAME_FAULT, 0, 4, note, (uint32_t)size),
		NULL, 0);
	close(ends.root_fds[1]);
	ends.root_fds[1] = -1;
	assert_int_equal(tf_link_barrier(link_under_test, SOON, &err), TF_E_TIMEOUT);
	assert_string_equal(err.text, "barrier 4 timed out: no word from rank 2");
	close_link();
}

static void test_silence(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES];
	struct tf_error err;

	(void)state;
	open_link(5, 0);
	make_frame(bytes, TF_FRAME_BARRIER, 2, 1, NULL, 0);
	send_raw(ends.peer_fds[2], bytes, sizeof(bytes), NULL, 0);
	send_raw(ends.peer_fds[3], bytes, 7, NULL, 0); /* began and stopped */
	assert_int_equal(tf_link_barrier(link_under_test, AT_ONCE, &err), TF_E_TIMEOUT);
	assert_string_equal(err.text, "barrier 1 timed out: no word from ranks 1, 3 and 4");
	assert_told(ends.peer_fds[2], TF_E_TIMEOUT, err.text);
	assert_told(ends.peer_fds[4], TF_E_TIMEOUT, err.text);
	close_link();

	open_link(3, 2);
	assert_int_equal(tf_link_barrier(link_under_test, AT_ONCE, &err), TF_E_TIMEOUT);
	assert_string_equal(err.text, "barrier 1 timed out: no word from rank 0");
	close_link();
}

/* A rank whose clock ran out before rank 0's blames rank 0, which knows who is missing. */
static void test_early_clock_at_rank_0(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + TF_FRAME_NOTE_MAX], note[TF_FRAME_NOTE_MAX];
	size_t size =
		tf_frame_note_encode(TF_E_TIMEOUT, "barrier 1 timed out: no word from rank 0", note);
	struct tf_error err;

	(void)state;
	open_link(4, 0);
	make_frame(bytes, TF_FRAME_BARRIER, 3, 1, NULL, 0);
	send_raw(ends.peer_fds[3], bytes, TF_FRAME_HEADER_BYTES, NULL, 0);
	make_frame(bytes, TF_FRAME_BARRIER, 1, 1, NULL, 0);
	send_raw(ends.peer_fds[1], bytes, TF_FRAME_HEADER_BYTES, NULL, 0);
	send_raw(ends.peer_fds[1], bytes, make_frame(bytes, TF_FRAME_FAULT, 1, 1, note, (uint32_t)size),
		NULL, 0);
	assert_int_equal(tf_link_barrier(link_under_test, SOON, &err), TF_E_TIMEOUT);
	assert_string_equal(err.text, "barrier 1 timed out: no word from rank 2");
	for (uint32_t r = 1; r < 4; r++)
		assert_told(ends.peer_fds[r], TF_E_TIMEOUT, err.text);
	close_link();
}

/* The same while the ranks meet: rank 2 has no connection yet. */
static void test_early_clock_at_the_rendezvous(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + TF_FRAME_NOTE_MAX], note[TF_FRAME_NOTE_MAX];
	size_t size = tf_frame_note_encode(TF_E_TIMEOUT, "rendezvous timed out: no word", note);
	struct tf_error err;

	(void)state;
	assert_int_equal(tf_link_create_pairs(3, &ends, NULL), TF_OK);
	close(ends.root_fds[2]);
	ends.root_fds[2] = -1;
	assert_int_equal(tf_link_attach(&ends, 0, &link_under_test, NULL), TF_OK);
	send_raw(ends.peer_fds[1], bytes, make_frame(bytes, TF_FRAME_FAULT, 1, 0, note, (uint32_t)size),
		NULL, 0);
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_E_TIMEOUT);
	assert_string_equal(err.text, "rendezvous timed out: no word from rank 2");
	assert_told(ends.peer_fds[1], TF_E_TIMEOUT, err.text);
	close_link();
}

/* The other side of it: rank 0's verdict takes the place of what this rank believed. */
static void test_early_clock_hears_rank_0(void **state)
{
	static const char own[] = "barrier 1 timed out: no word from rank 0";
	static const struct {
		enum tf_status status;
		const char *said, *text;
	} cases[] = {
		{TF_E_TIMEOUT, "barrier 1 timed out: no word from rank 2",
			"barrier 1 timed out: no word from rank 2"},
		{TF_E_ABORTED, "rank 1 failed: barrier 1 timed out: no word from rank 0", own},
		{TF_OK, NULL, own}, /* it closes */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[TF_FRAME_HEADER_BYTES + TF_FRAME_NOTE_MAX], note[TF_FRAME_NOTE_MAX];
		struct tf_error err = {0};

		open_link(3, 1);
		assert_int_equal(tf_star_begin(link_under_test, NULL), TF_OK);
		if (cases[i].said)
			send_raw(ends.root_fds[1], bytes,
				make_frame(bytes, TF_FRAME_FAULT, 0, 1, note,
					(uint32_t)tf_frame_note_encode(cases[i].status, cases[i].said, note)),
				NULL, 0);
		else
			close(ends.root_fds[1]);
		ends.root_fds[1] = cases[i].said ? ends.root_fds[1] : -1;
		assert_int_equal(
			tf_star_timed_out(link_under_test, TF_FRAME_BARRIER, "no word from", 1, &err),
			TF_E_TIMEOUT);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(tf_link_barrier(link_under_test, SOON, &err), TF_E_TIMEOUT);
		assert_string_equal(err.text, cases[i].text);
		close_link();
	}
}

/* Rank 0 waits for nine tenths of its time; a deadline that never comes stays one. */
static void test_answer_that_nobody_takes(void **state)
{
	static uint8_t data[TF_LINK_RECORD_MAX];
	uint8_t bytes[TF_FRAME_HEADER_BYTES];
	struct tf_error err;

	(void)state;
	open_link(2, 0);
	make_frame(bytes, TF_FRAME_BROADCAST, 1, 1, NULL, 0);
	send_raw(ends.peer_fds[1], bytes, sizeof(bytes), NULL, 0);
	assert_int_equal(tf_link_broadcast(link_under_test, data, sizeof(data), NULL,
						 tf_deadline_after(50 * TF_NS_PER_MS), &err),
		TF_E_TIMEOUT);
	assert_string_equal(err.text, "broadcast 1 timed out: the answer was not taken by rank 1");
	close_link();
}

/* A rank closes while rank 0 still sends to it. */
static void test_departure_instead_of_taking_the_answer(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES];
	struct tf_error err;

	(void)state;
	open_link(3, 0);
	for (uint32_t r = 1; r < 3; r++) {
		make_frame(bytes, TF_FRAME_BROADCAST, r, 1, NULL, 0);
		send_raw(ends.peer_fds[r], bytes, sizeof(bytes), NULL, 0);
	}
	assert_int_equal(tf_link_poll_departed(link_under_test, &err), TF_OK);
	close(ends.peer_fds[2]);
	ends.peer_fds[2] = -1;
	assert_int_equal(tf_link_broadcast(link_under_test, "x", 1, NULL, TF_DEADLINE_NEVER, &err),
		TF_E_DISCONNECTED);
	assert_string_equal(err.text, "rank 2 departed");
	close_link();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_requests_at_rank_0),
		cmocka_unit_test(test_bad_answers_of_rank_0),
		cmocka_unit_test(test_bad_answer_to_descriptors),
		cmocka_unit_test(test_bad_faults),
		cmocka_unit_test(test_health_check),
		cmocka_unit_test(test_health_check_hears_all_that_lies_there),
		cmocka_unit_test(test_health_check_of_another_rank),
		cmocka_unit_test(test_reason_behind_a_closed_socket),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_early_clock_at_rank_0),
		cmocka_unit_test(test_early_clock_at_the_rendezvous),
		cmocka_unit_test(test_early_clock_hears_rank_0),
		cmocka_unit_test(test_answer_that_nobody_takes),
		cmocka_unit_test(test_departure_instead_of_taking_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
