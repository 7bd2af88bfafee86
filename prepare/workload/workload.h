/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload: what a step of the engine asks of the collectives. A kind of workload is an ops
 * struct; today `groups` (collectives only, and kernels of the user's own between
 * them). Read from YAML, built in or from a file.
 */
#ifndef TF_PREPARE_WORKLOAD_WORKLOAD_H
#define TF_PREPARE_WORKLOAD_WORKLOAD_H

#include "base/dtype.h"
#include "base/error.h"
#include "catalog/program.h"
#include "prepare/workload/foreign.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_WORKLOAD_CAPACITIES_MAX 32
#define TF_WORKLOAD_GROUPS_MAX     4096
#define TF_CAPACITY_MAX            65536 /* rows */

struct tf_workload {
	char name[TF_NAME_BYTES];
	char *summary;
	uint32_t capacities[TF_WORKLOAD_CAPACITIES_MAX]; /* rising */
	uint32_t capacity_count;
	struct tf_group *groups; /* one per (collective, capacity), ordered by (capacity, file order) */
	uint32_t group_count;
	char *any_numerics; /* names of the collectives so marked, a blank between two; NULL: none */
	struct tf_foreign *foreign; /* a step of its own, with kernels; NULL: groups take turns */
};

/*
 * YAML:
 *   name: decode-window
 *   summary: one sentence
 *   capacities: [1]
 *   groups:
 *     - name: exchange        # [A-Za-z0-9._-]+
 *       op: all_gather        # all_reduce | all_gather | reduce_scatter
 *       dtype: bf16           # bf16 | f16 | f32
 *       row_elements: 4096    # elements a row of one rank's input
 *       times: 86             # calls a step, default 1
 *       buffer_pairs: 86      # distinct operands, default min(times, 4)
 *       numerics: any         # rank_order | any, default rank_order; sums only
 *       capacities: [1, 2]    # optional subset of the workload's
 * and, together with a `step`, what docs/WORKLOADS.md describes.
 * TF_E_INVALID names source, line, field, what was found and what is allowed.
 */
TF_WARN_UNUSED enum tf_status tf_workload_parse(const char *text, size_t size, const char *source,
	struct tf_workload *out, struct tf_error *err);
/*
 * `name` is a built-in's name, or a path if it contains '/' or ends in .yaml; TF_E_NOT_FOUND lists
 * the built-ins.
 */
TF_WARN_UNUSED enum tf_status tf_workload_load(
	const char *name, struct tf_workload *out, struct tf_error *err);
/*
 * Keeps only the given capacities ("1,2,8"); TF_E_USAGE names one that the workload does not have.
 */
TF_WARN_UNUSED enum tf_status tf_workload_restrict(
	struct tf_workload *workload, const char *list, struct tf_error *err);
/* Marks a collective whose sums may be of another numerics class. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_workload_allow_any(
	struct tf_workload *workload, const char *name, struct tf_error *err);
void tf_workload_fini(struct tf_workload *workload);

#ifdef __cplusplus
}
#endif
#endif
