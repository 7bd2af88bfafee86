/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. The ranks agree after every call that may fail, so that nobody enters NCCL's next collective
 *    call alone.
 * 2. A chain runs once outside a capture before it is captured: NCCL connects its peers and loads
 *    its kernels in its first call, neither of which may happen while a rank waits in a kernel.
 * 3. Graphs go before the communicator, windows before their memory.
 */
#include "prepare/bench/nccl_side.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "prepare/bench/step_calls.h"
#include "prepare/tune/plan.h"
#include "runtime/collective/collective.h"
#include "runtime/comm/nccl/nccl_api.h"
#include "runtime/device/cuda/cuda_capture.h"
#include "runtime/device/cuda/cuda_plain.h"

struct tf_nccl_side {
	const struct tf_nccl_api *api;
	struct tf_bench_rank *rank; /* borrowed */
	struct tf_nccl_comm *comm;
	struct tf_nccl_window *window;
	uint8_t *base[TF_NCCL_MEMORIES]; /* (bytes), or NULL */
	uint64_t bytes;
	struct CUstream_st *stream; /* the rank's own */
};

static enum tf_status agree(
	const struct tf_bench_rank *rank, const struct tf_error *local, struct tf_error *err)
{
	return tf_link_agree_ok(rank->link, local, tf_deadline_after(rank->timeout_ns), err);
}

/* Whether all ranks have the library, and the same one. */
static enum tf_status open_api(
	struct tf_nccl_side *side, struct tf_nccl_found *found, int *out_is_there, struct tf_error *err)
{
	struct tf_error local = {0}, why = {0};
	char version[TF_NCCL_VERSION_BYTES];
	enum tf_status status;

	(void)!tf_nccl_api_open(&side->api, &local);
	status = agree(side->rank, &local, &why);
	if (status == TF_E_UNAVAILABLE) {
		snprintf(found->missing, sizeof(found->missing), "%.255s", why.text);
		*out_is_there = 0;
		return TF_OK;
	}
	if (status != TF_OK) {
		if (err)
			*err = why;
		return status;
	}
	tf_nccl_version_text(side->api->version, version);
	snprintf(found->version, sizeof(found->version), "%s", version);
	*out_is_there = 1;
	return tf_link_agree_equal(side->rank->link, "the version of NCCL", &side->api->version,
		sizeof(side->api->version), tf_deadline_after(side->rank->timeout_ns), err);
}

static enum tf_status share_id(
	struct tf_nccl_side *side, struct tf_nccl_unique_id *id, struct tf_error *err)
{
	const struct tf_bench_rank *rank = side->rank;
	int is_root = rank->window.rank == 0;
	struct tf_bytes bytes = {0};
	struct tf_error local = {0};
	enum tf_status status;

	if (is_root)
		(void)!TF_NCCL(side->api, &local, ncclGetUniqueId(id));
	TF_TRY(agree(rank, &local, err));
	status = tf_link_broadcast(rank->link, is_root ? id : NULL, is_root ? sizeof(*id) : 0,
		is_root ? NULL : &bytes, tf_deadline_after(rank->timeout_ns), err);
	if (status == TF_OK && !is_root) {
		if (bytes.size == sizeof(*id))
			memcpy(id, bytes.data, sizeof(*id));
		else
			status = TF_FAIL(err, TF_E_INVALID, "rank 0's id of NCCL has %zu bytes, not %zu",
				bytes.size, sizeof(*id));
	}
	tf_bytes_fini(&bytes);
	return status;
}

static enum tf_status join(struct tf_nccl_side *side, struct tf_error *err)
{
	struct tf_nccl_config config = TF_NCCL_CONFIG_DEFAULT;
	const struct tf_bench_rank *rank = side->rank;
	int world = (int)rank->window.world, self = (int)rank->window.rank;
	struct tf_nccl_unique_id id = {{0}};
	struct tf_error local = {0};
	struct tf_nccl_comm *comm = NULL;
	void *native = NULL;

	TF_TRY(share_id(side, &id, err));
	config.blocking = 1; /* a call that does not return is ended with its process */
	if (tf_cuda_capture_stream(rank->stream, &native, &local) == TF_OK)
		(void)!TF_NCCL(side->api, &local, ncclCommInitRankConfig(&comm, world, id, self, &config));
	side->comm = comm;
	side->stream = native;
	return agree(rank, &local, err);
}

static enum tf_status open_plain(struct tf_nccl_side *side, struct tf_error *err)
{
	struct tf_error local = {0};
	void *memory = NULL;

	(void)!tf_cuda_plain_alloc(side->rank->device, side->bytes, &memory, &local);
	side->base[TF_NCCL_PLAIN] = memory;
	return agree(side->rank, &local, err);
}

/* All ranks must have got a window: who has none says so, and nobody uses any. */
static enum tf_status all_have_windows(
	const struct tf_nccl_side *side, int *out_all, struct tf_error *err)
{
	uint8_t mine = side->window != NULL, all[TF_WORLD_MAX];

	TF_TRY(tf_link_exchange_fixed(side->rank->link, &mine, sizeof(mine), all,
		tf_deadline_after(side->rank->timeout_ns), err));
	*out_all = 1;
	for (uint32_t r = 0; r < side->rank->window.world; r++)
		*out_all &= all[r];
	return TF_OK;
}

static enum tf_status open_symmetric(
	struct tf_nccl_side *side, struct tf_nccl_found *found, struct tf_error *err)
{
	const int symmetric = TF_NCCL_WIN_COLL_SYMMETRIC;
	const struct tf_nccl_api *api = side->api;
	struct tf_nccl_comm *comm = side->comm;
	struct tf_error local = {0};
	uint64_t bytes = side->bytes;
	void *memory = NULL;
	int all = 0;

	if (!api->ncclCommWindowRegister) {
		snprintf(found->no_window, sizeof(found->no_window),
			"NCCL %.32s has no symmetric windows, 2.27 has", found->version);
		return TF_OK;
	}
	(void)!TF_NCCL(api, &local, ncclMemAlloc(&memory, bytes));
	side->base[TF_NCCL_SYMMETRIC] = memory;
	TF_TRY(agree(side->rank, &local, err));
	(void)!TF_NCCL(
		api, &local, ncclCommWindowRegister(comm, memory, bytes, &side->window, symmetric));
	TF_TRY(agree(side->rank, &local, err));
	TF_TRY(all_have_windows(side, &all, err));
	if (!all)
		snprintf(found->no_window, sizeof(found->no_window),
			"NCCL %.32s gives no symmetric window on this machine", found->version);
	return TF_OK;
}

/* Leaves what it opened to the caller, also where it fails. */
static enum tf_status open_all(
	struct tf_nccl_side *side, struct tf_nccl_found *found, int *out_is_there, struct tf_error *err)
{
	const struct tf_layout *layout = &side->rank->program->layout;

	side->bytes = tf_align_up(layout->exchange_bytes, TF_NCCL_WIN_ALIGNMENT_BYTES);
	TF_TRY(open_api(side, found, out_is_there, err));
	if (!*out_is_there)
		return TF_OK;
	TF_TRY(join(side, err));
	TF_TRY(open_plain(side, err));
	return open_symmetric(side, found, err);
}

/*
 * After a failure nothing of NCCL's is closed: its peers may never answer, and all of it ends with
 * the process.
 */
enum tf_status tf_nccl_side_open(struct tf_bench_rank *rank, struct tf_nccl_side **out,
	struct tf_nccl_found *found, struct tf_error *err)
{
	struct tf_nccl_side *side = tf_calloc(1, sizeof(*side));
	struct tf_error local = {0};
	enum tf_status status;
	int is_there = 0;

	if (!side)
		(void)!TF_FAIL(&local, TF_E_NO_MEMORY, "no memory for NCCL's side");
	status = agree(rank, &local, err);
	if (status == TF_OK) {
		side->rank = rank;
		status = open_all(side, found, &is_there, err);
	}
	if (status != TF_OK || !is_there) {
		tf_free(side);
		side = NULL;
	}
	if (status == TF_OK)
		*out = side;
	return status;
}

enum tf_status tf_nccl_side_close(struct tf_nccl_side *side, struct tf_error *err)
{
	struct tf_error first = {0}, *to = &first;
	const struct tf_nccl_api *api;

	if (!side)
		return TF_OK;
	api = side->api;
	if (side->window &&
		TF_NCCL(api, to, ncclCommWindowDeregister(side->comm, side->window)) != TF_OK)
		to = NULL;
	if (side->base[TF_NCCL_SYMMETRIC] &&
		TF_NCCL(api, to, ncclMemFree(side->base[TF_NCCL_SYMMETRIC])) != TF_OK)
		to = NULL;
	tf_cuda_plain_free(side->rank->device, side->base[TF_NCCL_PLAIN]);
	if (TF_NCCL(api, to, ncclCommFinalize(side->comm)) != TF_OK)
		to = NULL;
	(void)!TF_NCCL(api, to, ncclCommDestroy(side->comm));
	tf_free(side);
	if (first.status != TF_OK && err)
		*err = first;
	return first.status;
}

int tf_nccl_side_has(const struct tf_nccl_side *side, enum tf_nccl_memory memory)
{
	return side && (memory == TF_NCCL_PLAIN || side->window);
}

void *tf_nccl_side_at(
	const struct tf_nccl_side *side, enum tf_nccl_memory memory, const struct tf_buffer *buffer)
{
	return side->base[memory] + (buffer->segment_off - side->rank->program->layout.exchange_off);
}

enum tf_status tf_nccl_side_write(
	struct tf_nccl_side *side, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	return tf_cuda_plain_write(side->rank->device, to, from, bytes, err);
}

enum tf_status tf_nccl_side_read(
	struct tf_nccl_side *side, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	return tf_cuda_plain_read(side->rank->device, to, from, bytes, err);
}

struct enqueue {
	struct tf_nccl_side *side;
	enum tf_nccl_memory memory;
};

/* One call of the step on the rank's stream. */
static enum tf_status enqueue_call(void *user, uint32_t index, uint32_t pair, struct tf_error *err)
{
	const struct enqueue *enqueue = user;
	const struct tf_nccl_side *side = enqueue->side;
	const struct tf_program *program = side->rank->program;
	const struct tf_group *group = &program->groups[index];
	const void *from = tf_nccl_side_at(side, enqueue->memory,
		&program->buffers[tf_plan_buffer(program, index, pair, TF_BUFFER_INPUT)]);
	void *to = tf_nccl_side_at(side, enqueue->memory,
		&program->buffers[tf_plan_buffer(program, index, pair, TF_BUFFER_OUTPUT)]);
	uint64_t count = tf_group_input_count(group);
	int dtype = tf_nccl_dtype(group->dtype);

	switch (group->op) {
	case TF_OP_ALL_REDUCE:
		return TF_NCCL(side->api, err,
			ncclAllReduce(from, to, count, dtype, TF_NCCL_SUM, side->comm, side->stream));
	case TF_OP_ALL_GATHER:
		return TF_NCCL(
			side->api, err, ncclAllGather(from, to, count, dtype, side->comm, side->stream));
	case TF_OP_REDUCE_SCATTER:
		if (count % program->world)
			return TF_FAIL(err, TF_E_UNSUPPORTED,
				"NCCL's reduce-scatter takes a multiple of %u elements, not %" PRIu64,
				program->world, count);
		return TF_NCCL(side->api, err,
			ncclReduceScatter(
				from, to, count / program->world, dtype, TF_NCCL_SUM, side->comm, side->stream));
	default:
		return TF_FAIL(err, TF_E_INTERNAL, "operation %d is none of NCCL's", (int)group->op);
	}
}

/* Outside a capture, to its end. */
static enum tf_status run_once(struct tf_nccl_side *side, struct enqueue *enqueue,
	uint32_t first_group, uint32_t group_count, struct tf_error *err)
{
	struct tf_bench_rank *rank = side->rank;
	int result = TF_NCCL_SUCCESS;
	enum tf_status status;

	TF_TRY(tf_step_calls(rank->program, first_group, group_count, enqueue_call, enqueue, err));
	/* The stream's own wait counts what went through the device's table; this goes through it. */
	TF_TRY(tf_bench_rank_launch_startup(rank, "sample_end", 0, 0, TF_PROGRAM_NONE, err));
	status = rank->ops->stream_wait(rank->stream, tf_deadline_after(rank->timeout_ns), err);
	if (status != TF_OK) {
		tf_error_prefix(err, "NCCL's calls");
		return status;
	}
	TF_TRY(TF_NCCL(side->api, err, ncclCommGetAsyncError(side->comm, &result)));
	return tf_nccl_check(side->api, result, "a call of NCCL's", err, __FILE__, __LINE__);
}

static enum tf_status record(struct tf_nccl_side *side, struct enqueue *enqueue,
	uint32_t first_group, uint32_t group_count, struct tf_error *err)
{
	struct tf_bench_rank *rank = side->rank;

	TF_TRY(tf_bench_rank_launch_startup(rank, "sample_begin", 0, 0, TF_PROGRAM_NONE, err));
	TF_TRY(tf_step_calls(rank->program, first_group, group_count, enqueue_call, enqueue, err));
	return tf_bench_rank_launch_startup(rank, "sample_end", 0, 0, TF_PROGRAM_NONE, err);
}

static enum tf_status capture(struct tf_nccl_side *side, struct enqueue *enqueue,
	uint32_t first_group, uint32_t group_count, struct tf_exec **out, struct tf_error *err)
{
	struct tf_stream *stream = side->rank->stream;
	enum tf_status status;

	TF_TRY(tf_cuda_capture_begin(stream, err));
	status = record(side, enqueue, first_group, group_count, err);
	if (status != TF_OK) {
		tf_cuda_capture_cancel(stream);
		return status;
	}
	return tf_cuda_capture_end(stream, out, err);
}

enum tf_status tf_nccl_side_build(struct tf_nccl_side *side, enum tf_nccl_memory memory,
	uint32_t first_group, uint32_t group_count, struct tf_exec **out, struct tf_error *err)
{
	struct enqueue enqueue = {.side = side, .memory = memory};
	struct tf_bench_rank *rank = side->rank;
	struct tf_error local = {0};
	struct tf_exec *exec = NULL;
	enum tf_status status;

	(void)!run_once(side, &enqueue, first_group, group_count, &local);
	TF_TRY(agree(rank, &local, err));
	(void)!capture(side, &enqueue, first_group, group_count, &exec, &local);
	status = agree(rank, &local, err);
	if (status == TF_OK)
		*out = exec;
	else if (exec)
		rank->ops->graph_destroy(exec);
	return status;
}
