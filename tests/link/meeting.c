/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 0 in a thread, raw connections to it, and addresses that no other test uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/link/address.h"
#include "runtime/link/hello.h"
#include "runtime/link/stream.h"
#include "tests/link/meeting.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

char address[108];
struct meeting_root root;

void fresh_unix_address(void)
{
	static unsigned count;

	snprintf(address, sizeof(address), "unix:@tf-test-%d-%u", (int)getpid(), count++);
}

void fresh_tcp_address(const char *host)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&in, bytes), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &bytes), 0);
	close(fd);
	snprintf(address, sizeof(address), "tcp:%s:%u", host, ntohs(in.sin_port));
}

struct tf_link_options options_of(uint32_t rank, uint32_t world, const char *secret)
{
	return (struct tf_link_options){
		.size = sizeof(struct tf_link_options),
		.address = address,
		.rank = rank,
		.world = world,
		.group = "job 7",
		.secret = secret,
		.secret_bytes = secret ? strlen(secret) : 0,
		.deadline_ns = SOON,
	};
}

static void *run_root(void *arg)
{
	(void)arg;
	root.err.status = tf_link_connect(&root.options, &root.link, &root.err);
	return NULL;
}

void start_root(uint32_t world, const char *secret, int64_t deadline_ns)
{
	memset(&root, 0, sizeof(root));
	root.options = options_of(0, world, secret);
	root.options.deadline_ns = deadline_ns;
	assert_int_equal(pthread_create(&root.thread, NULL, run_root, NULL), 0);
}

void join_root(void)
{
	pthread_join(root.thread, NULL);
	tf_link_close(root.link);
}

void complete_the_pair(const char *secret)
{
	struct tf_link_options options = options_of(1, 2, secret);
	struct tf_link *link = NULL;
	struct tf_error err;

	if (tf_link_connect(&options, &link, &err) != TF_OK)
		fail_msg("%s", err.text);
	join_root();
	if (root.err.status != TF_OK)
		fail_msg("%s", root.err.text);
	tf_link_close(link);
}

int raw_connection(void)
{
	struct tf_address to;

	assert_int_equal(tf_address_parse(address, &to, NULL), TF_OK);
	assert_int_equal(tf_address_resolve(&to, SOON, NULL), TF_OK);
	for (;;) {
		int fd = socket(to.choices[0].ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		assert_true(fd >= 0);
		if (connect(fd, (struct sockaddr *)&to.choices[0], to.bytes[0]) == 0)
			return fd;
		close(fd);
		usleep(1000);
	}
}

void assert_raw_refusal(int fd, enum tf_status status, const char *text)
{
	struct tf_frame_reader reader = {.payload_max = TF_FRAME_NOTE_MAX};
	struct tf_error note;

	assert_int_equal(tf_frame_recv(fd, &reader, SOON, NULL), TF_OK);
	assert_int_equal(reader.frame.type, TF_FRAME_REFUSE);
	assert_int_equal(
		tf_frame_note_decode(reader.payload.data, reader.payload.size, &note, NULL), TF_OK);
	tf_frame_reader_reset(&reader);
	assert_int_equal(note.status, status);
	if (!strstr(note.text, text))
		fail_msg("'%s' is not in: %s", text, note.text);
	assert_int_equal(tf_frame_recv(fd, &reader, SOON, NULL), TF_E_DISCONNECTED);
	tf_frame_reader_fini(&reader);
	close(fd);
}

size_t hello_frame(uint8_t *out, const char *secret)
{
	struct tf_link_options options = options_of(1, 2, secret);
	struct tf_hello hello;

	tf_hello_make(&options, &hello);
	return make_frame(out, TF_FRAME_HELLO, 1, 0, hello.bytes, (uint32_t)hello.size);
}
