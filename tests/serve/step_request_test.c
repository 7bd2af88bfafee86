/* SPDX-License-Identifier: Apache-2.0 */
/* The body of POST /v1/steps: what is read, what is refused and how that is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "runtime/serve/step_request.h"

#define LARGEST 8

static int setup(void **state)
{
	struct tf_step_reader *reader;

	if (tf_step_reader_create(&reader, NULL) != TF_OK)
		return -1;
	*state = reader;
	return 0;
}

static int teardown(void **state)
{
	tf_step_reader_destroy(*state);
	return 0;
}

static struct tf_step_order read_good(void **state, const char *body)
{
	struct tf_step_order order;
	struct tf_error err = {0};

	if (tf_step_request_read(*state, body, strlen(body), LARGEST, &order, &err) != TF_OK)
		fail_msg("%s: %s", body, err.text);
	return order;
}

static void expect_bad(void **state, const char *body, size_t bytes, const char *words)
{
	struct tf_step_order order, before;
	struct tf_error err = {0};

	memset(&order, 0x5a, sizeof(order));
	before = order;
	assert_int_equal(tf_step_request_read(*state, body, bytes, LARGEST, &order, &err), TF_E_USAGE);
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in: %s", words, err.text);
	assert_memory_equal(&order, &before, sizeof(order));
}

static void defaults_are_one_checked_step(void **state)
{
	struct tf_step_order order = read_good(state, "{\"rows\":3}");

	assert_int_equal(order.rows, 3);
	assert_int_equal(order.count, 1);
	assert_int_equal(order.seed, 1);
	assert_int_equal(order.check, TF_STEP_CHECK_EVERY);
	assert_int_equal(order.kept, 0);
}

static void every_member_is_read(void **state)
{
	struct tf_step_order order = read_good(state,
		" {\"seed\": 9223372036854775807, \"check\": \"last\",\n \"count\": 1000000, "
		"\"inputs\": \"generated\", \"rows\": 8} ");

	assert_int_equal(order.rows, 8);
	assert_int_equal(order.count, 1000000);
	assert_true(order.seed == INT64_MAX);
	assert_int_equal(order.check, TF_STEP_CHECK_LAST);
	order = read_good(state, "{\"r\\u006fws\":1,\"check\":\"none\"}");
	assert_int_equal(order.check, TF_STEP_CHECK_NONE);
}

static void kept_inputs_are_not_compared(void **state)
{
	struct tf_step_order order = read_good(state, "{\"rows\":1,\"inputs\":\"kept\"}");

	assert_int_equal(order.kept, 1);
	assert_int_equal(order.check, TF_STEP_CHECK_NONE);
	order = read_good(state, "{\"rows\":1,\"check\":\"none\",\"inputs\":\"kept\"}");
	assert_int_equal(order.kept, 1);
}

static void refusals_name_what_is_allowed(void **state)
{
	static const char *const bad[][2] = {
		{"", "empty"},
		{" ", "not JSON"},
		{"{\"rows\":1", "not JSON"},
		{"{\"rows\":01}", "not JSON"},
		{"{\"rows\":1}x", "not JSON"},
		{"{\"rows\":NaN}", "not JSON"},
		{"null", "must be a JSON object"},
		{"[{\"rows\":1}]", "must be a JSON object"},
		{"{}", "'rows' is missing; 1 to 8 are allowed"},
		{"{\"rows\":0}", "'rows' is 0, allowed is 1 to 8"},
		{"{\"rows\":9}", "'rows' is 9, allowed is 1 to 8"},
		{"{\"rows\":-9223372036854775808}", "allowed is 1 to 8"},
		{"{\"rows\":18446744073709551617}", "allowed is 1 to 8"},
		{"{\"rows\":1e0}", "'rows' must be an integer from 1 to 8, not a value of type real"},
		{"{\"rows\":{}}", "not a value of type object"},
		{"{\"rows\":false}", "not a value of type false"},
		{"{\"rows\":1,\"count\":1000001}", "'count' is 1000001, allowed is 1 to 1000000"},
		{"{\"rows\":1,\"Rows\":1}", "unknown member 'Rows'"},
		{"{\"rows\":1,\"\":1}", "unknown member ''"},
		{"{\"rows\\u0000x\":1}", "escape \\u0000"},
		{"{\"rows\":1,\"check\":\"none\\u0000x\"}", "escape \\u0000"},
		{"{\"rows\":1,\"count\":2,\"count\":2}", "'count' is given twice"},
		{"{\"rows\":1,\"check\":\"Every\"}", "'check' is 'Every', allowed is \"every\""},
		{"{\"rows\":1,\"check\":null}", "not a value of type null"},
		{"{\"rows\":1,\"inputs\":[]}", "not a value of type array"},
		{"{\"rows\":1,\"inputs\":\"kept\",\"check\":\"last\"}", "'check' must be \"none\""},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_bad(state, bad[i][0], strlen(bad[i][0]), bad[i][1]);
	expect_bad(state, "{\"rows\":1}\0", 11, "zero byte");
}

static void long_and_deep_bodies_are_refused(void **state)
{
	char body[TF_STEP_BODY_MAX + 1];

	memset(body, ' ', sizeof(body));
	memcpy(body, "{\"rows\":1}", 10);
	expect_bad(state, body, sizeof(body), "at most 4096");
	memset(body, '[', sizeof(body));
	expect_bad(state, body, TF_STEP_BODY_MAX, "not JSON");
	memset(body, 'k', sizeof(body));
	memcpy(body, "{\"", 2);
	memcpy(body + TF_STEP_BODY_MAX - 4, "\":1}", 4);
	expect_bad(state, body, TF_STEP_BODY_MAX, "unknown member 'kkk");
}

/* A body need not end in a zero: reading one byte more would be found by the sanitizers. */
static void the_body_is_not_a_string(void **state)
{
	static const char text[] = "{\"rows\":2}";
	size_t bytes = sizeof(text) - 1;
	char *body = tf_calloc(1, bytes);
	struct tf_step_order order;

	assert_non_null(body);
	memcpy(body, text, bytes);
	assert_int_equal(tf_step_request_read(*state, body, bytes, LARGEST, &order, NULL), TF_OK);
	assert_int_equal(order.rows, 2);
	tf_free(body);
}

static void a_refusal_leaves_the_reader_good(void **state)
{
	for (int i = 0; i < 100; i++) {
		expect_bad(state, "{\"rows\":1,\"x\":1}", 16, "unknown member");
		assert_int_equal(read_good(state, "{\"rows\":4}").rows, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_one_checked_step),
		cmocka_unit_test(every_member_is_read),
		cmocka_unit_test(kept_inputs_are_not_compared),
		cmocka_unit_test(refusals_name_what_is_allowed),
		cmocka_unit_test(long_and_deep_bodies_are_refused),
		cmocka_unit_test(the_body_is_not_a_string),
		cmocka_unit_test(a_refusal_leaves_the_reader_good),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
