/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA kernels against the reference, and their chains against the clock. */
#ifndef TF_TESTS_GPU_KERNELS_CHECK_H
#define TF_TESTS_GPU_KERNELS_CHECK_H

#include <stdint.h>

/*
 * 0 if every kernel gave the reference's bytes. Of the matrix and the sequences one batch in
 * `one_in` is run: all where it is 1; more where a tool that watches takes a hundred times as long.
 */
int kernels_check(uint32_t device_count, uint64_t deadline_ns, uint32_t one_in);

struct kernels_bench_options {
	uint64_t deadline_ns;
	const char *log; /* gets every launch measured, or is NULL */
	/* Bits of enum tf_op and of the rig's writers; all of both, beside NCCL, where both are 0. */
	uint32_t ops, writers;
};

/*
 * Chains of calls in one graph, over sizes, launches and writers, beside NCCL where its library is
 * found. 0 if the winners gave the right bytes.
 */
int kernels_bench(uint32_t device_count, const struct kernels_bench_options *options);

#endif
