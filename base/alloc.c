/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation with checked multiplication, a counter, and a hook that fails the n-th request. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t made;
static atomic_uint_fast64_t fail_at; /* absolute ordinal of the request to fail, 0 = none */

static int must_fail(void)
{
	uint64_t ordinal = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) + 1;

	return ordinal == atomic_load_explicit(&fail_at, memory_order_relaxed);
}

void tf_alloc_fail_at(uint64_t nth)
{
	atomic_store(&fail_at, nth ? atomic_load(&made) + nth : 0);
}

uint64_t tf_alloc_count(void)
{
	return atomic_load_explicit(&made, memory_order_relaxed);
}

void *tf_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (must_fail() || __builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return calloc(bytes ? bytes : 1, 1);
}

void *tf_reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (must_fail() || __builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return realloc(old, bytes ? bytes : 1);
}

static char *duplicate(const char *text, size_t length)
{
	char *copy = tf_calloc(length + 1, 1);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

char *tf_strndup(const char *text, size_t bytes)
{
	return text ? duplicate(text, strnlen(text, bytes)) : NULL;
}

char *tf_strdup(const char *text)
{
	return text ? duplicate(text, strlen(text)) : NULL;
}

char *tf_asprintf(const char *fmt, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, fmt);
	length = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	text = length < 0 ? NULL : tf_calloc((size_t)length + 1, 1);
	if (!text)
		return NULL;
	va_start(args, fmt);
	vsnprintf(text, (size_t)length + 1, fmt, args);
	va_end(args);
	return text;
}

void tf_free(void *block)
{
	free(block);
}
