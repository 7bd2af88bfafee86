/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON writer.
 *
 * Invariants:
 * 1. filled[d] says whether level d (0 is the top) holds a value; kind[d] is the bracket that
 *    opened it.
 * 2. What is in the buffer is always a beginning of one well-formed document, as long as `status`
 *    is TF_OK.
 * 3. The locale has no say: a decimal point is a point.
 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL_BYTES 48 /* "%.17g" takes 24 with a point of one byte */

static void put(struct tf_json *json, const char *text, size_t length)
{
	if (json->status == TF_OK)
		json->status = tf_bytes_append(json->to, text, length, NULL);
}

/*
 * The length of the well-formed UTF-8 character at `text` (ends in a zero byte), 0 if there is
 * none.
 */
static size_t character_length(const unsigned char *text)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	if (text[0] == 0xe0)
		low = 0xa0; /* shorter forms exist */
	else if (text[0] == 0xed)
		high = 0x9f; /* halves of UTF-16 pairs */
	else if (text[0] == 0xf0)
		low = 0x90;
	else if (text[0] == 0xf4)
		high = 0x8f; /* past U+10FFFF */
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	}
	return length;
}

/* A quote, a backslash or a control character. */
static void put_escaped(struct tf_json *json, unsigned char byte)
{
	static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: byte, letter */
	char text[8];
	int length = 0;

	for (const char *pair = letters; *pair && !length; pair += 2) {
		if ((unsigned char)pair[0] == byte)
			length = snprintf(text, sizeof(text), "\\%c", pair[1]);
	}
	if (!length)
		length = snprintf(text, sizeof(text), "\\u%04x", byte);
	put(json, text, (size_t)length);
}

static void put_string(struct tf_json *json, const char *value)
{
	const unsigned char *text = (const unsigned char *)value;
	const unsigned char *plain = text; /* start of the run that is copied as it is */

	put(json, "\"", 1);
	while (*text) {
		size_t length = character_length(text);

		if (length && *text >= ' ' && *text != '"' && *text != '\\') {
			text += length;
			continue;
		}
		put(json, (const char *)plain, (size_t)(text - plain));
		if (length)
			put_escaped(json, *text);
		else
			put(json, "\xef\xbf\xbd", 3);
		plain = ++text;
	}
	put(json, (const char *)plain, (size_t)(text - plain));
	put(json, "\"", 1);
}

/*
 * What stands before a value: the comma and the key that its place asks for. Returns 0 to write
 * nothing.
 */
static int begin_value(struct tf_json *json, const char *key)
{
	int in_object;

	if (json->status != TF_OK)
		return 0;
	in_object = json->depth > 0 && json->kind[json->depth] == '{';
	if (json->depth < 0 || in_object != (key != NULL) || (json->depth == 0 && json->filled[0])) {
		json->status = TF_E_INTERNAL;
		return 0;
	}
	if (json->filled[json->depth])
		put(json, ",", 1);
	json->filled[json->depth] = 1;
	if (key) {
		put_string(json, key);
		put(json, ":", 1);
	}
	return json->status == TF_OK;
}

static void put_value(struct tf_json *json, const char *key, const char *text)
{
	if (begin_value(json, key))
		put(json, text, strlen(text));
}

static void open_level(struct tf_json *json, const char *key, char bracket)
{
	if (!begin_value(json, key))
		return;
	if (json->depth == TF_JSON_DEPTH_MAX) {
		json->status = TF_E_LIMIT;
		return;
	}
	json->depth++;
	json->filled[json->depth] = 0;
	json->kind[json->depth] = (uint8_t)bracket;
	put(json, &bracket, 1);
}

static void close_level(struct tf_json *json, char opened, char bracket)
{
	if (json->status != TF_OK)
		return;
	if (json->depth == 0 || json->kind[json->depth] != opened) {
		json->status = TF_E_INTERNAL;
		return;
	}
	json->depth--;
	put(json, &bracket, 1);
}

void tf_json_object_begin(struct tf_json *json, const char *key)
{
	open_level(json, key, '{');
}

void tf_json_object_end(struct tf_json *json)
{
	close_level(json, '{', '}');
}

void tf_json_array_begin(struct tf_json *json, const char *key)
{
	open_level(json, key, '[');
}

void tf_json_array_end(struct tf_json *json)
{
	close_level(json, '[', ']');
}

void tf_json_text(struct tf_json *json, const char *key, const char *value)
{
	if (!value)
		put_value(json, key, "null");
	else if (begin_value(json, key))
		put_string(json, value);
}

void tf_json_int(struct tf_json *json, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	put_value(json, key, text);
}

void tf_json_uint(struct tf_json *json, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	put_value(json, key, text);
}

/* Whatever the locale puts between whole and fraction, of one byte or more, becomes a point. */
static void make_point(char *text)
{
	char *to = text;

	while (*text) {
		size_t foreign = strcspn(text, "0123456789+-e");

		if (foreign) {
			*to++ = '.';
			text += foreign;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

void tf_json_real(struct tf_json *json, const char *key, double value)
{
	char text[REAL_BYTES] = "null";

	for (int digits = 1; isfinite(value) && digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (isfinite(value))
		make_point(text);
	put_value(json, key, text);
}

void tf_json_bool(struct tf_json *json, const char *key, int value)
{
	put_value(json, key, value ? "true" : "false");
}

enum tf_status tf_json_finish(struct tf_json *json, struct tf_error *err)
{
	if (json->status == TF_OK && (json->depth != 0 || !json->filled[0]))
		json->status = TF_E_INTERNAL;
	switch (json->status) {
	case TF_OK:
		return TF_OK;
	case TF_E_INTERNAL:
		return TF_FAIL(
			err, TF_E_INTERNAL, "JSON text is unfinished or its keys and levels do not match");
	case TF_E_LIMIT:
		return TF_FAIL(
			err, TF_E_LIMIT, "JSON text is too large or deeper than %d levels", TF_JSON_DEPTH_MAX);
	default:
		return TF_FAIL(err, json->status, "no memory for a JSON text");
	}
}
