/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proving a package in fresh processes: load it by the runtime's own path at another base, run
 * every capacity, compare bytes.
 */
#ifndef TF_PREPARE_EXPORT_PACKAGE_CHECK_H
#define TF_PREPARE_EXPORT_PACKAGE_CHECK_H

#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Each of `world` fresh ranks opens a session on `path` at another window base than preparation
 * takes first, probes every capacity bytewise, repeats each step and compares again, and counts
 * allocations of the repeated steps: there must be none. Statuses as tf_session_open;
 * TF_E_MISMATCH, TF_E_INTERNAL (a step allocated).
 */
TF_WARN_UNUSED enum tf_status tf_package_check_fresh(const char *path, uint32_t world,
	const char *device, int64_t timeout_ns, const volatile int *interrupted, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
