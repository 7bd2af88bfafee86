/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that no single layer can make: container against catalog, picks against samples. */
#ifndef TF_PREPARE_PACKAGE_PROOF_H
#define TF_PREPARE_PACKAGE_PROOF_H

#include "prepare/package_view.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every member but the catalog stands in the catalog with its size and digest, and the other way
 * round. Reads all members. TF_E_INVALID: one side lacks it, or the sizes differ; TF_E_DAMAGED: the
 * digest is another.
 */
TF_WARN_UNUSED enum tf_status tf_proof_members(
	const struct tf_package_view *view, struct tf_error *err);

/*
 * Medians and intervals are those of the samples, and each selector is what the rule of selection
 * gives for the samples of the second stage. TF_E_INVALID names group, capacity and candidate.
 */
TF_WARN_UNUSED enum tf_status tf_proof_selection(
	const struct tf_program *program, struct tf_error *err);

/*
 * The samples of one candidate and stage (0 or 1) by pass, TF_NS_NONE where there is none. `out`
 * holds TF_PASSES. Returns whether all are there.
 */
int tf_program_samples(
	const struct tf_program *program, uint32_t candidate, int stage, uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
