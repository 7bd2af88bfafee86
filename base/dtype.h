/* SPDX-License-Identifier: Apache-2.0 */
/* The words every part shares: operations, data types, and limits with their reasons. */
#ifndef TF_BASE_DTYPE_H
#define TF_BASE_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TF_WORLD_MIN  2
#define TF_WORLD_MAX  8  /* protocol memory grows with the square of it; one host of GPUs */
#define TF_NAME_BYTES 64 /* names of groups, buffers, kernels, with their end */

enum tf_op { TF_OP_ALL_REDUCE = 0, TF_OP_ALL_GATHER, TF_OP_REDUCE_SCATTER, TF_OP_COUNT };

enum tf_dtype { TF_DTYPE_BF16 = 0, TF_DTYPE_F16, TF_DTYPE_F32, TF_DTYPE_COUNT };

enum tf_algorithm {
	TF_ALGORITHM_ONE_SHOT =
		0,                 /* every rank sends everything to every rank, each reduces for itself */
	TF_ALGORITHM_TWO_SHOT, /* reduce-scatter, then all-gather of the rounded shards */
	TF_ALGORITHM_LIBRARY,  /* the writer's library chooses, size by size: nccl alone */
	TF_ALGORITHM_COUNT
};

enum tf_writer {
	TF_WRITER_LL = 0,
	TF_WRITER_SENTINEL,
	TF_WRITER_DIRECT,
	TF_WRITER_SERIAL,
	TF_WRITER_QUEUED,
	TF_WRITER_PULL,
	TF_WRITER_STAGED,
	TF_WRITER_COPY_ENGINE,
	TF_WRITER_NCCL,
	TF_WRITER_WIRE,
	TF_WRITER_COUNT
};

size_t tf_dtype_bytes(enum tf_dtype dtype);

/*
 * Names as files and people write them ("all_reduce", "bf16", "one_shot", "ll"); NULL out of
 * range.
 */
const char *tf_op_name(enum tf_op op);
const char *tf_dtype_name(enum tf_dtype dtype);
const char *tf_algorithm_name(enum tf_algorithm algorithm);
const char *tf_writer_name(enum tf_writer writer);

/* The value of a name, or -1. */
int tf_op_parse(const char *name);
int tf_dtype_parse(const char *name);
int tf_algorithm_parse(const char *name);
int tf_writer_parse(const char *name);

#ifdef __cplusplus
}
#endif
#endif
