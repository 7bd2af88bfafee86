/* SPDX-License-Identifier: Apache-2.0 */
/* Within a version, members are only added. */
#include "prepare/json_print.h"

#include "base/json.h"

json_t *tf_json_append(json_t *array, json_t *value)
{
	if (!array || json_array_append_new(array, value)) {
		if (!array)
			json_decref(value);
		json_decref(array);
		return NULL;
	}
	return array;
}

json_t *tf_json_string(const char *text)
{
	struct tf_bytes written = {0};
	struct tf_json writer = {.to = &written};
	json_t *value = json_string(text); /* NULL if it is not UTF-8 */

	if (value)
		return value;
	tf_json_text(&writer, NULL, text);
	if (tf_json_finish(&writer, NULL) == TF_OK)
		value = json_loadb((const char *)written.data, written.size, JSON_DECODE_ANY, NULL);
	tf_bytes_fini(&written);
	return value;
}

json_t *tf_json_times(int64_t median_ns, int64_t low_ns, int64_t high_ns)
{
	if (median_ns < 0)
		return json_null();
	return json_pack("{s:I, s:I, s:I}", "median_ns", (json_int_t)median_ns, "low_ns",
		(json_int_t)low_ns, "high_ns", (json_int_t)high_ns);
}

json_t *tf_json_candidate(const struct tf_candidate *candidate)
{
	char name[TF_CANDIDATE_NAME_BYTES];

	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "name", tf_candidate_name(candidate, name),
		"algorithm", tf_algorithm_name(candidate->algorithm), "writer",
		tf_writer_name(candidate->writer), "threads", (json_int_t)candidate->threads, "ctas",
		(json_int_t)candidate->ctas, "chunk_bytes", (json_int_t)candidate->chunk_bytes);
}

enum tf_status tf_json_print(FILE *to, json_t *root, struct tf_error *err)
{
	int failed;

	if (!root)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the JSON");
	failed = json_dumpf(root, to, JSON_INDENT(2)) || fputc('\n', to) == EOF;
	json_decref(root);
	return failed ? TF_FAIL_ERRNO(err, "cannot write the JSON") : TF_OK;
}
