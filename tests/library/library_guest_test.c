/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtfrun as a guest of an engine that uses GPUs itself: whose context, whose stream, whose
 * capture. On the fake driver, which counts; ranks are threads.
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

#define CHECK        LIBRARY_CHECK
#define CAPACITY_MAX 8 /* of the workload decode-window */
#define UUID_OF_0    "cuda:GPU-10101010-1010-1010-1010-101010101010"

static const char *package_tp2;
static struct library_driver driver;
static int ends[LIBRARY_WORLD_MAX][LIBRARY_WORLD_MAX];
static struct library_rank ranks[LIBRARY_WORLD_MAX];

/* What the engine of a rank has; a rank's `user`. */
struct engine {
	int device;    /* where its context is; -1: it makes none */
	void *context; /* current on the rank's thread when libtfrun is called; NULL: none */
	void *stream;
	int is_legacy; /* `stream` stays NULL, the legacy default stream */
};

static struct engine engines[LIBRARY_WORLD_MAX];

static struct engine *engine_of(const struct library_rank *rank)
{
	return rank->user;
}

static void *current(void)
{
	void *context = &context;

	return driver.context_get(&context) == 0 ? context : &driver;
}

static enum tfrun_status engine_begin(struct library_rank *rank)
{
	struct engine *engine = engine_of(rank);

	CHECK(rank, driver.context_set(NULL) == 0);
	if (engine->device < 0)
		return TFRUN_OK;
	CHECK(rank, driver.context_create(&engine->context, 0, engine->device) == 0);
	if (!engine->is_legacy)
		CHECK(rank, driver.stream_create(&engine->stream, LIBRARY_STREAM_NON_BLOCKING) == 0);
	return TFRUN_OK;
}

/* The engine's context is as it was and still usable; destroying it is the engine's. */
static enum tfrun_status engine_end(struct library_rank *rank)
{
	struct engine *engine = engine_of(rank);

	CHECK(rank, current() == engine->context);
	if (!engine->context)
		return TFRUN_OK;
	CHECK(rank, driver.context_set(NULL) == 0 && driver.context_set(engine->context) == 0);
	if (engine->stream)
		CHECK(rank, driver.stream_destroy(engine->stream) == 0);
	CHECK(rank, driver.context_destroy(engine->context) == 0);
	return TFRUN_OK;
}

/* `first` and `second` are the devices on which the ranks' engines have contexts, -1 for none. */
static void set_up(library_body body, int first, int second)
{
	library_ranks_init(ranks, 2, package_tp2, body, ends);
	memset(engines, 0, sizeof(engines));
	engines[0].device = first;
	engines[1].device = second;
	for (int r = 0; r < 2; r++) {
		ranks[r].user = &engines[r];
		ranks[r].before = engine_begin;
		ranks[r].after = engine_end;
	}
}

static void run_all(void)
{
	library_ranks_run(ranks, 2);
	library_assert_all_ok(ranks, 2);
	/* a rank's context may end when the rank has closed, whoever of the process closes last */
	assert_int_equal(driver.fake_stale_uses(), 0);
	assert_int_equal(driver.fake_primary_retains(0), 0);
	assert_int_equal(driver.fake_primary_retains(1), 0);
}

static enum tfrun_status find_pair(struct tfrun_session *session, struct library_rank *rank,
	struct tfrun_buffer *out_in, struct tfrun_buffer *out_out)
{
	out_in->size = sizeof(*out_in);
	out_out->size = sizeof(*out_out);
	CHECK(rank, tfrun_buffer_find(session, "exchange.c1.in.0", out_in, &rank->error) == TFRUN_OK);
	CHECK(rank, tfrun_buffer_find(session, "exchange.c1.out.0", out_out, &rank->error) == TFRUN_OK);
	CHECK(rank, out_in->capacity == 1 && out_out->bytes == 2 * out_in->bytes);
	CHECK(rank, out_in->cuda_device == (engine_of(rank)->device > 0));
	return TFRUN_OK;
}

/* The step's input of this round, on the engine's stream. */
static enum tfrun_status write_round(
	struct library_rank *rank, const struct tfrun_buffer *in, unsigned round)
{
	void *bytes = malloc(in->bytes);
	int failed;

	CHECK(rank, bytes != NULL);
	memset(bytes, (int)(16 * rank->options.rank + round % 16), in->bytes);
	failed = driver.copy_in(
		(unsigned long long)(uintptr_t)in->data, bytes, in->bytes, engine_of(rank)->stream);
	CHECK(rank, driver.stream_wait(engine_of(rank)->stream) == 0 && !failed);
	free(bytes);
	return TFRUN_OK;
}

static enum tfrun_status read_round(struct library_rank *rank, const struct tfrun_buffer *in,
	const struct tfrun_buffer *out, unsigned round)
{
	uint8_t *bytes = malloc(out->bytes);
	int failed, differs = 0;

	CHECK(rank, bytes != NULL);
	failed = driver.copy_out(
		bytes, (unsigned long long)(uintptr_t)out->data, out->bytes, engine_of(rank)->stream);
	failed |= driver.stream_wait(engine_of(rank)->stream);
	for (size_t i = 0; i < out->bytes; i++)
		differs |= bytes[i] != 16 * (i / in->bytes) + round % 16;
	free(bytes);
	CHECK(rank, !failed && !differs);
	return TFRUN_OK;
}

/* Every call leaves the thread's context alone; what is written is what is gathered. */
static enum tfrun_status step_on_stream(struct tfrun_session *session, struct library_rank *rank)
{
	struct engine *engine = engine_of(rank);
	struct tfrun_info info = {.size = sizeof(info)};
	struct tfrun_buffer in, out;

	CHECK(rank, current() == engine->context);
	CHECK(rank, find_pair(session, rank, &in, &out) == TFRUN_OK);
	for (unsigned round = 0; round < 10; round++) {
		CHECK(rank, write_round(rank, &in, round) == TFRUN_OK);
		CHECK(rank,
			tfrun_step_enqueue(session, 1, engine->stream, &rank->error) == TFRUN_OK &&
				driver.fake_graph_stream() == engine->stream);
		CHECK(rank, current() == engine->context);
		CHECK(rank, read_round(rank, &in, &out, round) == TFRUN_OK);
		CHECK(rank, tfrun_step_status(session, &rank->error) == TFRUN_OK);
		CHECK(rank, current() == engine->context);
	}
	CHECK(rank, tfrun_step(session, 1, &rank->error) == TFRUN_OK);
	CHECK(rank, current() == engine->context);
	CHECK(rank, tfrun_check(session, 3, &rank->error) == TFRUN_OK);
	CHECK(rank, current() == engine->context);
	CHECK(rank, tfrun_get_info(session, &info, &rank->error) == TFRUN_OK && info.steps == 12);
	CHECK(rank, info.cuda_device == in.cuda_device);
	/* the engine's contexts are used as they are */
	CHECK(rank, driver.fake_primary_retains(0) == 0 && driver.fake_primary_retains(1) == 0);
	return TFRUN_OK;
}

static void the_engines_context_and_stream_are_used(void **state)
{
	(void)state;
	set_up(step_on_stream, 0, 0);
	run_all();
	set_up(step_on_stream, 0, 1);
	run_all();
}

/* Two contexts have two legacy default streams. */
static void the_legacy_stream_serves_one_rank_a_context(void **state)
{
	(void)state;
	set_up(step_on_stream, 0, 1);
	engines[0].is_legacy = engines[1].is_legacy = 1;
	run_all();
}

static enum tfrun_status use_primary(struct tfrun_session *session, struct library_rank *rank)
{
	CHECK(rank, current() == engine_of(rank)->context);
	CHECK(rank, driver.fake_primary_retains(engine_of(rank)->device < 0 ? 0 : 1) > 0);
	CHECK(rank, tfrun_step(session, 1, &rank->error) == TFRUN_OK);
	CHECK(rank, tfrun_check(session, 1, &rank->error) == TFRUN_OK);
	CHECK(rank, current() == engine_of(rank)->context);
	return TFRUN_OK;
}

static void without_a_context_the_primary_one_is_retained(void **state)
{
	(void)state;
	set_up(use_primary, -1, -1);
	run_all();
	set_up(use_primary, -1, -1);
	ranks[1].options.device = UUID_OF_0;
	run_all();
}

/* The threads' contexts are of device 0, the ranks of device 1. */
static void another_device_can_be_named(void **state)
{
	(void)state;
	set_up(use_primary, 0, 0);
	ranks[0].options.device = ranks[1].options.device = "cuda:1";
	run_all();
}

/* An engine whose context is the primary one, as PyTorch's: adopted, never retained by us. */
static enum tfrun_status primary_begin(struct library_rank *rank)
{
	struct engine *engine = engine_of(rank);

	CHECK(rank, driver.primary_retain(&engine->context, 0) == 0);
	CHECK(rank, driver.context_set(engine->context) == 0);
	CHECK(rank, driver.stream_create(&engine->stream, LIBRARY_STREAM_NON_BLOCKING) == 0);
	return TFRUN_OK;
}

static enum tfrun_status primary_end(struct library_rank *rank)
{
	struct engine *engine = engine_of(rank);

	CHECK(rank, current() == engine->context && driver.fake_primary_retains(0) > 0);
	CHECK(rank, driver.stream_destroy(engine->stream) == 0);
	CHECK(rank, driver.context_set(NULL) == 0 && driver.primary_release(0) == 0);
	return TFRUN_OK;
}

static enum tfrun_status step_in_primary(struct tfrun_session *session, struct library_rank *rank)
{
	struct tfrun_buffer in, out;

	CHECK(rank, driver.fake_primary_retains(0) == 2); /* the engine's, one a rank */
	CHECK(rank, find_pair(session, rank, &in, &out) == TFRUN_OK);
	CHECK(rank, write_round(rank, &in, 3) == TFRUN_OK);
	CHECK(rank, tfrun_step_enqueue(session, 1, engine_of(rank)->stream, &rank->error) == TFRUN_OK);
	CHECK(rank, read_round(rank, &in, &out, 3) == TFRUN_OK);
	return tfrun_step_status(session, &rank->error);
}

static void a_primary_context_in_use_is_borrowed(void **state)
{
	(void)state;
	set_up(step_in_primary, 0, 0);
	for (int r = 0; r < 2; r++) {
		ranks[r].before = primary_begin;
		ranks[r].after = primary_end;
	}
	run_all();
}

static enum tfrun_status refuse(struct tfrun_session *session, struct library_rank *rank)
{
	struct engine *engine = engine_of(rank);
	void *other = NULL, *foreign = NULL;
	struct tfrun_error *error = &rank->error;
	void *last = driver.fake_graph_stream(); /* of this thread's last launch, the probe */

	CHECK(rank, tfrun_step_enqueue(session, 0, engine->stream, error) == TFRUN_USAGE);
	CHECK(rank, strstr(error->text, "a step of 0 rows is not allowed"));
	CHECK(
		rank, tfrun_step_enqueue(session, CAPACITY_MAX + 1, engine->stream, error) == TFRUN_USAGE);
	CHECK(rank, strstr(error->text, "above the largest loaded capacity, 8"));
	/* both ranks are in one context */
	CHECK(rank, tfrun_step_enqueue(session, 1, NULL, error) == TFRUN_USAGE);
	CHECK(rank, strstr(error->text, "the legacy default stream is one for all 2 ranks"));
	CHECK(rank, tfrun_step_enqueue(session, 1, LIBRARY_STREAM_LEGACY, error) == TFRUN_USAGE);
	CHECK(rank, driver.context_create(&other, 0, 0) == 0);
	CHECK(rank, driver.stream_create(&foreign, LIBRARY_STREAM_NON_BLOCKING) == 0);
	CHECK(rank, tfrun_step_enqueue(session, 1, foreign, error) == TFRUN_USAGE);
	CHECK(rank, strstr(error->text, "the stream is of another context"));
	/* a default stream means the current context's */
	CHECK(rank, tfrun_step_enqueue(session, 1, LIBRARY_STREAM_PER_THREAD, error) == TFRUN_USAGE);
	CHECK(rank, strstr(error->text, "the stream is of another context") && current() == other);
	CHECK(rank, driver.stream_destroy(foreign) == 0 && driver.context_destroy(other) == 0);
	CHECK(rank, driver.context_set(NULL) == 0);
	CHECK(rank, tfrun_step_enqueue(session, 1, LIBRARY_STREAM_PER_THREAD, error) == TFRUN_USAGE);
	CHECK(rank, strstr(error->text, "a default stream is one of the context that is current"));
	CHECK(rank, current() == NULL && driver.context_set(engine->context) == 0);
	CHECK(rank, driver.fake_graph_stream() == last && last != engine->stream);
	/* nothing of it ended the session */
	CHECK(rank, tfrun_step_enqueue(session, 1, LIBRARY_STREAM_PER_THREAD, error) == TFRUN_OK);
	return tfrun_step_status(session, error);
}

static void what_cannot_run_is_refused(void **state)
{
	(void)state;
	set_up(refuse, 0, 0);
	for (int r = 0; r < 2; r++) {
		ranks[r].before = primary_begin;
		ranks[r].after = primary_end;
	}
	run_all();
}

static enum tfrun_status step_alone(struct tfrun_session *session, struct library_rank *rank)
{
	struct tfrun_error error = {0};

	if (rank->options.rank)
		return TFRUN_OK;
	CHECK(rank, tfrun_step_enqueue(session, 1, engine_of(rank)->stream, &rank->error) == TFRUN_OK);
	CHECK(rank, tfrun_step_status(session, &rank->error) == TFRUN_TIMEOUT);
	CHECK(rank, strstr(rank->error.text, "no arrival from rank 1"));
	CHECK(rank, tfrun_step_enqueue(session, 1, engine_of(rank)->stream, &error) == TFRUN_TIMEOUT);
	CHECK(rank, !strcmp(error.text, rank->error.text));
	CHECK(rank, tfrun_step_status(session, &error) == TFRUN_TIMEOUT);
	CHECK(rank, current() == engine_of(rank)->context);
	return TFRUN_OK;
}

static void a_lost_peer_ends_in_a_status(void **state)
{
	(void)state;
	set_up(step_alone, 0, 1);
	ranks[0].options.timeout_ms = ranks[1].options.timeout_ms = LIBRARY_LOSS_MS;
	run_all();
}

/* A copy in, two steps: none runs while it is captured, all as often as the capture is launched. */
static enum tfrun_status capture(struct tfrun_session *session, struct library_rank *rank)
{
	struct engine *engine = engine_of(rank);
	void *graph = NULL, *exec = NULL;
	struct tfrun_buffer in, out;

	CHECK(rank, find_pair(session, rank, &in, &out) == TFRUN_OK);
	CHECK(rank, driver.capture_begin(engine->stream, LIBRARY_CAPTURE_RELAXED) == 0);
	CHECK(rank, tfrun_step_enqueue(session, 1, engine->stream, &rank->error) == TFRUN_OK);
	CHECK(rank, tfrun_step_enqueue(session, 1, engine->stream, &rank->error) == TFRUN_OK);
	CHECK(rank, driver.capture_end(engine->stream, &graph) == 0);
	CHECK(rank, driver.graph_instantiate(&exec, graph, 0) == 0 && driver.graph_destroy(graph) == 0);
	for (unsigned round = 0; round < 10; round++) {
		CHECK(rank, write_round(rank, &in, round) == TFRUN_OK);
		CHECK(rank, driver.graph_launch(exec, engine->stream) == 0);
		CHECK(rank, read_round(rank, &in, &out, round) == TFRUN_OK);
		CHECK(rank, tfrun_step_status(session, &rank->error) == TFRUN_OK);
	}
	CHECK(rank, driver.exec_destroy(exec) == 0 && current() == engine->context);
	return tfrun_check(session, 1, &rank->error);
}

static void a_captured_step_is_a_child_of_the_capture(void **state)
{
	int launches;

	(void)state;
	set_up(NULL, 0, 1);
	launches = driver.fake_graph_launches();
	run_all();
	launches = driver.fake_graph_launches() - launches; /* of opening */
	set_up(capture, 0, 1);
	launches += driver.fake_graph_launches();
	run_all();
	/* two ranks: ten launches of a graph with two children, and one check */
	assert_int_equal(driver.fake_graph_launches() - launches, 2 * (10 * 3 + 1));
}

static void refuse_device(const char *device, enum tfrun_status status, const char *part)
{
	set_up(NULL, 0, 0);
	ranks[0].options.device = ranks[1].options.device = device;
	library_ranks_run(ranks, 2);
	library_assert_refused(&ranks[0], status, part);
	library_assert_refused(&ranks[1], status, part);
	for (int r = 0; r < 2; r++) {
		assert_int_equal(driver.stream_destroy(engines[r].stream), 0);
		assert_int_equal(driver.context_destroy(engines[r].context), 0);
	}
	assert_int_equal(driver.fake_primary_retains(0), 0);
}

static void devices_are_checked(void **state)
{
	(void)state;
	refuse_device("cuda:2", TFRUN_UNAVAILABLE, "there is no CUDA device 2");
	refuse_device("cuda:", TFRUN_USAGE, "'' names no CUDA device");
	refuse_device("cuda:first", TFRUN_USAGE, "'first' names no CUDA device");
	refuse_device("cuda:GPU-10101010-1010", TFRUN_USAGE, "an ordinal or 'GPU-' and a UUID do");
	refuse_device("cuda:00000000-0000-0000-0000-000000000000", TFRUN_UNAVAILABLE,
		"none of the 2 CUDA devices has the UUID");
	refuse_device("cuda:00000000-0000-0000-0000-0000000000000", TFRUN_USAGE, "names no CUDA");
	refuse_device("host", TFRUN_MISFIT, "device.kind: package 'cuda', machine 'host'");
	refuse_device("host:1", TFRUN_USAGE, "'1' names no host device");
}

/* A context that has been destroyed under the thread. */
static enum tfrun_status stale_begin(struct library_rank *rank)
{
	void *context = NULL;

	CHECK(rank, driver.primary_retain(&context, 0) == 0 && driver.context_set(context) == 0);
	CHECK(rank, driver.primary_release(0) == 0);
	return TFRUN_OK;
}

static void a_destroyed_context_is_told(void **state)
{
	(void)state;
	set_up(NULL, -1, -1);
	ranks[0].before = stale_begin;
	ranks[1].options.device = "cuda:1"; /* on device 0 it would be made anew */
	library_ranks_run(ranks, 2);
	library_assert_refused(&ranks[0], TFRUN_SYSTEM, "cuCtxGetDevice");
	library_assert_refused(&ranks[1], TFRUN_SYSTEM, "rank 0");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_engines_context_and_stream_are_used),
		cmocka_unit_test(the_legacy_stream_serves_one_rank_a_context),
		cmocka_unit_test(without_a_context_the_primary_one_is_retained),
		cmocka_unit_test(another_device_can_be_named),
		cmocka_unit_test(a_primary_context_in_use_is_borrowed),
		cmocka_unit_test(what_cannot_run_is_refused),
		cmocka_unit_test(a_lost_peer_ends_in_a_status),
		cmocka_unit_test(a_captured_step_is_a_child_of_the_capture),
		cmocka_unit_test(devices_are_checked),
		cmocka_unit_test(a_destroyed_context_is_told),
	};

	if (argc != 2)
		return 2;
	package_tp2 = argv[1];
	if (!library_driver_open(&driver) || !driver.fake_primary_retains) {
		puts("skipped: not on the fake driver");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
