/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer's entry, called by libFuzzer or by the replay. */
#ifndef TF_TESTS_CATALOG_FUZZ_CATALOG_H
#define TF_TESTS_CATALOG_FUZZ_CATALOG_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
