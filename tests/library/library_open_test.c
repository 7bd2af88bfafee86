/* SPDX-License-Identifier: Apache-2.0 */
/* What tfrun_open refuses, with which status and words, and that all ranks refuse together. */
#include "tests/library/library_ranks.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *package_tp2, *package_tp4;

static int ends[LIBRARY_WORLD_MAX][LIBRARY_WORLD_MAX];
static struct library_rank ranks[LIBRARY_WORLD_MAX];

/* Refused before anything is touched: a status and words, also without an error object. */
static void refuse_options(const struct tfrun_options *options, const char *path, const char *part)
{
	struct tfrun_session *session = (struct tfrun_session *)&ends;
	struct tfrun_error error = {.status = TFRUN_OK};

	assert_int_equal(tfrun_open(path, options, &session, &error), TFRUN_USAGE);
	assert_int_equal(error.status, TFRUN_USAGE);
	if (!strstr(error.text, part))
		fail_msg("'%s' must hold '%s'", error.text, part);
	assert_ptr_equal(session, &ends);
	assert_int_equal(tfrun_open(path, options, &session, NULL), TFRUN_USAGE);
}

static void options_are_checked(void **state)
{
	struct tfrun_options good = {.size = sizeof(good), .rank = 0, .world = 2, .address = "unix:@x"};
	struct tfrun_options bad;
	int fds[LIBRARY_WORLD_MAX] = {-1, -1, -1, -1, -1, -1, -1, -1};

	(void)state;
	refuse_options(NULL, package_tp2, "options.size is 0");
	bad = good, bad.size = 0;
	refuse_options(&bad, package_tp2, "options.size is 0, not");
	bad = good, bad.size = sizeof(bad) - 8;
	refuse_options(&bad, package_tp2, "built against another tfrun.h");
	bad = good, bad.world = 1;
	refuse_options(&bad, package_tp2, "a world of 1 ranks is not allowed; 2 to 8 are");
	bad = good, bad.world = 9;
	refuse_options(&bad, package_tp2, "a world of 9 ranks is not allowed; 2 to 8 are");
	bad = good, bad.rank = 2;
	refuse_options(&bad, package_tp2, "rank 2 is not below the world of 2");
	bad = good, bad.link_fds = fds;
	refuse_options(&bad, package_tp2, "exactly one of options.address and options.link_fds");
	bad = good, bad.address = NULL;
	refuse_options(&bad, package_tp2, "exactly one of options.address and options.link_fds");
	bad = good, bad.timeout_ms = 600001;
	refuse_options(&bad, package_tp2, "600001 ms");
	bad = good, bad.address = "pigeon:loft";
	refuse_options(&bad, package_tp2, "pigeon:loft");
	bad = good, bad.address = "tcp:127.0.0.1:4000";
	refuse_options(&bad, package_tp2, "secret");
	bad = good, bad.address = "tcp:127.0.0.1:4000", bad.secret = "short";
	refuse_options(&bad, package_tp2, "secret");
	refuse_options(&good, NULL, "package_path and out_session must not be NULL");
	assert_int_equal(tfrun_open(package_tp2, &good, NULL, NULL), TFRUN_USAGE);
	tfrun_close(NULL);
}

static void pairs_are_checked(void **state)
{
	struct tfrun_error error = {0};

	(void)state;
	assert_int_equal(tfrun_link_pairs(1, ends, &error), TFRUN_USAGE);
	assert_int_equal(tfrun_link_pairs(9, ends, &error), TFRUN_USAGE);
	assert_non_null(strstr(error.text, "9"));
	assert_int_equal(tfrun_link_pairs(3, ends, &error), TFRUN_OK);
	assert_int_equal(error.status, TFRUN_OK);
	assert_string_equal(error.text, "");
	for (uint32_t r = 0; r < 3; r++)
		for (uint32_t p = 0; p < LIBRARY_WORLD_MAX; p++) {
			int is_open = r == 0 ? p == 1 || p == 2 : p == 0;

			assert_int_equal(ends[r][p] >= 0, is_open);
			if (is_open)
				close(ends[r][p]);
		}
}

/* A rank whose row was given away before has no link to open. */
static void an_empty_row_is_refused(void **state)
{
	struct tfrun_options options = {.size = sizeof(options), .rank = 1, .world = 2};
	int none[LIBRARY_WORLD_MAX] = {-1, -1, -1, -1, -1, -1, -1, -1};
	struct tfrun_session *session = NULL;
	struct tfrun_error error = {0};

	(void)state;
	options.link_fds = none;
	assert_int_equal(tfrun_open(package_tp2, &options, &session, &error), TFRUN_USAGE);
	assert_null(session);
}

static void the_row_is_taken_also_when_refused(void **state)
{
	(void)state;
	library_ranks_init(ranks, 2, "no/such/file.tfp", NULL, ends);
	library_ranks_run(ranks, 2);
	library_assert_refused(&ranks[0], TFRUN_NOT_FOUND, "'no/such/file.tfp'");
	library_assert_refused(&ranks[1], TFRUN_NOT_FOUND, "'no/such/file.tfp'");
	assert_int_equal(fcntl(ends[0][1], F_GETFD), -1);
	assert_int_equal(fcntl(ends[1][0], F_GETFD), -1);
}

static void one_rank_without_the_file_refuses_for_all(void **state)
{
	(void)state;
	library_ranks_init(ranks, 2, package_tp2, NULL, ends);
	ranks[1].path = "elsewhere.tfp";
	library_ranks_run(ranks, 2);
	library_assert_refused(&ranks[0], TFRUN_NOT_FOUND, "rank 1: cannot load 'elsewhere.tfp'");
	library_assert_refused(&ranks[1], TFRUN_NOT_FOUND, "rank 1: cannot load 'elsewhere.tfp'");
}

static void a_world_that_is_not_the_package_is_a_misfit(void **state)
{
	(void)state;
	library_ranks_init(ranks, 2, package_tp4, NULL, ends);
	library_ranks_run(ranks, 2);
	library_assert_refused(&ranks[0], TFRUN_MISFIT, "world: package '4', machine '2'");
	library_assert_refused(&ranks[1], TFRUN_MISFIT, "world: package '4', machine '2'");
}

static void ranks_with_different_packages_refuse(void **state)
{
	(void)state;
	library_ranks_init(ranks, 2, package_tp2, NULL, ends);
	ranks[1].path = package_tp4;
	library_ranks_run(ranks, 2);
	library_assert_refused(&ranks[0], TFRUN_MISMATCH, "the package's digest");
	library_assert_refused(&ranks[1], TFRUN_MISMATCH, "the package's digest");
}

static void a_file_that_is_no_package_is_refused(void **state)
{
	char path[] = "no-package-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(
		write(fd, "#!/bin/sh\necho not a package, but long enough to be read\n", 57), 57);
	close(fd);
	library_ranks_init(ranks, 2, path, NULL, ends);
	library_ranks_run(ranks, 2);
	unlink(path);
	assert_true(ranks[0].status == TFRUN_INVALID || ranks[0].status == TFRUN_DAMAGED);
	library_assert_refused(&ranks[0], ranks[0].status, path);
	library_assert_refused(&ranks[1], ranks[0].status, path);
}

static void a_truncated_package_is_refused(void **state)
{
	char path[] = "truncated-XXXXXX", bytes[4096];
	int from = open(package_tp2, O_RDONLY), to = mkstemp(path);

	(void)state;
	assert_true(from >= 0 && to >= 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(read(from, bytes, sizeof(bytes)), sizeof(bytes));
		assert_int_equal(write(to, bytes, sizeof(bytes)), sizeof(bytes));
	}
	close(from);
	close(to);
	library_ranks_init(ranks, 2, path, NULL, ends);
	library_ranks_run(ranks, 2);
	unlink(path);
	assert_true(ranks[0].status == TFRUN_INVALID || ranks[0].status == TFRUN_DAMAGED);
	library_assert_refused(&ranks[0], ranks[0].status, path);
}

static void a_device_that_is_not_here_is_refused(void **state)
{
	(void)state;
	library_ranks_init(ranks, 2, package_tp2, NULL, ends);
	ranks[0].options.device = ranks[1].options.device = "toaster";
	library_ranks_run(ranks, 2);
	assert_true(ranks[0].status == TFRUN_USAGE || ranks[0].status == TFRUN_NOT_FOUND);
	library_assert_refused(&ranks[0], ranks[0].status, "toaster");
	library_assert_refused(&ranks[1], ranks[0].status, "toaster");
}

static void a_peer_that_never_opens_ends_the_wait(void **state)
{
	(void)state;
	library_ranks_init(ranks, 2, package_tp2, NULL, ends);
	ranks[0].options.timeout_ms = 200;
	library_rank_run(&ranks[0]);
	library_assert_refused(&ranks[0], TFRUN_TIMEOUT, "rank 1");
	close(ends[1][0]);
}

static void a_peer_that_never_comes_to_the_address_ends_the_wait(void **state)
{
	struct library_rank rank = {.path = package_tp2};

	(void)state;
	rank.options = (struct tfrun_options){.size = sizeof(rank.options), .rank = 0, .world = 2};
	rank.options.address = "unix:@tfrun-test-nobody-comes";
	rank.options.timeout_ms = 50;
	library_rank_run(&rank);
	library_assert_refused(&rank, TFRUN_TIMEOUT, "rank 1");
	rank.options.rank = 1;
	library_rank_run(&rank);
	library_assert_refused(&rank, TFRUN_TIMEOUT, "rank 0");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_checked),
		cmocka_unit_test(pairs_are_checked),
		cmocka_unit_test(an_empty_row_is_refused),
		cmocka_unit_test(the_row_is_taken_also_when_refused),
		cmocka_unit_test(one_rank_without_the_file_refuses_for_all),
		cmocka_unit_test(a_world_that_is_not_the_package_is_a_misfit),
		cmocka_unit_test(ranks_with_different_packages_refuse),
		cmocka_unit_test(a_file_that_is_no_package_is_refused),
		cmocka_unit_test(a_truncated_package_is_refused),
		cmocka_unit_test(a_device_that_is_not_here_is_refused),
		cmocka_unit_test(a_peer_that_never_opens_ends_the_wait),
		cmocka_unit_test(a_peer_that_never_comes_to_the_address_ends_the_wait),
	};

	if (argc != 3)
		return 2;
	package_tp2 = argv[1];
	package_tp4 = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
