/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a package, and telling what of it is used and what lies idle.
 *
 * 1. Every member that the catalog names must be in the file with the size it states; otherwise
 *    the package is damaged.
 * 2. A member that no module or constant of this load refers to is idle: told, and under `strict`
 *    refused.
 */
#include "runtime/session/loaded_package.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/catalog_read.h"
#include "catalog/program_limits.h"
#include "packages/container_read.h"

_Static_assert(TF_PACKAGE_CATALOG_BYTES_MAX == TF_CATALOG_BYTES_MAX, "one limit of a catalog");

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

static enum tf_status check_members(struct tf_loaded_package *loaded,
	const struct tf_package *package, int strict, struct tf_error *err)
{
	size_t count = tf_package_member_count(package), used = 0;

	TF_TRY(check_present(&loaded->program, package, err));
	for (size_t i = 1; i < count; i++) {
		const char *name = tf_package_member_name(package, i);
		uint32_t index = index_of(&loaded->program, name);

		if (index != TF_PROGRAM_NONE && is_used(&loaded->program, index))
			continue;
		loaded->idle_members++;
		if (used < sizeof(loaded->idle_text))
			used += (size_t)snprintf(loaded->idle_text + used, sizeof(loaded->idle_text) - used,
				"%s'%s'", used ? ", " : "", name);
	}
	if (strict && loaded->idle_members)
		return TF_FAIL(err, TF_E_MISFIT, "strict: %u members would lie idle: %s",
			loaded->idle_members, loaded->idle_text);
	return TF_OK;
}

static enum tf_status read_catalog(struct tf_loaded_package *loaded,
	const struct tf_package *package, unsigned parts, struct tf_error *err)
{
	struct tf_bytes catalog = {0};
	enum tf_status status = tf_package_read_member(package, 0, &catalog, err);

	if (status == TF_OK)
		status = tf_catalog_read(catalog.data, catalog.size, parts, &loaded->program, err);
	tf_bytes_fini(&catalog);
	return status;
}

static enum tf_status read_member(struct tf_loaded_package *loaded,
	const struct tf_package *package, uint32_t index, struct tf_bytes *out, struct tf_error *err)
{
	const struct tf_member *member = &loaded->program.members[index];
	size_t place;

	TF_TRY(tf_package_find(package, member->name, &place, err));
	TF_TRY(tf_package_read_member(package, place, out, err));
	return tf_package_check_bytes(package, place, out->data, out->size, member->digest, err);
}

/* A member that fills several constants is read for each. */
static enum tf_status read_constants(
	struct tf_loaded_package *loaded, const struct tf_package *package, struct tf_error *err)
{
	const struct tf_program *program = &loaded->program;

	loaded->constants = tf_calloc(program->constant_count, sizeof(loaded->constants[0]));
	if (!loaded->constants)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u constants", program->constant_count);
	for (uint32_t i = 0; i < program->constant_count; i++)
		TF_TRY(
			read_member(loaded, package, program->constants[i].member, &loaded->constants[i], err));
	return TF_OK;
}

static enum tf_status read_images(
	struct tf_loaded_package *loaded, const struct tf_package *package, struct tf_error *err)
{
	const struct tf_program *program = &loaded->program;

	loaded->images = tf_calloc(program->module_count, sizeof(loaded->images[0]));
	if (!loaded->images)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u modules", program->module_count);
	for (uint32_t i = 0; i < program->module_count; i++) {
		if (program->modules[i].member != TF_PROGRAM_NONE)
			TF_TRY(
				read_member(loaded, package, program->modules[i].member, &loaded->images[i], err));
	}
	return TF_OK;
}

enum tf_status tf_loaded_package_open(const char *path, unsigned parts, int strict,
	struct tf_loaded_package *out, struct tf_error *err)
{
	struct tf_loaded_package loaded;
	struct tf_package *package = NULL;
	enum tf_status status = tf_package_open(path, &package, err);

	memset(&loaded, 0, sizeof(loaded));
	if (status == TF_OK) {
		loaded.file_bytes = tf_package_file_bytes(package);
		status = tf_package_prove_body(package, loaded.digest, err);
	}
	if (status == TF_OK)
		status = read_catalog(&loaded, package, parts, err);
	if (status == TF_OK)
		status = check_members(&loaded, package, strict, err);
	if (status == TF_OK)
		status = read_images(&loaded, package, err);
	if (status == TF_OK)
		status = read_constants(&loaded, package, err);
	tf_package_close(package);
	if (status != TF_OK) {
		tf_error_prefix(err, "cannot load '%s'", path);
		tf_loaded_package_fini(&loaded);
		return status;
	}
	*out = loaded;
	return TF_OK;
}

void tf_loaded_package_fini(struct tf_loaded_package *package)
{
	for (uint32_t i = 0; package->images && i < package->program.module_count; i++)
		tf_bytes_fini(&package->images[i]);
	tf_free(package->images);
	for (uint32_t i = 0; package->constants && i < package->program.constant_count; i++)
		tf_bytes_fini(&package->constants[i]);
	tf_free(package->constants);
	tf_program_fini(&package->program);
	memset(package, 0, sizeof(*package));
}
