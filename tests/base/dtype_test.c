/* SPDX-License-Identifier: Apache-2.0 */
/* The shared words: every value has one name, every name one value. */
#include "base/dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const char *op_name(int value)
{
	return tf_op_name((enum tf_op)value);
}

static const char *dtype_name(int value)
{
	return tf_dtype_name((enum tf_dtype)value);
}

static const char *algorithm_name(int value)
{
	return tf_algorithm_name((enum tf_algorithm)value);
}

static const char *writer_name(int value)
{
	return tf_writer_name((enum tf_writer)value);
}

static const struct {
	const char *(*name)(int value);
	int (*parse)(const char *name);
	int count;
} words[] = {
	{op_name, tf_op_parse, TF_OP_COUNT},
	{dtype_name, tf_dtype_parse, TF_DTYPE_COUNT},
	{algorithm_name, tf_algorithm_parse, TF_ALGORITHM_COUNT},
	{writer_name, tf_writer_parse, TF_WRITER_COUNT},
};

static void names_and_values_agree(void **state)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (int value = 0; value < words[i].count; value++) {
			const char *name = words[i].name(value);

			assert_non_null(name);
			assert_true(strlen(name) < TF_NAME_BYTES);
			assert_int_equal(words[i].parse(name), value);
		}
	}
	(void)state;
}

static void the_rest_is_refused(void **state)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_null(words[i].name(-1));
		assert_null(words[i].name(words[i].count));
		assert_int_equal(words[i].parse(NULL), -1);
		assert_int_equal(words[i].parse(""), -1);
		assert_int_equal(words[i].parse("no_such_word"), -1);
	}
	assert_int_equal(tf_op_parse("ALL_REDUCE"), -1);
	assert_int_equal(tf_writer_parse("l"), -1);
	assert_int_equal(tf_writer_parse("ll "), -1);
	(void)state;
}

/* Packages hold these words: a change of one is a change of the format. */
static void words_of_the_format_stay(void **state)
{
	assert_string_equal(tf_op_name(TF_OP_ALL_REDUCE), "all_reduce");
	assert_string_equal(tf_op_name(TF_OP_ALL_GATHER), "all_gather");
	assert_string_equal(tf_op_name(TF_OP_REDUCE_SCATTER), "reduce_scatter");
	assert_string_equal(tf_dtype_name(TF_DTYPE_BF16), "bf16");
	assert_string_equal(tf_dtype_name(TF_DTYPE_F16), "f16");
	assert_string_equal(tf_dtype_name(TF_DTYPE_F32), "f32");
	assert_string_equal(tf_algorithm_name(TF_ALGORITHM_ONE_SHOT), "one_shot");
	assert_string_equal(tf_algorithm_name(TF_ALGORITHM_TWO_SHOT), "two_shot");
	assert_string_equal(tf_writer_name(TF_WRITER_LL), "ll");
	assert_string_equal(tf_writer_name(TF_WRITER_SENTINEL), "sentinel");
	assert_string_equal(tf_writer_name(TF_WRITER_DIRECT), "direct");
	assert_string_equal(tf_writer_name(TF_WRITER_SERIAL), "serial");
	assert_string_equal(tf_writer_name(TF_WRITER_QUEUED), "queued");
	assert_string_equal(tf_writer_name(TF_WRITER_PULL), "pull");
	assert_string_equal(tf_writer_name(TF_WRITER_STAGED), "staged");
	assert_string_equal(tf_writer_name(TF_WRITER_COPY_ENGINE), "copy_engine");
	assert_string_equal(tf_writer_name(TF_WRITER_NCCL), "nccl");
	assert_string_equal(tf_writer_name(TF_WRITER_WIRE), "wire");
	(void)state;
}

static void sizes_are_those_of_the_types(void **state)
{
	assert_int_equal(tf_dtype_bytes(TF_DTYPE_BF16), 2);
	assert_int_equal(tf_dtype_bytes(TF_DTYPE_F16), 2);
	assert_int_equal(tf_dtype_bytes(TF_DTYPE_F32), 4);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_values_agree),
		cmocka_unit_test(the_rest_is_refused),
		cmocka_unit_test(words_of_the_format_stay),
		cmocka_unit_test(sizes_are_those_of_the_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
