/* SPDX-License-Identifier: Apache-2.0 */
/* The file descriptors that segments of CUDA devices travel as. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_DESCRIPTOR_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_DESCRIPTOR_H

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* TF_E_MISFIT: what `fd` is certainly comes from no driver; TF_E_SYSTEM: it is no descriptor. */
TF_WARN_UNUSED enum tf_status tf_cuda_descriptor_check(int fd, struct tf_error *err);

/* Whether both are of one segment; also where the kernel cannot tell. */
int tf_cuda_descriptor_is_same(int one, int other);

#ifdef __cplusplus
}
#endif
#endif
