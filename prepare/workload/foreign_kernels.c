/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a workload and their arguments, from texts. Buffers and modules come before them. */
#include "prepare/workload/foreign_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ladders/yaml_value.h"

#define FACTOR_MAX (UINT64_C(1) << 31) /* of a size; times 65,536 rows fits 64 bits */

/* N, rows, N*rows, each perhaps with /M behind it. */
static enum tf_status read_size(
	struct tf_foreign_reader *p, const char *text, uint64_t min, struct tf_foreign_size *out)
{
	char copy[65], *divisor, *rows;

	snprintf(copy, sizeof(copy), "%s", text);
	*out = (struct tf_foreign_size){.factor = 1, .divisor = 1};
	divisor = strchr(copy, '/');
	if (divisor) {
		*divisor++ = '\0';
		TF_TRY(tf_foreign_read_number(p, divisor, 1, FACTOR_MAX, &out->divisor));
	}
	rows = strstr(copy, "rows");
	if (rows && !rows[4] && (rows == copy || rows[-1] == '*')) {
		out->per_row = 1;
		if (rows == copy)
			return TF_OK;
		rows[-1] = '\0';
	}
	return tf_foreign_read_number(p, copy, min, FACTOR_MAX, &out->factor);
}

static enum tf_status read_sizes(struct tf_foreign_reader *p, uint32_t kernel, const char *key,
	char *const *texts, uint32_t count, struct tf_foreign_size out[3])
{
	for (uint32_t i = 0; i < 3; i++) {
		out[i] = (struct tf_foreign_size){.factor = 1, .divisor = 1};
		TF_TRY(tf_foreign_set_path(p, "kernels[%u].%s[%u]", kernel, key, i));
		if (i < count)
			TF_TRY(read_size(p, texts[i], 1, &out[i]));
	}
	return TF_OK;
}

static enum tf_status read_signed(struct tf_foreign_reader *p, const char *text, uint64_t *out)
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

static enum tf_status read_float(struct tf_foreign_reader *p, const char *text, uint64_t *out)
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

static enum tf_status read_buffer_argument(struct tf_foreign_reader *p, const char *at,
	const struct tf_raw_argument *raw, struct tf_foreign_argument *argument)
{
	argument->kind = TF_FOREIGN_BUFFER;
	TF_TRY(tf_foreign_set_path(p, "%s.buffer", at));
	TF_TRY(tf_foreign_read_name(p, raw->buffer, argument->buffer));
	if (!tf_foreign_is_place(p->foreign, argument->buffer))
		return tf_yaml_fail(p->yaml, p->err, p->path,
			"'%s' is no buffer and no named operand of a collective", argument->buffer);
	TF_TRY(tf_foreign_set_path(p, "%s.offset", at));
	if (raw->offset)
		TF_TRY(tf_foreign_read_number(p, raw->offset, 0, INT64_MAX, &argument->value));
	TF_TRY(tf_foreign_set_path(p, "%s.access", at));
	if (raw->access && strcmp(raw->access, "read") != 0 && strcmp(raw->access, "write") != 0)
		return tf_yaml_fail_value(p->yaml, p->err, p->path, NULL);
	argument->is_read_only = raw->access && !strcmp(raw->access, "read");
	return TF_OK;
}

static enum tf_status read_scalar(struct tf_foreign_reader *p, const char *at,
	const struct tf_raw_argument *raw, struct tf_foreign_argument *argument)
{
	if (raw->offset || raw->access)
		return tf_yaml_fail(
			p->yaml, p->err, at, "offset and access are for arguments that are buffers");
	argument->kind = raw->u64 ? TF_FOREIGN_WIDE : raw->rows ? TF_FOREIGN_ROWS : TF_FOREIGN_WORD;
	if (raw->rows) {
		TF_TRY(tf_foreign_set_path(p, "%s.rows", at));
		return strcmp(raw->rows, "u32") ? tf_yaml_fail_value(p->yaml, p->err, p->path, NULL)
										: TF_OK;
	}
	TF_TRY(tf_foreign_set_path(p, "%s.%s", at,
		raw->u64       ? "u64"
			: raw->u32 ? "u32"
			: raw->i32 ? "i32"
					   : "f32"));
	if (raw->u64)
		return tf_foreign_read_number(p, raw->u64, 0, UINT64_MAX, &argument->value);
	if (raw->u32)
		return tf_foreign_read_number(p, raw->u32, 0, UINT32_MAX, &argument->value);
	return raw->i32 ? read_signed(p, raw->i32, &argument->value)
					: read_float(p, raw->f32, &argument->value);
}

static enum tf_status read_argument(struct tf_foreign_reader *p, uint32_t kernel, uint32_t i)
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

static enum tf_status read_flag(struct tf_foreign_reader *p, const char *text, int *out)
{
	if (text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return tf_yaml_fail_value(p->yaml, p->err, p->path, NULL);
	*out = text && !strcmp(text, "true");
	return TF_OK;
}

/* What `step` may call: kernels and collectives share their names. */
static int is_callable(const struct tf_foreign_reader *p, const char *name)
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

static enum tf_status read_kernel_names(struct tf_foreign_reader *p,
	const struct tf_raw_kernel *raw, uint32_t i, struct tf_foreign_kernel *kernel)
{
	char name[TF_NAME_BYTES];

	TF_TRY(tf_foreign_set_path(p, "kernels[%u].name", i));
	TF_TRY(tf_foreign_read_name(p, raw->name, name));
	if (is_callable(p, name))
		return tf_yaml_fail(
			p->yaml, p->err, p->path, "'%s' is the name of a group or kernel already", name);
	memcpy(kernel->name, name, sizeof(name));
	p->foreign->kernel_count++;
	TF_TRY(tf_foreign_set_path(p, "kernels[%u].function", i));
	TF_TRY(tf_foreign_read_name(p, raw->function ? raw->function : raw->name, kernel->function));
	TF_TRY(tf_foreign_set_path(p, "kernels[%u].module", i));
	kernel->module = tf_foreign_module_of(p->foreign, raw->module);
	if (kernel->module == p->foreign->module_count)
		return tf_yaml_fail(p->yaml, p->err, p->path, "there is no module '%s'", raw->module);
	return TF_OK;
}

enum tf_status tf_foreign_read_kernel(struct tf_foreign_reader *p, uint32_t i)
{
	const struct tf_raw_kernel *raw = &p->raw->kernels[i];
	struct tf_foreign_kernel *kernel = &p->foreign->kernels[i];

	TF_TRY(read_kernel_names(p, raw, i, kernel));
	TF_TRY(read_sizes(p, i, "grid", raw->grid, raw->grid_count, kernel->grid));
	TF_TRY(read_sizes(p, i, "block", raw->block, raw->block_count, kernel->block));
	kernel->shared.divisor = 1;
	TF_TRY(tf_foreign_set_path(p, "kernels[%u].shared_bytes", i));
	if (raw->shared_bytes)
		TF_TRY(read_size(p, raw->shared_bytes, 0, &kernel->shared));
	TF_TRY(tf_foreign_set_path(p, "kernels[%u].programmatic", i));
	TF_TRY(read_flag(p, raw->programmatic, &kernel->programmatic));
	kernel->argument_count = raw->argument_count;
	for (uint32_t k = 0; k < raw->argument_count; k++)
		TF_TRY(read_argument(p, i, k));
	return TF_OK;
}
