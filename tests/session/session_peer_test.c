/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank that is killed, stopped or never comes, while loading and while stepping: every other rank
 * ends with an error that names it. The bound is the wait of rig_processes, far above the timeout
 * here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/session/session_rig.h"

#define SHORT_TIMEOUT_NS (300 * TF_NS_PER_MS)
#define STEPS_MAX        1000000

struct plan {
	uint32_t victim;
	int sig;
	int loading; /* strikes so many times while it opens, else while it steps */
	int delay_us;
};

static int planned_signal;

static void strike(int number)
{
	(void)number;
	raise(planned_signal);
}

static void strike_after(int delay_us)
{
	struct itimerval once = {.it_value = {.tv_usec = delay_us ? delay_us : 1}};

	signal(SIGALRM, strike);
	setitimer(ITIMER_REAL, &once, NULL);
}

static enum tf_status step_on(struct tf_session *session, struct tf_error *err)
{
	enum tf_status status = TF_OK;

	for (uint64_t i = 0; status == TF_OK && i < STEPS_MAX; i++)
		status = tf_session_step(session, 1 + i % 8, err);
	if (status == TF_OK)
		return TF_FAIL(err, TF_E_INTERNAL, "no step ended");
	/* the session is over: it says the same again, and runs nothing */
	if (tf_session_step(session, 1, NULL) != status)
		return TF_FAIL(err, TF_E_INTERNAL, "a session that failed went on");
	return status;
}

static enum tf_status body(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	const struct plan *plan = user;
	int is_victim = tf_link_rank(link) == plan->victim;
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	enum tf_status status;

	options.timeout_ns = SHORT_TIMEOUT_NS;
	planned_signal = plan->sig;
	if (is_victim && plan->loading)
		strike_after(plan->delay_us);
	if (is_victim && plan->loading && !plan->delay_us)
		raise(plan->sig);
	status = tf_session_open(&options, link, &session, err);
	if (status != TF_OK)
		return status;
	report->reached = 1;
	if (is_victim && !plan->loading)
		strike_after(plan->delay_us);
	status = step_on(session, err);
	tf_session_close(session);
	return status;
}

static void check_survivors(const struct rig *rig, uint32_t world, const struct plan *plan)
{
	char name[16];

	snprintf(name, sizeof(name), "rank %u", plan->victim);
	for (uint32_t r = 0; r < world; r++) {
		const struct rig_report *report = &rig->reports[r];

		if (r == plan->victim)
			continue;
		if (report->status != TF_E_TIMEOUT && report->status != TF_E_DISCONNECTED &&
			report->status != TF_E_ABORTED)
			fail_msg("rank %u: %s: %s", r, tf_status_name(report->status), report->text);
		if (!strstr(report->text, name))
			fail_msg("rank %u, reached %d: '%s' does not name %s", r, report->reached, report->text,
				name);
	}
}

static void run_plans(const struct plan *plans, size_t count)
{
	const uint32_t world = 3;
	struct rig rig;

	rig_init(&rig, world);
	for (size_t i = 0; i < count; i++) {
		struct plan plan = plans[i];

		if (!rig_processes(&rig, world, plan.victim, body, &plan))
			fail_msg("plan %zu: a rank did not end", i);
		check_survivors(&rig, world, &plan);
	}
	rig_fini(&rig);
}

static void test_killed_while_loading(void **state)
{
	static const struct plan plans[] = {
		{0, SIGKILL, 1, 0},
		{1, SIGKILL, 1, 0},
		{2, SIGKILL, 1, 0},
		{1, SIGKILL, 1, 1000},
		{0, SIGKILL, 1, 3000},
		{2, SIGKILL, 1, 7000},
		{1, SIGKILL, 1, 15000},
	};

	(void)state;
	run_plans(plans, sizeof(plans) / sizeof(plans[0]));
}

static void test_stopped_while_loading(void **state)
{
	static const struct plan plans[] = {
		{0, SIGSTOP, 1, 0},
		{1, SIGSTOP, 1, 0},
		{2, SIGSTOP, 1, 2000},
		{0, SIGSTOP, 1, 6000},
		{1, SIGSTOP, 1, 12000},
	};

	(void)state;
	run_plans(plans, sizeof(plans) / sizeof(plans[0]));
}

static void test_killed_while_stepping(void **state)
{
	static const struct plan plans[] = {
		{0, SIGKILL, 0, 20000},
		{1, SIGKILL, 0, 0},
		{2, SIGKILL, 0, 5000},
	};

	(void)state;
	run_plans(plans, sizeof(plans) / sizeof(plans[0]));
}

static void test_stopped_while_stepping(void **state)
{
	static const struct plan plans[] = {
		{0, SIGSTOP, 0, 1000},
		{1, SIGSTOP, 0, 20000},
		{2, SIGSTOP, 0, 3000},
	};

	(void)state;
	run_plans(plans, sizeof(plans) / sizeof(plans[0]));
}

/* One rank opens no session at all, and says nothing. */
static enum tf_status absent(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;

	(void)report;
	options.timeout_ns = SHORT_TIMEOUT_NS;
	if (tf_link_rank(link) == *(const uint32_t *)user) {
		for (;;)
			pause();
	}
	TF_TRY(tf_session_open(&options, link, &session, err));
	tf_session_close(session);
	return TF_OK;
}

static void test_never_started(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 3);
	for (uint32_t victim = 0; victim < 3; victim++) {
		struct plan plan = {.victim = victim};

		assert_true(rig_processes(&rig, 3, victim, absent, &victim));
		check_survivors(&rig, 3, &plan);
	}
	rig_fini(&rig);
}

/* One rank takes no part in the probe: the others wait for it there as long as they may. */
static enum tf_status probe_without_one(struct rig *rig, struct rig_report *report,
	struct tf_link *link, void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;

	(void)report, (void)user;
	options.timeout_ns = SHORT_TIMEOUT_NS;
	options.probe = tf_link_rank(link) != 1;
	TF_TRY(tf_session_open(&options, link, &session, err));
	tf_session_close(session);
	return TF_OK;
}

static void test_a_wait_in_the_probe_keeps_its_reason(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 3);
	assert_true(rig_processes(&rig, 3, TF_PROGRAM_NONE, probe_without_one, NULL));
	for (uint32_t r = 0; r < 3; r++) {
		if (!strstr(rig.reports[r].text, "no arrival from rank 1"))
			fail_msg("rank %u: %s", r, rig.reports[r].text);
	}
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_while_loading),
		cmocka_unit_test(test_stopped_while_loading),
		cmocka_unit_test(test_killed_while_stepping),
		cmocka_unit_test(test_stopped_while_stepping),
		cmocka_unit_test(test_never_started),
		cmocka_unit_test(test_a_wait_in_the_probe_keeps_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
