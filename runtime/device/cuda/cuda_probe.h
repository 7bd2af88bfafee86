/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this machine has a CUDA driver and devices, without linking or needing either. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_PROBE_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_PROBE_H

#include <stdint.h>

#include "base/deadline.h"
#include "base/error.h"
#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_cuda_probe {
	uint32_t driver_version; /* 1000 * major + 10 * minor, the driver's own form */
	uint32_t device_count;   /* at least 1 */
	/* of the first devices, in the driver's order and spelling: "0000:1A:00.0" */
	char bus_ids[TF_WORLD_MAX][TF_DEVICE_BUS_ID_BYTES];
};

/*
 * Opens libcuda.so.1 and asks it. The library stays open for the life of the process, because its
 * threads may outlive the question. Any thread.
 * TF_E_UNAVAILABLE: no library, a symbol is missing, the driver fails (its code is in `native`),
 * or it has no device.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_probe(struct tf_cuda_probe *out, struct tf_error *err);

/*
 * The same in a child process, because asking initialises the driver, and an initialised driver
 * does not survive a later fork. The caller is single-threaded. Also TF_E_UNAVAILABLE: the child
 * gave no answer within TF_CUDA_PROBE_NS, or died over it; TF_E_SYSTEM: there could be no child.
 */
#define TF_CUDA_PROBE_NS (30 * TF_NS_PER_S) /* several devices without a persistent driver */
TF_WARN_UNUSED enum tf_status tf_cuda_probe_apart(struct tf_cuda_probe *out, struct tf_error *err);

/*
 * The roster of a kind: of "host" without a question, else as `probe`, one of these two, answers.
 * Statuses as tf_device_ops_find and the probe's.
 */
TF_WARN_UNUSED enum tf_status tf_device_roster_by(const char *kind,
	enum tf_status (*probe)(struct tf_cuda_probe *out, struct tf_error *err),
	struct tf_device_roster *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
