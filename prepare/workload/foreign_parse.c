/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From texts to struct tf_foreign: names, numbers, sizes and references, in the order of the file.
 * The first fault ends it.
 *
 * Invariants afterwards: names of buffers and operands differ from one another, so do those of
 * collectives and kernels; every name that an argument or a call refers to exists; a divisor is not
 * zero.
 */
#include "prepare/workload/foreign_raw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "ladders/yaml_value.h"
#include "prepare/workload/foreign.h"

#define ELEMENTS_MAX (TF_FOREIGN_CONSTANT_MAX / 2) /* of the narrowest type */
#define FACTOR_MAX   (UINT64_C(1) << 31)           /* of a size; times 65,536 rows fits 64 bits */

struct parse {
	const struct tf_yaml *yaml;
	const struct tf_raw_foreign *raw;
	const struct tf_raw_call *collectives;
	uint32_t collective_count;
	struct tf_foreign *foreign;
	struct tf_error *err;
	char path[TF_YAML_PATH_BYTES];
};

static enum tf_status set_path(struct parse *p, const char *fmt, ...) TF_PRINTF(2, 3);

/* TF_OK, so that it fits into a chain. */
static enum tf_status set_path(struct parse *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(p->path, sizeof(p->path), fmt, args);
	va_end(args);
	return TF_OK;
}

static enum tf_status read_number(
	struct parse *p, const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	return tf_yaml_number(p->yaml, p->path, text, min, max, out, p->err);
}

/* A name that must be of the form of names, into `out` of TF_NAME_BYTES. */
static enum tf_status read_name(struct parse *p, const char *text, char *out)
{
	TF_TRY(tf_yaml_name(p->yaml, p->path, text, p->err));
	snprintf(out, TF_NAME_BYTES, "%s", text);
	return TF_OK;
}

/* Relative to the folder of the workload's own file. */
static enum tf_status read_file(struct parse *p, const char *text, char **out)
{
	const char *source = p->yaml->source, *slash = strrchr(source, '/');

	*out = text[0] == '/' || !slash ? tf_strdup(text)
									: tf_asprintf("%.*s/%s", (int)(slash - source), source, text);
	return *out ? TF_OK : TF_FAIL(p->err, TF_E_NO_MEMORY, "no memory for a path");
}

/* Whether a buffer or a named operand bears the name already. */
static int is_place(const struct tf_foreign *foreign, const char *name)
{
	for (uint32_t i = 0; i < foreign->buffer_count; i++) {
		if (!strcmp(foreign->buffers[i].name, name))
			return 1;
	}
	for (uint32_t i = 0; i < foreign->operand_count; i++) {
		if (!strcmp(foreign->operands[i].input, name) || !strcmp(foreign->operands[i].output, name))
			return 1;
	}
	return 0;
}

static enum tf_status read_operand(struct parse *p, const char *text, char *out)
{
	char name[TF_NAME_BYTES];

	if (!text)
		return TF_OK;
	TF_TRY(read_name(p, text, name));
	if (strlen(name) > 50)
		return tf_yaml_fail(p->yaml, p->err, p->path,
			"'%s' is too long: an operand's name has at most 50 bytes", name);
	if (is_place(p->foreign, name))
		return tf_yaml_fail(
			p->yaml, p->err, p->path, "'%s' is the name of a buffer or operand already", name);
	memcpy(out, name, sizeof(name));
	return TF_OK;
}

static enum tf_status read_operands(struct parse *p)
{
	struct tf_foreign *foreign = p->foreign;

	for (uint32_t i = 0; i < p->collective_count; i++) {
		const struct tf_raw_call *raw = &p->collectives[i];
		struct tf_foreign_operand *operand = &foreign->operands[foreign->operand_count];

		if (!raw->input && !raw->output)
			continue;
		foreign->operand_count++;
		snprintf(operand->group, TF_NAME_BYTES, "%s", raw->name);
		TF_TRY(set_path(p, "groups[%u].input", i));
		TF_TRY(read_operand(p, raw->input, operand->input));
		TF_TRY(set_path(p, "groups[%u].output", i));
		TF_TRY(read_operand(p, raw->output, operand->output));
	}
	return TF_OK;
}

static enum tf_status read_buffer(struct parse *p, uint32_t i)
{
	const struct tf_raw_buffer *raw = &p->raw->buffers[i];
	struct tf_foreign_buffer *buffer = &p->foreign->buffers[i];
	const char *count = raw->row_elements ? raw->row_elements : raw->elements;
	char name[TF_NAME_BYTES];

	TF_TRY(set_path(p, "buffers[%u].name", i));
	TF_TRY(read_name(p, raw->name, name));
	if (is_place(p->foreign, name))
		return tf_yaml_fail(
			p->yaml, p->err, p->path, "'%s' is the name of a buffer or operand already", name);
	memcpy(buffer->name, name, sizeof(name));
	p->foreign->buffer_count++;
	buffer->role = raw->role;
	buffer->dtype = raw->dtype;
	buffer->per_row = raw->row_elements != NULL;
	TF_TRY(set_path(p, "buffers[%u]", i));
	if (!raw->row_elements == !raw->elements)
		return tf_yaml_fail(
			p->yaml, p->err, p->path, "one of row_elements and elements is needed, and not both");
	if (raw->role == TF_BUFFER_CONSTANT ? !raw->file || buffer->per_row : raw->file != NULL)
		return tf_yaml_fail(p->yaml, p->err, p->path,
			"a constant has elements and a file, and no other role has a file");
	TF_TRY(set_path(p, "buffers[%u].%s", i, buffer->per_row ? "row_elements" : "elements"));
	TF_TRY(read_number(
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

static enum tf_status read_images(
	struct parse *p, const struct tf_raw_module *raw, struct tf_foreign_module *module, uint32_t at)
{
	module->images = tf_calloc(raw->image_count, sizeof(module->images[0]));
	if (!module->images)
		return TF_FAIL(p->err, TF_E_NO_MEMORY, "no memory for %u images", raw->image_count);
	for (uint32_t i = 0; i < raw->image_count; i++) {
		struct tf_foreign_image *image = &module->images[module->image_count++];
		const char *device = raw->images[i].device;

		TF_TRY(set_path(p, "modules[%u].images[%u].device", at, i));
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

static uint32_t module_of(const struct tf_foreign *foreign, const char *name)
{
	uint32_t i = 0;

	while (i < foreign->module_count && strcmp(foreign->modules[i].name, name) != 0)
		i++;
	return i;
}

static enum tf_status read_module(struct parse *p, uint32_t i)
{
	const struct tf_raw_module *raw = &p->raw->modules[i];
	struct tf_foreign_module *module = &p->foreign->modules[i];
	char name[TF_NAME_BYTES];

	TF_TRY(set_path(p, "modules[%u].name", i));
	TF_TRY(read_name(p, raw->name, name));
	if (module_of(p->foreign, name) < p->foreign->module_count || !strcmp(name, "host") ||
		!strncmp(name, "collectives-", 12))
		return tf_yaml_fail(p->yaml, p->err, p->path, "'%s' is the name of a module already", name);
	memcpy(module->name, name, sizeof(name));
	p->foreign->module_count++;
	return read_images(p, raw, module, i);
}

/* N, rows, N*rows, each perhaps with /M behind it. */
static enum tf_status read_size(
	struct parse *p, const char *text, uint64_t min, struct tf_foreign_size *out)
{
	char copy[65], *divisor, *rows;

	snprintf(copy, sizeof(copy), "%s", text);
	*out = (struct tf_foreign_size){.factor = 1, .divisor = 1};
	divisor = strchr(copy, '/');
	if (divisor) {
		*divisor++ = '\0';
		TF_TRY(read_number(p, divisor, 1, FACTOR_MAX, &out->divisor));
	}
	rows = strstr(copy, "rows");
	if (rows && !rows[4] && (rows == copy || rows[-1] == '*')) {
		out->per_row = 1;
		if (rows == copy)
			return TF_OK;
		rows[-1] = '\0';
	}
	return read_number(p, copy, min, FACTOR_MAX, &out->factor);
}

static enum tf_status read_sizes(struct parse *p, uint32_t kernel, const char *key,
	char *const *texts, uint32_t count, struct tf_foreign_size out[3])
{
	for (uint32_t i = 0; i < 3; i++) {
		out[i] = (struct tf_foreign_size){.factor = 1, .divisor = 1};
		TF_TRY(set_path(p, "kernels[%u].%s[%u]", kernel, key, i));
		if (i < count)
			TF_TRY(read_size(p, texts[i], 1, &out[i]));
	}
	return TF_OK;
}

static enum tf_status read_signed(struct parse *p, const char *text, uint64_t *out)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || end == text || value < INT32_MIN || value > INT32_MAX)
		return tf_yaml_fail_value(p->yaml, p->err, p->path, NULL);
	*out = (uint32_t)(int32_t)value;
	return TF_OK;
}

static enum tf_status read_float(struct parse *p, const char *text, uint64_t *out)
{
	char *end;
	float value;
	uint32_t bits;

	errno = 0;
	value = strtof(text, &end);
	if (*end || end == text || (errno && (value > 1 || value < -1)))
		return tf_yaml_fail_value(p->yaml, p->err, p->path, NULL);
	memcpy(&bits, &value, sizeof(bits));
	*out = bits;
	return TF_OK;
}

static enum tf_status read_buffer_argument(struct parse *p, const char *at,
	const struct tf_raw_argument *raw, struct tf_foreign_argument *argument)
{
	argument->kind = TF_FOREIGN_BUFFER;
	TF_TRY(set_path(p, "%s.buffer", at));
	TF_TRY(read_name(p, raw->buffer, argument->buffer));
	if (!is_place(p->foreign, argument->buffer))
		return tf_yaml_fail(p->yaml, p->err, p->path,
			"'%s' is no buffer and no named operand of a collective", argument->buffer);
	TF_TRY(set_path(p, "%s.offset", at));
	if (raw->offset)
		TF_TRY(read_number(p, raw->offset, 0, INT64_MAX, &argument->value));
	TF_TRY(set_path(p, "%s.access", at));
	if (raw->access && strcmp(raw->access, "read") != 0 && strcmp(raw->access, "write") != 0)
		return tf_yaml_fail_value(p->yaml, p->err, p->path, NULL);
	argument->is_read_only = raw->access && !strcmp(raw->access, "read");
	return TF_OK;
}

static enum tf_status read_scalar(struct parse *p, const char *at,
	const struct tf_raw_argument *raw, struct tf_foreign_argument *argument)
{
	if (raw->offset || raw->access)
		return tf_yaml_fail(
			p->yaml, p->err, at, "offset and access are for arguments that are buffers");
	argument->kind = raw->u64 ? TF_FOREIGN_WIDE : raw->rows ? TF_FOREIGN_ROWS : TF_FOREIGN_WORD;
	if (raw->rows) {
		TF_TRY(set_path(p, "%s.rows", at));
		return strcmp(raw->rows, "u32") ? tf_yaml_fail_value(p->yaml, p->err, p->path, NULL)
										: TF_OK;
	}
	TF_TRY(set_path(p, "%s.%s", at,
		raw->u64       ? "u64"
			: raw->u32 ? "u32"
			: raw->i32 ? "i32"
					   : "f32"));
	if (raw->u64)
		return read_number(p, raw->u64, 0, UINT64_MAX, &argument->value);
	if (raw->u32)
		return read_number(p, raw->u32, 0, UINT32_MAX, &argument->value);
	return raw->i32 ? read_signed(p, raw->i32, &argument->value)
					: read_float(p, raw->f32, &argument->value);
}

static enum tf_status read_argument(struct parse *p, uint32_t kernel, uint32_t i)
{
	const struct tf_raw_argument *raw = &p->raw->kernels[kernel].arguments[i];
	struct tf_foreign_argument *argument = &p->foreign->kernels[kernel].arguments[i];
	int kinds = !!raw->buffer + !!raw->u32 + !!raw->i32 + !!raw->f32 + !!raw->u64 + !!raw->rows;
	char at[TF_YAML_PATH_BYTES - 16];

	snprintf(at, sizeof(at), "kernels[%u].arguments[%u]", kernel, i);
	if (kinds != 1)
		return tf_yaml_fail(p->yaml, p->err, at,
			"found %d of buffer, u32, i32, f32, u64 and rows, allowed: one", kinds);
	return raw->buffer ? read_buffer_argument(p, at, raw, argument)
					   : read_scalar(p, at, raw, argument);
}

static enum tf_status read_flag(struct parse *p, const char *text, int *out)
{
	if (text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return tf_yaml_fail_value(p->yaml, p->err, p->path, NULL);
	*out = text && !strcmp(text, "true");
	return TF_OK;
}

/* What `step` may call: kernels and collectives share their names. */
static int is_callable(const struct parse *p, const char *name)
{
	for (uint32_t i = 0; i < p->foreign->kernel_count; i++) {
		if (!strcmp(p->foreign->kernels[i].name, name))
			return 1;
	}
	for (uint32_t i = 0; i < p->collective_count; i++) {
		if (!strcmp(p->collectives[i].name, name))
			return 1;
	}
	return 0;
}

static enum tf_status read_kernel_names(
	struct parse *p, const struct tf_raw_kernel *raw, uint32_t i, struct tf_foreign_kernel *kernel)
{
	char name[TF_NAME_BYTES];

	TF_TRY(set_path(p, "kernels[%u].name", i));
	TF_TRY(read_name(p, raw->name, name));
	if (is_callable(p, name))
		return tf_yaml_fail(
			p->yaml, p->err, p->path, "'%s' is the name of a group or kernel already", name);
	memcpy(kernel->name, name, sizeof(name));
	p->foreign->kernel_count++;
	TF_TRY(set_path(p, "kernels[%u].function", i));
	TF_TRY(read_name(p, raw->function ? raw->function : raw->name, kernel->function));
	TF_TRY(set_path(p, "kernels[%u].module", i));
	kernel->module = module_of(p->foreign, raw->module);
	if (kernel->module == p->foreign->module_count)
		return tf_yaml_fail(p->yaml, p->err, p->path, "there is no module '%s'", raw->module);
	return TF_OK;
}

static enum tf_status read_kernel(struct parse *p, uint32_t i)
{
	const struct tf_raw_kernel *raw = &p->raw->kernels[i];
	struct tf_foreign_kernel *kernel = &p->foreign->kernels[i];

	TF_TRY(read_kernel_names(p, raw, i, kernel));
	TF_TRY(read_sizes(p, i, "grid", raw->grid, raw->grid_count, kernel->grid));
	TF_TRY(read_sizes(p, i, "block", raw->block, raw->block_count, kernel->block));
	kernel->shared.divisor = 1;
	TF_TRY(set_path(p, "kernels[%u].shared_bytes", i));
	if (raw->shared_bytes)
		TF_TRY(read_size(p, raw->shared_bytes, 0, &kernel->shared));
	TF_TRY(set_path(p, "kernels[%u].programmatic", i));
	TF_TRY(read_flag(p, raw->programmatic, &kernel->programmatic));
	kernel->argument_count = raw->argument_count;
	for (uint32_t k = 0; k < raw->argument_count; k++)
		TF_TRY(read_argument(p, i, k));
	return TF_OK;
}

static enum tf_status read_call(struct parse *p, uint32_t i)
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
	TF_TRY(set_path(p, "step[%u]", i));
	return tf_yaml_fail(p->yaml, p->err, p->path, "'%s' is no group and no kernel", name);
}

static enum tf_status read_step(struct parse *p)
{
	uint64_t repeat = 1;

	TF_TRY(set_path(p, "repeat"));
	if (p->raw->repeat)
		TF_TRY(read_number(p, p->raw->repeat, 1, 4096, &repeat));
	p->foreign->repeat = (uint32_t)repeat;
	for (uint32_t i = 0; i < p->collective_count; i++)
		*p->collectives[i].times = 0;
	for (uint32_t i = 0; i < p->raw->step_count; i++)
		TF_TRY(read_call(p, i));
	for (uint32_t i = 0; i < p->collective_count; i++) {
		TF_TRY(set_path(p, "groups[%u].name", i));
		if (!*p->collectives[i].times || *p->collectives[i].times > TF_TIMES_MAX)
			return tf_yaml_fail(p->yaml, p->err, p->path,
				"the step calls '%s' %u times, allowed: 1 to %d", p->collectives[i].name,
				*p->collectives[i].times, TF_TIMES_MAX);
	}
	return TF_OK;
}

static enum tf_status allocate(struct parse *p)
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

static enum tf_status read_all(struct parse *p)
{
	TF_TRY(allocate(p));
	TF_TRY(read_operands(p));
	for (uint32_t i = 0; i < p->raw->buffer_count; i++)
		TF_TRY(read_buffer(p, i));
	for (uint32_t i = 0; i < p->raw->module_count; i++)
		TF_TRY(read_module(p, i));
	for (uint32_t i = 0; i < p->raw->kernel_count; i++)
		TF_TRY(read_kernel(p, i));
	return read_step(p);
}

enum tf_status tf_foreign_parse(const struct tf_yaml *yaml, const struct tf_raw_foreign *raw,
	const struct tf_raw_call *collectives, uint32_t collective_count, struct tf_foreign **out,
	struct tf_error *err)
{
	struct parse parse = {.yaml = yaml,
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
