/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operations, data types, algorithms and writers. */
#include "base/dtype.h"

#include <string.h>

static const char *const op_names[TF_OP_COUNT] = {"all_reduce", "all_gather", "reduce_scatter"};
static const char *const dtype_names[TF_DTYPE_COUNT] = {"bf16", "f16", "f32"};
static const char *const algorithm_names[TF_ALGORITHM_COUNT] = {"one_shot", "two_shot", "library"};
static const char *const writer_names[TF_WRITER_COUNT] = {"ll", "sentinel", "direct", "serial",
	"queued", "pull", "staged", "copy_engine", "nccl", "wire"};

static const char *name_of(const char *const *names, int count, int value)
{
	return value >= 0 && value < count ? names[value] : NULL;
}

static int parse(const char *const *names, int count, const char *name)
{
	for (int i = 0; name && i < count; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -1;
}

size_t tf_dtype_bytes(enum tf_dtype dtype)
{
	return dtype == TF_DTYPE_F32 ? 4 : 2;
}

const char *tf_op_name(enum tf_op op)
{
	return name_of(op_names, TF_OP_COUNT, (int)op);
}

const char *tf_dtype_name(enum tf_dtype dtype)
{
	return name_of(dtype_names, TF_DTYPE_COUNT, (int)dtype);
}

const char *tf_algorithm_name(enum tf_algorithm algorithm)
{
	return name_of(algorithm_names, TF_ALGORITHM_COUNT, (int)algorithm);
}

const char *tf_writer_name(enum tf_writer writer)
{
	return name_of(writer_names, TF_WRITER_COUNT, (int)writer);
}

int tf_op_parse(const char *name)
{
	return parse(op_names, TF_OP_COUNT, name);
}

int tf_dtype_parse(const char *name)
{
	return parse(dtype_names, TF_DTYPE_COUNT, name);
}

int tf_algorithm_parse(const char *name)
{
	return parse(algorithm_names, TF_ALGORITHM_COUNT, name);
}

int tf_writer_parse(const char *name)
{
	return parse(writer_names, TF_WRITER_COUNT, name);
}
