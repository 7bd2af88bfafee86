/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long runs: epochs pass 2^31 and 2^32 in the middle of steps, with every byte checked; and with
 * "long", a million steps over the wrap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/collective/collective.h"
#include "runtime/session/session_private.h"
#include "tests/session/session_rig.h"

static uint64_t long_steps;

struct plan {
	uint32_t first_epoch;
	uint64_t steps, check_every;
};

/* As tf_session_reset_protocol, from another epoch. */
static enum tf_status reset(struct tf_session *session, uint32_t first_epoch, struct tf_error *err)
{
	TF_TRY(tf_link_barrier(session->link, SOON, err));
	tf_protocol_reset(tf_rank_window_at(&session->window, 0, 0),
		&tf_session_program(session)->layout, session->rank, session->world,
		(uint64_t)session->timeout_ns, first_epoch);
	return tf_link_barrier(session->link, SOON, err);
}

static enum tf_status run(struct tf_session *session, const struct plan *plan, struct tf_error *err)
{
	const struct tf_control *control = tf_session_control(session);

	TF_TRY(reset(session, plan->first_epoch, err));
	for (uint64_t i = 0; i < plan->steps; i++) {
		if (i % plan->check_every)
			TF_TRY(tf_session_step(session, 1 + i % 8, err));
		else
			TF_TRY(tf_session_check(session, 1 + i % 8, err));
	}
	for (int family = 0; family < TF_FAMILY_COUNT; family++) {
		/* a family that no pick is of stands where it began */
		if (control->family[family][0].epoch != plan->first_epoch &&
			control->family[family][0].epoch > plan->first_epoch &&
			plan->first_epoch > UINT32_MAX / 4 * 3)
			return TF_FAIL(err, TF_E_INTERNAL, "family %d ended at %u, not over the wrap", family,
				control->family[family][0].epoch);
	}
	return TF_OK;
}

static enum tf_status body(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	enum tf_status status;

	TF_TRY(tf_session_open(&options, link, &session, err));
	status = run(session, user, err);
	report->digest = tf_session_control(session)->calls;
	tf_session_close(session);
	return status;
}

static void run_plan(uint32_t world, struct plan plan)
{
	struct rig rig;

	rig_init(&rig, world);
	rig_threads(&rig, world, body, &plan);
	assert_true(rig_is_ok(&rig, world));
	/* seven calls a step, and none was left out */
	assert_int_equal(rig.reports[0].digest, (uint32_t)(7 * plan.steps));
	rig_fini(&rig);
}

static void test_over_two_to_the_31st(void **state)
{
	(void)state;
	run_plan(2, (struct plan){INT32_MAX - 40u, 300, 1});
}

static void test_over_two_to_the_32nd(void **state)
{
	(void)state;
	run_plan(2, (struct plan){UINT32_MAX - 100u, 600, 1});
	run_plan(3, (struct plan){UINT32_MAX, 600, 1});
	run_plan(2, (struct plan){UINT32_MAX - 1u, 600, 1});
}

static void test_a_long_run(void **state)
{
	(void)state;
	if (!long_steps)
		skip();
	/* a family may be the pick of one capacity in eight alone */
	run_plan(2, (struct plan){UINT32_MAX - (uint32_t)long_steps / 10, long_steps, 1000});
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_over_two_to_the_31st),
		cmocka_unit_test(test_over_two_to_the_32nd),
		cmocka_unit_test(test_a_long_run),
	};

	if (argc > 1)
		long_steps = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
