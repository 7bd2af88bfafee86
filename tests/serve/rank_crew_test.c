/* SPDX-License-Identifier: Apache-2.0 */
/* The time in which the supervisor itself was stopped is no rank's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/deadline.h"
#include "runtime/link/channel.h"
#include "runtime/serve/command.h"
#include "runtime/serve/rank_crew.h"

#define TIMEOUT_NS     (20 * TF_NS_PER_MS)
#define STALL_TIMEOUTS 200 /* of rank_crew.c */

struct seen {
	struct tf_error fault;
};

static void on_word(void *user, uint32_t rank, uint16_t type, const void *data, size_t bytes)
{
	(void)user, (void)rank, (void)type, (void)data, (void)bytes;
}

static void on_fault(void *user, const struct tf_error *cause)
{
	((struct seen *)user)->fault = *cause;
}

static void on_ended(void *user)
{
	(void)user;
}

static void sleep_ns(int64_t ns)
{
	struct timespec time = {.tv_sec = ns / TF_NS_PER_S, .tv_nsec = ns % TF_NS_PER_S};

	nanosleep(&time, NULL);
}

/* A tf_rank_fn that lives and finishes no step. */
static int beat(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	struct tf_rank_beat word = {0};

	(void)user, (void)rank, (void)link;
	while (tf_channel_send(command_fd, TF_COMMAND_BEAT, 0, &word, sizeof(word),
			   tf_deadline_after(60 * TF_NS_PER_S), NULL) == TF_OK)
		sleep_ns(TIMEOUT_NS / 4);
	return 0;
}

static void turn(struct event_base *base, int64_t ns)
{
	struct timeval tv = {.tv_usec = (suseconds_t)(ns / 1000)};

	assert_int_equal(event_base_loopexit(base, &tv), 0);
	assert_int_not_equal(event_base_dispatch(base), -1);
}

static void a_stopped_supervisor_blames_nobody(void **state)
{
	struct seen seen = {0};
	const struct tf_crew_handlers handlers = {
		.word = on_word, .fault = on_fault, .ended = on_ended, .user = &seen};
	struct event_base *base = event_base_new();
	struct tf_ranks *ranks = NULL;
	struct tf_crew crew;

	(void)state;
	assert_non_null(base);
	assert_int_equal(tf_ranks_spawn(2, beat, NULL, &ranks, NULL), TF_OK);
	assert_int_equal(tf_crew_init(&crew, ranks, 2, base, TIMEOUT_NS, &handlers, NULL), TF_OK);
	crew.doing = "during a step";
	turn(base, 2 * TIMEOUT_NS);
	sleep_ns(STALL_TIMEOUTS * TIMEOUT_NS);
	turn(base, 2 * TIMEOUT_NS);
	/* Silence is another matter: where CPUs are scarce a rank may well be late within 20 ms. */
	if (strstr(seen.fault.text, "made no progress"))
		fail_msg("%s", seen.fault.text);
	tf_crew_fini(&crew);
	tf_ranks_destroy(ranks);
	event_base_free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_supervisor_blames_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
