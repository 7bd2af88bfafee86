/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's collectives as a chain in a graph, two ranks on two devices of this process. */
#ifndef TF_TESTS_GPU_KERNELS_NCCL_H
#define TF_TESTS_GPU_KERNELS_NCCL_H

#include <stdint.h>

#include "tests/gpu/kernels_rig.h"

#define NCCL_SIZES_MAX 16

/*
 * Median over graph launches of ns a call, for each op and size (input bytes of a rank); 0 where
 * not measured. Buffers are the rig's area 0. Returns at `deadline_ns` at the latest: what has
 * not been measured by then stays 0, and the threads are left behind. 0: all measured.
 */
int kernels_nccl(const struct rig *rig, const uint64_t *sizes, uint32_t size_count, uint32_t chain,
	uint64_t deadline_ns, volatile uint64_t out[TF_OP_COUNT][NCCL_SIZES_MAX]);

#endif
