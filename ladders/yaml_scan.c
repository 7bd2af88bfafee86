/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over libyaml's events that builds the tree of yaml_tree.h.
 *
 * Invariants: `levels` holds the open lists and mappings, outermost first; a mapping's level holds
 * a key between the key's event and its value's; a node's `end` is set when its closing event
 * comes.
 */
#include "ladders/yaml_tree.h"
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct level {
	uint32_t node;
	uint32_t keys;
	int has_key;
	uint32_t key_off, key_line;
};

struct scan {
	struct tf_yaml *yaml;
	struct level levels[TF_YAML_DEPTH_MAX];
	uint32_t depth;
	uint32_t documents;
};

static enum tf_status fail_at(const struct scan *scan, size_t line, struct tf_error *err,
	const char *fmt, ...) TF_PRINTF(4, 5);

static enum tf_status fail_at(
	const struct scan *scan, size_t line, struct tf_error *err, const char *fmt, ...)
{
	char text[TF_ERROR_TEXT_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return TF_FAIL(err, TF_E_INVALID, "%s:%zu: %s", scan->yaml->source, line, text);
}

static enum tf_status add_text(struct scan *scan, size_t line, const void *data, size_t size,
	uint32_t *out_off, struct tf_error *err)
{
	struct tf_bytes *text = &scan->yaml->text;

	if (memchr(data, '\0', size))
		return fail_at(scan, line, err, "a text holds a zero byte, which is not allowed");
	*out_off = (uint32_t)text->size;
	TF_TRY(tf_bytes_append(text, data, size, err));
	return tf_bytes_append(text, "", 1, err);
}

static enum tf_status reserve_node(struct scan *scan, size_t line, struct tf_error *err)
{
	struct tf_yaml *yaml = scan->yaml;
	uint32_t capacity = yaml->node_capacity ? 2 * yaml->node_capacity : 128;
	struct tf_yaml_node *nodes;

	if (yaml->node_count < yaml->node_capacity)
		return TF_OK;
	if (yaml->node_count >= TF_YAML_NODES_MAX)
		return fail_at(scan, line, err, "too many values, allowed: %u", TF_YAML_NODES_MAX);
	nodes = tf_reallocarray(yaml->nodes, capacity, sizeof(*nodes));
	if (!nodes)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to read '%s'", yaml->source);
	yaml->nodes = nodes;
	yaml->node_capacity = capacity;
	return TF_OK;
}

/* Appends a node under the innermost level and uses up that level's key. */
static enum tf_status add_node(struct scan *scan, enum tf_yaml_kind kind, size_t line,
	uint32_t value_off, struct tf_error *err)
{
	struct tf_yaml *yaml = scan->yaml;
	struct level *level = scan->depth ? &scan->levels[scan->depth - 1] : NULL;
	struct tf_yaml_node node = {.kind = kind, .line = (uint32_t)line, .value_off = value_off};

	if (level && level->has_key) {
		node.key_off = level->key_off;
		node.line = level->key_line;
		level->has_key = 0;
	}
	TF_TRY(reserve_node(scan, line, err));
	node.end = yaml->node_count + 1;
	yaml->nodes[yaml->node_count++] = node;
	return TF_OK;
}

/* Whether the innermost level is a mapping whose next event is a key. */
static int wants_key(const struct scan *scan)
{
	const struct level *level = scan->depth ? &scan->levels[scan->depth - 1] : NULL;

	return level && scan->yaml->nodes[level->node].kind == TF_YAML_MAPPING && !level->has_key;
}

static enum tf_status check_key(
	const struct scan *scan, const char *key, size_t line, struct tf_error *err)
{
	const struct tf_yaml *yaml = scan->yaml;
	const struct level *level = &scan->levels[scan->depth - 1];
	uint32_t i = level->node + 1;

	if (level->keys >= TF_YAML_KEYS_MAX)
		return fail_at(scan, line, err, "more than %d keys in a mapping", TF_YAML_KEYS_MAX);
	for (; i < yaml->node_count; i = yaml->nodes[i].end) {
		if (!strcmp(tf_yaml_key(yaml, &yaml->nodes[i]), key))
			return fail_at(scan, line, err, "key '%s' is given twice, first in line %u", key,
				(unsigned)yaml->nodes[i].line);
	}
	return TF_OK;
}

static enum tf_status add_key(
	struct scan *scan, const yaml_event_t *event, size_t line, struct tf_error *err)
{
	struct level *level = &scan->levels[scan->depth - 1];
	const char *key = (const char *)event->data.scalar.value;
	size_t bytes = event->data.scalar.length;

	if (bytes == 0 || bytes >= TF_YAML_KEY_BYTES)
		return fail_at(
			scan, line, err, "a key of %zu bytes, allowed: 1 to %d", bytes, TF_YAML_KEY_BYTES - 1);
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)key[i] <= ' ' || key[i] == 0x7f)
			return fail_at(scan, line, err, "a key holds a blank or a control character");
	}
	TF_TRY(check_key(scan, key, line, err));
	TF_TRY(add_text(scan, line, key, bytes, &level->key_off, err));
	level->key_line = (uint32_t)line;
	level->has_key = 1;
	level->keys++;
	return TF_OK;
}

static enum tf_status scan_scalar(
	struct scan *scan, const yaml_event_t *event, size_t line, struct tf_error *err)
{
	uint32_t off = 0;

	if (event->data.scalar.anchor || event->data.scalar.tag)
		return fail_at(scan, line, err, "anchors, aliases and tags are not allowed");
	if (wants_key(scan))
		return add_key(scan, event, line, err);
	TF_TRY(add_text(scan, line, event->data.scalar.value, event->data.scalar.length, &off, err));
	return add_node(scan, TF_YAML_SCALAR, line, off, err);
}

static enum tf_status scan_open(
	struct scan *scan, const yaml_event_t *event, size_t line, struct tf_error *err)
{
	int list = event->type == YAML_SEQUENCE_START_EVENT;
	const void *anchor =
		list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor;
	const void *tag = list ? event->data.sequence_start.tag : event->data.mapping_start.tag;

	if (anchor || tag)
		return fail_at(scan, line, err, "anchors, aliases and tags are not allowed");
	if (wants_key(scan))
		return fail_at(scan, line, err, "a key must be a text");
	if (scan->depth == TF_YAML_DEPTH_MAX)
		return fail_at(scan, line, err, "nested deeper than %d levels", TF_YAML_DEPTH_MAX);
	TF_TRY(add_node(scan, list ? TF_YAML_LIST : TF_YAML_MAPPING, line, 0, err));
	scan->levels[scan->depth++] = (struct level){.node = scan->yaml->node_count - 1};
	return TF_OK;
}

static enum tf_status scan_event(struct scan *scan, const yaml_event_t *event, struct tf_error *err)
{
	size_t line = event->start_mark.line + 1;

	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (scan->documents++)
			return fail_at(scan, line, err, "a second document begins, allowed: one");
		return TF_OK;
	case YAML_ALIAS_EVENT:
		return fail_at(scan, line, err, "anchors, aliases and tags are not allowed");
	case YAML_SCALAR_EVENT:
		return scan_scalar(scan, event, line, err);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return scan_open(scan, event, line, err);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		scan->depth--;
		scan->yaml->nodes[scan->levels[scan->depth].node].end = scan->yaml->node_count;
		return TF_OK;
	default:
		return TF_OK;
	}
}

/* libyaml gives a byte offset, not a line, for bytes that are no text at all. */
static size_t line_of_offset(const char *text, size_t size, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < size && i < offset; i++)
		line += text[i] == '\n';
	return line;
}

static enum tf_status fail_parser(const struct scan *scan, const yaml_parser_t *parser,
	const char *text, size_t size, struct tf_error *err)
{
	size_t line = parser->problem_mark.line + 1;

	if (parser->error == YAML_MEMORY_ERROR)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to read '%s'", scan->yaml->source);
	if (parser->error == YAML_READER_ERROR)
		line = line_of_offset(text, size, parser->problem_offset);
	return fail_at(scan, line, err, "not YAML: %s", parser->problem ? parser->problem : "unknown");
}

static enum tf_status scan_all(
	struct scan *scan, yaml_parser_t *parser, const char *text, size_t size, struct tf_error *err)
{
	yaml_event_type_t type;
	yaml_event_t event;
	enum tf_status status;

	do {
		if (!yaml_parser_parse(parser, &event))
			return fail_parser(scan, parser, text, size, err);
		type = event.type;
		status = scan_event(scan, &event, err);
		yaml_event_delete(&event);
		if (status != TF_OK)
			return status;
	} while (type != YAML_STREAM_END_EVENT);
	if (scan->yaml->node_count == 0)
		return TF_FAIL(err, TF_E_INVALID, "%s: the file is empty", scan->yaml->source);
	return TF_OK;
}

enum tf_status tf_yaml_scan(const char *text, size_t size, const char *source,
	const struct tf_yaml_hint *hints, struct tf_yaml *out, struct tf_error *err)
{
	struct tf_yaml yaml = {.source = source, .hints = hints};
	struct scan scan = {.yaml = &yaml};
	yaml_parser_t parser;
	enum tf_status status;

	if (size > TF_YAML_BYTES_MAX)
		return TF_FAIL(err, TF_E_INVALID, "%s: %zu bytes, allowed: at most %u", source, size,
			TF_YAML_BYTES_MAX);
	if (!yaml_parser_initialize(&parser))
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to read '%s'", source);
	yaml_parser_set_input_string(&parser, (const unsigned char *)(text ? text : ""), size);
	/* Offset 0 of the text is "", the key and value of nodes that have none. */
	status = tf_bytes_append(&yaml.text, "", 1, err);
	if (status == TF_OK)
		status = scan_all(&scan, &parser, text, size, err);
	yaml_parser_delete(&parser);
	if (status != TF_OK) {
		tf_yaml_fini(&yaml);
		return status;
	}
	*out = yaml;
	return TF_OK;
}
