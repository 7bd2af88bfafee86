/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of one's own on the host device: what a shared object must hold so that a workload may
 * name it as a module with `device: host`.
 *
 * For a kernel NAME the object has two symbols:
 *
 *     void NAME(const struct tfrun_host_launch *launch);
 *     const struct tfrun_host_params NAME_params;
 *
 * The function runs all blocks of the launch, on the thread that calls it, and returns when they
 * are done. It may be called by several threads at once and must keep no state of its own. The
 * parameters say where each argument lies in `launch->args`, exactly as a GPU's driver tells it of
 * a kernel with the same argument list: each at the next multiple of its own alignment, in order.
 * The object is loaded from memory: it may depend on the C library, not on files beside it.
 */
#ifndef TFRUN_HOST_KERNEL_H
#define TFRUN_HOST_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when these structs do; an object of another version is refused. */
#define TFRUN_HOST_KERNEL_VERSION 1

#define TFRUN_HOST_PARAMS_MAX 32

/* One launch; everything is borrowed for the call. `args` is aligned to 16 bytes. */
struct tfrun_host_launch {
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	uint32_t args_bytes;
	const void *args;
};

struct tfrun_host_param {
	uint32_t off, bytes;
};

struct tfrun_host_params {
	uint32_t version;                                      /* TFRUN_HOST_KERNEL_VERSION */
	uint32_t count;                                        /* 1 to TFRUN_HOST_PARAMS_MAX */
	struct tfrun_host_param params[TFRUN_HOST_PARAMS_MAX]; /* rising, without overlap */
};

typedef void (*tfrun_host_kernel_fn)(const struct tfrun_host_launch *launch);

#ifdef __cplusplus
}
#endif
#endif
