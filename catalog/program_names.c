/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the program's kinds, and what may be a name, a path or a text in it. */
#include "catalog/program_names.h"

#include <string.h>

#define COUNT(names) ((int)(sizeof(names) / sizeof((names)[0])))

static const char *const state_names[] = {"competed", "survived", "picked", "struck"};
static const char *const role_names[] = {"input", "output", "constant", "work", "protocol"};
static const char *const module_names[] = {"host", "cubin"};
static const char *const word_names[] = {"address", "rank"};
static const char *const node_names[] = {"kernel", "copy", "set", "empty", "comm"};
static const char *const graph_names[] = {"step", "startup"};

static const char *name_of(const char *const *names, int count, int value)
{
	return value >= 0 && value < count ? names[value] : NULL;
}

static int parse(const char *const *names, int count, const char *name)
{
	for (int i = 0; name && i < count; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -1;
}

const char *tf_candidate_state_name(enum tf_candidate_state state)
{
	return name_of(state_names, COUNT(state_names), (int)state);
}

const char *tf_buffer_role_name(enum tf_buffer_role role)
{
	return name_of(role_names, COUNT(role_names), (int)role);
}

const char *tf_module_kind_name(enum tf_module_kind kind)
{
	return name_of(module_names, COUNT(module_names), (int)kind);
}

const char *tf_word_kind_name(enum tf_word_kind kind)
{
	return name_of(word_names, COUNT(word_names), (int)kind);
}

const char *tf_node_kind_name(enum tf_node_kind kind)
{
	return name_of(node_names, COUNT(node_names), (int)kind);
}

const char *tf_graph_kind_name(enum tf_graph_kind kind)
{
	return name_of(graph_names, COUNT(graph_names), (int)kind);
}

int tf_candidate_state_parse(const char *name)
{
	return parse(state_names, COUNT(state_names), name);
}

int tf_buffer_role_parse(const char *name)
{
	return parse(role_names, COUNT(role_names), name);
}

int tf_module_kind_parse(const char *name)
{
	return parse(module_names, COUNT(module_names), name);
}

int tf_graph_kind_parse(const char *name)
{
	return parse(graph_names, COUNT(graph_names), name);
}

uint32_t tf_word_bytes(enum tf_word_kind kind)
{
	return kind == TF_WORD_RANK ? 4 : 8;
}

/* Not isalnum(): the rule must not follow the process's locale. */
static int is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
		c == '_' || c == '-';
}

int tf_text_is_name(const char *text, size_t array_bytes)
{
	size_t length = strnlen(text, array_bytes);

	if (length == 0 || length == array_bytes)
		return 0;
	for (size_t i = 0; i < length; i++) {
		if (!is_name_byte(text[i]))
			return 0;
	}
	return 1;
}

/* A component of a path that names nothing, or the folder itself, or the folder above. */
static int is_bad_component(const char *text, size_t length)
{
	return length == 0 || (length <= 2 && !memcmp(text, "..", length));
}

int tf_text_is_path(const char *text, size_t array_bytes)
{
	size_t length = strnlen(text, array_bytes);
	size_t start = 0;

	if (length == array_bytes)
		return 0;
	for (size_t i = 0; i <= length; i++) {
		if (i < length && text[i] != '/') {
			if (!is_name_byte(text[i]) && text[i] != '+')
				return 0;
			continue;
		}
		if (is_bad_component(text + start, i - start))
			return 0;
		start = i + 1;
	}
	return 1;
}

/*
 * Bytes of the well-formed UTF-8 sequence at `p` (left bytes are readable), 0 if it is none (RFC
 * 3629).
 */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = p[0] < 0x80 ? 1
		: p[0] >> 5 == 6        ? 2
		: p[0] >> 4 == 14       ? 3
		: p[0] >> 3 == 30       ? 4
								: 0;
	uint32_t code;

	if (length < 2 || length > left)
		return length == 1;
	code = p[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}

int tf_text_is_plain(const char *text, size_t array_bytes)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t length = strnlen(text, array_bytes);
	size_t step;

	if (length == array_bytes)
		return 0;
	for (size_t i = 0; i < length; i += step) {
		step = utf8_length(p + i, length - i);
		if (step == 0 || p[i] < 0x20 || p[i] == 0x7f)
			return 0;
	}
	return 1;
}

const char *tf_text_shown(const char *text, size_t array_bytes)
{
	return text && tf_text_is_plain(text, array_bytes) ? text : "(unprintable)";
}
