/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that find each other: Unix and TCP, every refusal by name, ranks that never come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "tests/link/meeting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static enum tf_status ring_body(void *user, struct tf_link *link, struct tf_error *err)
{
	uint32_t rank = tf_link_rank(link);
	uint32_t all[TF_WORLD_MAX];
	int fds[TF_WORLD_MAX];

	(void)user;
	TF_TRY(tf_link_exchange_fixed(link, &rank, sizeof(rank), all, SOON, err));
	for (uint32_t r = 0; r < tf_link_world(link); r++)
		if (all[r] != r)
			return TF_FAIL(err, TF_E_INTERNAL, "rank %u arrived as %u", r, all[r]);
	if (!tf_link_is_local(link)) {
		if (tf_link_exchange_fds(link, -1, fds, SOON, err) != TF_E_UNSUPPORTED)
			return TF_FAIL(err, TF_E_INTERNAL, "descriptors went over TCP");
		return tf_link_barrier(link, SOON, err);
	}
	return tf_link_exchange_fds(link, -1, fds, SOON, err);
}

static void meet(uint32_t world, const char *secret)
{
	struct tf_link_options options[TF_WORLD_MAX];
	struct tf_error errs[TF_WORLD_MAX];

	for (uint32_t r = 0; r < world; r++)
		options[r] = options_of(r, world, secret);
	run_connected(world, options, ring_body, NULL, errs);
	for (uint32_t r = 0; r < world; r++)
		if (errs[r].status != TF_OK)
			fail_msg("'%s', rank %u of %u: %s", address, r, world, errs[r].text);
}

static void test_meeting(void **state)
{
	unsigned before;
	struct addrinfo *found = NULL;
	/* a bare system has no /etc/hosts */
	int knows_localhost = getaddrinfo("localhost", NULL, NULL, &found) == 0;

	(void)state;
	if (knows_localhost)
		freeaddrinfo(found);
	before = count_fds();
	for (uint32_t world = 2; world <= TF_WORLD_MAX; world += 3) {
		fresh_unix_address();
		meet(world, NULL);
		meet(world, SECRET);
		fresh_tcp_address("127.0.0.1");
		meet(world, SECRET);
		if (!knows_localhost)
			continue;
		fresh_tcp_address("localhost");
		meet(world, SECRET);
	}
	assert_int_equal(count_fds(), before);
}

static void test_file_of_a_socket(void **state)
{
	char folder[] = "/tmp/tf-test-XXXXXX";
	struct tf_link_options options;
	struct tf_link *link;
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct tf_error err;
	struct stat st;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(address, sizeof(address), "unix:%s/link", folder);
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", address + 5);
	meet(2, NULL);
	assert_int_not_equal(lstat(un.sun_path, &st), 0); /* nothing stays */

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(listen(fd, 1), 0);
	options = options_of(0, 2, NULL);
	assert_int_equal(tf_link_connect(&options, &link, &err), TF_E_SYSTEM);
	assert_non_null(strstr(err.text, "cannot listen at 'unix:"));
	assert_non_null(strstr(err.text, "Address already in use"));
	close(fd);
	meet(2, NULL); /* now the file is stale and makes room */

	fd = open(un.sun_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tf_link_connect(&options, &link, &err), TF_E_SYSTEM);
	assert_int_equal(
		lstat(un.sun_path, &st), 0); /* a file that is no socket is not ours to remove */
	unlink(un.sun_path);
	rmdir(folder);
}

static void test_usage(void **state)
{
	static const struct {
		const char *address;
		const char *text;
	} cases[] = {
		{"tcp:127.0.0.1:4000", "needs a shared secret"},
		{"udp:x", "is none of 'unix:PATH', 'unix:@NAME' and 'tcp:HOST:PORT'"},
		{"unix:", "has no name"},
		{"unix:@", "has no name"},
		{"tcp:host", "is not 'tcp:HOST:PORT'"},
		{"tcp::80", "is not 'tcp:HOST:PORT'"},
		{"tcp:host:0", "has no port between 1 and 65535"},
		{"tcp:host:65536", "has no port between 1 and 65535"},
		{"tcp:host:8x", "has no port between 1 and 65535"},
		{"tcp:::1:80", "needs brackets"},
		{"unix:/0123456789012345678901234567890123456789012345678901234567890123456789"
		 "012345678901234567890123456789012345678",
			"the limit is 107"},
	};
	struct tf_link_options options;
	struct tf_link *link;
	struct tf_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		options = options_of(1, 2, NULL);
		options.address = cases[i].address;
		assert_int_equal(tf_link_connect(&options, &link, &err), TF_E_USAGE);
		if (!strstr(err.text, cases[i].text))
			fail_msg("'%s': %s", cases[i].address, err.text);
	}
	options = options_of(1, 2, "too short");
	assert_int_equal(tf_link_connect(&options, &link, &err), TF_E_USAGE);
	assert_string_equal(err.text, "shared secret has 9 bytes, between 16 and 4096 are allowed");
	options = options_of(0, 1, NULL);
	assert_int_equal(tf_link_connect(&options, &link, &err), TF_E_USAGE);
	options = options_of(8, 2, NULL);
	assert_int_equal(tf_link_connect(&options, &link, &err), TF_E_USAGE);
	options = options_of(1, 2, NULL);
	options.group = "a\nb";
	assert_int_equal(tf_link_connect(&options, &link, &err), TF_E_USAGE);
	options.size = 8;
	assert_int_equal(tf_link_connect(&options, &link, &err), TF_E_USAGE);
}

static void assert_refused(
	const struct tf_link_options *options, enum tf_status status, const char *text)
{
	struct tf_link *link = NULL;
	struct tf_error err;

	assert_int_equal(tf_link_connect(options, &link, &err), status);
	assert_null(link);
	if (!strstr(err.text, text))
		fail_msg("'%s' is not in: %s", text, err.text);
}

static void test_ranks_that_do_not_fit(void **state)
{
	struct tf_link_options options;

	(void)state;
	fresh_unix_address();
	start_root(2, NULL, SOON);
	options = options_of(1, 3, NULL);
	assert_refused(
		&options, TF_E_MISFIT, "rank 0 refused: rank 1 says the world has 3 ranks, rank 0 says 2");
	options = options_of(2, 2, NULL);
	assert_refused(&options, TF_E_MISFIT, "rank 0 refused: rank 2 cannot join, ranks 1 to 1 can");
	options = options_of(1, 2, NULL);
	options.group = "job 8";
	assert_refused(
		&options, TF_E_MISFIT, "rank 0 refused: rank 1 is of group 'job 8', this is group 'job 7'");
	options = options_of(1, 2, SECRET);
	assert_refused(&options, TF_E_MISFIT, "rank 1 has a shared secret, rank 0 has none");
	complete_the_pair(NULL);
}

static void test_secrets(void **state)
{
	struct tf_link_options options;

	(void)state;
	for (int tcp = 0; tcp < 2; tcp++) {
		if (tcp)
			fresh_tcp_address("127.0.0.1");
		else
			fresh_unix_address();
		start_root(2, SECRET, SOON);
		options = options_of(1, 2, "sixteen bytes no");
		assert_refused(&options, TF_E_MISFIT,
			"rank 0 refused: shared secret of a peer that calls itself rank 1 is not ours");
		options = options_of(1, 2, NULL);
		if (tcp)
			assert_refused(&options, TF_E_USAGE, "needs a shared secret");
		else
			assert_refused(&options, TF_E_MISFIT, "rank 1 lacks a shared secret, rank 0 has one");
		complete_the_pair(SECRET);
	}
}

/* Two processes call themselves rank 2: one is taken in and waits, the other is refused. */
static void test_rank_taken_twice_and_ranks_that_never_came(void **state)
{
	struct tf_link_options twins[2];
	struct tf_error errs[2];
	unsigned second;

	(void)state;
	fresh_unix_address();
	start_root(4, NULL, tf_deadline_after(2 * TF_NS_PER_S));
	twins[0] = options_of(2, 4, NULL);
	twins[0].deadline_ns = root.options.deadline_ns;
	twins[1] = twins[0];
	run_connected(2, twins, ring_body, NULL, errs);
	join_root();
	assert_int_equal(root.err.status, TF_E_TIMEOUT);
	assert_non_null(strstr(root.err.text,
		"timed out: ranks 1 and 3 never came; refused meanwhile: rank 2 is taken, another process "
		"came first"));
	second = errs[0].status == TF_E_MISFIT ? 0 : 1;
	assert_int_equal(errs[!second].status, TF_E_TIMEOUT);
	assert_string_equal(errs[!second].text, root.err.text);
	assert_int_equal(errs[second].status, TF_E_MISFIT);
	assert_non_null(strstr(errs[second].text, "rank 0 refused: rank 2 is taken"));
}

static void test_nobody_listens(void **state)
{
	struct tf_link_options options;

	(void)state;
	fresh_unix_address();
	options = options_of(1, 2, NULL);
	options.deadline_ns = tf_deadline_after(50 * TF_NS_PER_MS);
	assert_refused(&options, TF_E_TIMEOUT,
		"timed out: no answer from rank 0: cannot connect: Connection refused");
	fresh_tcp_address("127.0.0.1");
	options = options_of(1, 2, SECRET);
	options.deadline_ns = tf_deadline_after(50 * TF_NS_PER_MS);
	assert_refused(
		&options, TF_E_TIMEOUT, "no answer from rank 0: cannot connect: Connection refused");
}

static void test_host_that_does_not_exist(void **state)
{
	struct tf_link_options options;
	struct tf_link *link = NULL;
	enum tf_status status;
	struct tf_error err;

	(void)state;
	snprintf(address, sizeof(address), "tcp:no-such-host.invalid:4000");
	options = options_of(1, 2, SECRET);
	options.deadline_ns = tf_deadline_after(500 * TF_NS_PER_MS);
	status = tf_link_connect(&options, &link, &err);
	/* Which of the two depends on whether a resolver answers at all. */
	assert_true(status == TF_E_NOT_FOUND || status == TF_E_TIMEOUT);
	assert_non_null(strstr(err.text, "cannot resolve 'no-such-host.invalid'"));
}

static void test_without_memory(void **state)
{
	unsigned before = count_fds();
	unsigned failed = 0;

	(void)state;
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct tf_link_options options[2];
		struct tf_error errs[2];
		uint64_t made = tf_alloc_count();

		fresh_tcp_address("127.0.0.1");
		for (uint32_t r = 0; r < 2; r++) {
			options[r] = options_of(r, 2, SECRET);
			options[r].deadline_ns = tf_deadline_after(300 * TF_NS_PER_MS);
		}
		tf_alloc_fail_at(nth);
		run_connected(2, options, ring_body, NULL, errs);
		tf_alloc_fail_at(0);
		if (tf_alloc_count() - made < nth)
			break;
		/* Rank 0 lacking memory for a guest refuses that guest; whoever lacks it says so. */
		assert_true(errs[0].status == TF_E_NO_MEMORY || errs[1].status == TF_E_NO_MEMORY);
		failed++;
	}
	assert_true(failed > 3);
	assert_int_equal(count_fds(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meeting),
		cmocka_unit_test(test_file_of_a_socket),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_ranks_that_do_not_fit),
		cmocka_unit_test(test_secrets),
		cmocka_unit_test(test_rank_taken_twice_and_ranks_that_never_came),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_host_that_does_not_exist),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
