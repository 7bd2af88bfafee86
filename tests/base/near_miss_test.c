/* SPDX-License-Identifier: Apache-2.0 */
/* Near misses: what counts as near, which of several is taken, and the limits of length. */
#include "base/near_miss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

/* The distance of `word` from `name`, -1 if it is not near. */
static int distance(const char *word, const char *name)
{
	struct tf_near_miss miss = {.word = word, .word_length = strlen(word)};

	tf_near_miss_offer(&miss, name, strlen(name));
	return miss.best ? (int)miss.distance : -1;
}

static void changes_are_counted(void **state)
{
	assert_int_equal(distance("topology", "topology"), 0);
	assert_int_equal(distance("topolgy", "topology"), 1);
	assert_int_equal(distance("topollogy", "topology"), 1);
	assert_int_equal(distance("topolagy", "topology"), 1);
	assert_int_equal(distance("topoolgy", "topology"), 1);
	assert_int_equal(distance("otpoolgy", "topology"), 2);
	assert_int_equal(distance("tpoolyg", "topology"), 3);
	(void)state;
}

static void far_is_far(void **state)
{
	assert_int_equal(distance("kettle", "topology"), -1);
	assert_int_equal(distance("xyzology", "topology"), 3);
	assert_int_equal(distance("xyzwlogy", "topology"), -1);
	assert_int_equal(distance("a", "b"), -1);
	assert_int_equal(distance("", "tp"), -1);
	assert_int_equal(distance("xx", "tp"), -1);
	assert_int_equal(distance("pt", "tp"), 1);
	(void)state;
}

static void beginnings_are_near(void **state)
{
	assert_int_equal(distance("to", "topology"), 0);
	assert_int_equal(distance("t", "topology"), -1);
	assert_int_equal(distance("topologys", "topology"), 1);
	(void)state;
}

static void the_nearest_is_taken_and_the_first_of_equals(void **state)
{
	struct tf_near_miss miss = {.word = "tune", .word_length = 4};
	static const char listed[] = "tuned|tone";

	tf_near_miss_offer(&miss, "tunnel", 6);
	assert_memory_equal(miss.best, "tunnel", 6);
	tf_near_miss_offer(&miss, listed + 6, 4);
	assert_ptr_equal(miss.best, listed + 6);
	assert_int_equal(miss.best_length, 4);
	tf_near_miss_offer(&miss, "dune", 4);
	assert_ptr_equal(miss.best, listed + 6);
	tf_near_miss_offer(&miss, listed, 5);
	assert_ptr_equal(miss.best, listed);
	(void)state;
}

static void long_names_are_never_near(void **state)
{
	char name[TF_NEAR_MISS_NAME_MAX + 2];

	memset(name, 'n', sizeof(name));
	name[TF_NEAR_MISS_NAME_MAX + 1] = '\0';
	assert_int_equal(distance(name, name), -1);
	assert_int_equal(distance("nn", name), -1);
	name[TF_NEAR_MISS_NAME_MAX] = '\0';
	assert_int_equal(distance(name, name), 0);
	assert_int_equal(distance(name + 1, name), 0);
	name[0] = 'm';
	assert_int_equal(distance(name + 1, name), 1);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_counted),
		cmocka_unit_test(far_is_far),
		cmocka_unit_test(beginnings_are_near),
		cmocka_unit_test(the_nearest_is_taken_and_the_first_of_equals),
		cmocka_unit_test(long_names_are_never_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
