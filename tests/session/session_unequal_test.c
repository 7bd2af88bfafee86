/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that do not do alike: one that cannot begin a check, one that looks late at its steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "runtime/session/session_private.h"
#include "tests/session/session_rig.h"

/* Thirty of these, the share of one step, are far less than that many steps take. */
#define LITTLE_NS (TF_NS_PER_MS / 2)
#define MANY      10000

/* What the second rank cannot begin is told to both, and ends nothing. */
static enum tf_status check_wrong_rows(struct rig *rig, struct rig_report *report,
	struct tf_link *link, void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	struct tf_error refusal = {0};
	enum tf_status status;

	(void)user;
	TF_TRY(tf_session_open(&options, link, &session, err));
	status = tf_session_check(session, tf_link_rank(link) ? 9 : 8, &refusal);
	if (status == TF_E_USAGE && strstr(refusal.text, "rank 1: a step of 9 rows is above"))
		report->reached = 1;
	else
		fprintf(stderr, "%s: %s\n", tf_status_name(status), refusal.text);
	status = tf_session_check(session, 8, err);
	tf_session_close(session);
	return status;
}

static void test_a_check_that_one_rank_cannot_begin(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	rig_threads(&rig, 2, check_wrong_rows, NULL);
	assert_true(rig_is_ok(&rig, 2));
	assert_true(rig.reports[0].reached && rig.reports[1].reached);
	rig_fini(&rig);
}

/* A check without the peer ends the session as a step would: a later step does not wait for it. */
static enum tf_status check_alone(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_error checked = {0}, stepped = {0};
	struct tf_session *session = NULL;

	(void)user;
	TF_TRY(tf_session_open(&options, link, &session, err));
	if (!tf_link_rank(link)) {
		(void)!tf_session_check(session, 8, &checked);
		(void)!tf_session_step(session, 8, &stepped);
		report->reached = checked.status == TF_E_DISCONNECTED && stepped.status == checked.status &&
			strstr(checked.text, "rank 1 departed") && !strcmp(checked.text, stepped.text);
		if (!report->reached)
			fprintf(stderr, "check: %s\nstep: %s\n", checked.text, stepped.text);
	}
	tf_session_close(session);
	return TF_OK;
}

static void test_a_check_without_the_peer(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	rig_threads(&rig, 2, check_alone, NULL);
	assert_true(rig_is_ok(&rig, 2));
	assert_true(rig.reports[0].reached);
	rig_fini(&rig);
}

/* The peers' waits keep their bound, which stands in the control words; ours is for one step. */
static enum tf_status enqueue_many(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	enum tf_status status;

	(void)report, (void)user;
	TF_TRY(tf_session_open(&options, link, &session, err));
	session->timeout_ns = LITTLE_NS;
	status = TF_OK;
	for (int i = 0; status == TF_OK && i < MANY; i++)
		status = tf_session_enqueue(session, 8, NULL, err);
	if (status == TF_OK)
		status = tf_session_status(session, err);
	if (status == TF_OK && tf_session_steps(session) != MANY)
		status = TF_FAIL(
			err, TF_E_INTERNAL, "%llu steps", (unsigned long long)tf_session_steps(session));
	tf_session_close(session);
	return status;
}

static void test_many_steps_have_a_share_each(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	rig_threads(&rig, 2, enqueue_many, NULL);
	assert_true(rig_is_ok(&rig, 2));
	rig_fini(&rig);
}

static atomic_int other_is_still, has_failed;

static void wait_for(atomic_int *flag)
{
	int64_t deadline = SOON;

	while (!atomic_load(flag) && !tf_deadline_passed(deadline))
		usleep(1000);
}

/* The second data type's operands cannot grow on the first rank: what was there serves no more. */
static enum tf_status fill_in_vain(struct tf_session *session, struct tf_error *err)
{
	enum tf_status status;

	/* Nobody else allocates meanwhile. */
	tf_alloc_fail_at(3); /* the outputs, the operands of one type, those of the next */
	status = tf_session_fill(session, 8, 1, err);
	tf_alloc_fail_at(0);
	if (status != TF_E_NO_MEMORY)
		return TF_FAIL(err, TF_E_INTERNAL, "the filling did not fail");
	return TF_OK;
}

static enum tf_status fill_after_no_memory(struct rig *rig, struct rig_report *report,
	struct tf_link *link, void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	enum tf_status status;

	(void)report, (void)user;
	options.probe = 0; /* which would take the memory */
	TF_TRY(tf_session_open(&options, link, &session, err));
	status = tf_session_fill(session, 1, 1, err);
	if (tf_link_rank(link)) {
		atomic_store(&other_is_still, 1);
		wait_for(&has_failed);
	} else {
		wait_for(&other_is_still);
		if (status == TF_OK)
			status = fill_in_vain(session, err);
		atomic_store(&has_failed, 1);
	}
	if (status == TF_OK)
		status = tf_session_fill(session, 1, 1, err);
	if (status == TF_OK)
		status = tf_session_step(session, 1, err);
	if (status == TF_OK)
		status = tf_session_compare(session, 1, err);
	tf_session_close(session);
	return status;
}

static void test_operands_after_no_memory(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	atomic_store(&other_is_still, 0);
	atomic_store(&has_failed, 0);
	rig_threads(&rig, 2, fill_after_no_memory, NULL);
	assert_true(rig_is_ok(&rig, 2));
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_check_that_one_rank_cannot_begin),
		cmocka_unit_test(test_a_check_without_the_peer),
		cmocka_unit_test(test_operands_after_no_memory),
		cmocka_unit_test(test_many_steps_have_a_share_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
