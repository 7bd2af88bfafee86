/* SPDX-License-Identifier: Apache-2.0 */
/* Strict numbers, sizes, names and lists. */
#include "ladders/yaml_value.h"
#include "base/dtype.h"

#include <stdio.h>
#include <string.h>

/* Digits at *text; moves it behind them. 0 if there are none, a leading zero, or too many. */
static int read_digits(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t value = 0;

	if (*p < '0' || *p > '9' || (p[0] == '0' && p[1] >= '0' && p[1] <= '9'))
		return 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return 0;
	}
	*text = p;
	*out = value;
	return 1;
}

static int read_unit(const char *text, uint64_t *value)
{
	static const char *const units[] = {"KiB", "MiB", "GiB"};

	if (!*text)
		return 1;
	for (unsigned i = 0; i < 3; i++) {
		if (!strcmp(text, units[i]))
			return !__builtin_mul_overflow(*value, UINT64_C(1) << (10 * (i + 1)), value);
	}
	return 0;
}

enum tf_status tf_yaml_number(const struct tf_yaml *yaml, const char *path, const char *text,
	uint64_t min, uint64_t max, uint64_t *out, struct tf_error *err)
{
	uint64_t value;

	if (!read_digits(&text, &value) || *text || value < min || value > max)
		return tf_yaml_fail_value(yaml, err, path, NULL);
	*out = value;
	return TF_OK;
}

enum tf_status tf_yaml_size(const struct tf_yaml *yaml, const char *path, const char *text,
	uint64_t min, uint64_t max, uint64_t *out, struct tf_error *err)
{
	uint64_t value;

	if (!read_digits(&text, &value) || !read_unit(text, &value) || value < min || value > max)
		return tf_yaml_fail_value(yaml, err, path, NULL);
	*out = value;
	return TF_OK;
}

enum tf_status tf_yaml_distinct(const struct tf_yaml *yaml, const char *path, struct tf_error *err)
{
	const struct tf_yaml_node *list = tf_yaml_find(yaml, path, NULL);
	const struct tf_yaml_node *a = tf_yaml_first(yaml, list);

	if (!a)
		return tf_yaml_fail(yaml, err, path, "found 0 entries, allowed: 1 or more");
	for (; a; a = tf_yaml_next(yaml, list, a)) {
		for (const struct tf_yaml_node *b = tf_yaml_next(yaml, list, a); b;
			 b = tf_yaml_next(yaml, list, b)) {
			if (!strcmp(tf_yaml_value(yaml, a), tf_yaml_value(yaml, b)))
				return tf_yaml_fail(yaml, err, path, "'%s' is given twice", tf_yaml_value(yaml, a));
		}
	}
	return TF_OK;
}

enum tf_status tf_yaml_name(
	const struct tf_yaml *yaml, const char *path, const char *text, struct tf_error *err)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t bytes = strlen(text);

	if (bytes == 0 || bytes >= TF_NAME_BYTES || strspn(text, allowed) != bytes)
		return tf_yaml_fail_value(yaml, err, path, NULL);
	return TF_OK;
}
