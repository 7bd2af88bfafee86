/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strangers at the rendezvous: junk, replayed proofs, silence, other users, and ranks that leave
 * again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/link/hello.h"
#include "runtime/link/stream.h"
#include "tests/link/meeting.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_strangers(void **state)
{
	static const char http[] = "GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
	uint8_t bytes[TF_FRAME_HEADER_BYTES + TF_HELLO_BYTES_MAX + 32];
	size_t size;
	int fd;

	(void)state;
	for (int tcp = 0; tcp < 2; tcp++) {
		if (tcp)
			fresh_tcp_address("127.0.0.1");
		else
			fresh_unix_address();
		start_root(2, SECRET, SOON);
		fd = raw_connection();
		send_raw(fd, http, sizeof(http) - 1, NULL, 0);
		assert_raw_refusal(fd, TF_E_INVALID, "frame starts with 0x20544547");
		fd = raw_connection();
		size = hello_frame(bytes, SECRET);
		bytes[4] = 2;
		send_raw(fd, bytes, size, NULL, 0);
		assert_raw_refusal(
			fd, TF_E_VERSION, "frame has version 2, this build speaks up to version 1");
		fd = raw_connection();
		size = make_frame(bytes, TF_FRAME_BARRIER, 1, 0, NULL, 0);
		send_raw(fd, bytes, size, NULL, 0);
		assert_raw_refusal(
			fd, TF_E_INVALID, "unexpected frame 'barrier' (type 8) instead of 'hello'");
		fd = raw_connection();
		size = make_frame(bytes, TF_FRAME_HELLO, 1, 0, http, 20);
		send_raw(fd, bytes, size, NULL, 0);
		assert_raw_refusal(fd, TF_E_INVALID, "hello has 20 bytes, between 48 and 175 are allowed");
		close(raw_connection()); /* comes and goes */
		complete_the_pair(SECRET);
	}
}

static void test_junk_after_hello(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + TF_HELLO_BYTES_MAX + 64];
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_NOTE_MAX};
	size_t size;
	int fd;

	(void)state;
	fresh_unix_address();
	start_root(2, SECRET, SOON);
	fd = raw_connection();
	size = hello_frame(bytes, SECRET);
	memset(bytes + size, 'j', 32);
	send_raw(fd, bytes, size + 32, NULL, 0);
	assert_int_equal(tf_frame_recv(fd, &reader, SOON, NULL), TF_OK);
	assert_int_equal(reader.frame.type, TF_FRAME_CHALLENGE);
	tf_frame_reader_fini(&reader);
	assert_raw_refusal(fd, TF_E_INVALID, "frame starts with 0x6a6a6a6a");
	complete_the_pair(SECRET);

	/* Once taken in, a rank that talks nonsense ends the group. */
	fresh_unix_address();
	start_root(3, NULL, SOON);
	fd = raw_connection();
	size = hello_frame(bytes, NULL);
	bytes[TF_FRAME_HEADER_BYTES] = 3;
	memset(bytes + size, 'j', 32);
	send_raw(fd, bytes, size + 32, NULL, 0);
	join_root();
	assert_int_equal(root.err.status, TF_E_INVALID);
	assert_non_null(strstr(root.err.text, "rank 1 sent a bad frame: frame starts with 0x6a6a6a6a"));
	close(fd);
}

static void test_a_replayed_proof(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + TF_HELLO_BYTES_MAX];
	uint8_t proof[TF_HELLO_PROOF_BYTES];
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_NOTE_MAX};
	struct tf_link_options options;
	struct tf_hello hello;
	size_t size;
	int fd;

	(void)state;
	fresh_unix_address();
	start_root(2, SECRET, SOON);
	options = options_of(1, 2, SECRET);
	tf_hello_make(&options, &hello);
	/*
	 * The proof of an earlier meeting: everything right but rank 0's nonce. Then rank 0's own
	 * proof.
	 */
	for (int side = TF_HELLO_RANK; side <= TF_HELLO_ROOT; side++) {
		static const uint8_t old_nonce[TF_HELLO_NONCE_BYTES] = {1, 2, 3};

		fd = raw_connection();
		size = make_frame(bytes, TF_FRAME_HELLO, 1, 0, hello.bytes, (uint32_t)hello.size);
		send_raw(fd, bytes, size, NULL, 0);
		assert_int_equal(tf_frame_recv(fd, &reader, SOON, NULL), TF_OK);
		assert_int_equal(reader.frame.type, TF_FRAME_CHALLENGE);
		tf_hello_prove(&options, (enum tf_hello_side)side, &hello,
			side == TF_HELLO_RANK ? old_nonce : reader.payload.data, proof);
		tf_frame_reader_reset(&reader);
		send_raw(fd, bytes, make_frame(bytes, TF_FRAME_PROOF, 1, 0, proof, sizeof(proof)), NULL, 0);
		assert_raw_refusal(fd, TF_E_MISFIT, "is not ours");
	}
	tf_frame_reader_fini(&reader);
	complete_the_pair(SECRET);
}

static void test_silent_strangers_do_not_keep_ranks_out(void **state)
{
	int fds[40];

	(void)state;
	fresh_unix_address();
	start_root(2, NULL, SOON);
	for (int i = 0; i < 40; i++)
		fds[i] = raw_connection();
	complete_the_pair(NULL);
	for (int i = 0; i < 40; i++)
		close(fds[i]);
}

static void test_departure_while_others_are_awaited(void **state)
{
	uint8_t bytes[TF_FRAME_HEADER_BYTES + TF_HELLO_BYTES_MAX];
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_NOTE_MAX};
	size_t size;
	int fd;

	(void)state;
	fresh_unix_address();
	start_root(3, NULL, SOON);
	fd = raw_connection();
	size = hello_frame(bytes, NULL);
	bytes[TF_FRAME_HEADER_BYTES] = 3; /* of a world of 3 */
	send_raw(fd, bytes, size, NULL, 0);
	assert_int_equal(tf_frame_recv(fd, &reader, SOON, NULL), TF_OK);
	assert_int_equal(reader.frame.type, TF_FRAME_ACCEPT);
	tf_frame_reader_fini(&reader);
	close(fd);
	join_root();
	assert_int_equal(root.err.status, TF_E_DISCONNECTED);
	assert_string_equal(root.err.text, "rank 1 departed");
}

/* In a child of another user: rank 0 must refuse it, and it must refuse rank 0. */
static int meet_as_another_user(void)
{
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_NOTE_MAX};
	struct tf_link_options options = options_of(1, 2, NULL);
	struct tf_link *link = NULL;
	struct tf_error err;
	int fd;

	if (setuid(65534) != 0)
		return 1;
	fd = raw_connection();
	if (tf_frame_recv(fd, &reader, SOON, &err) != TF_OK || reader.frame.type != TF_FRAME_REFUSE ||
		tf_get_le32(reader.payload.data) != TF_E_MISFIT)
		return 2;
	if (tf_link_connect(&options, &link, &err) != TF_E_MISFIT ||
		!strstr(err.text, "runs as user 0, this one as user 65534"))
		return 3;
	return 0;
}

static void test_another_user(void **state)
{
	int how = 0;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	fresh_unix_address();
	pid = fork();
	if (pid == 0)
		_exit(meet_as_another_user());
	start_root(2, NULL, SOON);
	assert_int_equal(waitpid(pid, &how, 0), pid);
	assert_int_equal(how, 0);
	complete_the_pair(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_junk_after_hello),
		cmocka_unit_test(test_a_replayed_proof),
		cmocka_unit_test(test_silent_strangers_do_not_keep_ranks_out),
		cmocka_unit_test(test_departure_while_others_are_awaited),
		cmocka_unit_test(test_another_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
