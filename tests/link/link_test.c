/* SPDX-License-Identifier: Apache-2.0 */
/* The link's operations and its common failures, with threads as ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "tests/link/rank_threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A test's own finding, reported as an error of the rank. */
#define WRONG(err, ...) TF_FAIL(err, TF_E_INTERNAL, __VA_ARGS__)

static void assert_all_ok(uint32_t world, const struct tf_error *errs)
{
	for (uint32_t r = 0; r < world; r++)
		if (errs[r].status != TF_OK)
			fail_msg("world %u, rank %u: %s", world, r, errs[r].text);
}

static void assert_error(const struct tf_error *err, enum tf_status status, const char *text)
{
	assert_string_equal(err->text, text);
	assert_int_equal(err->status, status);
}

static size_t record_size(uint32_t rank)
{
	return rank == 1 ? 0 : 1000 * rank * rank + 7;
}

static enum tf_status exchange_body(void *user, struct tf_link *link, struct tf_error *err)
{
	struct tf_bytes records[TF_WORLD_MAX] = {0};
	uint32_t rank = tf_link_rank(link);
	uint8_t mine[65536];
	enum tf_status status = TF_OK;

	(void)user;
	memset(mine, (int)(rank + 1), sizeof(mine));
	for (int turn = 0; turn < 3 && status == TF_OK; turn++) {
		status = tf_link_exchange(link, mine, record_size(rank), records, SOON, err);
		for (uint32_t r = 0; r < tf_link_world(link) && status == TF_OK; r++) {
			if (records[r].size != record_size(r))
				status = WRONG(err, "record of rank %u has %zu bytes", r, records[r].size);
			for (size_t i = 0; i < records[r].size && status == TF_OK; i++)
				if (records[r].data[i] != r + 1)
					status = WRONG(err, "record of rank %u differs at %zu", r, i);
		}
	}
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		tf_bytes_fini(&records[r]);
	return status;
}

static enum tf_status mixed_body(void *user, struct tf_link *link, struct tf_error *err)
{
	uint32_t rank = tf_link_rank(link);
	uint32_t ranks[TF_WORLD_MAX];
	struct tf_bytes said = {0};

	(void)user;
	TF_TRY(tf_link_exchange_fixed(link, &rank, sizeof(rank), ranks, SOON, err));
	for (uint32_t r = 0; r < tf_link_world(link); r++)
		if (ranks[r] != r)
			return WRONG(err, "rank %u arrived as %u", r, ranks[r]);
	for (int i = 0; i < 50; i++)
		TF_TRY(tf_link_barrier(link, SOON, err));
	TF_TRY(tf_link_broadcast(link, rank ? NULL : "to all", rank ? 0 : 6, &said, SOON, err));
	if (said.size != 6 || memcmp(said.data, "to all", 6) != 0)
		WRONG(err, "broadcast of %zu bytes", said.size);
	else
		err->status = TF_OK;
	tf_bytes_fini(&said);
	TF_TRY(err->status);
	TF_TRY(tf_link_broadcast(link, NULL, 0, &said, SOON, err));
	return said.size ? WRONG(err, "empty broadcast of %zu bytes", said.size) : TF_OK;
}

static void test_operations_in_every_world(void **state)
{
	struct tf_error errs[TF_WORLD_MAX];
	unsigned before = count_fds();

	(void)state;
	for (uint32_t world = 2; world <= TF_WORLD_MAX; world++) {
		run_ranks(world, exchange_body, NULL, errs);
		assert_all_ok(world, errs);
		run_ranks(world, mixed_body, NULL, errs);
		assert_all_ok(world, errs);
	}
	assert_int_equal(count_fds(), before);
}

static enum tf_status largest_body(void *user, struct tf_link *link, struct tf_error *err)
{
	size_t bytes = TF_LINK_RECORD_MAX + *(const size_t *)user * (tf_link_rank(link) == 1);
	uint8_t *mine = tf_calloc(2 * bytes, 1);
	struct tf_bytes records[TF_WORLD_MAX] = {0};
	enum tf_status status;

	memset(mine, (int)tf_link_rank(link) + 1, bytes);
	status = tf_link_exchange(link, mine, bytes, records, SOON, err);
	for (uint32_t r = 0; r < tf_link_world(link); r++) {
		if (status == TF_OK && (records[r].size != bytes || records[r].data[bytes - 1] != r + 1))
			status = WRONG(err, "largest record of rank %u is wrong", r);
		tf_bytes_fini(&records[r]);
	}
	tf_free(mine);
	return status;
}

static void test_largest_record_and_one_byte_more(void **state)
{
	struct tf_error errs[TF_WORLD_MAX];
	size_t more = 0;

	(void)state;
	run_ranks(8, largest_body, &more, errs);
	assert_all_ok(8, errs);
	more = 1;
	run_ranks(3, largest_body, &more, errs);
	assert_error(&errs[1], TF_E_LIMIT, "record has 1048577 bytes, the limit is 1048576");
	for (uint32_t r = 0; r < 3; r += 2)
		assert_error(&errs[r], TF_E_ABORTED,
			"rank 1 failed: record has 1048577 bytes, the limit is 1048576");
}

static enum tf_status sizes_body(void *user, struct tf_link *link, struct tf_error *err)
{
	uint8_t mine[8] = {0}, all[8 * TF_WORLD_MAX];

	(void)user;
	return tf_link_exchange_fixed(link, mine, tf_link_rank(link) == 2 ? 7 : 8, all, SOON, err);
}

static void test_fixed_sizes_that_differ(void **state)
{
	struct tf_error errs[TF_WORLD_MAX];

	(void)state;
	run_ranks(3, sizes_body, NULL, errs);
	assert_error(&errs[0], TF_E_MISMATCH, "record of rank 2 has 7 bytes, that of rank 0 has 8");
	assert_int_equal(errs[1].status, TF_E_MISMATCH);
	assert_int_equal(errs[2].status, TF_E_MISMATCH);
}

static enum tf_status check_memfd(int fd, uint32_t rank, struct tf_error *err)
{
	char text[16] = "";
	char expected[16];

	snprintf(expected, sizeof(expected), "rank %u", rank);
	if (pread(fd, text, sizeof(text) - 1, 0) < 0 || strcmp(text, expected) != 0)
		return WRONG(err, "memory of rank %u holds '%s'", rank, text);
	if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		return WRONG(err, "memory of rank %u survives exec", rank);
	return TF_OK;
}

static enum tf_status fds_body(void *user, struct tf_link *link, struct tf_error *err)
{
	uint32_t giver_of_none = *(const uint32_t *)user;
	uint32_t rank = tf_link_rank(link);
	int mine = rank == giver_of_none ? -1 : memfd_create("test", MFD_CLOEXEC);
	int fds[TF_WORLD_MAX];
	enum tf_status status;
	char text[16];

	snprintf(text, sizeof(text), "rank %u", rank);
	if (mine >= 0 && write(mine, text, strlen(text)) < 0)
		return WRONG(err, "cannot write memory");
	status = tf_link_exchange_fds(link, mine, fds, SOON, err);
	for (uint32_t r = 0; r < tf_link_world(link) && status == TF_OK; r++) {
		if ((fds[r] < 0) != (r == rank || r == giver_of_none))
			status = WRONG(err, "descriptor of rank %u is %d", r, fds[r]);
		else if (fds[r] >= 0)
			status = check_memfd(fds[r], r, err);
		if (fds[r] >= 0)
			close(fds[r]);
	}
	if (mine >= 0)
		close(mine);
	return status;
}

static void test_memory_passed_from_every_rank_to_every_rank(void **state)
{
	struct tf_error errs[TF_WORLD_MAX];
	unsigned before = count_fds();

	(void)state;
	for (uint32_t world = 2; world <= TF_WORLD_MAX; world++)
		for (uint32_t none = 0; none <= world; none += world / 2) {
			run_ranks(world, fds_body, &none, errs);
			assert_all_ok(world, errs);
		}
	assert_int_equal(count_fds(), before);
}

/* Rank r's value is user[r]; afterwards the link must still work. */
static enum tf_status equal_body(void *user, struct tf_link *link, struct tf_error *err)
{
	const uint8_t *values = user;
	uint8_t digest[TF_DIGEST_BYTES];
	enum tf_status status;

	memset(digest, values[tf_link_rank(link)], sizeof(digest));
	status = tf_link_agree_equal(link, "picks", digest, sizeof(digest), SOON, err);
	TF_TRY(tf_link_barrier(link, SOON, err));
	return status;
}

static void test_agreement_on_a_value(void **state)
{
	static uint8_t same[] = {7, 7, 7, 7};
	static uint8_t one_odd[] = {7, 7, 9, 7};
	static uint8_t rank_0_odd[] = {1, 2, 2, 3};
	static uint8_t tie[] = {5, 6, 5, 6};
	struct tf_error errs[TF_WORLD_MAX];

	(void)state;
	run_ranks(4, equal_body, same, errs);
	assert_all_ok(4, errs);
	run_ranks(4, equal_body, one_odd, errs);
	for (uint32_t r = 0; r < 4; r++)
		assert_error(&errs[r], TF_E_MISMATCH,
			"'picks' differs between ranks: rank 2 has 0909090909090909..., "
			"ranks 0, 1 and 3 have 0707070707070707...");
	run_ranks(4, equal_body, rank_0_odd, errs);
	for (uint32_t r = 0; r < 4; r++)
		assert_error(&errs[r], TF_E_MISMATCH,
			"'picks' differs between ranks: rank 0 has 0101010101010101..., "
			"rank 3 has 0303030303030303..., ranks 1 and 2 have 0202020202020202...");
	run_ranks(4, equal_body, tie, errs);
	for (uint32_t r = 0; r < 4; r++)
		assert_error(&errs[r], TF_E_MISMATCH,
			"'picks' differs between ranks: ranks 1 and 3 have 0606060606060606..., "
			"ranks 0 and 2 have 0505050505050505...");
}

/* The ranks in the bits of `user` fail. */
static enum tf_status ok_body(void *user, struct tf_link *link, struct tf_error *err)
{
	uint32_t failing = *(const uint32_t *)user;
	struct tf_error mine = {0};
	enum tf_status status;

	if (failing >> tf_link_rank(link) & 1)
		TF_FAIL(&mine, TF_E_MISFIT, "no memory window at 0x%x", tf_link_rank(link));
	status =
		tf_link_agree_ok(link, tf_link_rank(link) == 1 && !mine.status ? NULL : &mine, SOON, err);
	TF_TRY(tf_link_barrier(link, SOON, err));
	return status;
}

static void test_all_or_none(void **state)
{
	struct tf_error errs[TF_WORLD_MAX];
	uint32_t failing = 0;

	(void)state;
	run_ranks(4, ok_body, &failing, errs);
	assert_all_ok(4, errs);
	failing = 0xc;
	run_ranks(4, ok_body, &failing, errs);
	for (uint32_t r = 0; r < 4; r++)
		assert_error(&errs[r], TF_E_MISFIT, "rank 2: no memory window at 0x2");
	failing = 1;
	run_ranks(2, ok_body, &failing, errs);
	assert_error(&errs[0], TF_E_MISFIT, "rank 0: no memory window at 0x0");
	assert_error(&errs[1], TF_E_MISFIT, "rank 0: no memory window at 0x0");
}

/* The rank in `user` aborts, the others are in a barrier; then all try again. */
static enum tf_status abort_body(void *user, struct tf_link *link, struct tf_error *err)
{
	uint32_t aborter = *(const uint32_t *)user;
	struct tf_error again = {0};
	enum tf_status status = TF_E_ABORTED;

	TF_TRY(tf_link_barrier(link, SOON, err));
	if (tf_link_rank(link) == aborter)
		tf_link_abort(link, "the disk is full");
	else
		status = tf_link_barrier(link, SOON, err);
	if (tf_link_barrier(link, SOON, &again) != status)
		return WRONG(err, "a poisoned link said %s: %s", tf_status_name(again.status), again.text);
	if (tf_link_poll_departed(link, &again) != status)
		return WRONG(err, "the health check of a poisoned link said %s", again.text);
	tf_link_abort(link, "another reason");
	*err = again;
	return status;
}

static void test_abort_by_each_rank(void **state)
{
	struct tf_error errs[TF_WORLD_MAX];

	(void)state;
	for (uint32_t aborter = 0; aborter < 4; aborter++) {
		char text[64];

		snprintf(text, sizeof(text), "rank %u aborted: the disk is full", aborter);
		run_ranks(4, abort_body, &aborter, errs);
		for (uint32_t r = 0; r < 4; r++)
			assert_error(&errs[r], TF_E_ABORTED, text);
	}
}

/* The rank in `user` leaves without a word. */
static enum tf_status leave_body(void *user, struct tf_link *link, struct tf_error *err)
{
	TF_TRY(tf_link_barrier(link, SOON, err));
	if (tf_link_rank(link) == *(const uint32_t *)user)
		return TF_OK;
	return tf_link_barrier(link, SOON, err);
}

static void test_departure_of_each_rank(void **state)
{
	struct tf_error errs[TF_WORLD_MAX];

	(void)state;
	for (uint32_t leaver = 0; leaver < 5; leaver++) {
		char text[32];

		snprintf(text, sizeof(text), "rank %u departed", leaver);
		run_ranks(5, leave_body, &leaver, errs);
		assert_int_equal(errs[leaver].status, TF_OK);
		for (uint32_t r = 0; r < 5; r++)
			if (r != leaver)
				assert_error(&errs[r], TF_E_DISCONNECTED, text);
	}
}

static enum tf_status other_op_body(void *user, struct tf_link *link, struct tf_error *err)
{
	int fds[TF_WORLD_MAX];

	(void)user;
	if (tf_link_rank(link) == 2)
		return tf_link_exchange_fds(link, -1, fds, SOON, err);
	return tf_link_barrier(link, SOON, err);
}

static void test_ranks_in_different_operations(void **state)
{
	struct tf_error errs[TF_WORLD_MAX];

	(void)state;
	run_ranks(3, other_op_body, NULL, errs);
	for (uint32_t r = 0; r < 3; r++)
		assert_error(&errs[r], TF_E_INVALID,
			"rank 2 sent a bad frame: unexpected frame 'fds' (type 11) instead of 'barrier' (type "
			"8)");
}

static enum tf_status everything_body(void *user, struct tf_link *link, struct tf_error *err)
{
	uint32_t none = 0;

	TF_TRY(exchange_body(user, link, err));
	TF_TRY(mixed_body(user, link, err));
	TF_TRY(fds_body(&none, link, err));
	return equal_body((uint8_t[]){1, 1, 1}, link, err);
}

static void test_without_memory(void **state)
{
	unsigned before = count_fds();
	unsigned failed = 0;

	(void)state;
	for (uint64_t nth = 1; nth < 1000; nth++) {
		uint64_t made = tf_alloc_count();
		struct tf_error errs[TF_WORLD_MAX];
		unsigned short_of_memory = 0;

		tf_alloc_fail_at(nth);
		run_ranks(3, everything_body, NULL, errs);
		tf_alloc_fail_at(0);
		if (tf_alloc_count() - made < nth) {
			assert_all_ok(3, errs);
			break;
		}
		for (uint32_t r = 0; r < 3; r++) {
			short_of_memory += errs[r].status == TF_E_NO_MEMORY;
			if (errs[r].status != TF_OK && errs[r].status != TF_E_NO_MEMORY &&
				errs[r].status != TF_E_ABORTED && errs[r].status != TF_E_DISCONNECTED)
				fail_msg("allocation %u, rank %u: %s", (unsigned)nth, r, errs[r].text);
		}
		assert_int_equal(short_of_memory, 1);
		failed++;
	}
	assert_true(failed > 10);
	assert_int_equal(count_fds(), before);
}

static void test_wrong_arguments(void **state)
{
	struct tf_link_ends ends;
	struct tf_link *link = NULL;
	struct tf_link *again = NULL;
	struct tf_error err;

	(void)state;
	assert_int_equal(tf_link_create_pairs(1, &ends, &err), TF_E_USAGE);
	assert_int_equal(tf_link_create_pairs(9, &ends, &err), TF_E_USAGE);
	assert_string_equal(err.text, "world of 9 ranks, between 2 and 8 are supported");
	assert_int_equal(tf_link_create_pairs(2, &ends, &err), TF_OK);
	assert_int_equal(tf_link_attach(&ends, 2, &link, &err), TF_E_USAGE);
	assert_int_equal(tf_link_attach(&ends, 1, &link, &err), TF_OK);
	assert_int_equal(tf_link_attach(&ends, 1, &again, &err), TF_E_USAGE);
	assert_string_equal(err.text, "rank 1 is already attached");
	assert_int_equal(tf_link_agree_equal(link, "x", "", 0, SOON, &err), TF_E_USAGE);
	assert_int_equal(
		tf_link_agree_equal(link, "x", "", TF_LINK_DIGEST_MAX + 1, SOON, &err), TF_E_USAGE);
	assert_int_equal(tf_link_poll_departed(link, &err), TF_OK);
	assert_true(tf_link_is_local(link));
	tf_link_close(link);
	tf_link_close(NULL);
	tf_link_ends_fini(&ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations_in_every_world),
		cmocka_unit_test(test_largest_record_and_one_byte_more),
		cmocka_unit_test(test_fixed_sizes_that_differ),
		cmocka_unit_test(test_memory_passed_from_every_rank_to_every_rank),
		cmocka_unit_test(test_agreement_on_a_value),
		cmocka_unit_test(test_all_or_none),
		cmocka_unit_test(test_abort_by_each_rank),
		cmocka_unit_test(test_departure_of_each_rank),
		cmocka_unit_test(test_ranks_in_different_operations),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_wrong_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
