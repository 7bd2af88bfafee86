/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of addresses that windows are made in. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_RESERVE_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_RESERVE_H

#include "runtime/device/cuda/cuda_api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reserves at least `bytes` of addresses from `base`, or anywhere where that is 0, aligned to
 * `granularity_bytes`. *out_base and *out_bytes are what cuMemAddressFree takes. TF_E_MISFIT: the
 * range at `base` is taken or out of reach; another one may be free. Else what the driver says.
 * Needs a current context.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_reserve(const struct tf_cuda_api *api, uint64_t base,
	uint64_t bytes, uint64_t granularity_bytes, uint64_t *out_base, uint64_t *out_bytes,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
