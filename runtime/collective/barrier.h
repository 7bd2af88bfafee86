/* SPDX-License-Identifier: Apache-2.0 */
/* The rendezvous of all ranks, on the flag lines of the control words. */
#ifndef TF_RUNTIME_COLLECTIVE_BARRIER_H
#define TF_RUNTIME_COLLECTIVE_BARRIER_H

#include <stdint.h>

#include "runtime/collective/control.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns 0 once every rank has called it as often as this one, and what they wrote before is
 * visible. Else the code of the fault, which is recorded under `group` (bounded by timeout_ns,
 * ended by the abort word); the code of an earlier fault at once. control[k] is the segment of
 * rank (rank + k) mod world.
 */
int tf_barrier(
	struct tf_control *const control[TF_WORLD_MAX], uint32_t rank, uint32_t world, uint32_t group);

#ifdef __cplusplus
}
#endif
#endif
