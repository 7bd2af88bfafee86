/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening, stepping and closing: worlds, threads and processes, bases that are taken, rows and
 * capacities.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tests/session/session_rig.h"

#define PAGE 4096

/*
 * ThreadSanitizer ends a process that asks for the last base of the list, where a kernel would only
 * refuse it.
 */
#if defined(__SANITIZE_THREAD__)
#define LAST_BASE_IS_FATAL 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LAST_BASE_IS_FATAL 1
#endif
#endif
#ifndef LAST_BASE_IS_FATAL
#define LAST_BASE_IS_FATAL 0
#endif

static enum tf_status plain(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);

	if (user)
		options = *(const struct tf_session_options *)user;
	return rig_open_and_check(rig, report, link, &options, err);
}

static void test_worlds(void **state)
{
	static const uint32_t worlds[] = {2, 3, 4, 8};

	(void)state;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		uint64_t digests[TF_WORLD_MAX];
		uint32_t world = worlds[i];
		struct rig rig;

		rig_init(&rig, world);
		rig_threads(&rig, world, plain, NULL);
		assert_true(rig_is_ok(&rig, world));
		for (uint32_t r = 0; r < world; r++)
			digests[r] = rig.reports[r].digest;
		assert_true(rig_processes(&rig, world, TF_PROGRAM_NONE, plain, NULL));
		assert_true(rig_is_ok(&rig, world));
		for (uint32_t r = 0; r < world; r++) {
			assert_int_equal(rig.reports[r].digest, digests[r]);
			assert_int_equal(rig.reports[r].relocated, 0);
			assert_int_equal(rig.reports[r].base, rig.reports[0].base);
		}
		rig_fini(&rig);
	}
}

/*
 * Reserves a page at the start of a base of the list, so that no window fits there; MAP_FAILED if
 * it is taken already.
 */
static void *block_base(uint64_t base)
{
	return mmap((void *)(uintptr_t)base, PAGE, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* The bases of the list that this process may have; a sanitizer keeps one for itself. */
static size_t find_free_bases(uint64_t *out)
{
	size_t count = 0;

	for (size_t i = 0; i + 1 < TF_WINDOW_BASE_COUNT; i++) {
		void *got = block_base(tf_window_bases[i]);

		if (got == MAP_FAILED)
			continue;
		munmap(got, PAGE);
		out[count++] = tf_window_bases[i];
	}
	return count;
}

/*
 * Opens on two threads; all is as when it was opened first. Returns whether the window was
 * relocated.
 */
static int open_again(struct rig *rig, struct tf_session_options *options, uint64_t digest)
{
	rig_threads(rig, 2, plain, options);
	assert_true(rig_is_ok(rig, 2));
	assert_int_equal(rig->reports[0].digest, digest);
	assert_int_equal(rig->reports[0].base, rig->reports[1].base);
	assert_int_equal(rig->reports[0].relocated, rig->reports[1].relocated);
	return rig->reports[0].relocated;
}

static void test_taken_bases(void **state)
{
	uint64_t bases[TF_WINDOW_BASE_COUNT], digest;
	struct tf_session_options second;
	struct rig rig;
	size_t count;

	(void)state;
	if (LAST_BASE_IS_FATAL)
		skip();
	count = find_free_bases(bases);
	assert_true(count >= 3);
	rig_init(&rig, 2);
	second = rig_options(&rig);
	second.base_first = 1;
	rig_threads(&rig, 2, plain, NULL);
	assert_true(rig_is_ok(&rig, 2));
	digest = rig.reports[0].digest;
	assert_int_equal(rig.reports[0].base, bases[0]);
	/* each base taken in turn: the next of the list, and the same bytes */
	for (size_t taken = 0; taken < count; taken++) {
		assert_true(block_base(bases[taken]) != MAP_FAILED);
		assert_int_equal(open_again(&rig, NULL, digest), taken + 1 == count);
		if (taken + 1 < count)
			assert_int_equal(rig.reports[0].base, bases[taken + 1]);
	}
	/* all taken: anywhere, from whichever base the search starts, in processes too */
	assert_int_equal(open_again(&rig, &second, digest), 1);
	assert_true(rig_processes(&rig, 2, TF_PROGRAM_NONE, plain, &second));
	assert_true(rig_is_ok(&rig, 2));
	assert_int_equal(rig.reports[0].relocated, 1);
	assert_int_equal(rig.reports[0].digest, digest);
	/*
	 * only the first is free again, and the search starts at the second: the list wraps before it
	 * is left
	 */
	munmap((void *)(uintptr_t)bases[0], PAGE);
	assert_int_equal(open_again(&rig, &second, digest), 0);
	assert_int_equal(rig.reports[0].base, bases[0]);
	for (size_t taken = 1; taken < count; taken++)
		munmap((void *)(uintptr_t)bases[taken], PAGE);
	rig_fini(&rig);
}

/* A base that is taken in one rank's process alone is no base for the group. */
static enum tf_status one_is_blocked(struct rig *rig, struct rig_report *report,
	struct tf_link *link, void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);

	(void)user;
	if (tf_link_rank(link) == 2 &&
		mmap((void *)(uintptr_t)(tf_window_bases[0] + PAGE), PAGE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
		return TF_FAIL(err, TF_E_SYSTEM, "cannot block the base");
	return rig_open_and_check(rig, report, link, &options, err);
}

static void test_base_taken_on_one_rank(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 3);
	assert_true(rig_processes(&rig, 3, TF_PROGRAM_NONE, one_is_blocked, NULL));
	assert_true(rig_is_ok(&rig, 3));
	for (uint32_t r = 0; r < 3; r++)
		assert_int_equal(rig.reports[r].base, tf_window_bases[1]);
	rig_fini(&rig);
}

static enum tf_status rows(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	struct tf_error refused = {0};
	enum tf_status status = TF_OK;
	uint32_t count, largest;

	options.capacity_max = *(const uint32_t *)user;
	TF_TRY(tf_session_open(&options, link, &session, err));
	tf_session_capacities(session, &count, &largest);
	report->reached = (int)(100 * count + largest);
	if (tf_session_step(session, 0, &refused) != TF_E_USAGE || !strstr(refused.text, "0 rows"))
		status = TF_FAIL(err, TF_E_INTERNAL, "rows 0: '%s'", refused.text);
	memset(&refused, 0, sizeof(refused));
	if (tf_session_step(session, largest + 1, &refused) != TF_E_USAGE ||
		!strstr(refused.text, "largest"))
		status = TF_FAIL(err, TF_E_INTERNAL, "rows %u: '%s'", largest + 1, refused.text);
	if (tf_session_step(session, UINT64_C(1) << 32, NULL) != TF_E_USAGE)
		status = TF_FAIL(err, TF_E_INTERNAL, "2^32 rows were not refused");
	/* a refusal ends nothing: nothing ran, on any rank */
	if (status == TF_OK && tf_session_steps(session) != 0)
		status = TF_FAIL(err, TF_E_INTERNAL, "a refused step was counted");
	if (status == TF_OK)
		status = tf_session_check(session, largest, err);
	tf_session_close(session);
	return status;
}

static void test_rows_and_capacities(void **state)
{
	uint32_t capacity_max = 0;
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	rig_threads(&rig, 2, rows, &capacity_max);
	assert_true(rig_is_ok(&rig, 2));
	assert_int_equal(rig.reports[0].reached, 308); /* three capacities, the largest 8 */
	capacity_max = 2;
	rig_threads(&rig, 2, rows, &capacity_max);
	assert_true(rig_is_ok(&rig, 2));
	assert_int_equal(rig.reports[1].reached, 202);
	capacity_max = 7; /* no capacity itself */
	rig_threads(&rig, 2, rows, &capacity_max);
	assert_true(rig_is_ok(&rig, 2));
	assert_int_equal(rig.reports[1].reached, 202);
	rig_fini(&rig);
}

/* Large, small, large: nothing of an earlier call may pass for an arrival of a later one. */
static enum tf_status mixed_rows(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	static const uint64_t sequence[] = {8, 1, 1, 2, 8, 3, 1, 8, 5, 2};
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	enum tf_status status = TF_OK;

	(void)report, (void)user;
	TF_TRY(tf_session_open(&options, link, &session, err));
	for (size_t i = 0; status == TF_OK && i < 5 * sizeof(sequence) / sizeof(sequence[0]); i++)
		status =
			tf_session_check(session, sequence[i % (sizeof(sequence) / sizeof(sequence[0]))], err);
	tf_session_close(session);
	return status;
}

static void test_large_and_small_calls(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 3);
	rig_threads(&rig, 3, mixed_rows, NULL);
	assert_true(rig_is_ok(&rig, 3));
	rig_fini(&rig);
}

/* Processes, so that the counter is this rank's alone. */
static enum tf_status count_allocations(struct rig *rig, struct rig_report *report,
	struct tf_link *link, void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	enum tf_status status = TF_OK;
	uint64_t before;

	(void)user;
	TF_TRY(tf_session_open(&options, link, &session, err));
	before = tf_alloc_count();
	for (uint64_t i = 0; status == TF_OK && i < 300; i++)
		status = tf_session_step(session, 1 + i % 8, err);
	report->digest = tf_alloc_count() - before;
	tf_session_close(session);
	return status;
}

static void test_a_step_allocates_nothing(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	assert_true(rig_processes(&rig, 2, TF_PROGRAM_NONE, count_allocations, NULL));
	assert_true(rig_is_ok(&rig, 2));
	for (uint32_t r = 0; r < 2; r++)
		assert_int_equal(rig.reports[r].digest, 0);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worlds),
		cmocka_unit_test(test_taken_bases),
		cmocka_unit_test(test_base_taken_on_one_rank),
		cmocka_unit_test(test_rows_and_capacities),
		cmocka_unit_test(test_large_and_small_calls),
		cmocka_unit_test(test_a_step_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
