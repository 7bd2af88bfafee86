/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's side of a build without CUDA: it is missing, and every other function is out of reach. */
#include <stdio.h>

#include "prepare/bench/nccl_side.h"

enum tf_status tf_nccl_side_open(struct tf_bench_rank *rank, struct tf_nccl_side **out,
	struct tf_nccl_found *found, struct tf_error *err)
{
	(void)rank, (void)err;
	snprintf(found->missing, sizeof(found->missing), "this build is without CUDA");
	*out = NULL;
	return TF_OK;
}

enum tf_status tf_nccl_side_close(struct tf_nccl_side *side, struct tf_error *err)
{
	(void)side, (void)err;
	return TF_OK;
}

int tf_nccl_side_has(const struct tf_nccl_side *side, enum tf_nccl_memory memory)
{
	(void)side, (void)memory;
	return 0;
}

void *tf_nccl_side_at(
	const struct tf_nccl_side *side, enum tf_nccl_memory memory, const struct tf_buffer *buffer)
{
	(void)side, (void)memory, (void)buffer;
	return NULL;
}

static enum tf_status fail(struct tf_error *err)
{
	return TF_FAIL(err, TF_E_UNAVAILABLE, "NCCL: this build is without CUDA");
}

enum tf_status tf_nccl_side_write(
	struct tf_nccl_side *side, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	(void)side, (void)to, (void)from, (void)bytes;
	return fail(err);
}

enum tf_status tf_nccl_side_read(
	struct tf_nccl_side *side, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	(void)side, (void)to, (void)from, (void)bytes;
	return fail(err);
}

enum tf_status tf_nccl_side_build(struct tf_nccl_side *side, enum tf_nccl_memory memory,
	uint32_t first_group, uint32_t group_count, struct tf_exec **out, struct tf_error *err)
{
	(void)side, (void)memory, (void)first_group, (void)group_count, (void)out;
	return fail(err);
}
