/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From texts to struct tf_foreign: names, numbers, sizes and references, in the order of the file.
 * The first fault ends it.
 *
 * Invariants afterwards: names of buffers and operands differ from one another, so do those of
 * collectives and kernels; every name that an argument or a call refers to exists; a divisor is not
 * zero.
 */
#include "prepare/workload/foreign_reader.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "ladders/yaml_value.h"

#define ELEMENTS_MAX (TF_FOREIGN_CONSTANT_MAX / 2) /* of the narrowest type */

/* Relative to the folder of the workload's own file. */
static enum tf_status read_file(struct tf_foreign_reader *p, const char *text, char **out)
{
	const char *source = p->yaml->source, *slash = strrchr(source, '/');

	*out = text[0] == '/' || !slash ? tf_strdup(text)
									: tf_asprintf("%.*s/%s", (int)(slash - source), source, text);
	return *out ? TF_OK : TF_FAIL(p->err, TF_E_NO_MEMORY, "no memory for a path");
}

static enum tf_status read_operand(struct tf_foreign_reader *p, const char *text, char *out)
{
	char name[TF_NAME_BYTES];

	if (!text)
		return TF_OK;
	TF_TRY(tf_foreign_read_name(p, text, name));
	if (strlen(name) > 50)
		return tf_yaml_fail(p->yaml, p->err, p->path,
			"'%s' is too long: an operand's name has at most 50 bytes", name);
	if (tf_foreign_is_place(p->foreign, name))
		return tf_yaml_fail(
			p->yaml, p->err, p->path, "'%s' is the name of a buffer or operand already", name);
	memcpy(out, name, sizeof(name));
	return TF_OK;
}

static enum tf_status read_operands(struct tf_foreign_reader *p)
{
	struct tf_foreign *foreign = p->foreign;

	for (uint32_t i = 0; i < p->collective_count; i++) {
		const struct tf_raw_call *raw = &p->collectives[i];
		struct tf_foreign_operand *operand = &foreign->operands[foreign->operand_count];

		if (!raw->input && !raw->output)
			continue;
		foreign->operand_count++;
		snprintf(operand->group, TF_NAME_BYTES, "%s", raw->name);
		TF_TRY(tf_foreign_set_path(p, "groups[%u].input", i));
		TF_TRY(read_operand(p, raw->input, operand->input));
		TF_TRY(tf_foreign_set_path(p, "groups[%u].output", i));
		TF_TRY(read_operand(p, raw->output, operand->output));
	}
	return TF_OK;
}

static enum tf_status read_buffer(struct tf_foreign_reader *p, uint32_t i)
{
	const struct tf_raw_buffer *raw = &p->raw->buffers[i];
	struct tf_foreign_buffer *buffer = &p->foreign->buffers[i];
	const char *count = raw->row_elements ? raw->row_elements : raw->elements;
	char name[TF_NAME_BYTES];

	TF_TRY(tf_foreign_set_path(p, "buffers[%u].name", i));
	TF_TRY(tf_foreign_read_name(p, raw->name, name));
	if (tf_foreign_is_place(p->foreign, name))
		return tf_yaml_fail(
			p->yaml, p->err, p->path, "'%s' is the name of a buffer or operand already", name);
	memcpy(buffer->name, name, sizeof(name));
	p->foreign->buffer_count++;
	buffer->role = raw->role;
	buffer->dtype = raw->dtype;
	buffer->per_row = raw->row_elements != NULL;
	TF_TRY(tf_foreign_set_path(p, "buffers[%u]", i));
	if (!raw->row_elements == !raw->elements)
		return tf_yaml_fail(
			p->yaml, p->err, p->path, "one of row_elements and elements is needed, and not both");
	if (raw->role == TF_BUFFER_CONSTANT ? !raw->file || buffer->per_row : raw->file != NULL)
		return tf_yaml_fail(p->yaml, p->err, p->path,
			"a constant has elements and a file, and no other role has a file");
	TF_TRY(
		tf_foreign_set_path(p, "buffers[%u].%s", i, buffer->per_row ? "row_elements" : "elements"));
	TF_TRY(tf_foreign_read_number(
		p, count, 1, buffer->per_row ? TF_ROW_ELEMENTS_MAX : ELEMENTS_MAX, &buffer->elements));
	return raw->file ? read_file(p, raw->file, &buffer->path) : TF_OK;
}

static int is_device(const char *text)
{
	const char *digits = strncmp(text, "sm_", 3) ? "" : text + 3;

	if (!strcmp(text, "host") || !strcmp(text, "cuda"))
		return 1;
	return digits[0] >= '1' && digits[0] <= '9' && strlen(digits) <= 3 &&
		strspn(digits, "0123456789") == strlen(digits);
}

static enum tf_status read_images(struct tf_foreign_reader *p, const struct tf_raw_module *raw,
	struct tf_foreign_module *module, uint32_t at)
{
	module->images = tf_calloc(raw->image_count, sizeof(module->images[0]));
	if (!module->images)
		return TF_FAIL(p->err, TF_E_NO_MEMORY, "no memory for %u images", raw->image_count);
	for (uint32_t i = 0; i < raw->image_count; i++) {
		struct tf_foreign_image *image = &module->images[module->image_count++];
		const char *device = raw->images[i].device;

		TF_TRY(tf_foreign_set_path(p, "modules[%u].images[%u].device", at, i));
		if (!is_device(device))
			return tf_yaml_fail_value(p->yaml, p->err, p->path, NULL);
		snprintf(image->device, sizeof(image->device), "%s", device);
		for (uint32_t k = 0; k < i; k++) {
			if (!strcmp(module->images[k].device, device))
				return tf_yaml_fail(p->yaml, p->err, p->path, "'%s' is given twice", device);
		}
		TF_TRY(read_file(p, raw->images[i].file, &image->path));
	}
	return TF_OK;
}

static enum tf_status read_module(struct tf_foreign_reader *p, uint32_t i)
{
	const struct tf_raw_module *raw = &p->raw->modules[i];
	struct tf_foreign_module *module = &p->foreign->modules[i];
	char name[TF_NAME_BYTES];

	TF_TRY(tf_foreign_set_path(p, "modules[%u].name", i));
	TF_TRY(tf_foreign_read_name(p, raw->name, name));
	if (tf_foreign_module_of(p->foreign, name) < p->foreign->module_count ||
		!strcmp(name, "host") || !strcmp(name, "collectives") || !strncmp(name, "collectives-", 12))
		return tf_yaml_fail(p->yaml, p->err, p->path, "'%s' is the name of a module already", name);
	memcpy(module->name, name, sizeof(name));
	p->foreign->module_count++;
	return read_images(p, raw, module, i);
}

static enum tf_status read_call(struct tf_foreign_reader *p, uint32_t i)
{
	struct tf_foreign *foreign = p->foreign;
	struct tf_foreign_call *call = &foreign->calls[i];
	const char *name = p->raw->step[i];

	foreign->call_count++;
	for (uint32_t k = 0; k < foreign->kernel_count; k++) {
		if (strcmp(foreign->kernels[k].name, name) != 0)
			continue;
		call->is_kernel = 1;
		call->kernel = k;
		return TF_OK;
	}
	for (uint32_t k = 0; k < p->collective_count; k++) {
		if (strcmp(p->collectives[k].name, name) != 0)
			continue;
		snprintf(call->group, sizeof(call->group), "%s", name);
		*p->collectives[k].times += foreign->repeat;
		return TF_OK;
	}
	TF_TRY(tf_foreign_set_path(p, "step[%u]", i));
	return tf_yaml_fail(p->yaml, p->err, p->path, "'%s' is no group and no kernel", name);
}

static enum tf_status read_step(struct tf_foreign_reader *p)
{
	uint64_t repeat = 1;

	TF_TRY(tf_foreign_set_path(p, "repeat"));
	if (p->raw->repeat)
		TF_TRY(tf_foreign_read_number(p, p->raw->repeat, 1, 4096, &repeat));
	p->foreign->repeat = (uint32_t)repeat;
	for (uint32_t i = 0; i < p->collective_count; i++)
		*p->collectives[i].times = 0;
	for (uint32_t i = 0; i < p->raw->step_count; i++)
		TF_TRY(read_call(p, i));
	for (uint32_t i = 0; i < p->collective_count; i++) {
		TF_TRY(tf_foreign_set_path(p, "groups[%u].name", i));
		if (!*p->collectives[i].times || *p->collectives[i].times > TF_TIMES_MAX)
			return tf_yaml_fail(p->yaml, p->err, p->path,
				"the step calls '%s' %u times, allowed: 1 to %d", p->collectives[i].name,
				*p->collectives[i].times, TF_TIMES_MAX);
	}
	return TF_OK;
}

static enum tf_status allocate(struct tf_foreign_reader *p)
{
	const struct tf_raw_foreign *raw = p->raw;
	struct tf_foreign *foreign = p->foreign;

	foreign->buffers = tf_calloc(raw->buffer_count, sizeof(foreign->buffers[0]));
	foreign->modules = tf_calloc(raw->module_count, sizeof(foreign->modules[0]));
	foreign->kernels = tf_calloc(raw->kernel_count, sizeof(foreign->kernels[0]));
	foreign->operands = tf_calloc(p->collective_count, sizeof(foreign->operands[0]));
	foreign->calls = tf_calloc(raw->step_count, sizeof(foreign->calls[0]));
	if (!foreign->buffers || !foreign->modules || !foreign->kernels || !foreign->operands ||
		!foreign->calls)
		return TF_FAIL(p->err, TF_E_NO_MEMORY, "no memory for the kernels of a workload");
	return TF_OK;
}

static enum tf_status read_all(struct tf_foreign_reader *p)
{
	TF_TRY(allocate(p));
	TF_TRY(read_operands(p));
	for (uint32_t i = 0; i < p->raw->buffer_count; i++)
		TF_TRY(read_buffer(p, i));
	for (uint32_t i = 0; i < p->raw->module_count; i++)
		TF_TRY(read_module(p, i));
	for (uint32_t i = 0; i < p->raw->kernel_count; i++)
		TF_TRY(tf_foreign_read_kernel(p, i));
	return read_step(p);
}

enum tf_status tf_foreign_parse(const struct tf_yaml *yaml, const struct tf_raw_foreign *raw,
	const struct tf_raw_call *collectives, uint32_t collective_count, struct tf_foreign **out,
	struct tf_error *err)
{
	struct tf_foreign_reader parse = {.yaml = yaml,
		.raw = raw,
		.collectives = collectives,
		.collective_count = collective_count,
		.err = err};
	enum tf_status status;

	parse.foreign = tf_calloc(1, sizeof(*parse.foreign));
	if (!parse.foreign)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the kernels of a workload");
	status = read_all(&parse);
	if (status != TF_OK) {
		tf_foreign_destroy(parse.foreign);
		return status;
	}
	*out = parse.foreign;
	return TF_OK;
}
