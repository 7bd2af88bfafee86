/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank that meets a rank 0 which is not what it should be: an impostor, a stranger, one that
 * drops it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/link/address.h"
#include "runtime/link/hello.h"
#include "runtime/link/stream.h"
#include "tests/link/rank_threads.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECRET "sixteen bytes ok"

static char address[64];
static int listener;
static int64_t patience_ns = 60 * TF_NS_PER_S;

/* Rank 1 in a thread of its own, while the test plays rank 0 with a raw socket. */
static struct {
	pthread_t thread;
	struct tf_link_options options;
	struct tf_link *link;
	struct tf_error err;
} rank;

static void *run_rank(void *arg)
{
	(void)arg;
	rank.err.status = tf_link_connect(&rank.options, &rank.link, &rank.err);
	return NULL;
}

static void start(const char *secret)
{
	static unsigned count;
	struct tf_address to;

	snprintf(address, sizeof(address), "unix:@tf-join-test-%d-%u", (int)getpid(), count++);
	assert_int_equal(tf_address_parse(address, &to, NULL), TF_OK);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&to.choices[0], to.bytes[0]), 0);
	assert_int_equal(listen(listener, 8), 0);
	memset(&rank, 0, sizeof(rank));
	rank.options = (struct tf_link_options){
		.size = sizeof(rank.options),
		.address = address,
		.rank = 1,
		.world = 2,
		.secret = secret,
		.secret_bytes = secret ? strlen(secret) : 0,
		.deadline_ns = tf_deadline_after(patience_ns),
	};
	assert_int_equal(pthread_create(&rank.thread, NULL, run_rank, NULL), 0);
}

static void assert_outcome(int fd, enum tf_status status, const char *text)
{
	pthread_join(rank.thread, NULL);
	close(fd);
	close(listener);
	tf_link_close(rank.link);
	if (!strstr(rank.err.text, text))
		fail_msg("'%s' is not in: %s", text, rank.err.text);
	assert_int_equal(rank.err.status, status);
}

/* The next frame of the rank; its payload in `out`. */
static size_t hear(int fd, uint16_t type, uint8_t *out)
{
	struct tf_frame_reader reader = {.payload_max = TF_HELLO_BYTES_MAX};
	size_t bytes;

	assert_int_equal(tf_frame_recv(fd, &reader, SOON, NULL), TF_OK);
	assert_int_equal(reader.frame.type, type);
	bytes = reader.payload.size;
	memcpy(out, reader.payload.data, bytes);
	tf_frame_reader_fini(&reader);
	return bytes;
}

static void say(int fd, uint16_t type, const void *payload, uint32_t bytes)
{
	uint8_t frame[TF_FRAME_HEADER_BYTES + TF_FRAME_NOTE_MAX];

	send_raw(fd, frame, make_frame(frame, type, 0, 0, payload, bytes), NULL, 0);
}

static int accept_rank(void)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void test_rank_0_without_the_secret(void **state)
{
	uint8_t nonce[TF_HELLO_NONCE_BYTES] = {0};
	uint8_t said[TF_HELLO_BYTES_MAX];

	(void)state;
	/* It makes a proof up; it plays the rank's own proof back. */
	for (int plays_back = 0; plays_back < 2; plays_back++) {
		int fd;

		start(SECRET);
		fd = accept_rank();
		hear(fd, TF_FRAME_HELLO, said);
		say(fd, TF_FRAME_CHALLENGE, nonce, sizeof(nonce));
		assert_int_equal(hear(fd, TF_FRAME_PROOF, said), TF_HELLO_PROOF_BYTES);
		say(fd, TF_FRAME_ACCEPT, plays_back ? said : nonce, TF_HELLO_PROOF_BYTES);
		assert_outcome(fd, TF_E_MISFIT, "rank 0 does not know the shared secret");
	}
}

static void test_rank_0_that_asks_for_no_proof(void **state)
{
	uint8_t said[TF_HELLO_BYTES_MAX];
	int fd;

	(void)state;
	start(SECRET);
	fd = accept_rank();
	hear(fd, TF_FRAME_HELLO, said);
	say(fd, TF_FRAME_ACCEPT, NULL, 0);
	assert_outcome(
		fd, TF_E_INVALID, "unexpected frame 'accept' (type 4) instead of 'challenge' (type 2)");
}

static void test_a_stranger_at_the_address(void **state)
{
	static const char banner[] = "220 mail.example.org ESMTP ready to serve\r\n";
	uint8_t said[TF_HELLO_BYTES_MAX];
	int fd;

	(void)state;
	start(NULL);
	fd = accept_rank();
	hear(fd, TF_FRAME_HELLO, said);
	send_raw(fd, banner, sizeof(banner) - 1, NULL, 0);
	assert_outcome(fd, TF_E_INVALID, "cannot join the group at 'unix:@tf-join-test-");
	assert_non_null(strstr(rank.err.text, "frame starts with 0x20303232"));
}

static void test_newer_rank_0(void **state)
{
	uint8_t frame[TF_FRAME_HEADER_BYTES];
	uint8_t said[TF_HELLO_BYTES_MAX];
	int fd;

	(void)state;
	start(NULL);
	fd = accept_rank();
	hear(fd, TF_FRAME_HELLO, said);
	make_frame(frame, TF_FRAME_ACCEPT, 0, 0, NULL, 0);
	frame[4] = 7;
	send_raw(fd, frame, sizeof(frame), NULL, 0);
	assert_outcome(fd, TF_E_VERSION, "frame has version 7, this build speaks up to version 1");
}

/* Dropped before it was accepted, a rank comes again; afterwards the end is the end. */
static void test_dropped_ranks(void **state)
{
	uint8_t said[TF_HELLO_BYTES_MAX];
	int fd;

	(void)state;
	start(NULL);
	close(accept_rank());
	fd = accept_rank();
	hear(fd, TF_FRAME_HELLO, said);
	close(fd);
	fd = accept_rank();
	hear(fd, TF_FRAME_HELLO, said);
	say(fd, TF_FRAME_ACCEPT, NULL, 0);
	close(fd);
	assert_outcome(-1, TF_E_DISCONNECTED, "rank 0 departed");
}

static void test_missing_ranks_are_named_to_those_who_came(void **state)
{
	uint8_t said[TF_HELLO_BYTES_MAX], note[TF_FRAME_NOTE_MAX];
	size_t bytes = tf_frame_note_encode(TF_E_TIMEOUT, "rank 3 never came", note);
	int fd;

	(void)state;
	start(NULL);
	fd = accept_rank();
	hear(fd, TF_FRAME_HELLO, said);
	say(fd, TF_FRAME_ACCEPT, NULL, 0);
	say(fd, TF_FRAME_FAULT, note, (uint32_t)bytes);
	assert_outcome(fd, TF_E_TIMEOUT, "rank 3 never came");
}

static void test_rank_0_that_says_nothing(void **state)
{
	int fd;

	(void)state;
	patience_ns = 100 * TF_NS_PER_MS;
	start(NULL);
	patience_ns = 60 * TF_NS_PER_S;
	fd = accept_rank();
	assert_outcome(fd, TF_E_TIMEOUT, "no answer from rank 0: peer sent no whole frame in time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rank_0_without_the_secret),
		cmocka_unit_test(test_rank_0_that_asks_for_no_proof),
		cmocka_unit_test(test_a_stranger_at_the_address),
		cmocka_unit_test(test_newer_rank_0),
		cmocka_unit_test(test_dropped_ranks),
		cmocka_unit_test(test_missing_ranks_are_named_to_those_who_came),
		cmocka_unit_test(test_rank_0_that_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
