/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines: order, saturation, rounding. No elapsed time is asserted, only bounds that always
 * hold.
 */
#include "base/deadline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>

#define HOUR_NS (3600 * TF_NS_PER_S)

static void the_clock_never_goes_back(void **state)
{
	int64_t before = tf_now_ns();

	assert_true(before > 0);
	for (int i = 0; i < 1000; i++) {
		int64_t now = tf_now_ns();

		assert_true(now >= before);
		before = now;
	}
	(void)state;
}

static void deadlines_lie_ahead_by_what_was_asked(void **state)
{
	int64_t before = tf_now_ns();
	int64_t deadline = tf_deadline_after(HOUR_NS);
	int64_t after = tf_now_ns();

	assert_true(deadline >= before + HOUR_NS);
	assert_true(deadline <= after + HOUR_NS);
	assert_true(tf_deadline_left_ns(deadline) > 0);
	assert_true(tf_deadline_left_ns(deadline) <= HOUR_NS);
	assert_false(tf_deadline_passed(deadline));
	(void)state;
}

static void passed_deadlines_have_nothing_left(void **state)
{
	static const int64_t passed[] = {INT64_MIN, -1, 0, 1};

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		assert_int_equal(tf_deadline_left_ns(passed[i]), 0);
		assert_int_equal(tf_deadline_poll_ms(passed[i]), 0);
		assert_true(tf_deadline_passed(passed[i]));
	}
	assert_true(tf_deadline_passed(tf_deadline_after(0)));
	assert_true(tf_deadline_passed(tf_deadline_after(-HOUR_NS)));
	assert_true(tf_deadline_passed(tf_deadline_after(INT64_MIN)));
	(void)state;
}

static void never_is_never(void **state)
{
	assert_int_equal(tf_deadline_after(INT64_MAX), TF_DEADLINE_NEVER);
	assert_int_equal(tf_deadline_after(INT64_MAX - 1), TF_DEADLINE_NEVER);
	assert_int_equal(tf_deadline_left_ns(TF_DEADLINE_NEVER), INT64_MAX);
	assert_int_equal(tf_deadline_poll_ms(TF_DEADLINE_NEVER), -1);
	assert_false(tf_deadline_passed(TF_DEADLINE_NEVER));
	(void)state;
}

static void poll_times_round_up_and_saturate(void **state)
{
	assert_int_equal(tf_deadline_poll_ms(TF_DEADLINE_NEVER - 1), INT_MAX);
	assert_int_equal(tf_deadline_poll_ms(tf_deadline_after(HOUR_NS * 24 * 365)), INT_MAX);
	assert_in_range(tf_deadline_poll_ms(tf_deadline_after(HOUR_NS + 1)), 1, 3600001);
	(void)state;
}

/* While anything is left, poll must not be told 0: it would spin through the last millisecond. */
static void the_last_millisecond_is_waited_for(void **state)
{
	int seen_left = 0;

	for (int i = 0; i < 1000; i++) {
		int64_t deadline = tf_deadline_after(TF_NS_PER_MS / 2);
		int ms = tf_deadline_poll_ms(deadline);

		if (!tf_deadline_passed(deadline)) {
			assert_int_equal(ms, 1);
			seen_left++;
		}
	}
	assert_true(seen_left > 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_never_goes_back),
		cmocka_unit_test(deadlines_lie_ahead_by_what_was_asked),
		cmocka_unit_test(passed_deadlines_have_nothing_left),
		cmocka_unit_test(never_is_never),
		cmocka_unit_test(poll_times_round_up_and_saturate),
		cmocka_unit_test(the_last_millisecond_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
