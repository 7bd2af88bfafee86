/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning, names of buffers: those that are made up of a group's or an operand's, and finding one
 * by what the workload calls it. All names of a program differ.
 */
#include <stdio.h>
#include <string.h>

#include "prepare/tune/plan.h"

void tf_plan_operand_name(const char *name, uint32_t capacity, char out[TF_NAME_BYTES])
{
	snprintf(out, TF_NAME_BYTES, "%.50s.c%u", name, capacity);
}

static void name_pair(const struct tf_group *group, uint32_t index, int is_input, uint32_t pair,
	char out[TF_NAME_BYTES])
{
	char mark[16] = "", rest[32];
	int room = TF_NAME_BYTES - 1 -
		snprintf(rest, sizeof(rest), ".c%u.%s.%u", group->capacity, is_input ? "in" : "out", pair);

	if ((int)strlen(group->name) > room)
		room -= snprintf(mark, sizeof(mark), ".g%u", index);
	snprintf(out, TF_NAME_BYTES, "%.*s%s%s", room, group->name, mark, rest);
}

void tf_plan_name_buffer(const struct tf_foreign *foreign, const struct tf_group *group,
	uint32_t index, int is_input, uint32_t pair, char out[TF_NAME_BYTES])
{
	const struct tf_foreign_operand *operand = tf_foreign_operand_of(foreign, group->name);
	const char *name = !operand ? "" : is_input ? operand->input : operand->output;

	if (name[0])
		tf_plan_operand_name(name, group->capacity, out);
	else
		name_pair(group, index, is_input, pair, out);
}

/* Names of operands and of ours are made up here, so the workload's reader cannot know them. */
enum tf_status tf_plan_check_name(
	const struct tf_program *program, const char *name, struct tf_error *err)
{
	int taken = !strcmp(name, TF_PLAN_EVICT_NAME);

	for (uint32_t i = 0; i < program->buffer_count && !taken; i++)
		taken = !strcmp(program->buffers[i].name, name);
	if (!taken)
		return TF_OK;
	return TF_FAIL(err, TF_E_INVALID,
		"buffer '%s': the program has another of that name; it calls operands NAME.cCAPACITY or "
		"GROUP.cCAPACITY.in.PAIR, and '" TF_PLAN_EVICT_NAME "' is its own",
		name);
}

uint32_t tf_plan_named_buffer(const struct tf_program *program, const char *name, uint32_t capacity)
{
	char operand[TF_NAME_BYTES];

	tf_plan_operand_name(name, capacity, operand);
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		if (!strcmp(program->buffers[i].name, name) || !strcmp(program->buffers[i].name, operand))
			return i;
	}
	return TF_PROGRAM_NONE;
}
