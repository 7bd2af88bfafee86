/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that are built into the runtime, as images for the driver. The table comes from
 * the target tf_cuda_images where the build has one, else it is empty (cuda_images_none.c).
 */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_IMAGES_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_cuda_image {
	uint32_t compute_capability; /* 90 for a cubin of sm_90; 0: PTX, which every device takes */
	const void *bytes;           /* NULL ends the table; PTX ends with a zero byte */
	size_t size;                 /* PTX: that zero byte included */
	const char *name;            /* for messages: the source's name */
};

extern const struct tf_cuda_image tf_cuda_images[];

/*
 * The image that a device of this compute capability runs: made for it, else PTX; the first in
 * the table. NULL where there is none.
 */
const struct tf_cuda_image *tf_cuda_image_for(uint32_t compute_capability);

/*
 * SHA-256 of that image's bytes: what module_load with image NULL wants as `digest`.
 * TF_E_NOT_FOUND: this build has no kernels for it, with those that it has.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_module_digest(
	uint32_t compute_capability, uint8_t out[32], struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
