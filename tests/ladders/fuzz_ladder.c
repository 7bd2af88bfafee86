/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a ladder: refused with a one-line message, or read into a ladder that answers
 * questions.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ladders/ladder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct tf_ladder *ladder)
{
	struct tf_group group = {.name = "g", .row_elements = 4096, .capacity = 1, .times = 1};
	uint32_t rungs[TF_LADDER_RUNGS_MAX];
	uint32_t count;

	for (int op = 0; op < TF_OP_COUNT; op++) {
		group.op = (enum tf_op)op;
		if (tf_ladder_legal(ladder, &group, 4, 7, rungs, &count, NULL) == TF_OK &&
			(count == 0 || count > ladder->rung_count))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tf_ladder ladder = {0};
	struct tf_error err = {0};
	enum tf_status status = tf_ladder_parse((const char *)data, size, "fuzz.yaml", &ladder, &err);

	if (status == TF_OK) {
		if (ladder.rung_count == 0 || ladder.rung_count > TF_LADDER_RUNGS_MAX)
			abort();
		ask(&ladder);
	} else if (status != TF_E_INVALID || strncmp(err.text, "fuzz.yaml:", 10) ||
		strchr(err.text, '\n')) {
		abort();
	}
	tf_ladder_fini(&ladder);
	return 0;
}
