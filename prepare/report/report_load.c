/* SPDX-License-Identifier: Apache-2.0 */
/* Times of another package's load would be a wrong answer, so the digests must be the same. */
#include "prepare/report/report_load.h"

#include <string.h>

#include <jansson.h>

#include "ladders/text_file.h"

#define LOAD_VERSION 1 /* of what tfrun prints */

static enum tf_status check_head(const json_t *root, const char *path,
	const uint8_t sha256[TF_DIGEST_BYTES], struct tf_error *err)
{
	const char *found = json_string_value(json_object_get(root, "sha256"));
	const json_t *version = json_object_get(root, "version");
	char wanted[TF_DIGEST_HEX_BYTES];

	if (!json_is_integer(version) || !found || !json_is_object(json_object_get(root, "load_ns")))
		return TF_FAIL(err, TF_E_INVALID,
			"'%s' is not what 'tfrun PACKAGE --check --json' prints: it lacks 'version', 'sha256' "
			"or 'load_ns'",
			path);
	if (json_integer_value(version) != LOAD_VERSION)
		return TF_FAIL(err, TF_E_VERSION, "'%s' has version %lld; %d is read", path,
			(long long)json_integer_value(version), LOAD_VERSION);
	tf_hex(sha256, TF_DIGEST_BYTES, wanted);
	if (strcmp(found, wanted))
		return TF_FAIL(
			err, TF_E_MISFIT, "'%s' measured the package '%.64s', not '%s'", path, found, wanted);
	return TF_OK;
}

static enum tf_status take_phases(
	json_t *times, const char *path, struct tf_report_load *out, struct tf_error *err)
{
	const char *name;
	json_t *value;

	json_object_foreach(times, name, value)
	{
		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return TF_FAIL(err, TF_E_INVALID, "'%s': 'load_ns.%.64s' is no time", path, name);
		if (!strcmp(name, "total")) {
			out->total_ns = json_integer_value(value);
			continue;
		}
		if (out->phase_count == TF_REPORT_LOAD_PHASES_MAX || strlen(name) >= TF_REPORT_PHASE_BYTES)
			return TF_FAIL(err, TF_E_LIMIT,
				"'%s': 'load_ns' has more than %d phases or a name of more than %d bytes", path,
				TF_REPORT_LOAD_PHASES_MAX, TF_REPORT_PHASE_BYTES - 1);
		strcpy(out->phases[out->phase_count].name, name);
		out->phases[out->phase_count++].ns = json_integer_value(value);
	}
	return TF_OK;
}

enum tf_status tf_report_load_read(const char *path, const uint8_t sha256[TF_DIGEST_BYTES],
	struct tf_report_load *out, struct tf_error *err)
{
	struct tf_report_load load = {0};
	json_error_t fault;
	enum tf_status status;
	struct tf_bytes text = {0};
	json_t *root;

	status = tf_text_file_read(path, TF_REPORT_LOAD_BYTES_MAX, &text, err);
	if (status != TF_OK) {
		tf_bytes_fini(&text);
		return status;
	}
	root = json_loadb((const char *)text.data, text.size, JSON_REJECT_DUPLICATES, &fault);
	tf_bytes_fini(&text);
	if (!root)
		return TF_FAIL(
			err, TF_E_INVALID, "'%s' is no JSON: line %d: %s", path, fault.line, fault.text);
	status = check_head(root, path, sha256, err);
	if (status == TF_OK)
		status = take_phases(json_object_get(root, "load_ns"), path, &load, err);
	json_decref(root);
	if (status == TF_OK)
		*out = load;
	return status;
}
