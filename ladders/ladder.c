/* SPDX-License-Identifier: Apache-2.0 */
/* Ladders as objects: from a file, built in, and their end. */
#include "ladders/ladder.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "ladders/text_file.h"
#include "ladders/yaml_tree.h"

#include <string.h>

extern const struct tf_text_file tf_ladder_files[]; /* generated from ladders/X.yaml */

enum tf_status tf_ladder_load_file(const char *path, struct tf_ladder *out, struct tf_error *err)
{
	struct tf_bytes text = {0};
	enum tf_status status = tf_text_file_read(path, TF_YAML_BYTES_MAX, &text, err);

	if (status == TF_OK)
		status = tf_ladder_parse((const char *)text.data, text.size, path, out, err);
	tf_bytes_fini(&text);
	return status;
}

enum tf_status tf_ladder_builtin(const char *topology, struct tf_ladder *out, struct tf_error *err)
{
	const struct tf_text_file *file = tf_text_file_find(tf_ladder_files, topology);

	if (!file)
		return tf_text_file_fail_unknown(tf_ladder_files, "ladder", topology, "", err);
	return tf_ladder_parse(file->text, file->size, file->source, out, err);
}

void tf_ladder_fini(struct tf_ladder *ladder)
{
	if (!ladder)
		return;
	for (uint32_t i = 0; i < ladder->rung_count; i++)
		tf_free(ladder->rungs[i].reason);
	tf_free(ladder->rungs);
	tf_free(ladder->name);
	tf_free(ladder->topology);
	tf_free(ladder->summary);
	memset(ladder, 0, sizeof(*ladder));
}
