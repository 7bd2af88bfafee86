/* SPDX-License-Identifier: Apache-2.0 */
/* Finding nodes of a scanned YAML text, and messages about them. Scanning itself: yaml_scan.c. */
#include "ladders/yaml_tree.h"
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tf_yaml_fini(struct tf_yaml *yaml)
{
	if (!yaml)
		return;
	tf_free(yaml->nodes);
	tf_bytes_fini(&yaml->text);
	memset(yaml, 0, sizeof(*yaml));
}

const char *tf_yaml_key(const struct tf_yaml *yaml, const struct tf_yaml_node *node)
{
	return (const char *)yaml->text.data + node->key_off;
}

const char *tf_yaml_value(const struct tf_yaml *yaml, const struct tf_yaml_node *node)
{
	return (const char *)yaml->text.data + node->value_off;
}

const struct tf_yaml_node *tf_yaml_first(
	const struct tf_yaml *yaml, const struct tf_yaml_node *parent)
{
	return parent + 1 < yaml->nodes + parent->end ? parent + 1 : NULL;
}

const struct tf_yaml_node *tf_yaml_next(
	const struct tf_yaml *yaml, const struct tf_yaml_node *parent, const struct tf_yaml_node *child)
{
	return child->end < parent->end ? yaml->nodes + child->end : NULL;
}

uint32_t tf_yaml_child_count(const struct tf_yaml *yaml, const struct tf_yaml_node *parent)
{
	uint32_t count = 0;

	for (const struct tf_yaml_node *child = tf_yaml_first(yaml, parent); child;
		 child = tf_yaml_next(yaml, parent, child))
		count++;
	return count;
}

/* The child with this key, or (key NULL) at this index. */
static const struct tf_yaml_node *child_at(const struct tf_yaml *yaml,
	const struct tf_yaml_node *parent, const char *key, size_t key_bytes, unsigned long index)
{
	const struct tf_yaml_node *child = tf_yaml_first(yaml, parent);

	for (; child; child = tf_yaml_next(yaml, parent, child)) {
		const char *name = tf_yaml_key(yaml, child);

		if (key ? !strncmp(name, key, key_bytes) && !name[key_bytes] : !index--)
			return child;
	}
	return NULL;
}

const struct tf_yaml_node *tf_yaml_find(
	const struct tf_yaml *yaml, const char *path, int *out_exact)
{
	const struct tf_yaml_node *node = yaml->nodes;
	const struct tf_yaml_node *child = node;

	while (*path && child) {
		if (*path == '[') {
			char *end;
			unsigned long index = strtoul(path + 1, &end, 10);

			child = child_at(yaml, node, NULL, 0, index);
			path = *end == ']' ? end + 1 : end;
		} else {
			size_t bytes;

			path += *path == '.';
			bytes = strcspn(path, ".[");
			child = child_at(yaml, node, path, bytes, 0);
			path += bytes;
		}
		node = child ? child : node;
	}
	if (out_exact)
		*out_exact = child != NULL;
	return node;
}

enum tf_status tf_yaml_fail(
	const struct tf_yaml *yaml, struct tf_error *err, const char *path, const char *fmt, ...)
{
	char text[TF_ERROR_TEXT_BYTES];
	uint32_t line = tf_yaml_find(yaml, path, NULL)->line;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return TF_FAIL(err, TF_E_INVALID, "%s:%u: %s%s%s", yaml->source, (unsigned)line, path,
		*path ? ": " : "", text);
}

/*
 * A node in words; texts are cut and their control characters replaced, so that a message stays one
 * line.
 */
static void describe(
	const struct tf_yaml *yaml, const struct tf_yaml_node *node, char *out, size_t size)
{
	char text[TF_YAML_FOUND_BYTES + 1];
	const char *value = tf_yaml_value(yaml, node);
	int cut = strlen(value) > TF_YAML_FOUND_BYTES;

	if (node->kind != TF_YAML_SCALAR) {
		snprintf(out, size, "%s", node->kind == TF_YAML_LIST ? "a list" : "a mapping");
		return;
	}
	snprintf(text, sizeof(text), "%s", value);
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	snprintf(out, size, "'%s'%s", text, cut ? "..." : "");
}

const char *tf_yaml_hint_of(const struct tf_yaml *yaml, const char *path)
{
	const char *dot = strrchr(path, '.');
	const char *key = dot ? dot + 1 : path;
	size_t bytes = strcspn(key, "[");
	int entry = key[bytes] == '[';

	for (const struct tf_yaml_hint *hint = yaml->hints; hint && hint->key; hint++) {
		if (!strncmp(hint->key, key, bytes) && !strcmp(hint->key + bytes, entry ? "[]" : ""))
			return hint->allowed;
	}
	return NULL;
}

enum tf_status tf_yaml_fail_value(
	const struct tf_yaml *yaml, struct tf_error *err, const char *path, const char *allowed)
{
	char found[TF_YAML_FOUND_BYTES + 16];
	const char *hint = tf_yaml_hint_of(yaml, path);

	describe(yaml, tf_yaml_find(yaml, path, NULL), found, sizeof(found));
	if (hint || allowed)
		return tf_yaml_fail(
			yaml, err, path, "found %s, allowed: %s", found, allowed ? allowed : hint);
	return tf_yaml_fail(yaml, err, path, "found %s, which is not allowed here", found);
}
