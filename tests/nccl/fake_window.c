/* SPDX-License-Identifier: Apache-2.0 */
/* The fake NCCL's memory and its symmetric windows, each of which is its memory. */
#include <stdlib.h>

#include "tests/nccl/fake_communicator.h"

int ncclMemAlloc(void **out, size_t bytes)
{
	FAKE_ENTER(NULL);
	*out = aligned_alloc(TF_NCCL_WIN_ALIGNMENT_BYTES, bytes);
	return *out ? TF_NCCL_SUCCESS : TF_NCCL_UNHANDLED_CUDA_ERROR;
}

int ncclMemFree(void *memory)
{
	FAKE_ENTER(NULL);
	free(memory);
	return TF_NCCL_SUCCESS;
}

int ncclCommWindowRegister(
	struct tf_nccl_comm *comm, void *memory, size_t bytes, struct tf_nccl_window **out, int flags)
{
	FAKE_ENTER(comm);
	if ((uintptr_t)memory % TF_NCCL_WIN_ALIGNMENT_BYTES || !bytes ||
		flags != TF_NCCL_WIN_COLL_SYMMETRIC)
		return fake_leave(comm, TF_NCCL_INVALID_ARGUMENT);
	*out = fake_asked_number("FAKE_NCCL_NO_WINDOW", 0) ? NULL : (struct tf_nccl_window *)memory;
	return fake_leave(comm, TF_NCCL_SUCCESS);
}

int ncclCommWindowDeregister(struct tf_nccl_comm *comm, struct tf_nccl_window *window)
{
	(void)window;
	FAKE_ENTER(comm);
	return fake_leave(comm, TF_NCCL_SUCCESS);
}
