/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from libcyaml's reports.
 *
 * Of a report only the error code and the backtrace are relied on, as its wording changes between
 * versions: the unknown or missing key, and the value found, come from comparing the tree with the
 * schema at the place of the backtrace.
 */
#include "ladders/yaml_fault.h"
#include "base/near_miss.h"

#include <stdio.h>
#include <string.h>

#define ALLOWED_BYTES 512

void tf_yaml_report_line(cyaml_log_t level, void *user, const char *fmt, va_list args)
{
	struct tf_yaml_report *report = user;
	struct tf_yaml_step step = {.entry = 0};
	char line[256];

	(void)level;
	vsnprintf(line, sizeof(line), fmt, args);
	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(line, "Load: ", 6)) {
		if (!report->problem[0])
			snprintf(report->problem, sizeof(report->problem), "%.100s", line + 6);
		return;
	}
	if (report->step_count == TF_YAML_DEPTH_MAX || strncmp(line, "  in ", 5))
		return;
	if (sscanf(line, "  in mapping field '%63[^']'", step.key) == 1 ||
		sscanf(line, "  in sequence entry '%u'", &step.entry) == 1 ||
		!strncmp(line, "  in mapping (", 14))
		report->steps[report->step_count++] = step;
}

/* A place in both worlds. */
struct place {
	char path[TF_YAML_PATH_BYTES];
	const cyaml_schema_value_t *schema; /* NULL where the schema ends before the path does */
};

static const cyaml_schema_value_t *field_schema(const cyaml_schema_value_t *schema, const char *key)
{
	const cyaml_schema_field_t *field =
		schema && schema->type == CYAML_MAPPING ? schema->mapping.fields : NULL;

	for (; field && field->key; field++) {
		if (!strcmp(field->key, key))
			return &field->value;
	}
	return NULL;
}

static int is_list(const cyaml_schema_value_t *schema)
{
	return schema && (schema->type == CYAML_SEQUENCE || schema->type == CYAML_SEQUENCE_FIXED);
}

static void descend(struct place *place, const struct tf_yaml_step *step)
{
	size_t used = strlen(place->path);
	char *end = place->path + used;
	size_t room = sizeof(place->path) - used;

	if (step->entry) {
		snprintf(end, room, "[%u]", step->entry - 1);
		place->schema = is_list(place->schema) ? place->schema->sequence.entry : NULL;
	} else if (step->key[0]) {
		snprintf(end, room, "%s%s", used ? "." : "", step->key);
		place->schema = field_schema(place->schema, step->key);
	}
}

/* Where the backtrace ends, leaving out its `skip` innermost steps. */
static struct place place_of(
	const cyaml_schema_value_t *schema, const struct tf_yaml_report *report, unsigned skip)
{
	struct place place = {.schema = schema};

	for (unsigned i = report->step_count; i > skip; i--)
		descend(&place, &report->steps[i - 1]);
	return place;
}

static size_t add(char *out, size_t used, const char *separator, const char *text)
{
	int wanted = snprintf(out + used, ALLOWED_BYTES - used, "%s%s", used ? separator : "", text);
	size_t after = used + (wanted > 0 ? (size_t)wanted : 0);

	return after < ALLOWED_BYTES ? after : ALLOWED_BYTES - 1;
}

static void list_words(const cyaml_schema_value_t *schema, char *out)
{
	size_t used = 0;

	for (uint32_t i = 0; i < schema->enumeration.count; i++)
		used = add(out, used, ", ", schema->enumeration.strings[i].str);
}

static void list_keys(const cyaml_schema_value_t *schema, char *out)
{
	size_t used = 0;

	for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key; field++)
		used = add(out, used, ", ", field->key);
}

/* What the schema allows, in words; `out` holds ALLOWED_BYTES. */
static void list_allowed(const cyaml_schema_value_t *schema, char *out)
{
	char words[ALLOWED_BYTES / 2] = "";

	switch (schema->type) {
	case CYAML_ENUM:
		list_words(schema, out);
		return;
	case CYAML_FLAGS:
		list_words(schema, out);
		snprintf(words, sizeof(words), "%.200s", out);
		snprintf(out, ALLOWED_BYTES, "a list of %s", words);
		return;
	case CYAML_MAPPING:
		list_keys(schema, out);
		snprintf(words, sizeof(words), "%.200s", out);
		snprintf(out, ALLOWED_BYTES, "a mapping with the keys %s", words);
		return;
	case CYAML_SEQUENCE:
	case CYAML_SEQUENCE_FIXED:
		snprintf(out, ALLOWED_BYTES, "a list");
		return;
	default:
		snprintf(out, ALLOWED_BYTES, "a text of %u to %u bytes", (unsigned)schema->string.min,
			(unsigned)schema->string.max);
	}
}

static enum tf_status fail_unknown_key(
	const struct tf_yaml *yaml, const struct place *place, struct tf_error *err)
{
	const struct tf_yaml_node *node = tf_yaml_find(yaml, place->path, NULL);
	const struct tf_yaml_node *child = tf_yaml_first(yaml, node);
	char allowed[ALLOWED_BYTES] = "";
	struct tf_near_miss miss = {0};
	const char *near;

	while (child && field_schema(place->schema, tf_yaml_key(yaml, child)))
		child = tf_yaml_next(yaml, node, child);
	if (!child)
		return tf_yaml_fail(yaml, err, place->path, "holds an unknown key");
	miss.word = tf_yaml_key(yaml, child);
	miss.word_length = strlen(miss.word);
	for (const cyaml_schema_field_t *field = place->schema->mapping.fields; field->key; field++)
		tf_near_miss_offer(&miss, field->key, strlen(field->key));
	near = miss.best; /* a whole key of the schema, so it has its end */
	list_keys(place->schema, allowed);
	return TF_FAIL(err, TF_E_INVALID, "%s:%u: %s%s%s: unknown key%s%s%s, allowed: %s", yaml->source,
		(unsigned)child->line, place->path, place->path[0] ? "." : "", miss.word,
		near ? ", did you mean '" : "", near ? near : "", near ? "'" : "", allowed);
}

static enum tf_status fail_missing_key(
	const struct tf_yaml *yaml, const struct place *place, struct tf_error *err)
{
	const cyaml_schema_field_t *field = place->schema->mapping.fields;

	for (; field->key; field++) {
		struct place child = *place;
		struct tf_yaml_step step = {.entry = 0};
		int found;

		snprintf(step.key, sizeof(step.key), "%s", field->key);
		descend(&child, &step);
		tf_yaml_find(yaml, child.path, &found);
		if (!found && !(field->value.flags & CYAML_FLAG_OPTIONAL))
			break;
	}
	return tf_yaml_fail(
		yaml, err, place->path, "required key '%s' is missing", field->key ? field->key : "?");
}

static enum tf_status fail_entry_count(
	const struct tf_yaml *yaml, const struct place *place, struct tf_error *err)
{
	uint32_t count = tf_yaml_child_count(yaml, tf_yaml_find(yaml, place->path, NULL));
	unsigned min = place->schema->sequence.min;
	unsigned max = place->schema->sequence.max;

	if (min == max)
		return tf_yaml_fail(
			yaml, err, place->path, "found %u entries, allowed: %u", (unsigned)count, max);
	return tf_yaml_fail(
		yaml, err, place->path, "found %u entries, allowed: %u to %u", (unsigned)count, min, max);
}

static int is_word(const cyaml_schema_value_t *schema, const char *text)
{
	for (uint32_t i = 0; i < schema->enumeration.count; i++) {
		if (!strcmp(schema->enumeration.strings[i].str, text))
			return 1;
	}
	return 0;
}

/* Flags are read in one go: the backtrace ends at the list, the wrong word is inside it. */
static enum tf_status fail_flag(
	const struct tf_yaml *yaml, const struct place *place, struct tf_error *err)
{
	const struct tf_yaml_node *node = tf_yaml_find(yaml, place->path, NULL);
	const struct tf_yaml_node *child = tf_yaml_first(yaml, node);
	char allowed[ALLOWED_BYTES] = "";
	char path[TF_YAML_PATH_BYTES + 16];
	unsigned index = 0;

	while (child && child->kind == TF_YAML_SCALAR &&
		is_word(place->schema, tf_yaml_value(yaml, child))) {
		child = tf_yaml_next(yaml, node, child);
		index++;
	}
	list_words(place->schema, allowed);
	snprintf(path, sizeof(path), "%s[%u]", place->path, index);
	return tf_yaml_fail_value(yaml, err, path, allowed);
}

static enum tf_status fail_value(
	const struct tf_yaml *yaml, const struct place *place, struct tf_error *err)
{
	const struct tf_yaml_node *node = tf_yaml_find(yaml, place->path, NULL);
	char allowed[ALLOWED_BYTES] = "";

	if (place->schema->type == CYAML_FLAGS && node->kind == TF_YAML_LIST)
		return fail_flag(yaml, place, err);
	if (tf_yaml_hint_of(yaml, place->path))
		return tf_yaml_fail_value(yaml, err, place->path, NULL);
	list_allowed(place->schema, allowed);
	return tf_yaml_fail_value(yaml, err, place->path, allowed);
}

enum tf_status tf_yaml_fault(const struct tf_yaml *yaml, const struct cyaml_schema_value *schema,
	const struct tf_yaml_report *report, cyaml_err_t code, struct tf_error *err)
{
	struct place at = place_of(schema, report, 0);
	struct place around = place_of(schema, report, 1);

	if (code == CYAML_ERR_OOM || code == CYAML_ERR_LIBYAML_PARSER_INIT)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to read '%s'", yaml->source);
	if (code == CYAML_ERR_INVALID_KEY && around.schema && around.schema->type == CYAML_MAPPING)
		return fail_unknown_key(yaml, &around, err);
	if (code == CYAML_ERR_MAPPING_FIELD_MISSING && around.schema &&
		around.schema->type == CYAML_MAPPING)
		return fail_missing_key(yaml, &around, err);
	if ((code == CYAML_ERR_SEQUENCE_ENTRIES_MIN || code == CYAML_ERR_SEQUENCE_ENTRIES_MAX) &&
		is_list(around.schema))
		return fail_entry_count(yaml, &around, err);
	if ((code == CYAML_ERR_INVALID_VALUE || code == CYAML_ERR_UNEXPECTED_EVENT ||
			code == CYAML_ERR_STRING_LENGTH_MIN || code == CYAML_ERR_STRING_LENGTH_MAX) &&
		at.schema)
		return fail_value(yaml, &at, err);
	return tf_yaml_fail(yaml, err, at.path, "%s (%s)",
		report->problem[0] ? report->problem : "cannot be read", cyaml_strerror(code));
}
