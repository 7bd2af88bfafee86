/* SPDX-License-Identifier: Apache-2.0 */
/* What buffers, modules and kernels are read with alike. */
#include "prepare/workload/foreign_reader.h"

#include <stdio.h>
#include <string.h>

#include "ladders/yaml_value.h"

enum tf_status tf_foreign_set_path(struct tf_foreign_reader *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(p->path, sizeof(p->path), fmt, args);
	va_end(args);
	return TF_OK;
}

enum tf_status tf_foreign_read_number(
	struct tf_foreign_reader *p, const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	return tf_yaml_number(p->yaml, p->path, text, min, max, out, p->err);
}

enum tf_status tf_foreign_read_name(struct tf_foreign_reader *p, const char *text, char *out)
{
	TF_TRY(tf_yaml_name(p->yaml, p->path, text, p->err));
	snprintf(out, TF_NAME_BYTES, "%s", text);
	return TF_OK;
}

int tf_foreign_is_place(const struct tf_foreign *foreign, const char *name)
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

uint32_t tf_foreign_module_of(const struct tf_foreign *foreign, const char *name)
{
	uint32_t i = 0;

	while (i < foreign->module_count && strcmp(foreign->modules[i].name, name) != 0)
		i++;
	return i;
}
