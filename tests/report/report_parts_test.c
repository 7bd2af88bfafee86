/* SPDX-License-Identifier: Apache-2.0 */
/* Load files, and the page around the data. */
#include "tests/report/report_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "prepare/report/report_page.h"

#define PAGE_BYTES_MAX 300000 /* without data */

#define DIGEST "abababababababababababababababababababababababababababababababab"

static enum tf_status read_load(
	const char *text, size_t size, struct tf_report_load *load, struct tf_error *err)
{
	char path[] = "/tmp/tf-report-load-XXXXXX";
	uint8_t digest[TF_DIGEST_BYTES];
	enum tf_status status;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
	memset(digest, 0xab, sizeof(digest));
	status = tf_report_load_read(path, digest, load, err);
	unlink(path);
	return status;
}

static void test_load(void **state)
{
	static const char text[] = "{\"version\":1,\"sha256\":\"" DIGEST
							   "\",\"load_ns\":{\"package\":5,\"peers\":7,\"total\":11}}\n";
	struct tf_report_load load = {0};
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(read_load(text, strlen(text), &load, &err), TF_OK);
	assert_int_equal(load.phase_count, 2);
	assert_string_equal(load.phases[1].name, "peers");
	assert_int_equal(load.phases[1].ns, 7);
	assert_int_equal(load.total_ns, 11);
}

static void test_load_refusals(void **state)
{
	static const struct {
		const char *text;
		enum tf_status status;
		const char *says;
	} cases[] = {
		{"", TF_E_INVALID, "is no JSON"},
		{"{", TF_E_INVALID, "is no JSON"},
		{"[]", TF_E_INVALID, "is not what"},
		{"{\"version\":1}", TF_E_INVALID, "is not what"},
		{"{\"version\":2,\"sha256\":\"" DIGEST "\",\"load_ns\":{}}", TF_E_VERSION, "version 2"},
		{"{\"version\":1,\"sha256\":\"cd\",\"load_ns\":{}}", TF_E_MISFIT, "measured the package"},
		{"{\"version\":1,\"sha256\":\"" DIGEST "\",\"load_ns\":{\"a\":-1}}", TF_E_INVALID,
			"'load_ns.a' is no time"},
		{"{\"version\":1,\"sha256\":\"" DIGEST "\",\"load_ns\":{\"a\":\"x\"}}", TF_E_INVALID,
			"'load_ns.a' is no time"},
		{"{\"version\":1,\"sha256\":\"" DIGEST
		 "\",\"load_ns\":{\"a-name-of-more-than-thirty-one-bytes\":1}}",
			TF_E_LIMIT, "more than 31 bytes"},
	};
	struct tf_report_load load = {.total_ns = 3};
	char *huge = calloc(TF_REPORT_LOAD_BYTES_MAX + 1, 1);
	struct tf_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			read_load(cases[i].text, strlen(cases[i].text), &load, &err), cases[i].status);
		assert_non_null(strstr(err.text, cases[i].says));
	}
	assert_non_null(huge);
	assert_int_equal(read_load(huge, TF_REPORT_LOAD_BYTES_MAX + 1, &load, &err), TF_E_INVALID);
	free(huge);
	assert_int_equal(
		tf_report_load_read("/nowhere/load.json", (uint8_t[TF_DIGEST_BYTES]){0}, &load, &err),
		TF_E_NOT_FOUND);
	assert_int_equal(load.total_ns, 3);
}

/* The text between two marks behind *at, which moves on. */
static char *between(const char **at, const char *open, const char *close)
{
	const char *begin = strstr(*at, open), *end;

	assert_non_null(begin);
	begin += strlen(open);
	end = strstr(begin, close);
	assert_non_null(end);
	*at = end;
	return strndup(begin, (size_t)(end - begin));
}

static void assert_hashed(const char *policy, const char *directive, const char *text)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	char base64[64], wanted[128];

	crypto_hash_sha256(digest, (const unsigned char *)text, strlen(text));
	sodium_bin2base64(
		base64, sizeof(base64), digest, sizeof(digest), sodium_base64_VARIANT_ORIGINAL);
	snprintf(wanted, sizeof(wanted), "%s 'sha256-%s'", directive, base64);
	assert_non_null(strstr(policy, wanted));
}

static void test_page(void **state)
{
	struct tf_bytes data = {.data = (uint8_t *)(uintptr_t) "{\"a\":1}", .size = 7}, page = {0};
	struct tf_error err = {0};
	char *policy, *style, *script, *title, *inside;
	const char *at;

	(void)state;
	if (tf_report_page_available(&err) != TF_OK) {
		assert_int_equal(err.status, TF_E_UNAVAILABLE);
		assert_int_equal(tf_report_page("x", &data, &page, &err), TF_E_UNAVAILABLE);
		print_message("skipped: %s\n", err.text);
		skip();
	}
	assert_int_equal(tf_report_page("a<b>&\"@DATA@.tfp", &data, &page, &err), TF_OK);
	assert_true(page.size < PAGE_BYTES_MAX);
	assert_int_equal(tf_bytes_append(&page, "", 1, NULL), TF_OK);
	at = (const char *)page.data;
	policy = between(&at, "Content-Security-Policy\" content=\"", "\"");
	title = between(&at, "<title>", "</title>");
	style = between(&at, "<style>", "</style>");
	inside = between(&at, "<script type=\"application/json\" id=\"data\">", "</script>");
	script = between(&at, "<script>", "</script>");
	assert_string_equal(title, "a&lt;b>&amp;&quot;@DATA@.tfp – tfprep report");
	assert_string_equal(inside, "{\"a\":1}");
	assert_int_equal(strncmp(policy, "default-src 'none'; ", 20), 0);
	assert_hashed(policy, "script-src", script);
	assert_hashed(policy, "style-src", style);
	assert_non_null(strstr(script, "Permission is hereby granted")); /* the library's licence */
	/* Nothing is taken from elsewhere; names of hosts are a comment and a namespace. */
	assert_null(strstr((const char *)page.data, " src="));
	assert_null(strstr((const char *)page.data, "@import"));
	assert_null(strstr((const char *)page.data, "url("));
	free(policy);
	free(title);
	free(style);
	free(inside);
	free(script);
	tf_bytes_fini(&page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_load_refusals),
		cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
