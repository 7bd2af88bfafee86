/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another library's results beside the reference. Gathered bytes must be equal. Sums may be made in
 * another order and rounded more than once, each rounding by half a unit of the type in the last
 * place: an element is right if it differs by no more than world roundings of the sum of
 * magnitudes.
 */
#ifndef TF_RUNTIME_COLLECTIVE_OUTPUT_CHECK_H
#define TF_RUNTIME_COLLECTIVE_OUTPUT_CHECK_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tf_output_verdict { TF_OUTPUT_EQUAL = 0, TF_OUTPUT_ROUNDED, TF_OUTPUT_WRONG };

/*
 * `expected` and `found` are this rank's outputs (output bytes), inputs[r] is rank r's input.
 * Elements that the rank does not own are not looked at. out_element is the first wrong one.
 */
enum tf_output_verdict tf_output_check(const struct tf_group *group, uint32_t world, uint32_t rank,
	const void *const *inputs, const void *expected, const void *found, uint64_t *out_element);

/* Element `index` of an array of the type, as a number. */
double tf_output_element(enum tf_dtype dtype, const void *array, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
