/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: order, copied arguments, the tap, deadlines, and that a repeated step allocates
 * nothing.
 */
#include "tests/device/device_suite.h"

#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/program.h"

static void append(struct suite_rig *rig, struct test_log *log, uint32_t value)
{
	struct test_append_args args = {.log = log, .value = value};
	struct tf_launch_call call = suite_call(rig, "test_append", &args, sizeof(args));

	assert_ok(rig->ops->stream_launch(rig->stream, &call, &rig->err), &rig->err);
	memset(&args, 0xee, sizeof(args)); /* the stream has its own copy */
}

static void wait_all(struct suite_rig *rig)
{
	assert_ok(
		rig->ops->stream_wait(rig->stream, tf_deadline_after(SUITE_WAIT_NS), &rig->err), &rig->err);
}

static void test_order(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = suite_log(rig);
	uint32_t values[5000];

	/* More operations and argument bytes than a fresh stream holds. */
	for (uint32_t i = 0; i < 5000; i++)
		append(rig, log, i ^ 5);
	wait_all(rig);
	assert_int_equal(suite_log_count(rig), 5000);
	suite_get(rig, log->values, values, sizeof(values));
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(values[i], i ^ 5);
	wait_all(rig); /* an empty queue */
	assert_int_equal(suite_log_count(rig), 5000);
}

static void test_host_runs_nothing_before_the_wait(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = suite_log(rig);

	if (!suite_on_host())
		skip();
	append(rig, log, 1);
	assert_int_equal(suite_log_count(rig), 0);
	wait_all(rig);
	assert_int_equal(suite_log_count(rig), 1);
}

static void test_copy_and_set(void **state)
{
	struct suite_rig *rig = *state;
	uint8_t *own = rig->memory, *peer = rig->memory + rig->stride;
	const struct tf_device_ops *ops = rig->ops;
	uint8_t got[1002];

	assert_ok(ops->stream_set(rig->stream, own + 1, 0xab, 1000, &rig->err), &rig->err);
	assert_ok(ops->stream_copy(rig->stream, peer + 7, own, 1002, &rig->err), &rig->err);
	assert_ok(ops->stream_set(rig->stream, own + 1, 0, 3, &rig->err), &rig->err);
	assert_ok(ops->stream_copy(rig->stream, NULL, NULL, 0, &rig->err), &rig->err);
	assert_ok(ops->stream_set(rig->stream, NULL, 1, 0, &rig->err), &rig->err);
	wait_all(rig);
	suite_get(rig, peer + 7, got, sizeof(got));
	for (size_t i = 0; i < 1002; i++)
		assert_int_equal(got[i], i >= 1 && i <= 1000 ? 0xab : 0);
	suite_get(rig, own, got, sizeof(got));
	for (size_t i = 0; i < 1002; i++)
		assert_int_equal(got[i], i >= 4 && i <= 1000 ? 0xab : 0);
}

static void test_note(void **state)
{
	struct suite_rig *rig = *state;
	const struct tf_device_ops *ops = rig->ops;
	const void *note = NULL;
	const uint8_t *bytes;

	for (uint8_t value = 1; value < 4; value++) {
		assert_ok(ops->stream_set(rig->stream, rig->memory + 128, value, 64, &rig->err), &rig->err);
		assert_ok(
			ops->stream_note(rig->stream, rig->memory + 128, 64, &note, &rig->err), &rig->err);
		wait_all(rig);
		bytes = note;
		for (int i = 0; i < 64; i++)
			assert_int_equal(bytes[i], value);
	}
	assert_refused(
		ops->stream_note(rig->stream, rig->memory, TF_STREAM_NOTE_BYTES + 1, &note, &rig->err),
		TF_E_USAGE, &rig->err, "a note of 257 bytes");
	assert_refused(ops->stream_note(rig->stream, NULL, 8, &note, &rig->err), TF_E_USAGE, &rig->err,
		"at most 256 are taken");
}

static void test_refuses(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = suite_log(rig);
	struct test_append_args args = {.log = log, .value = 1};
	struct tf_launch_call good = suite_call(rig, "test_append", &args, sizeof(args)), bad;
	const struct tf_device_ops *ops = rig->ops;

	bad = good;
	bad.args_bytes--;
	assert_refused(ops->stream_launch(rig->stream, &bad, &rig->err), TF_E_USAGE, &rig->err,
		"kernel 'test_append': 15 argument bytes, not 16");
	bad = good;
	bad.args = NULL;
	assert_refused(
		ops->stream_launch(rig->stream, &bad, &rig->err), TF_E_USAGE, &rig->err, "'test_append'");
	bad = good;
	bad.kernel = NULL;
	assert_refused(ops->stream_launch(rig->stream, &bad, &rig->err), TF_E_USAGE, &rig->err,
		"without a kernel");
	bad = good;
	bad.block[2] = 0;
	assert_refused(
		ops->stream_launch(rig->stream, &bad, &rig->err), TF_E_USAGE, &rig->err, "is empty");
	assert_refused(ops->stream_copy(rig->stream, NULL, log, 8, &rig->err), TF_E_USAGE, &rig->err,
		"without a destination");
	assert_refused(ops->stream_copy(rig->stream, log, NULL, 8, &rig->err), TF_E_USAGE, &rig->err,
		"without a source");
	assert_refused(ops->stream_set(rig->stream, NULL, 0, 8, &rig->err), TF_E_USAGE, &rig->err,
		"without a destination");
	assert_refused(
		ops->stream_graph(rig->stream, NULL, &rig->err), TF_E_USAGE, &rig->err, "without a graph");
	wait_all(rig);
	assert_int_equal(suite_log_count(rig), 0);
}

struct tapped {
	int kinds[8];
	uint32_t count;
	struct test_append_args last;
	enum tf_status status;
};

static enum tf_status tap(void *user, const struct tf_exec_node *node, struct tf_error *err)
{
	struct tapped *tapped = user;

	tapped->kinds[tapped->count++ % 8] = node->kind;
	if (node->kind == TF_NODE_KERNEL)
		memcpy(&tapped->last, node->launch.args, sizeof(tapped->last));
	if (tapped->status != TF_OK)
		return TF_FAIL(err, tapped->status, "the tap refuses");
	return TF_OK;
}

static void test_tap(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = suite_log(rig);
	struct tapped tapped = {0};

	append(rig, log, 1); /* before the tap: stays queued */
	rig->ops->stream_tap(rig->stream, tap, &tapped);
	append(rig, log, 2);
	assert_int_equal(tapped.last.value, 2);
	assert_ptr_equal(tapped.last.log, log);
	assert_ok(rig->ops->stream_set(rig->stream, log, 0xff, 4, &rig->err), &rig->err);
	assert_ok(rig->ops->stream_copy(rig->stream, log, log, 4, &rig->err), &rig->err);
	assert_int_equal(tapped.count, 3);
	assert_int_equal(tapped.kinds[0], TF_NODE_KERNEL);
	assert_int_equal(tapped.kinds[1], TF_NODE_SET);
	assert_int_equal(tapped.kinds[2], TF_NODE_COPY);
	tapped.status = TF_E_ABORTED;
	assert_refused(rig->ops->stream_set(rig->stream, log, 0xff, 4, &rig->err), TF_E_ABORTED,
		&rig->err, "the tap refuses");
	rig->ops->stream_tap(rig->stream, NULL, NULL);
	append(rig, log, 3);
	wait_all(rig);
	assert_int_equal(tapped.count, 4);
	assert_int_equal(suite_log_count(rig), 2);
	assert_int_equal(suite_log_value(rig, 0), 1);
	assert_int_equal(suite_log_value(rig, 1), 3);
}

/* The first operation outlasts the deadline, so the second must not start and must be dropped. */
static void test_host_deadline(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = suite_log(rig);
	int64_t deadline_ns = tf_deadline_after(20 * TF_NS_PER_MS);
	struct test_until_args args = {.until_ns = deadline_ns + 100 * TF_NS_PER_MS};
	struct tf_launch_call call = suite_call(rig, "test_until", &args, sizeof(args));

	if (!suite_on_host())
		skip();
	assert_ok(rig->ops->stream_launch(rig->stream, &call, &rig->err), &rig->err);
	append(rig, log, 1);
	append(rig, log, 2);
	assert_refused(rig->ops->stream_wait(rig->stream, deadline_ns, &rig->err), TF_E_TIMEOUT,
		&rig->err, "operation 2 of 3: kernel 'test_append'");
	assert_true(tf_now_ns() >= args.until_ns);
	wait_all(rig);
	assert_int_equal(suite_log_count(rig), 0);
	/* A deadline that has passed is no failure when nothing is left to run. */
	assert_ok(rig->ops->stream_wait(rig->stream, 1, &rig->err), &rig->err);
	append(rig, log, 3);
	assert_refused(rig->ops->stream_wait(rig->stream, 1, &rig->err), TF_E_TIMEOUT, &rig->err,
		"operation 1 of 1");
	append(rig, log, 4);
	wait_all(rig);
	assert_int_equal(suite_log_count(rig), 1);
	assert_int_equal(suite_log_value(rig, 0), 4);
}

/* Work that has begun goes on behind a deadline, and the next wait is for it. */
static void test_deadline(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = suite_log(rig);
	struct test_until_args args = {.lasts_ns = 400 * TF_NS_PER_MS};
	struct tf_launch_call call = suite_call(rig, "test_until", &args, sizeof(args));

	if (suite_on_host())
		skip();
	assert_ok(rig->ops->stream_launch(rig->stream, &call, &rig->err), &rig->err);
	assert_refused(
		rig->ops->stream_wait(rig->stream, tf_deadline_after(20 * TF_NS_PER_MS), &rig->err),
		TF_E_TIMEOUT, &rig->err, "1 operations: not done at the deadline, and it runs on");
	append(rig, log, 6);
	wait_all(rig);
	assert_int_equal(suite_log_count(rig), 1);
	assert_ok(rig->ops->stream_wait(rig->stream, 1, &rig->err), &rig->err);
}

/* A stream that ends with work in it waits for the work. */
static void test_destroyed_with_work(void **state)
{
	struct suite_rig *rig = *state;
	struct test_until_args args = {.lasts_ns = 50 * TF_NS_PER_MS};
	struct tf_launch_call call = suite_call(rig, "test_until", &args, sizeof(args));

	if (suite_on_host())
		skip();
	assert_ok(rig->ops->stream_launch(rig->stream, &call, &rig->err), &rig->err);
	append(rig, suite_log(rig), 6);
	rig->ops->stream_destroy(rig->stream);
	rig->stream = NULL;
	assert_int_equal(suite_log_count(rig), 1);
}

/* Kernels that wait for their predecessor themselves are in order too. */
static void test_programmatic_launches(void **state)
{
	struct suite_rig *rig = *state;

	for (uint32_t i = 0; i < 100; i++) {
		struct test_append_args args = {.log = suite_log(rig), .value = i};
		struct tf_launch_call call = suite_call(rig, "test_append", &args, sizeof(args));

		call.flags = TF_LAUNCH_PROGRAMMATIC;
		assert_ok(rig->ops->stream_launch(rig->stream, &call, &rig->err), &rig->err);
	}
	wait_all(rig);
	assert_int_equal(suite_log_count(rig), 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(suite_log_value(rig, i), i);
}

static void test_repeated_steps_allocate_nothing(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = suite_log(rig);
	uint64_t before = 0;

	for (int step = 0; step < 20; step++) {
		suite_log_clear(rig);
		if (step == 1)
			before = tf_alloc_count();
		for (uint32_t i = 0; i < 200; i++)
			append(rig, log, i);
		wait_all(rig);
		assert_int_equal(suite_log_count(rig), 200);
	}
	assert_int_equal(tf_alloc_count(), before);
}

/* Growing fails: the operation is refused, those before it run, and the stream goes on. */
static void test_no_memory(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = suite_log(rig);
	struct test_append_args args = {.log = log, .value = 7};
	struct tf_launch_call call = suite_call(rig, "test_append", &args, sizeof(args));
	enum tf_status status = TF_OK;
	uint32_t queued = 0;

	if (!suite_on_host())
		skip();
	tf_alloc_fail_at(1);
	for (; status == TF_OK && queued < 100000; queued++)
		status = rig->ops->stream_launch(rig->stream, &call, &rig->err);
	tf_alloc_fail_at(0);
	assert_refused(status, TF_E_NO_MEMORY, &rig->err, "stream: no memory");
	append(rig, log, 8);
	wait_all(rig);
	assert_int_equal(suite_log_count(rig), queued);
	assert_int_equal(suite_log_value(rig, queued - 1), 8);
}

static void test_limit(void **state)
{
	struct suite_rig *rig = *state;
	enum tf_status status = TF_OK;
	uint32_t queued = 0;

	if (!suite_on_host())
		skip();
	for (; status == TF_OK && queued < 5000000; queued++)
		status = rig->ops->stream_set(rig->stream, rig->memory, 1, 1, &rig->err);
	assert_refused(status, TF_E_LIMIT, &rig->err, "1048576 operations are queued");
	wait_all(rig);
	assert_int_equal(rig->memory[0], 1);
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, suite_setup, suite_teardown)

const struct CMUnitTest *suite_stream_tests(size_t *out_count)
{
	static const struct CMUnitTest tests[] = {
		RIGGED(test_order),
		RIGGED(test_host_runs_nothing_before_the_wait),
		RIGGED(test_copy_and_set),
		RIGGED(test_note),
		RIGGED(test_refuses),
		RIGGED(test_tap),
		RIGGED(test_host_deadline),
		RIGGED(test_deadline),
		RIGGED(test_destroyed_with_work),
		RIGGED(test_programmatic_launches),
		RIGGED(test_repeated_steps_allocate_nothing),
		RIGGED(test_no_memory),
		RIGGED(test_limit),
	};

	*out_count = sizeof(tests) / sizeof(tests[0]);
	return tests;
}
