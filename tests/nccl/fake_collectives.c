/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake NCCL's collectives: each call connects its peers, if they are not yet, and hands work to
 * its stream; all ranks' work meets twice, before the sums and behind them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/collective/numeric.h"
#include "tests/nccl/fake_communicator.h"
#include "tests/nccl/fake_stream.h"

struct work {
	struct tf_nccl_comm *comm;
	struct CUstream_st *stream;
	enum tf_op op;
	enum tf_dtype dtype;
	uint64_t count; /* of the input */
	const void *from;
	void *to;
};

/* NaNs as the additions of a GPU make them: all ones. */
static void put_own_nans(const struct work *work)
{
	uint64_t count = tf_owned_count(work->op, work->count, work->comm->rank, work->comm->world);
	uint16_t nan = work->dtype == TF_DTYPE_BF16 ? TF_NAN_BF16 : TF_NAN_F16;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t *whole = (uint32_t *)work->to + i;
		uint16_t *half = (uint16_t *)work->to + i;

		if (work->dtype == TF_DTYPE_F32 && *whole == TF_NAN_F32)
			*whole = 0x7fffffff;
		else if (work->dtype != TF_DTYPE_F32 && *half == nan)
			*half = 0x7fff;
	}
}

/* A sum in another order: off by some units of the last place. */
static void spoil(const struct work *work)
{
	int bits = fake_asked_number("FAKE_NCCL_BITS", 0);
	uint32_t whole;
	uint16_t half;

	if (work->op == TF_OP_ALL_GATHER)
		return;
	if (fake_asked_number("FAKE_NCCL_NAN", 0))
		put_own_nans(work);
	if (work->dtype == TF_DTYPE_F32) {
		memcpy(&whole, work->to, sizeof(whole));
		whole += (uint32_t)bits;
		memcpy(work->to, &whole, sizeof(whole));
		return;
	}
	memcpy(&half, work->to, sizeof(half));
	half = (uint16_t)(half + bits);
	memcpy(work->to, &half, sizeof(half));
}

static void exchange(const struct work *work, int is_bounded)
{
	struct tf_nccl_comm *comm = work->comm;
	struct fake_board *board = comm->board;
	const void *inputs[TF_WORLD_MAX];

	while (!fake_load(comm->aborted) && fake_asked_number("FAKE_NCCL_LATE", 0))
		usleep(1000);
	if (fake_load(comm->aborted))
		return;
	memcpy(board->slots[comm->rank], work->from, work->count * tf_dtype_bytes(work->dtype));
	for (unsigned r = 0; r < comm->world; r++)
		inputs[r] = board->slots[r];
	if (fake_meet(comm, board->worked, ++comm->works, is_bounded) != 0) {
		/* As NCCL's kernels do: sent back, they go on, and a late peer finds what they had. */
		memset(board->slots[comm->rank], 0, work->count * tf_dtype_bytes(work->dtype));
		fake_store(&board->worked[comm->rank], ++comm->works);
		return;
	}
	tf_reference(work->op, work->dtype, comm->world, comm->rank, work->count, inputs, work->to);
	spoil(work);
	(void)fake_meet(comm, board->worked, ++comm->works, is_bounded);
}

/* On a stream of its own: `pending` since the call. */
static void run(void *user)
{
	const struct work *work = user;

	exchange(work, work->comm->is_alone);
	fake_add(&work->comm->pending, -1);
}

/*
 * On the fake driver: now, or each time that a graph is launched. The launching thread is in it, so
 * no abort of its own can send it back.
 */
static void run_on_driver(void *user)
{
	const struct work *work = user;
	struct tf_nccl_comm *comm = work->comm;

	fake_add(&comm->pending, 1);
	if (fake_load(&comm->has_ended))
		fake_note("VIOLATION: work of a communicator that has ended\n");
	else
		exchange(work, 1);
	fake_add(&comm->pending, -1);
}

/* 1: aborted while it waited for its peers. */
static int connect_peers(struct tf_nccl_comm *comm)
{
	if (!comm->is_connected &&
		fake_meet(comm, comm->board->called, ++comm->calls, comm->is_alone) != 0)
		return 1;
	comm->is_connected = 1;
	return 0;
}

/* Takes `work`. A result of NCCL's. */
static int to_stream(struct work *work)
{
	struct tf_nccl_comm *comm = work->comm;
	int result = TF_NCCL_SUCCESS;

	if (fake_stream_is_driver()) {
		if (fake_stream_is_captured(work->stream))
			fake_note("rank %u: capture\n", comm->rank);
		if (fake_stream_to_driver(work->stream, run_on_driver, work, sizeof(*work)))
			result = TF_NCCL_UNHANDLED_CUDA_ERROR;
		free(work);
		return result;
	}
	fake_add(&comm->pending, 1);
	if (work->stream) {
		fake_stream_push(work->stream, run, work);
		return result;
	}
	run(work);
	free(work);
	return fake_load(comm->aborted) ? TF_NCCL_INTERNAL_ERROR : result;
}

static void *launch(void *user)
{
	struct work *work = user;
	struct tf_nccl_comm *comm = work->comm;

	if (connect_peers(comm)) {
		free(work);
		fake_store(&comm->state, TF_NCCL_INTERNAL_ERROR);
	} else {
		fake_store(&comm->state, to_stream(work));
	}
	fake_add(&comm->pending, -1);
	return NULL;
}

static int enqueue(const struct work *what)
{
	struct tf_nccl_comm *comm = what->comm;
	int failure = fake_asked("FAKE_NCCL_FAIL", "captured");
	struct work *work;
	pthread_t thread;

	if (failure && fake_stream_is_captured(what->stream))
		return fake_leave(comm, failure);
	if (what->count * tf_dtype_bytes(what->dtype) > FAKE_SLOT_BYTES)
		return fake_leave(comm, TF_NCCL_INVALID_ARGUMENT);
	work = malloc(sizeof(*work));
	if (!work)
		abort();
	*work = *what;
	__atomic_store_n(&comm->given, what->from, __ATOMIC_RELEASE);
	if (comm->parent)
		__atomic_store_n(&comm->parent->given, what->from, __ATOMIC_RELEASE);
	fake_add(&comm->pending, 1);
	if (comm->blocking) {
		launch(work);
		return fake_leave(comm, fake_load(&comm->state));
	}
	fake_store(&comm->state, TF_NCCL_IN_PROGRESS);
	if (pthread_create(&thread, NULL, launch, work) != 0)
		abort();
	pthread_detach(thread);
	return fake_leave(comm, TF_NCCL_IN_PROGRESS);
}

static enum tf_dtype dtype_of(int dtype)
{
	return dtype == TF_NCCL_FLOAT32 ? TF_DTYPE_F32
		: dtype == TF_NCCL_FLOAT16  ? TF_DTYPE_F16
									: TF_DTYPE_BF16;
}

int ncclAllReduce(const void *from, void *to, size_t count, int dtype, int op,
	struct tf_nccl_comm *comm, struct CUstream_st *stream)
{
	struct work work = {comm, stream, TF_OP_ALL_REDUCE, dtype_of(dtype), count, from, to};

	FAKE_ENTER(comm);
	return op == TF_NCCL_SUM ? enqueue(&work) : fake_leave(comm, TF_NCCL_INVALID_ARGUMENT);
}

int ncclAllGather(const void *from, void *to, size_t send_count, int dtype,
	struct tf_nccl_comm *comm, struct CUstream_st *stream)
{
	struct work work = {comm, stream, TF_OP_ALL_GATHER, dtype_of(dtype), send_count, from, to};

	FAKE_ENTER(comm);
	return enqueue(&work);
}

int ncclReduceScatter(const void *from, void *to, size_t receive_count, int dtype, int op,
	struct tf_nccl_comm *comm, struct CUstream_st *stream)
{
	struct work work = {
		comm, stream, TF_OP_REDUCE_SCATTER, dtype_of(dtype), receive_count, from, to};

	FAKE_ENTER(comm);
	work.count *= comm->world;
	return op == TF_NCCL_SUM ? enqueue(&work) : fake_leave(comm, TF_NCCL_INVALID_ARGUMENT);
}
