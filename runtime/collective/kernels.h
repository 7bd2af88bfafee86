/* SPDX-License-Identifier: Apache-2.0 */
/* The host bodies of the collective kernels, one row a kernel. */
#ifndef TF_RUNTIME_COLLECTIVE_KERNELS_H
#define TF_RUNTIME_COLLECTIVE_KERNELS_H

#include "runtime/collective/collective.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_collective_kernel {
	const char *name;
	enum tf_op op;
	enum tf_algorithm algorithm;
	enum tf_writer writer;
};

/* All of them; count in out_count. */
const struct tf_collective_kernel *tf_collective_kernels(uint32_t *out_count);

/*
 * Runs one collective on the calling thread, which stands for args->rank. A failure is in the
 * rank's fault. Not for copy_engine, which is more than a kernel (copy_engine.h).
 */
void tf_collective_host_run(const struct tf_collective_args *args, enum tf_op op,
	enum tf_algorithm algorithm, enum tf_writer writer);

#ifdef __cplusplus
}
#endif
#endif
