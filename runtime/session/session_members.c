/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a package was used, and what lay idle.
 *
 * 1. Every member that the catalog names must be in the file with the size it states; otherwise the package is damaged.
 * 2. A member that no module or constant of this load refers to is idle: told, and under `strict` refused.
 */
#include "runtime/session/session_private.h"

#include <stdio.h>
#include <string.h>

static int is_used(const struct tf_program *program, uint32_t member)
{
	for (uint32_t i = 0; i < program->module_count; i++) {
		if (program->modules[i].member == member)
			return 1;
	}
	for (uint32_t i = 0; i < program->constant_count; i++) {
		if (program->constants[i].member == member)
			return 1;
	}
	return 0;
}

static enum tf_status check_present(
	const struct tf_program *program, const struct tf_package *package, struct tf_error *err)
{
	for (uint32_t i = 0; i < program->member_count; i++) {
		const struct tf_member *member = &program->members[i];
		uint64_t bytes;
		size_t index;

		TF_TRY(tf_package_find(package, member->name, &index, err));
		bytes = tf_package_member_bytes(package, index);
		if (bytes != member->bytes)
			return TF_FAIL(err, TF_E_DAMAGED, "member '%s' has %llu bytes, the catalog says %llu",
				member->name, (unsigned long long)bytes, (unsigned long long)member->bytes);
	}
	return TF_OK;
}

/* The catalog's index of a file's member, or TF_PROGRAM_NONE. */
static uint32_t index_of(const struct tf_program *program, const char *name)
{
	for (uint32_t i = 0; i < program->member_count; i++) {
		if (!strcmp(program->members[i].name, name))
			return i;
	}
	return TF_PROGRAM_NONE;
}

enum tf_status tf_session_check_members(
	struct tf_session *session, const struct tf_package *package, int strict, struct tf_error *err)
{
	const struct tf_program *program = &session->program;
	size_t count = tf_package_member_count(package), used = 0;

	TF_TRY(check_present(program, package, err));
	for (size_t i = 1; i < count; i++) {
		const char *name = tf_package_member_name(package, i);
		uint32_t index = index_of(program, name);

		if (index != TF_PROGRAM_NONE && is_used(program, index))
			continue;
		session->idle_members++;
		if (used < sizeof(session->idle_text))
			used += (size_t)snprintf(session->idle_text + used, sizeof(session->idle_text) - used,
				"%s'%s'", used ? ", " : "", name);
	}
	if (strict && session->idle_members)
		return TF_FAIL(err, TF_E_MISFIT, "strict: %u members would lie idle: %s",
			session->idle_members, session->idle_text);
	return TF_OK;
}

uint32_t tf_session_idle_members(const struct tf_session *session, const char **out_names)
{
	*out_names = session->idle_text;
	return session->idle_members;
}
