# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=x.fatbin -DOUT=x.c -P embed_image.cmake: the image as tests/device/test_image.h declares it.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "/* Generated from device_test_kernels.cu. */
#include \"tests/device/test_image.h\"

const unsigned char test_image[] = {
\t${bytes}
};
const size_t test_image_bytes = sizeof(test_image);
")
