/* SPDX-License-Identifier: Apache-2.0 */
/* Read once, by the parent; the file is closed again before this returns. */
#include "runtime/serve/served_package.h"

#include <string.h>

#include "base/alloc.h"

static enum tf_status list_capacities(
	struct tf_served_package *view, uint64_t capacity_max, struct tf_error *err)
{
	const struct tf_program *program = &view->loaded.program;
	uint32_t smallest = UINT32_MAX;

	view->capacities = tf_calloc(program->graph_count, sizeof(view->capacities[0]));
	if (!view->capacities)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u capacities", program->graph_count);
	for (uint32_t i = 0; i < program->graph_count; i++) {
		const struct tf_graph *graph = &program->graphs[i];

		if (graph->kind != TF_GRAPH_STEP)
			continue;
		if (graph->capacity < smallest)
			smallest = graph->capacity;
		if (!capacity_max || graph->capacity <= capacity_max)
			view->capacities[view->capacity_count++] = graph->capacity;
	}
	if (view->capacity_count)
		return TF_OK;
	if (smallest == UINT32_MAX)
		return TF_FAIL(err, TF_E_INVALID, "the package holds no step graph");
	return TF_FAIL(err, TF_E_USAGE,
		"--capacity %llu is below the smallest capacity of the package, %u",
		(unsigned long long)capacity_max, smallest);
}

enum tf_status tf_served_package_open(const char *path, unsigned parts, int strict,
	uint64_t capacity_max, struct tf_served_package *out, struct tf_error *err)
{
	struct tf_served_package view;
	enum tf_status status;

	memset(&view, 0, sizeof(view));
	status = tf_loaded_package_open(path, parts, strict, &view.loaded, err);
	if (status == TF_OK)
		status = list_capacities(&view, capacity_max, err);
	if (status != TF_OK) {
		tf_served_package_close(&view);
		return status;
	}
	*out = view;
	return TF_OK;
}

void tf_served_package_close(struct tf_served_package *view)
{
	tf_loaded_package_fini(&view->loaded);
	tf_free(view->capacities);
	view->capacities = NULL;
	view->capacity_count = 0;
}

uint32_t tf_served_package_largest(const struct tf_served_package *view)
{
	return view->capacities[view->capacity_count - 1];
}

uint32_t tf_served_package_capacity_for(const struct tf_served_package *view, uint64_t rows)
{
	for (uint32_t i = 0; rows && i < view->capacity_count; i++) {
		if (view->capacities[i] >= rows)
			return view->capacities[i];
	}
	return 0;
}

int tf_buffer_is_tensor(const struct tf_buffer *buffer)
{
	return buffer->role == TF_BUFFER_INPUT || buffer->role == TF_BUFFER_OUTPUT;
}

const char *tf_buffer_role_word(const struct tf_buffer *buffer)
{
	return buffer->role == TF_BUFFER_INPUT ? "input" : "output";
}

uint32_t tf_served_package_tensor(const struct tf_served_package *view, const char *name)
{
	for (uint32_t i = 0; i < view->loaded.program.buffer_count; i++) {
		const struct tf_buffer *buffer = &view->loaded.program.buffers[i];

		if (tf_buffer_is_tensor(buffer) && !strcmp(buffer->name, name))
			return i;
	}
	return TF_PROGRAM_NONE;
}
