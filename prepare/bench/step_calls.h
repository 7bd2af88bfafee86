/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a step in their order: the groups take turns, call by call, as step graphs have
 * them, each call on the next of its group's operand pairs. A chain is the step of one group.
 */
#ifndef TF_PREPARE_BENCH_STEP_CALLS_H
#define TF_PREPARE_BENCH_STEP_CALLS_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call; anything but TF_OK ends the walk. */
typedef enum tf_status (*tf_step_call_fn)(
	void *user, uint32_t group, uint32_t pair, struct tf_error *err);

TF_WARN_UNUSED enum tf_status tf_step_calls(const struct tf_program *program, uint32_t first_group,
	uint32_t group_count, tf_step_call_fn fn, void *user, struct tf_error *err);

/* How many there are. */
uint32_t tf_step_calls_count(
	const struct tf_program *program, uint32_t first_group, uint32_t group_count);

#ifdef __cplusplus
}
#endif
#endif
