/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that tests of devices and graphs launch: order, visibility and bounded waits in small.
 */
#ifndef TF_TESTS_DEVICE_DEVICE_KERNELS_H
#define TF_TESTS_DEVICE_DEVICE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tf_host_kernel;

/* "test_append": log->values[log->count++] = value; CUDA: atomically. */
struct test_log {
	uint32_t count;
	uint32_t values[];
};

struct test_append_args {
	struct test_log *log;
	uint32_t value;
	uint32_t padding;
};

/* "test_store": *to = value, with release order. */
struct test_store_args {
	uint64_t *to;
	uint64_t value;
};

/* "test_arrive": waits at most timeout_ns for *at == value (acquire), then *result = it came. */
struct test_arrive_args {
	const uint64_t *at;
	uint64_t value;
	int64_t timeout_ns;
	uint64_t *result;
};

/*
 * "test_until": host: returns when the clock has reached until_ns; CUDA, whose clock is another
 * one: after lasts_ns.
 */
struct test_until_args {
	int64_t until_ns;
	int64_t lasts_ns;
};

/* "test_mix": out[i] = (in ? in[i] : 0) * 31 + salt + rank, for i < count. */
struct test_mix_args {
	uint64_t *out;
	const uint64_t *in; /* may be NULL */
	uint64_t salt;
	uint32_t rank;
	uint32_t count;
};

/* The table: (count) kernels. */
const struct tf_host_kernel *test_kernels(size_t *out_count);

/* Registers the table with the host's built-in module; call once, before the first device. */
void test_kernels_register(void);

#ifdef __cplusplus
}
#endif
#endif
