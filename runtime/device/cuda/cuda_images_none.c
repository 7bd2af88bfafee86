/* SPDX-License-Identifier: Apache-2.0 */
/* A build without kernels for CUDA devices: images come from packages alone. */
#include "runtime/device/cuda/cuda_images.h"

const struct tf_cuda_image tf_cuda_images[] = {{0, NULL, 0, NULL}};
