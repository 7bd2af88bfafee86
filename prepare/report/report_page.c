/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The template has slots, "@NAME@". Style and script are put together once, because the policy
 * names the SHA-256 of exactly the bytes between their tags.
 */
#include "prepare/report/report_page.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "ladders/text_file.h"

extern const struct tf_text_file tf_report_files[]; /* generated from page/ and the library */

#ifndef TF_REPORT_LACKS
#error "TF_REPORT_LACKS is set by the build: \"\", or why there is no chart library"
#endif

#define HASH_BYTES 64 /* "sha256-" and 44 characters of base64 */

struct slot {
	const char *name;
	struct tf_bytes text;
};

enum { SLOT_TITLE, SLOT_POLICY, SLOT_STYLE, SLOT_DATA, SLOT_SCRIPT, SLOT_COUNT };

/* In this order: each uses what stands before it. */
static const char *const scripts[] = {"page_dom", "sortable_table", "topology_drawing",
	"chart_theme", "samples_view", "writers_view", "page_main"};

enum tf_status tf_report_page_available(struct tf_error *err)
{
	if (!*TF_REPORT_LACKS)
		return TF_OK;
	return TF_FAIL(err, TF_E_UNAVAILABLE,
		"this tfprep was built without the report's page: %s; --json writes the page's data",
		TF_REPORT_LACKS);
}

static enum tf_status append_text(struct tf_bytes *out, const char *text, struct tf_error *err)
{
	return tf_bytes_append(out, text, strlen(text), err);
}

static enum tf_status append_file(struct tf_bytes *out, const char *name, struct tf_error *err)
{
	const struct tf_text_file *file = tf_text_file_find(tf_report_files, name);

	if (!file)
		return TF_FAIL(err, TF_E_INTERNAL, "the page's part '%s' was not built in", name);
	return tf_bytes_append(out, file->text, file->size, err);
}

/* The library's licence asks for its notice in every copy. */
static enum tf_status make_script(struct tf_bytes *out, struct tf_error *err)
{
	TF_TRY(append_text(out, "/*!\n", err));
	TF_TRY(append_file(out, "chart_licence", err));
	TF_TRY(append_text(out, "*/\n", err));
	TF_TRY(append_file(out, "chart_library", err));
	TF_TRY(append_text(out, "\n(() => {\n\"use strict\";\n", err));
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		TF_TRY(append_file(out, scripts[i], err));
	return append_text(out, "})();\n", err);
}

static enum tf_status make_style(struct tf_bytes *out, struct tf_error *err)
{
	TF_TRY(append_file(out, "chart_style", err));
	TF_TRY(append_text(out, "\n", err));
	return append_file(out, "page_style", err);
}

static void hash_source(const struct tf_bytes *text, char out[HASH_BYTES])
{
	uint8_t digest[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(digest, text->data, text->size);
	strcpy(out, "sha256-");
	sodium_bin2base64(
		out + 7, HASH_BYTES - 7, digest, sizeof(digest), sodium_base64_VARIANT_ORIGINAL);
}

static enum tf_status make_policy(struct slot *slots, struct tf_error *err)
{
	char script[HASH_BYTES], style[HASH_BYTES];

	hash_source(&slots[SLOT_SCRIPT].text, script);
	hash_source(&slots[SLOT_STYLE].text, style);
	return tf_bytes_printf(&slots[SLOT_POLICY].text, err,
		"default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; "
		"form-action 'none'",
		script, style);
}

static enum tf_status escape(struct tf_bytes *out, const char *text, struct tf_error *err)
{
	for (; *text; text++) {
		const char *name = *text == '<' ? "&lt;"
			: *text == '&'              ? "&amp;"
			: *text == '"'              ? "&quot;"
										: NULL;

		if (name)
			TF_TRY(append_text(out, name, err));
		else
			TF_TRY(tf_bytes_append(out, text, 1, err));
	}
	return TF_OK;
}

/* The slot whose "@NAME@" begins at `at`, or NULL. */
static const struct slot *slot_at(const struct slot *slots, const char *at)
{
	for (int i = 0; i < SLOT_COUNT; i++) {
		if (!strncmp(at, slots[i].name, strlen(slots[i].name)))
			return &slots[i];
	}
	return NULL;
}

static enum tf_status fill(
	const struct slot *slots, const char *template, struct tf_bytes *out, struct tf_error *err)
{
	for (const char *at = template; *at;) {
		size_t run = strcspn(at, "@");
		const struct slot *slot;

		TF_TRY(tf_bytes_append(out, at, run, err));
		at += run;
		if (!*at)
			break;
		slot = slot_at(slots, at);
		if (slot)
			TF_TRY(tf_bytes_append(out, slot->text.data, slot->text.size, err));
		else
			TF_TRY(tf_bytes_append(out, at, 1, err));
		at += slot ? strlen(slot->name) : 1;
	}
	return TF_OK;
}

enum tf_status tf_report_page(
	const char *title, const struct tf_bytes *data, struct tf_bytes *out, struct tf_error *err)
{
	struct slot slots[SLOT_COUNT] = {
		[SLOT_TITLE] = {.name = "@TITLE@"},
		[SLOT_POLICY] = {.name = "@POLICY@"},
		[SLOT_STYLE] = {.name = "@STYLE@"},
		[SLOT_DATA] = {.name = "@DATA@", .text = *data},
		[SLOT_SCRIPT] = {.name = "@SCRIPT@"},
	};
	const struct tf_text_file *template = tf_text_file_find(tf_report_files, "page_template");
	enum tf_status status = tf_report_page_available(err);

	if (status == TF_OK && !template)
		status = TF_FAIL(err, TF_E_INTERNAL, "the page's template was not built in");
	if (status == TF_OK)
		status = escape(&slots[SLOT_TITLE].text, title, err);
	if (status == TF_OK)
		status = make_style(&slots[SLOT_STYLE].text, err);
	if (status == TF_OK)
		status = make_script(&slots[SLOT_SCRIPT].text, err);
	if (status == TF_OK)
		status = make_policy(slots, err);
	if (status == TF_OK)
		status = fill(slots, template->text, out, err);
	slots[SLOT_DATA].text = (struct tf_bytes){0}; /* the caller's */
	for (int i = 0; i < SLOT_COUNT; i++)
		tf_bytes_fini(&slots[i].text);
	return status;
}
