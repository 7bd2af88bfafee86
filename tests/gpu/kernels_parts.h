/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the check, each on a rig of any world; what they find is in kernels_tally. */
#ifndef TF_TESTS_GPU_KERNELS_PARTS_H
#define TF_TESTS_GPU_KERNELS_PARTS_H

#include "tests/gpu/kernels_rig.h"

#define STARTUP_GROUPS 2
#define STARTUP_SLOTS  5

/* kernels_batches.c; of the first two one batch in `one_in` is run, counted over all rigs. */
void kernels_matrix(struct rig *rig, uint32_t one_in);
void kernels_sequences(struct rig *rig, uint32_t one_in);
void kernels_copies(struct rig *rig);

/* kernels_faults.c; `kernel`: (algorithm, writer) of all_reduce. The first two on two ranks. */
void kernels_absent_peer(struct rig *rig, int kernel);
void kernels_refused(struct rig *rig);
void kernels_masked(struct rig *rig);
void kernels_counters(struct rig *rig);

/* kernels_startup.c; the rig has STARTUP_GROUPS and STARTUP_SLOTS. */
void kernels_startup(struct rig *rig);

#endif
