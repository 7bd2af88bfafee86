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
	struct test_log *log = (struct test_log *)rig->memory;

	/* More operations and argument bytes than a fresh stream holds. */
	for (uint32_t i = 0; i < 5000; i++)
		append(rig, log, i ^ 5);
	wait_all(rig);
	assert_int_equal(log->count, 5000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(log->values[i], i ^ 5);
	wait_all(rig); /* an empty queue */
	assert_int_equal(log->count, 5000);
}

static void test_host_runs_nothing_before_the_wait(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = (struct test_log *)rig->memory;

	if (strcmp(suite_ops->name, "host") != 0)
		skip();
	append(rig, log, 1);
	assert_int_equal(log->count, 0);
	wait_all(rig);
	assert_int_equal(log->count, 1);
}

static void test_copy_and_set(void **state)
{
	struct suite_rig *rig = *state;
	uint8_t *own = rig->memory, *peer = rig->memory + rig->stride;
	const struct tf_device_ops *ops = rig->ops;

	assert_ok(ops->stream_set(rig->stream, own + 1, 0xab, 1000, &rig->err), &rig->err);
	assert_ok(ops->stream_copy(rig->stream, peer + 7, own, 1002, &rig->err), &rig->err);
	assert_ok(ops->stream_set(rig->stream, own + 1, 0, 3, &rig->err), &rig->err);
	assert_ok(ops->stream_copy(rig->stream, NULL, NULL, 0, &rig->err), &rig->err);
	assert_ok(ops->stream_set(rig->stream, NULL, 1, 0, &rig->err), &rig->err);
	wait_all(rig);
	for (size_t i = 0; i < 1002; i++)
		assert_int_equal(peer[7 + i], i >= 1 && i <= 1000 ? 0xab : 0);
	for (size_t i = 0; i < 1002; i++)
		assert_int_equal(own[i], i >= 4 && i <= 1000 ? 0xab : 0);
}

static void test_refuses(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = (struct test_log *)rig->memory;
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
	assert_int_equal(log->count, 0);
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
	struct test_log *log = (struct test_log *)rig->memory;
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
	assert_int_equal(log->count, 2);
	assert_int_equal(log->values[0], 1);
	assert_int_equal(log->values[1], 3);
}

/* The first operation outlasts the deadline, so the second must not start and must be dropped. */
static void test_deadline(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = (struct test_log *)rig->memory;
	int64_t deadline_ns = tf_deadline_after(20 * TF_NS_PER_MS);
	struct test_until_args args = {deadline_ns + 100 * TF_NS_PER_MS};
	struct tf_launch_call call = suite_call(rig, "test_until", &args, sizeof(args));

	assert_ok(rig->ops->stream_launch(rig->stream, &call, &rig->err), &rig->err);
	append(rig, log, 1);
	append(rig, log, 2);
	assert_refused(rig->ops->stream_wait(rig->stream, deadline_ns, &rig->err), TF_E_TIMEOUT,
		&rig->err, "operation 2 of 3: kernel 'test_append'");
	assert_true(tf_now_ns() >= args.until_ns);
	wait_all(rig);
	assert_int_equal(log->count, 0);
	/* A deadline that has passed is no failure when nothing is left to run. */
	assert_ok(rig->ops->stream_wait(rig->stream, 1, &rig->err), &rig->err);
	append(rig, log, 3);
	assert_refused(rig->ops->stream_wait(rig->stream, 1, &rig->err), TF_E_TIMEOUT, &rig->err,
		"operation 1 of 1");
	append(rig, log, 4);
	wait_all(rig);
	assert_int_equal(log->count, 1);
	assert_int_equal(log->values[0], 4);
}

static void test_repeated_steps_allocate_nothing(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = (struct test_log *)rig->memory;
	uint64_t before = 0;

	for (int step = 0; step < 20; step++) {
		log->count = 0;
		if (step == 1)
			before = tf_alloc_count();
		for (uint32_t i = 0; i < 200; i++)
			append(rig, log, i);
		wait_all(rig);
		assert_int_equal(log->count, 200);
	}
	assert_int_equal(tf_alloc_count(), before);
}

/* Growing fails: the operation is refused, those before it run, and the stream goes on. */
static void test_no_memory(void **state)
{
	struct suite_rig *rig = *state;
	struct test_log *log = (struct test_log *)rig->memory;
	struct test_append_args args = {.log = log, .value = 7};
	struct tf_launch_call call = suite_call(rig, "test_append", &args, sizeof(args));
	enum tf_status status = TF_OK;
	uint32_t queued = 0;

	if (strcmp(suite_ops->name, "host") != 0)
		skip();
	tf_alloc_fail_at(1);
	for (; status == TF_OK && queued < 100000; queued++)
		status = rig->ops->stream_launch(rig->stream, &call, &rig->err);
	tf_alloc_fail_at(0);
	assert_refused(status, TF_E_NO_MEMORY, &rig->err, "stream: no memory");
	append(rig, log, 8);
	wait_all(rig);
	assert_int_equal(log->count, queued);
	assert_int_equal(log->values[queued - 1], 8);
}

static void test_limit(void **state)
{
	struct suite_rig *rig = *state;
	enum tf_status status = TF_OK;
	uint32_t queued = 0;

	if (strcmp(suite_ops->name, "host") != 0)
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
		RIGGED(test_refuses),
		RIGGED(test_tap),
		RIGGED(test_deadline),
		RIGGED(test_repeated_steps_allocate_nothing),
		RIGGED(test_no_memory),
		RIGGED(test_limit),
	};

	*out_count = sizeof(tests) / sizeof(tests[0]);
	return tests;
}
