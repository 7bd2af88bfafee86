/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error object: set once where a fault is detected, prefixed on the way up, never allocating.
 */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const status_names[TF_STATUS_COUNT] = {
	[TF_OK] = "ok",
	[TF_E_USAGE] = "usage",
	[TF_E_INVALID] = "invalid",
	[TF_E_DAMAGED] = "damaged",
	[TF_E_VERSION] = "version",
	[TF_E_MISFIT] = "misfit",
	[TF_E_NOT_FOUND] = "not_found",
	[TF_E_UNSUPPORTED] = "unsupported",
	[TF_E_UNAVAILABLE] = "unavailable",
	[TF_E_NO_MEMORY] = "no_memory",
	[TF_E_LIMIT] = "limit",
	[TF_E_TIMEOUT] = "timeout",
	[TF_E_DISCONNECTED] = "disconnected",
	[TF_E_ABORTED] = "aborted",
	[TF_E_MISMATCH] = "mismatch",
	[TF_E_SYSTEM] = "system",
	[TF_E_INTERNAL] = "internal",
};

/*
 * What a subject leaves free for the words of a system error, so that a long name never hides the
 * cause.
 */
#define CAUSE_BYTES 128

/* Marks a text that vsnprintf had to cut, and gives one that it could not format an end. */
static void mark_cut(char *text, size_t size, int wanted)
{
	if (wanted < 0)
		text[0] = '\0';
	else if ((size_t)wanted >= size)
		memcpy(text + size - 4, "...", 4);
}

static void fill(struct tf_error *err, enum tf_status status, const char *origin, int native,
	const char *file, int line)
{
	err->status = status;
	err->origin = origin;
	err->native = native;
	err->file = file;
	err->line = line;
}

enum tf_status tf_error_set(struct tf_error *err, enum tf_status status, const char *origin,
	int native, const char *file, int line, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return status;
	fill(err, status, origin, native, file, line);
	va_start(args, fmt);
	mark_cut(err->text, sizeof(err->text), vsnprintf(err->text, sizeof(err->text), fmt, args));
	va_end(args);
	return status;
}

enum tf_status tf_error_errno(
	struct tf_error *err, const char *file, int line, const char *fmt, ...)
{
	int native = errno;
	enum tf_status status = native == ENOMEM ? TF_E_NO_MEMORY : TF_E_SYSTEM;
	char subject[TF_ERROR_TEXT_BYTES - CAUSE_BYTES];
	char words[CAUSE_BYTES];
	va_list args;

	va_start(args, fmt);
	mark_cut(subject, sizeof(subject), vsnprintf(subject, sizeof(subject), fmt, args));
	va_end(args);
	return tf_error_set(err, status, "system", native, file, line, "%s: %s", subject,
		strerror_r(native, words, sizeof(words)));
}

void tf_error_adopt(struct tf_error *err)
{
	err->text[sizeof(err->text) - 1] = '\0';
	err->origin = NULL;
	err->file = NULL;
}

void tf_error_prefix(struct tf_error *err, const char *fmt, ...)
{
	char text[TF_ERROR_TEXT_BYTES];
	va_list args;
	int used;

	if (!err || err->status == TF_OK)
		return;
	va_start(args, fmt);
	used = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (used < 0)
		return;
	if (used < TF_ERROR_TEXT_BYTES)
		used += snprintf(text + used, sizeof(text) - (size_t)used, ": %s", err->text);
	mark_cut(text, sizeof(text), used);
	memcpy(err->text, text, sizeof(text));
}

const char *tf_status_name(enum tf_status status)
{
	if ((unsigned)status >= TF_STATUS_COUNT)
		return "unknown";
	return status_names[status];
}

enum tf_exit tf_status_exit(enum tf_status status)
{
	switch (status) {
	case TF_OK:
		return TF_EXIT_DONE;
	case TF_E_USAGE:
		return TF_EXIT_USAGE;
	case TF_E_INVALID:
	case TF_E_DAMAGED:
	case TF_E_VERSION:
	case TF_E_MISFIT:
	case TF_E_NOT_FOUND:
		return TF_EXIT_INPUT;
	case TF_E_UNAVAILABLE:
		return TF_EXIT_ABSENT;
	default:
		return TF_EXIT_FAILED;
	}
}
