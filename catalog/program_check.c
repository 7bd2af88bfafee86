/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_program_check: the entry, identity and members, and the helpers of the other parts. The order
 * matters: places are checked against buffers that have been checked, launches against kernels that
 * have been checked.
 */
#include "catalog/program_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

enum tf_status tf_check_count(
	const char *what, const void *rows, uint64_t count, uint64_t limit, struct tf_error *err)
{
	if (count > limit)
		return TF_FAIL(
			err, TF_E_LIMIT, "%" PRIu64 " %s, at most %" PRIu64 " are allowed", count, what, limit);
	if (count && !rows)
		return TF_FAIL(
			err, TF_E_INTERNAL, "%" PRIu64 " %s are counted and none is there", count, what);
	return TF_OK;
}

enum tf_status tf_check_order(const struct tf_check *check, uint32_t count,
	tf_check_compare_fn compare, uint32_t **out, struct tf_error *err)
{
	uint32_t *order = tf_calloc(count, sizeof(*order));

	if (!order)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to order %" PRIu32 " rows", count);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare, (void *)(uintptr_t)check->program);
	*out = order;
	return TF_OK;
}

enum tf_status tf_check_unique(const struct tf_check *check, uint32_t count,
	tf_check_compare_fn compare, const char *row, const char *same, struct tf_error *err)
{
	enum tf_status status = TF_OK;
	uint32_t *order = NULL;

	TF_TRY(tf_check_order(check, count, compare, &order, err));
	for (uint32_t i = 1; i < count && status == TF_OK; i++) {
		uint32_t a = order[i - 1], b = order[i];

		if (!compare(&a, &b, (void *)(uintptr_t)check->program))
			status = TF_FAIL(err, TF_E_INVALID, "%s %" PRIu32 " and %" PRIu32 " %s", row,
				a < b ? a : b, a < b ? b : a, same);
	}
	tf_free(order);
	return status;
}

static enum tf_status check_identity(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	TF_TRY(tf_check_count(
		"identity rows", program->identity, program->identity_count, TF_IDENTITY_MAX, err));
	for (uint32_t i = 0; i < program->identity_count; i++) {
		const struct tf_identity *row = &program->identity[i];

		if (!tf_text_is_name(row->key, sizeof(row->key)))
			return TF_FAIL(err, TF_E_INVALID,
				"identity %" PRIu32 ": key is not a name of A-Z a-z 0-9 . _ -", i);
		if (i && strcmp(row[-1].key, row->key) >= 0)
			return TF_FAIL(err, TF_E_INVALID,
				"identity %" PRIu32 ": key '%s' does not come after '%s'", i, row->key,
				row[-1].key);
		if (!row->value)
			return TF_FAIL(err, TF_E_INTERNAL, "identity '%s' has no value", row->key);
		if (!tf_text_is_plain(row->value, TF_IDENTITY_VALUE_MAX + 1))
			return TF_FAIL(err, TF_E_INVALID,
				"identity '%s': value is not UTF-8 without control characters of at most %d bytes",
				row->key, TF_IDENTITY_VALUE_MAX);
	}
	return TF_OK;
}

static enum tf_status check_members(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	TF_TRY(tf_check_count("members", program->members, program->member_count, TF_MEMBERS_MAX, err));
	for (uint32_t i = 0; i < program->member_count; i++) {
		const struct tf_member *member = &program->members[i];

		if (!tf_text_is_path(member->name, sizeof(member->name)))
			return TF_FAIL(err, TF_E_INVALID,
				"member %" PRIu32 ": name is not a relative path of A-Z a-z 0-9 . _ + - /", i);
		if (i && strcmp(member[-1].name, member->name) >= 0)
			return TF_FAIL(err, TF_E_INVALID,
				"member %" PRIu32 ": name '%s' does not come after '%s'", i, member->name,
				member[-1].name);
		if (member->bytes > TF_MEMBER_MAX)
			return TF_FAIL(err, TF_E_LIMIT,
				"member '%s' has %" PRIu64 " bytes, at most %" PRIu64 " are allowed", member->name,
				member->bytes, TF_MEMBER_MAX);
	}
	return TF_OK;
}

static enum tf_status check_all(struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	if (program->world < TF_WORLD_MIN || program->world > TF_WORLD_MAX)
		return TF_FAIL(err, TF_E_INVALID, "world is %" PRIu32 ", not %d..%d", program->world,
			TF_WORLD_MIN, TF_WORLD_MAX);
	TF_TRY(check_identity(check, err));
	TF_TRY(check_members(check, err));
	TF_TRY(tf_check_layout(check, err));
	TF_TRY(tf_check_groups(check, err));
	TF_TRY(tf_check_samples(check, err));
	TF_TRY(tf_check_buffers(check, err));
	TF_TRY(tf_check_constants(check, err));
	TF_TRY(tf_check_kernels(check, err));
	TF_TRY(tf_check_launches(check, err));
	TF_TRY(tf_check_graphs(check, err));
	return tf_check_foreign(check, err);
}

enum tf_status tf_program_check(const struct tf_program *program, struct tf_error *err)
{
	struct tf_check check = {.program = program};
	enum tf_status status = check_all(&check, err);

	tf_free(check.buffers_by_off);
	return status;
}
