/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modes exchange and eager: the same bytes by another way, of operations in the one and of
 * communicators in the other, whose times are then set side by side.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "tests/rank/rank_modes.h"

#define EAGER_SIZE   4096 /* BF16: 8 KiB */
#define EAGER_WARM   20
#define EAGER_CALLS  200
#define EAGER_ROUNDS 5

/* ---- exchange ---- */

struct exchange {
	void *from, *sum, *shard, *gathered;
	uint16_t *host, *other;
};

static enum tf_status open_exchange(
	struct rank_job *job, struct exchange *ex, uint64_t count, struct tf_error *err)
{
	uint64_t bytes = count * 2, state = 1 + tf_link_rank(job->link);

	ex->host = malloc(bytes);
	ex->other = malloc(bytes);
	if (!ex->host || !ex->other)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for an exchange");
	/* BF16 of any sign and mantissa, exponents 120 to 135: sums that round. */
	for (uint64_t i = 0; i < count; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		ex->host[i] = (uint16_t)((state >> 33 & 0x8000) | (120 + (state >> 40 & 15)) << 7 |
			(state >> 50 & 127));
	}
	TF_TRY(rank_device_alloc(&job->device, bytes, &ex->from, err));
	TF_TRY(rank_device_alloc(&job->device, bytes, &ex->sum, err));
	TF_TRY(rank_device_alloc(&job->device, bytes, &ex->shard, err));
	TF_TRY(rank_device_alloc(&job->device, bytes, &ex->gathered, err));
	return rank_device_write(&job->device, ex->from, ex->host, bytes, err);
}

static void close_exchange(struct rank_job *job, struct exchange *ex)
{
	rank_device_free(&job->device, ex->from);
	rank_device_free(&job->device, ex->sum);
	rank_device_free(&job->device, ex->shard);
	rank_device_free(&job->device, ex->gathered);
	free(ex->host);
	free(ex->other);
}

static enum tf_status exchange_rows(struct rank_job *job, struct tf_nccl_communicator *comm,
	struct exchange *ex, uint32_t rows, struct tf_error *err)
{
	uint32_t world = tf_link_world(job->link);
	uint64_t count = (uint64_t)rows * job->row_elements / world * world;
	struct CUstream_st *stream = job->device.stream;
	const struct tf_nccl_collective calls[] = {
		{TF_OP_ALL_REDUCE, TF_DTYPE_BF16, count, ex->from, ex->sum},
		{TF_OP_REDUCE_SCATTER, TF_DTYPE_BF16, count, ex->from, ex->shard},
		{TF_OP_ALL_GATHER, TF_DTYPE_BF16, count / world, ex->shard, ex->gathered}};

	for (unsigned i = 0; i < 3; i++)
		TF_TRY(tf_nccl_communicator_enqueue(comm, &calls[i], stream, err));
	TF_TRY(tf_nccl_communicator_wait(comm, job->timeout_ns, rank_device_wait, &job->device, err));
	TF_TRY(rank_device_read(&job->device, ex->host, ex->sum, count * 2, err));
	TF_TRY(rank_device_read(&job->device, ex->other, ex->gathered, count * 2, err));
	for (uint64_t i = 0; i < count; i++)
		if (ex->host[i] != ex->other[i])
			return TF_FAIL(err, TF_E_MISMATCH,
				"%u rows: element %" PRIu64 " is %04x, and %04x by reduce-scatter and all-gather",
				rows, i, ex->host[i], ex->other[i]);
	return TF_OK;
}

enum tf_status rank_mode_exchange(struct rank_job *job, struct tf_error *err)
{
	static const uint32_t rows[] = {65, 127, 128, 257, 512, 1000, 2048, 4096, 8191, 8192};
	struct exchange ex = {0};
	struct tf_nccl_communicator *comm = NULL;
	enum tf_status status;
	unsigned done = 0;

	TF_TRY(rank_job_open_comm(job, job->across, NULL, &comm, err));
	status = open_exchange(job, &ex, (uint64_t)job->rows_max * job->row_elements, err);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]) && status == TF_OK; i++) {
		if (rows[i] > job->rows_max)
			continue;
		status = exchange_rows(job, comm, &ex, rows[i], err);
		done++;
	}
	close_exchange(job, &ex);
	TF_TRY(status);
	(void)rank_job_tell(job,
		"reduce-scatter and all-gather equal all-reduce at %u sizes of %u to %u rows "
		"of %u elements",
		done, rows[0], job->rows_max, job->row_elements);
	return rank_job_close_comm(job, comm, err);
}

/* ---- eager ---- */

static enum tf_status time_calls(struct rank_job *job, struct tf_nccl_communicator *comm,
	const struct tf_nccl_collective *what, unsigned calls, int64_t *out_ns, struct tf_error *err)
{
	int64_t began;

	TF_TRY(rank_job_meet(job, err));
	began = tf_now_ns();
	for (unsigned i = 0; i < calls; i++)
		TF_TRY(tf_nccl_communicator_enqueue(comm, what, job->device.stream, err));
	TF_TRY(tf_nccl_communicator_wait(comm, job->timeout_ns, rank_device_wait, &job->device, err));
	*out_ns = (tf_now_ns() - began) / calls;
	return TF_OK;
}

static int by_time(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* The split's turn, then the parent's, in every round; medians. */
static enum tf_status race(struct rank_job *job, struct tf_nccl_communicator *const *comms,
	struct exchange *ex, int64_t *out_ns, struct tf_error *err)
{
	struct tf_nccl_collective what = {
		TF_OP_ALL_REDUCE, TF_DTYPE_BF16, EAGER_SIZE, ex->from, ex->sum};
	int64_t ns[2][EAGER_ROUNDS], unused;

	for (int side = 0; side < 2; side++) {
		what.to = side ? ex->gathered : ex->sum;
		TF_TRY(time_calls(job, comms[side], &what, EAGER_WARM, &unused, err));
	}
	for (int round = 0; round < EAGER_ROUNDS; round++) {
		for (int side = 0; side < 2; side++) {
			what.to = side ? ex->gathered : ex->sum;
			TF_TRY(time_calls(job, comms[side], &what, EAGER_CALLS, &ns[side][round], err));
		}
	}
	for (int side = 0; side < 2; side++) {
		qsort(ns[side], EAGER_ROUNDS, sizeof(ns[side][0]), by_time);
		out_ns[side] = ns[side][EAGER_ROUNDS / 2];
	}
	return TF_OK;
}

static enum tf_status compare_eager(
	struct rank_job *job, struct exchange *ex, const int64_t *ns, struct tf_error *err)
{
	double ratio = (double)ns[1] / (double)(ns[0] ? ns[0] : 1);

	TF_TRY(rank_device_read(&job->device, ex->host, ex->sum, EAGER_SIZE * 2, err));
	TF_TRY(rank_device_read(&job->device, ex->other, ex->gathered, EAGER_SIZE * 2, err));
	if (memcmp(ex->host, ex->other, EAGER_SIZE * 2) != 0)
		return TF_FAIL(err, TF_E_MISMATCH, "the split's bytes are not the parent's");
	(void)rank_job_tell(job,
		"8 KiB all-reduce: parent, polled %.2f us, split %.2f us, ratio %.1f, the same "
		"bytes",
		(double)ns[1] / 1000, (double)ns[0] / 1000, ratio);
	if (ratio < job->least_ratio)
		return TF_FAIL(
			err, TF_E_MISMATCH, "the ratio is %.1f, below %.1f", ratio, job->least_ratio);
	return TF_OK;
}

enum tf_status rank_mode_eager(struct rank_job *job, struct tf_error *err)
{
	struct tf_nccl_communicator *comms[2] = {NULL, NULL};
	struct exchange ex = {0};
	enum tf_status status;
	int64_t ns[2] = {0};

	/* The split first: what it sets of the environment then holds for both. */
	TF_TRY(rank_job_open_comm(job, 0, NULL, &comms[0], err));
	TF_TRY(rank_job_open_comm(job, 1, NULL, &comms[1], err));
	status = open_exchange(job, &ex, EAGER_SIZE, err);
	if (status == TF_OK)
		status = race(job, comms, &ex, ns, err);
	if (status == TF_OK)
		status = compare_eager(job, &ex, ns, err);
	close_exchange(job, &ex);
	TF_TRY(status);
	TF_TRY(rank_job_close_comm(job, comms[1], err));
	return rank_job_close_comm(job, comms[0], err);
}
