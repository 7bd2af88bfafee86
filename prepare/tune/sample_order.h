/* SPDX-License-Identifier: Apache-2.0 */
/* The order of samples in a pass: a permutation without random numbers, different in every pass. */
#ifndef TF_PREPARE_TUNE_SAMPLE_ORDER_H
#define TF_PREPARE_TUNE_SAMPLE_ORDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fills order (slots) with the slots in the order of `pass`: walks by a stride coprime to the
 * count, near the golden section of it so that neighbours are of different groups, from a start
 * that moves with the pass by another coprime stride.
 */
void tf_sample_order(uint32_t slots, uint32_t pass, uint32_t *order);

#ifdef __cplusplus
}
#endif
#endif
