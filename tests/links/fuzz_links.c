/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a links file: refused with a one-line message, or read into links that hold. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prepare/links/link_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the figures are, a collective ends. */
static void ask(const struct tf_links *links)
{
	struct tf_link_call call = {
		.op = TF_OP_ALL_REDUCE,
		.candidate = {.algorithm = TF_ALGORITHM_TWO_SHOT,
			.writer = TF_WRITER_QUEUED,
			.threads = 256,
			.ctas = 4,
			.chunk_bytes = 1024},
		.world = links->world,
		.count = 4099,
		.element_bytes = 2,
	};
	uint64_t entry[TF_WORLD_MAX] = {0}, done[TF_WORLD_MAX];
	struct tf_link_model *model = NULL;

	if (tf_link_model_create(links, &model, NULL) != TF_OK)
		abort();
	tf_link_model_run(model, &call, entry, 1, done);
	tf_link_model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tf_links links;
	struct tf_error err = {0};
	enum tf_status status = tf_links_parse((const char *)data, size, "fuzz.yaml", &links, &err);

	if (status == TF_OK) {
		if (links.world < TF_WORLD_MIN || links.world > TF_WORLD_MAX)
			abort();
		ask(&links);
	} else if (status != TF_E_INVALID || strncmp(err.text, "fuzz.yaml:", 10) ||
		strchr(err.text, '\n')) {
		abort();
	}
	return 0;
}
