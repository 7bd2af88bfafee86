/* SPDX-License-Identifier: Apache-2.0 */
/* Host bodies of the startup graph's kernels, for the host module's table. */
#ifndef TF_RUNTIME_COLLECTIVE_STARTUP_HOST_H
#define TF_RUNTIME_COLLECTIVE_STARTUP_HOST_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_SLOTS_PER_GROUP_MAX 256 /* rungs of a ladder */

/*
 * The clock of the samples in a group of `world` ranks here: "monotonic", "thread-cpu" where ranks
 * share CPUs, or "virtual" where this thread has an attached clock (virtual_clock.h).
 */
const char *tf_host_sample_clock(uint32_t world);

void tf_host_pass_begin(const struct tf_launch_call *call);
void tf_host_sample_begin(const struct tf_launch_call *call);
void tf_host_sample_end(const struct tf_launch_call *call);
void tf_host_select(const struct tf_launch_call *call);

#ifdef __cplusplus
}
#endif
#endif
