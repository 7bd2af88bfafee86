/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of tests/gpu/device_test_kernels.cu as an image for the driver. */
#ifndef TF_TESTS_DEVICE_TEST_IMAGE_H
#define TF_TESTS_DEVICE_TEST_IMAGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const unsigned char test_image[];
extern const size_t test_image_bytes; /* 0 where the build has no compiler for it */

#ifdef __cplusplus
}
#endif
#endif
