/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning: from a workload, a ladder and a device to the static part of a program: groups, legal
 * candidates, operands, kernels and the layout of a segment. Deterministic and local: every rank
 * plans the same.
 */
#ifndef TF_PREPARE_TUNE_PLAN_H
#define TF_PREPARE_TUNE_PLAN_H

#include "catalog/program.h"
#include "ladders/ladder.h"
#include "prepare/workload/workload.h"
#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fills `program` ({0} before): everything but launches, graphs, samples and selectors, and what
 * tf_plan_foreign adds.
 * `properties` gives the granularity and what the links offer. TF_E_INVALID: a group without a
 * legal candidate, or a buffer of the workload with a name that the program has made up (both are
 * named). The caller finis `program` in any case.
 */
TF_WARN_UNUSED enum tf_status tf_plan(const struct tf_workload *workload,
	const struct tf_ladder *ladder, const struct tf_device_properties *properties, uint32_t world,
	struct tf_program *program, struct tf_error *err);

/* The buffer of (group, pair) with `role`; the plan laid them out so that this is arithmetic. */
uint32_t tf_plan_buffer(
	const struct tf_program *program, uint32_t group, uint32_t pair, enum tf_buffer_role role);

#define TF_PLAN_EVICT_NAME "startup.evict"

/* The name that a collective's named operand has in the program: "NAME.cCAPACITY". */
void tf_plan_operand_name(const char *name, uint32_t capacity, char out[TF_NAME_BYTES]);

/*
 * The name of an operand of group number `index`: as above where the workload (`foreign` may be
 * NULL) names it, else "GROUP.cCAPACITY.in.PAIR" or "...out.PAIR". Of a group's name that leaves no
 * room for the rest as much as fits, and ".gINDEX": names that begin alike still differ.
 */
void tf_plan_name_buffer(const struct tf_foreign *foreign, const struct tf_group *group,
	uint32_t index, int is_input, uint32_t pair, char out[TF_NAME_BYTES]);

/* TF_E_INVALID: the program has a buffer of that name, or will have. */
TF_WARN_UNUSED enum tf_status tf_plan_check_name(
	const struct tf_program *program, const char *name, struct tf_error *err);

/*
 * The buffer that a workload calls `name`: one of the user's own, or a named operand at a capacity;
 * TF_PROGRAM_NONE if absent.
 */
uint32_t tf_plan_named_buffer(
	const struct tf_program *program, const char *name, uint32_t capacity);

/* Index of a kernel by name, TF_PROGRAM_NONE if absent. */
uint32_t tf_plan_kernel(const struct tf_program *program, const char *name);

#ifdef __cplusplus
}
#endif
#endif
