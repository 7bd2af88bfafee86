/* SPDX-License-Identifier: Apache-2.0 */
/* Links as objects: built in or from a file, and what they offer as a whole. */
#include "prepare/links/links.h"

#include <stdlib.h>
#include <string.h>

#include "ladders/ladder.h"
#include "ladders/text_file.h"
#include "ladders/yaml_tree.h"

extern const struct tf_text_file tf_links_files[]; /* generated from packages/links/X.yaml */

static int is_path(const char *name)
{
	size_t bytes = strlen(name);

	return strchr(name, '/') || (bytes > 5 && !strcmp(name + bytes - 5, ".yaml"));
}

enum tf_status tf_links_load(const char *name, struct tf_links *out, struct tf_error *err)
{
	const struct tf_text_file *file = tf_text_file_find(tf_links_files, name);
	struct tf_bytes text = {0};
	enum tf_status status;

	if (file)
		return tf_links_parse(file->text, file->size, file->source, out, err);
	if (!is_path(name))
		return tf_text_file_fail_unknown(
			tf_links_files, "links", name, ", or a file ('./x.yaml')", err);
	status = tf_text_file_read(name, TF_YAML_BYTES_MAX, &text, err);
	if (status == TF_OK)
		status = tf_links_parse((const char *)text.data, text.size, name, out, err);
	tf_bytes_fini(&text);
	return status;
}

enum tf_status tf_links_reseed(struct tf_links *links, const char *number, struct tf_error *err)
{
	size_t digits = strspn(number, "0123456789");
	unsigned long long seed = strtoull(number, NULL, 10);

	if (!digits || number[digits] || digits > 10 || seed > TF_LINKS_SEED_MAX)
		return TF_FAIL(err, TF_E_USAGE, "found '%s' for the seed of links, allowed: 0 to %llu",
			number, (unsigned long long)TF_LINKS_SEED_MAX);
	links->seed = seed;
	return TF_OK;
}

uint32_t tf_links_capabilities(const struct tf_links *links, uint32_t world)
{
	uint32_t all = TF_LINK_PEER_WRITE | TF_LINK_PEER_READ | TF_LINK_PEER_ATOMIC;

	for (uint32_t a = 0; a < world; a++) {
		for (uint32_t b = 0; b < world; b++)
			all &= a == b ? all : links->pairs[a][b].peer;
	}
	return all;
}
