/* SPDX-License-Identifier: Apache-2.0 */
/* The order is that of the step graphs (prepare/tune/startup_graph.c). */
#include "prepare/bench/step_calls.h"

enum tf_status tf_step_calls(const struct tf_program *program, uint32_t first_group,
	uint32_t group_count, tf_step_call_fn fn, void *user, struct tf_error *err)
{
	int more = 1;

	for (uint32_t turn = 0; more; turn++) {
		more = 0;
		for (uint32_t g = first_group; g < first_group + group_count; g++) {
			const struct tf_group *group = &program->groups[g];

			if (turn >= group->times)
				continue;
			TF_TRY(fn(user, g, turn % group->buffer_pairs, err));
			more = 1;
		}
	}
	return TF_OK;
}

uint32_t tf_step_calls_count(
	const struct tf_program *program, uint32_t first_group, uint32_t group_count)
{
	uint32_t count = 0;

	for (uint32_t g = first_group; g < first_group + group_count; g++)
		count += program->groups[g].times;
	return count;
}
