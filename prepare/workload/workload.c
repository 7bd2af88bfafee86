/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads as objects: from a file, built in, cut down to some capacities, and their end. */
#include "prepare/workload/workload.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "ladders/text_file.h"
#include "ladders/yaml_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct tf_text_file tf_workload_files[]; /* generated from packages/workloads/X.yaml */

static int is_path(const char *name)
{
	size_t bytes = strlen(name);

	return strchr(name, '/') || (bytes > 5 && !strcmp(name + bytes - 5, ".yaml"));
}

enum tf_status tf_workload_load(const char *name, struct tf_workload *out, struct tf_error *err)
{
	const struct tf_text_file *file = tf_text_file_find(tf_workload_files, name);
	struct tf_bytes text = {0};
	enum tf_status status;

	if (file)
		return tf_workload_parse(file->text, file->size, file->source, out, err);
	if (!is_path(name))
		return tf_text_file_fail_unknown(
			tf_workload_files, "workload", name, ", or a file ('./x.yaml')", err);
	status = tf_text_file_read(name, TF_YAML_BYTES_MAX, &text, err);
	if (status == TF_OK)
		status = tf_workload_parse((const char *)text.data, text.size, name, out, err);
	tf_bytes_fini(&text);
	return status;
}

/* "1, 2 and 8": what a restriction may name. */
static void list_capacities(const struct tf_workload *workload, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < workload->capacity_count && used < size; i++)
		used += (size_t)snprintf(
			out + used, size - used, "%s%u", i ? ", " : "", (unsigned)workload->capacities[i]);
}

static enum tf_status fail_capacity(
	const struct tf_workload *workload, const char *word, size_t bytes, struct tf_error *err)
{
	char allowed[TF_WORKLOAD_CAPACITIES_MAX * 8];

	list_capacities(workload, allowed, sizeof(allowed));
	return TF_FAIL(err, TF_E_USAGE, "workload '%s' has no capacity '%.*s', allowed: %s",
		workload->name, (int)(bytes < 32 ? bytes : 32), word, allowed);
}

/* The place of the capacity written in `word`, or the capacity count. */
static uint32_t place_of(const struct tf_workload *workload, const char *word, size_t bytes)
{
	char text[16];
	uint32_t i = 0;

	for (; i < workload->capacity_count; i++) {
		snprintf(text, sizeof(text), "%u", (unsigned)workload->capacities[i]);
		if (strlen(text) == bytes && !memcmp(text, word, bytes))
			break;
	}
	return i;
}

/* Marks the capacities that `list` names. */
static enum tf_status read_list(
	const struct tf_workload *workload, const char *list, unsigned char *kept, struct tf_error *err)
{
	for (;;) {
		size_t bytes = strcspn(list, ",");
		uint32_t place = place_of(workload, list, bytes);

		if (place == workload->capacity_count)
			return fail_capacity(workload, list, bytes, err);
		if (kept[place])
			return TF_FAIL(err, TF_E_USAGE, "capacity '%.*s' is given twice", (int)bytes, list);
		kept[place] = 1;
		if (!list[bytes])
			return TF_OK;
		list += bytes + 1;
	}
}

enum tf_status tf_workload_restrict(
	struct tf_workload *workload, const char *list, struct tf_error *err)
{
	unsigned char kept[TF_WORKLOAD_CAPACITIES_MAX] = {0};
	uint32_t groups = 0;
	uint32_t capacities = 0;

	TF_TRY(read_list(workload, list, kept, err));
	/* Groups are ordered by capacity, so both arrays shrink in one walk. */
	for (uint32_t i = 0, g = 0; i < workload->capacity_count; i++) {
		uint32_t capacity = workload->capacities[i];

		for (; g < workload->group_count && workload->groups[g].capacity == capacity; g++) {
			if (kept[i])
				workload->groups[groups++] = workload->groups[g];
		}
		if (kept[i])
			workload->capacities[capacities++] = capacity;
	}
	workload->group_count = groups;
	workload->capacity_count = capacities;
	return TF_OK;
}

enum tf_status tf_workload_allow_any(
	struct tf_workload *workload, const char *name, struct tf_error *err)
{
	const char *before = workload->any_numerics;
	char *names = tf_asprintf("%s%s%s", before ? before : "", before ? " " : "", name);

	if (!names)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the name '%s'", name);
	tf_free(workload->any_numerics);
	workload->any_numerics = names;
	return TF_OK;
}

void tf_workload_fini(struct tf_workload *workload)
{
	if (!workload)
		return;
	tf_free(workload->any_numerics);
	tf_free(workload->summary);
	tf_free(workload->groups);
	tf_foreign_destroy(workload->foreign);
	memset(workload, 0, sizeof(*workload));
}
