/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON writer: its bytes, what it refuses, and that another parser reads the same values
 * back.
 */
#include "base/json.h"
#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static struct tf_bytes bytes;

static int set_up(void **state)
{
	memset(&bytes, 0, sizeof(bytes));
	(void)state;
	return 0;
}

static int tear_down(void **state)
{
	tf_alloc_fail_at(0);
	tf_bytes_fini(&bytes);
	(void)state;
	return 0;
}

/* Finishes and compares, with an end that the writer does not write. */
static void expect(struct tf_json *json, const char *text)
{
	assert_int_equal(tf_json_finish(json, NULL), TF_OK);
	assert_int_equal(bytes.size, strlen(text));
	assert_memory_equal(bytes.data, text, strlen(text));
}

static void expect_text(const char *value, const char *text)
{
	struct tf_json json = {.to = &bytes};

	bytes.size = 0;
	tf_json_text(&json, NULL, value);
	expect(&json, text);
}

static void expect_real(double value, const char *text)
{
	struct tf_json json = {.to = &bytes};

	bytes.size = 0;
	tf_json_real(&json, NULL, value);
	expect(&json, text);
}

static void levels_and_commas_are_kept_right(void **state)
{
	struct tf_json json = {.to = &bytes};

	tf_json_object_begin(&json, NULL);
	tf_json_text(&json, "name", "g\"1");
	tf_json_array_begin(&json, "empty");
	tf_json_array_end(&json);
	tf_json_object_begin(&json, "none");
	tf_json_object_end(&json);
	tf_json_array_begin(&json, "list");
	tf_json_int(&json, NULL, -1);
	tf_json_uint(&json, NULL, 2);
	tf_json_object_begin(&json, NULL);
	tf_json_bool(&json, "yes", 7);
	tf_json_bool(&json, "no", 0);
	tf_json_object_end(&json);
	tf_json_array_begin(&json, NULL);
	tf_json_array_end(&json);
	tf_json_text(&json, NULL, NULL);
	tf_json_array_end(&json);
	tf_json_real(&json, "last\n", 0.5);
	tf_json_object_end(&json);
	expect(&json,
		"{\"name\":\"g\\\"1\",\"empty\":[],\"none\":{},\"list\":[-1,2,{\"yes\":true,"
		"\"no\":false},[],null],\"last\\n\":0.5}");
	(void)state;
}

static void one_value_alone_is_a_document(void **state)
{
	struct tf_json json = {.to = &bytes};

	tf_json_uint(&json, NULL, UINT64_MAX);
	expect(&json, "18446744073709551615");
	(void)state;
}

static void text_before_the_document_stays(void **state)
{
	struct tf_json json = {.to = &bytes};

	assert_int_equal(tf_bytes_append(&bytes, "data: ", 6, NULL), TF_OK);
	tf_json_int(&json, NULL, INT64_MIN);
	expect(&json, "data: -9223372036854775808");
	(void)state;
}

static void controls_are_escaped(void **state)
{
	expect_text("", "\"\"");
	expect_text("\"\\/\b\f\n\r\t", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
	expect_text("a\x01"
				"b\x1f\x7f",
		"\"a\\u0001b\\u001f\x7f\"");
	(void)state;
}

static void good_utf8_passes(void **state)
{
	/* First and last characters of each length, and both sides of the surrogates. */
	static const char *const good[] = {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xef\xbf\xbf",
		"\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
	char text[16];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(text, sizeof(text), "\"%s\"", good[i]);
		expect_text(good[i], text);
	}
	(void)state;
}

static void bad_bytes_become_replacements(void **state)
{
#define R "\xef\xbf\xbd"
	expect_text("a\x80z", "\"a" R "z\"");
	expect_text("\xff", "\"" R "\"");
	expect_text("\xc0\x80", "\"" R R "\"");
	expect_text("\xc1\xbf", "\"" R R "\"");
	expect_text("\xe0\x9f\xbf", "\"" R R R "\"");
	expect_text("\xed\xa0\x80", "\"" R R R "\"");
	expect_text("\xf0\x8f\xbf\xbf", "\"" R R R R "\"");
	expect_text("\xf4\x90\x80\x80", "\"" R R R R "\"");
	expect_text("\xf5\x80\x80\x80", "\"" R R R R "\"");
	expect_text("\xe2\x82", "\"" R R "\"");
	expect_text("\xe2\x82z", "\"" R R "z\"");
	expect_text("\xf0\x9f\x98", "\"" R R R "\"");
	expect_text("\xc3\"", "\"" R "\\\"\"");
#undef R
	(void)state;
}

static void reals_are_short_and_exact(void **state)
{
	expect_real(0.0, "0");
	expect_real(-0.0, "-0");
	expect_real(1.0, "1");
	expect_real(0.1, "0.1");
	expect_real(-2.5, "-2.5");
	expect_real(1.0 / 3.0, "0.3333333333333333");
	expect_real(5e-324, "5e-324");
	expect_real(DBL_MAX, "1.7976931348623157e+308");
	expect_real(123456789.125, "123456789.125");
	expect_real(NAN, "null");
	expect_real(INFINITY, "null");
	expect_real(-INFINITY, "null");
	(void)state;
}

static void another_parser_reads_the_same_reals(void **state)
{
	static const double values[] = {0.1, 1e22, 1e23, 5e-324, 2.2250738585072014e-308, DBL_MAX,
		9007199254740993.0, 3.14159265358979, 1.0000000000000002, -123.456e-78};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct tf_json json = {.to = &bytes};
		json_t *read;

		bytes.size = 0;
		tf_json_array_begin(&json, NULL);
		tf_json_real(&json, NULL, values[i]);
		tf_json_array_end(&json);
		assert_int_equal(tf_json_finish(&json, NULL), TF_OK);
		read = json_loadb((const char *)bytes.data, bytes.size, 0, NULL);
		assert_non_null(read);
		assert_true(json_number_value(json_array_get(read, 0)) == values[i]);
		json_decref(read);
	}
	(void)state;
}

/* A program around the library may have set a locale whose decimal point is a comma. */
static void the_locale_has_no_say(void **state)
{
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
		print_message("no locale with a decimal comma here\n");
		skip();
	}
	assert_string_equal(localeconv()->decimal_point, ",");
	expect_real(0.5, "0.5");
	expect_real(1.25e-300, "1.25e-300");
	setlocale(LC_NUMERIC, "C");
	(void)state;
}

static void depth_is_limited(void **state)
{
	struct tf_json json = {.to = &bytes};
	struct tf_error err = {0};

	for (int i = 0; i < TF_JSON_DEPTH_MAX; i++)
		tf_json_array_begin(&json, NULL);
	for (int i = 0; i < TF_JSON_DEPTH_MAX; i++)
		tf_json_array_end(&json);
	assert_int_equal(tf_json_finish(&json, NULL), TF_OK);

	json = (struct tf_json){.to = &bytes};
	for (int i = 0; i < TF_JSON_DEPTH_MAX + 1; i++)
		tf_json_array_begin(&json, NULL);
	for (int i = 0; i < TF_JSON_DEPTH_MAX + 1; i++)
		tf_json_array_end(&json);
	assert_int_equal(tf_json_finish(&json, &err), TF_E_LIMIT);
	assert_non_null(strstr(err.text, "16 levels"));
	(void)state;
}

static void expect_misuse(struct tf_json *json)
{
	struct tf_error err = {0};
	size_t size = bytes.size;

	tf_json_int(json, NULL, 1);
	assert_int_equal(tf_json_finish(json, &err), TF_E_INTERNAL);
	assert_int_equal(err.status, TF_E_INTERNAL);
	assert_int_equal(bytes.size, size);
	bytes.size = 0;
	*json = (struct tf_json){.to = &bytes};
}

static void misuse_is_told(void **state)
{
	struct tf_json json = {.to = &bytes};

	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, NULL, 1); /* no key in an object */
	expect_misuse(&json);
	tf_json_array_begin(&json, NULL);
	tf_json_int(&json, "key", 1); /* a key in an array */
	expect_misuse(&json);
	tf_json_int(&json, "key", 1); /* a key at the top */
	expect_misuse(&json);
	tf_json_int(&json, NULL, 1);
	tf_json_int(&json, NULL, 2); /* two documents */
	expect_misuse(&json);
	tf_json_array_begin(&json, NULL);
	tf_json_object_end(&json); /* the other bracket */
	expect_misuse(&json);
	tf_json_array_end(&json); /* nothing to close */
	expect_misuse(&json);
	(void)state;
}

static void unfinished_documents_are_told(void **state)
{
	struct tf_json json = {.to = &bytes};

	assert_int_equal(tf_json_finish(&json, NULL), TF_E_INTERNAL);
	json = (struct tf_json){.to = &bytes};
	tf_json_object_begin(&json, NULL);
	assert_int_equal(tf_json_finish(&json, NULL), TF_E_INTERNAL);
	(void)state;
}

static void write_some(struct tf_json *json)
{
	tf_json_object_begin(json, NULL);
	for (int i = 0; i < 20; i++)
		tf_json_text(json, "key", "a text that makes the buffer grow, \n more than once");
	tf_json_object_end(json);
}

static void any_allocation_may_fail(void **state)
{
	uint64_t before = tf_alloc_count(), needed;
	struct tf_json json = {.to = &bytes};

	write_some(&json);
	assert_int_equal(tf_json_finish(&json, NULL), TF_OK);
	needed = tf_alloc_count() - before;
	assert_true(needed > 2);
	for (uint64_t nth = 1; nth <= needed; nth++) {
		struct tf_error err = {0};

		tf_bytes_fini(&bytes);
		json = (struct tf_json){.to = &bytes};
		tf_alloc_fail_at(nth);
		write_some(&json);
		tf_alloc_fail_at(0);
		assert_int_equal(tf_json_finish(&json, &err), TF_E_NO_MEMORY);
		assert_string_equal(err.text, "no memory for a JSON text");
	}
	(void)state;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(levels_and_commas_are_kept_right),
		TEST(one_value_alone_is_a_document),
		TEST(text_before_the_document_stays),
		TEST(controls_are_escaped),
		TEST(good_utf8_passes),
		TEST(bad_bytes_become_replacements),
		TEST(reals_are_short_and_exact),
		TEST(another_parser_reads_the_same_reals),
		TEST(the_locale_has_no_say),
		TEST(depth_is_limited),
		TEST(misuse_is_told),
		TEST(unfinished_documents_are_told),
		TEST(any_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
