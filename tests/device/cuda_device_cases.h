/* SPDX-License-Identifier: Apache-2.0 */
/* What cuda_device_test is made of: its tests beside those of its own file, and what they share. */
#ifndef TF_TESTS_DEVICE_CUDA_DEVICE_CASES_H
#define TF_TESTS_DEVICE_CUDA_DEVICE_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MIB (UINT64_C(1) << 20)

/* The driver's functions that the device asks for. */
extern const char *const cuda_names[];
extern const size_t cuda_name_count;

/* Fails the test unless the error is of that status and has these words. */
void check_text(const struct tf_error *err, enum tf_status status, const char *words);

/* cuda_device_work.c */
void test_texts(void **state);
void test_every_failure(void **state);
void test_capture(void **state);
void test_capture_failures(void **state);

/* cuda_device_windows.c */
void test_base_beside_a_pool(void **state);
void test_base_free_again(void **state);
void test_second_device_joins(void **state);
void test_devices_without_peers(void **state);

#ifdef __cplusplus
}
#endif
#endif
