/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/package: what is served. */
#include "runtime/serve/http_routes.h"

#include "runtime/serve/serve_version.h"
#include "runtime/serve/supervisor.h"

static void put_identity(struct tf_json *json, const struct tf_program *program)
{
	tf_json_object_begin(json, "identity");
	for (uint32_t i = 0; i < program->identity_count; i++)
		tf_json_text(json, program->identity[i].key, program->identity[i].value);
	tf_json_object_end(json);
}

static void put_capacities(struct tf_json *json, const struct tf_served_package *view)
{
	tf_json_array_begin(json, "capacities");
	for (uint32_t i = 0; i < view->capacity_count; i++)
		tf_json_uint(json, NULL, view->capacities[i]);
	tf_json_array_end(json);
}

static void put_pick(struct tf_json *json, const struct tf_group_candidate *picked)
{
	int stage = picked->stage_median_ns[1] >= 0;
	char name[TF_CANDIDATE_NAME_BYTES];

	tf_json_object_begin(json, "pick");
	tf_json_text(json, "candidate", tf_candidate_name(&picked->candidate, name));
	tf_json_text(json, "algorithm", tf_algorithm_name(picked->candidate.algorithm));
	tf_json_text(json, "writer", tf_writer_name(picked->candidate.writer));
	tf_json_uint(json, "threads", picked->candidate.threads);
	tf_json_uint(json, "ctas", picked->candidate.ctas);
	tf_json_uint(json, "chunk_bytes", picked->candidate.chunk_bytes);
	tf_json_int(json, "median_ns", picked->stage_median_ns[stage]);
	tf_json_int(json, "low_ns", picked->stage_low_ns[stage]);
	tf_json_int(json, "high_ns", picked->stage_high_ns[stage]);
	tf_json_text(json, "reason", picked->reason);
	tf_json_object_end(json);
}

static void put_groups(struct tf_json *json, const struct tf_served_package *view)
{
	const struct tf_program *program = &view->loaded.program;

	tf_json_array_begin(json, "groups");
	for (uint32_t i = 0; i < program->group_count; i++) {
		const struct tf_group *group = &program->groups[i];

		tf_json_object_begin(json, NULL);
		tf_json_text(json, "name", group->name);
		tf_json_text(json, "op", tf_op_name(group->op));
		tf_json_text(json, "dtype", tf_dtype_name(group->dtype));
		tf_json_uint(json, "row_elements", group->row_elements);
		tf_json_uint(json, "capacity", group->capacity);
		tf_json_uint(json, "times", group->times);
		tf_json_uint(json, "bytes", tf_group_input_bytes(group));
		tf_json_bool(json, "loaded", group->capacity <= tf_served_package_largest(view));
		put_pick(json, &program->candidates[program->selectors[i]]);
		tf_json_object_end(json);
	}
	tf_json_array_end(json);
}

static void put_tensor(
	struct tf_json *json, const struct tf_program *program, const struct tf_buffer *buffer)
{
	tf_json_object_begin(json, NULL);
	tf_json_text(json, "name", buffer->name);
	tf_json_text(json, "role", tf_buffer_role_word(buffer));
	tf_json_text(json, "dtype", tf_dtype_name(buffer->dtype));
	tf_json_array_begin(json, "dims");
	for (uint32_t i = 0; i < buffer->dims_count; i++)
		tf_json_uint(json, NULL, buffer->dims[i]);
	tf_json_array_end(json);
	tf_json_uint(json, "bytes", buffer->bytes);
	if (buffer->group != TF_PROGRAM_NONE) {
		tf_json_text(json, "group", program->groups[buffer->group].name);
		tf_json_uint(json, "capacity", program->groups[buffer->group].capacity);
		tf_json_uint(json, "pair", buffer->pair);
	}
	tf_json_object_end(json);
}

static void put_tensors(struct tf_json *json, const struct tf_program *program)
{
	tf_json_array_begin(json, "tensors");
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		if (tf_buffer_is_tensor(&program->buffers[i]))
			put_tensor(json, program, &program->buffers[i]);
	}
	tf_json_array_end(json);
}

void tf_route_package(struct tf_http *http, struct evhttp_request *request, const char *name)
{
	const struct tf_supervisor *supervisor = http->supervisor;
	const struct tf_served_package *view = &supervisor->view;
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};

	(void)name;
	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_text(&json, "path", supervisor->options->path);
	tf_json_text(&json, "sha256", supervisor->digest_hex);
	tf_json_uint(&json, "bytes", view->loaded.file_bytes);
	tf_json_uint(&json, "world", view->loaded.program.world);
	put_identity(&json, &view->loaded.program);
	put_capacities(&json, view);
	put_groups(&json, view);
	put_tensors(&json, &view->loaded.program);
	tf_json_object_end(&json);
	tf_http_reply_json(&http->replies, request, HTTP_OK, &json, &body);
}

void tf_route_tensors(struct tf_http *http, struct evhttp_request *request, const char *name)
{
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};

	(void)name;
	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_uint(&json, "ranks", http->supervisor->view.loaded.program.world);
	put_tensors(&json, &http->supervisor->view.loaded.program);
	tf_json_object_end(&json);
	tf_http_reply_json(&http->replies, request, HTTP_OK, &json, &body);
}
