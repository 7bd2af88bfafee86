/* SPDX-License-Identifier: Apache-2.0 */
/* Without a compiler for the test kernels: some bytes, which only the fake driver accepts. */
#include "tests/device/test_image.h"

const unsigned char test_image[] = "no image";
const size_t test_image_bytes = 0;
