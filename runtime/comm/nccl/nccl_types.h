/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's own types and constants, as its binary interface has them: the tree builds without nccl.h,
 * and a test holds every one against nccl.h where a machine has it. Names are NCCL's with tf_ in
 * front, so that a file may include both.
 */
#ifndef TF_RUNTIME_COMM_NCCL_NCCL_TYPES_H
#define TF_RUNTIME_COMM_NCCL_NCCL_TYPES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How NCCL writes versions since 2.9. */
#define TF_NCCL_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

#define TF_NCCL_UNIQUE_ID_BYTES 128

struct CUstream_st; /* CUstream and cudaStream_t point to it */
struct tf_nccl_comm;
struct tf_nccl_window;

struct tf_nccl_unique_id {
	char internal[TF_NCCL_UNIQUE_ID_BYTES];
};

enum tf_nccl_result {
	TF_NCCL_SUCCESS = 0,
	TF_NCCL_UNHANDLED_CUDA_ERROR = 1,
	TF_NCCL_SYSTEM_ERROR = 2,
	TF_NCCL_INTERNAL_ERROR = 3,
	TF_NCCL_INVALID_ARGUMENT = 4,
	TF_NCCL_INVALID_USAGE = 5,
	TF_NCCL_REMOTE_ERROR = 6,
	TF_NCCL_IN_PROGRESS = 7
};

/*
 * The configuration as of 2.18: `size` and `version` tell newer libraries which members there are,
 * and they take their defaults for the others.
 */
struct tf_nccl_config {
	size_t size;
	unsigned magic, version;
	int blocking, cga_cluster_size, min_ctas, max_ctas;
	const char *net_name;
	int split_share;
};

#define TF_NCCL_CONFIG_MAGIC 0xcafebeefu
#define TF_NCCL_UNDEF        INT_MIN
/* Every member left to the library. */
#define TF_NCCL_CONFIG_DEFAULT                                                                     \
	{                                                                                              \
		sizeof(struct tf_nccl_config), TF_NCCL_CONFIG_MAGIC, TF_NCCL_VERSION(2, 18, 0),            \
			TF_NCCL_UNDEF, TF_NCCL_UNDEF, TF_NCCL_UNDEF, TF_NCCL_UNDEF, NULL, TF_NCCL_UNDEF        \
	}

#define TF_NCCL_SPLIT_NOCOLOR (-1)
#define TF_NCCL_SUM           0 /* ncclRedOp_t */

#define TF_NCCL_WIN_COLL_SYMMETRIC  1
#define TF_NCCL_WIN_ALIGNMENT_BYTES 4096

/* ncclDataType_t of a type; a constant expression for each. */
#define TF_NCCL_FLOAT16  6
#define TF_NCCL_FLOAT32  7
#define TF_NCCL_BFLOAT16 9

static inline int tf_nccl_dtype(enum tf_dtype dtype)
{
	return dtype == TF_DTYPE_F32 ? TF_NCCL_FLOAT32
		: dtype == TF_DTYPE_F16  ? TF_NCCL_FLOAT16
								 : TF_NCCL_BFLOAT16;
}

#ifdef __cplusplus
}
#endif
#endif
