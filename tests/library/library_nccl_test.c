/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps that call NCCL, and one that does not, on an engine's stream. On the fake driver and the
 * NCCL of tests/nccl; ranks are threads. Capacity 1 of the package calls NCCL, capacity 2 does not.
 */
#include "tests/library/library_driver.h"
#include "tests/library/library_ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHECK LIBRARY_CHECK

static const char *package_tp2;
static struct library_driver driver;
static int ends[LIBRARY_WORLD_MAX][LIBRARY_WORLD_MAX];
static struct library_rank ranks[LIBRARY_WORLD_MAX];

/* The engine of rank r has a context on device r. */
static enum tfrun_status engine_begin(struct library_rank *rank)
{
	void **context = rank->user;

	CHECK(rank, driver.context_set(NULL) == 0);
	CHECK(rank, driver.context_create(context, 0, (int)rank->options.rank) == 0);
	return TFRUN_OK;
}

static enum tfrun_status engine_end(struct library_rank *rank)
{
	void **context = rank->user;

	CHECK(rank, driver.context_destroy(*context) == 0);
	return TFRUN_OK;
}

/* A refused step ends nothing, whoever asks for it: the same step runs where it has a bound. */
static enum tfrun_status enqueue(struct tfrun_session *session, struct library_rank *rank)
{
	struct tfrun_error *error = &rank->error;
	void *stream = NULL, *last;

	CHECK(rank, driver.stream_create(&stream, LIBRARY_STREAM_NON_BLOCKING) == 0);
	last = driver.fake_graph_stream();
	CHECK(rank, tfrun_step_enqueue(session, 1, stream, error) == TFRUN_UNAVAILABLE);
	CHECK(rank, strstr(error->text, "capacity 1 calls NCCL"));
	CHECK(rank, driver.fake_graph_stream() == last && last != stream);
	CHECK(rank, tfrun_step(session, 1, error) == TFRUN_OK);
	CHECK(rank, tfrun_check(session, 1, error) == TFRUN_OK);
	CHECK(rank, tfrun_step_enqueue(session, 2, stream, error) == TFRUN_OK);
	CHECK(rank, driver.fake_graph_stream() == stream);
	CHECK(rank, driver.stream_wait(stream) == 0 && tfrun_step_status(session, error) == TFRUN_OK);
	CHECK(rank, driver.stream_destroy(stream) == 0);
	return TFRUN_OK;
}

static void only_what_calls_nccl_is_refused_on_a_stream(void **state)
{
	void *contexts[2] = {NULL, NULL};

	(void)state;
	library_ranks_init(ranks, 2, package_tp2, enqueue, ends);
	for (int r = 0; r < 2; r++) {
		ranks[r].user = &contexts[r];
		ranks[r].before = engine_begin;
		ranks[r].after = engine_end;
	}
	library_ranks_run(ranks, 2);
	library_assert_all_ok(ranks, 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_calls_nccl_is_refused_on_a_stream),
	};

	if (argc < 2 || !library_driver_open(&driver) || !driver.fake_graph_stream) {
		printf("skipped: no package, or not the fake driver\n");
		return 77;
	}
	package_tp2 = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
