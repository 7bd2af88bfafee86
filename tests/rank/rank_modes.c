/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last rank is the one that stalls, leaves, stays away or disagrees. That a call returned
 * before its peers made theirs is seen by order, never by a clock: rank 0's call, then a barrier,
 * then the others' calls.
 */
#include "tests/rank/rank_modes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/deadline.h"

#define CHAIN        5    /* sums of small integers stay below 2^24, which FP32 holds exactly */
#define CHAIN_SIZE   2048 /* FP32: 8 KiB */
#define EAGER_SIZE   4096 /* BF16: 8 KiB */
#define EAGER_WARM   20
#define EAGER_CALLS  200
#define EAGER_ROUNDS 5

static uint32_t last_rank(const struct rank_job *job)
{
	return tf_link_world(job->link) - 1;
}

static int is_odd_one(const struct rank_job *job)
{
	return tf_link_rank(job->link) == last_rank(job);
}

static double ms(int64_t ns)
{
	return (double)ns / (double)TF_NS_PER_MS;
}

/* Without a word and past all handlers, as a process that is killed. */
static void leave(void)
{
	fflush(stdout);
	syscall(SYS_exit_group, 0);
}

static enum tf_status enter_device(void *user, struct tf_error *err)
{
	struct rank_job *job = user;

	return rank_device_enter(&job->device, err);
}

/* The link is this thread's for as long: the job's is inside NCCL, or waits for the end. */
static void tell_peers(void *user)
{
	struct rank_job *job = user;

	tf_link_abort(job->link, "its collective did not end");
}

static enum tf_status open_comm(struct rank_job *job, int keep_apart,
	void (*before)(void *, enum tf_nccl_step), struct tf_nccl_communicator **out,
	struct tf_error *err)
{
	struct tf_nccl_communicator_options options = {.size = sizeof(options),
		.link = job->link,
		.timeout_ns = job->timeout_ns,
		.keep_apart = keep_apart,
		.enter = enter_device,
		.ending = tell_peers,
		.before = before,
		.user = job};

	return tf_nccl_communicator_open(&options, out, err);
}

static enum tf_status meet(struct rank_job *job, struct tf_error *err)
{
	return tf_link_barrier(job->link, tf_deadline_after(4 * job->timeout_ns), err);
}

static enum tf_status tell(struct rank_job *job, const char *fmt, ...) TF_PRINTF(2, 3);
static enum tf_status tell(struct rank_job *job, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printf("rank %u: %s: %s\n", tf_link_rank(job->link), job->mode, text);
	fflush(stdout);
	return TF_OK;
}

/* ---- sum, disagree ---- */

struct chain {
	void *at[2];
	float host[CHAIN_SIZE];
};

static enum tf_status open_chain(struct rank_job *job, struct chain *chain, struct tf_error *err)
{
	for (unsigned i = 0; i < CHAIN_SIZE; i++)
		chain->host[i] = (float)((tf_link_rank(job->link) + 1) * (i % 7));
	TF_TRY(rank_device_alloc(&job->device, sizeof(chain->host), &chain->at[0], err));
	TF_TRY(rank_device_alloc(&job->device, sizeof(chain->host), &chain->at[1], err));
	return rank_device_write(&job->device, chain->at[0], chain->host, sizeof(chain->host), err);
}

static enum tf_status sum_once(struct rank_job *job, struct tf_nccl_communicator *comm,
	const struct chain *chain, unsigned turn, struct tf_error *err)
{
	struct tf_nccl_collective what = {.op = TF_OP_ALL_REDUCE,
		.dtype = TF_DTYPE_F32,
		.count = CHAIN_SIZE,
		.from = chain->at[turn % 2],
		.to = chain->at[(turn + 1) % 2]};

	return tf_nccl_communicator_enqueue(comm, &what, job->device.stream, err);
}

static enum tf_status check_chain(struct rank_job *job, struct chain *chain, struct tf_error *err)
{
	uint32_t world = tf_link_world(job->link);
	float scale = (float)(world * (world + 1) / 2);

	for (unsigned turn = 1; turn < CHAIN; turn++)
		scale *= (float)world;
	TF_TRY(rank_device_read(
		&job->device, chain->host, chain->at[CHAIN % 2], sizeof(chain->host), err));
	for (unsigned i = 0; i < CHAIN_SIZE; i++)
		if (chain->host[i] != scale * (float)(i % 7))
			return TF_FAIL(err, TF_E_MISMATCH, "element %u of %u chained sums is %g, not %g", i,
				CHAIN, (double)chain->host[i], (double)(scale * (float)(i % 7)));
	return TF_OK;
}

/* `in_order`: rank 0's first call returns before the others make theirs, or never. */
static enum tf_status run_chain(struct rank_job *job, struct tf_nccl_communicator *comm,
	struct chain *chain, int in_order, int *out_first_result, struct tf_error *err)
{
	int is_first = tf_link_rank(job->link) == 0;

	TF_TRY(open_chain(job, chain, err));
	if (in_order && !is_first)
		TF_TRY(meet(job, err));
	TF_TRY(sum_once(job, comm, chain, 0, err));
	*out_first_result = tf_nccl_communicator_facts(comm)->last_result;
	if (in_order && is_first)
		TF_TRY(meet(job, err));
	for (unsigned turn = 1; turn < CHAIN; turn++)
		TF_TRY(sum_once(job, comm, chain, turn, err));
	TF_TRY(tf_nccl_communicator_wait(comm, job->timeout_ns, rank_device_wait, &job->device, err));
	return check_chain(job, chain, err);
}

static enum tf_status sum_with(struct rank_job *job, struct tf_nccl_communicator *comm,
	int must_be_one_host, struct tf_error *err)
{
	const struct tf_nccl_facts *facts = tf_nccl_communicator_facts(comm);
	struct chain chain = {{NULL, NULL}, {0}};
	enum tf_status status;
	int result = -1;

	if (facts->one_host != must_be_one_host)
		return TF_FAIL(err, TF_E_MISMATCH, "the ranks are %s, which is wrong: %s",
			facts->one_host ? "on one host" : "apart", facts->why_apart);
	status = run_chain(job, comm, &chain, must_be_one_host, &result, err);
	rank_device_free(&job->device, chain.at[0]);
	rank_device_free(&job->device, chain.at[1]);
	TF_TRY(status);
	if (must_be_one_host && result != TF_NCCL_SUCCESS)
		return TF_FAIL(
			err, TF_E_MISMATCH, "a collective on one host returned %d, not enqueued (0)", result);
	if (!must_be_one_host && strstr(facts->runtime_connect, "set here"))
		return TF_FAIL(
			err, TF_E_MISMATCH, "NCCL_RUNTIME_CONNECT was set, although the ranks are apart");
	return TF_OK;
}

static enum tf_status run_sum(struct rank_job *job, int keep_apart, struct tf_error *err)
{
	uint64_t before = rank_device_used_bytes(&job->device), used;
	struct tf_nccl_communicator *comm = NULL;
	const struct tf_nccl_facts *facts;
	char version[TF_NCCL_VERSION_BYTES];
	int one_host = !job->across && !strcmp(job->mode, "sum");

	TF_TRY(open_comm(job, keep_apart, NULL, &comm, err));
	TF_TRY(sum_with(job, comm, one_host, err));
	facts = tf_nccl_communicator_facts(comm);
	used = rank_device_used_bytes(&job->device);
	(void)tell(job,
		"NCCL %s, %s%s%s, %u chained sums exact, open %.1f ms, device memory %" PRIu64
		" MiB, NCCL_RUNTIME_CONNECT %s",
		tf_nccl_version_text(facts->version, version), facts->one_host ? "split" : "parent",
		facts->one_host ? "" : ": ", facts->why_apart, CHAIN, ms(facts->open_ns),
		used > before ? (used - before) >> 20 : 0, facts->runtime_connect);
	return tf_nccl_communicator_close(comm, err);
}

/* ---- timeout, eof, missing ---- */

static enum tf_status scatter_or_sum(struct rank_job *job, struct tf_nccl_communicator *comm,
	const struct chain *chain, struct tf_error *err)
{
	struct tf_nccl_collective what = {
		.op = strstr(job->mode, "scatter") ? TF_OP_REDUCE_SCATTER : TF_OP_ALL_REDUCE,
		.dtype = TF_DTYPE_F32,
		.count = CHAIN_SIZE - CHAIN_SIZE % tf_link_world(job->link),
		.from = chain->at[0],
		.to = chain->at[1]};
	enum tf_status status;

	TF_TRY(tf_nccl_communicator_enqueue(comm, &what, job->device.stream, err));
	TF_TRY(tf_nccl_communicator_wait(comm, job->timeout_ns, rank_device_wait, &job->device, err));
	/* Whoever comes late may find what an aborted peer had, as if it were a sum. */
	status = tf_link_poll_departed(job->link, err);
	if (status != TF_OK)
		tf_nccl_communicator_abort(comm, err);
	return status;
}

/* The communicator has ended and says so for ever. */
static enum tf_status check_refusal(struct rank_job *job, struct tf_nccl_communicator *comm,
	const struct chain *chain, enum tf_status expected, struct tf_error *err)
{
	struct tf_error again = {0};

	if (scatter_or_sum(job, comm, chain, &again) != expected)
		return TF_FAIL(err, TF_E_MISMATCH, "an ended communicator was used again: %s", again.text);
	return tf_nccl_communicator_close(comm, err);
}

static enum tf_status lose_peer(struct rank_job *job, int leaves, struct tf_error *err)
{
	struct tf_nccl_communicator *comm = NULL;
	enum tf_status status, expected = leaves ? TF_E_DISCONNECTED : TF_E_TIMEOUT;
	struct chain chain = {{NULL, NULL}, {0}};
	struct tf_error seen = {0};
	int64_t began;

	TF_TRY(open_comm(job, job->across, NULL, &comm, err));
	TF_TRY(open_chain(job, &chain, err));
	TF_TRY(scatter_or_sum(job, comm, &chain, err));
	TF_TRY(meet(job, err));
	if (is_odd_one(job) && leaves)
		leave();
	if (is_odd_one(job))
		usleep((useconds_t)(job->timeout_ns / 3 * 4 / 1000));
	began = tf_now_ns();
	status = scatter_or_sum(job, comm, &chain, &seen);
	/* Who stalled comes late: the others are gone, or say that they gave up. */
	if (status != expected &&
		!((status == TF_E_DISCONNECTED || status == TF_E_ABORTED) && !leaves &&
			(is_odd_one(job) || tf_link_world(job->link) > 2)))
		return TF_FAIL(err, TF_E_MISMATCH, "the collective ended as '%s' (%s), not '%s'",
			tf_status_name(status), seen.text, tf_status_name(expected));
	(void)tell(job, "ended as '%s' after %.1f ms of a bound of %.0f ms: %s", tf_status_name(status),
		ms(tf_now_ns() - began), ms(job->timeout_ns), seen.text);
	TF_TRY(check_refusal(job, comm, &chain, status, err));
	rank_device_free(&job->device, chain.at[0]);
	rank_device_free(&job->device, chain.at[1]);
	return TF_OK;
}

static int64_t stay_away_ns;

static void stay_away(void *user, enum tf_nccl_step step)
{
	(void)user;
	if (step != TF_NCCL_STEP_PARENT)
		return;
	usleep((useconds_t)(stay_away_ns / 1000));
	leave();
}

static enum tf_status run_missing(struct rank_job *job, struct tf_error *err)
{
	struct tf_nccl_communicator *comm = NULL;
	int64_t began = tf_now_ns();
	struct tf_error seen = {0};
	enum tf_status status;

	stay_away_ns = 3 * job->timeout_ns; /* the start-up is bounded by twice the timeout */
	status = open_comm(job, job->across, is_odd_one(job) ? stay_away : NULL, &comm, &seen);
	if (status != TF_E_TIMEOUT)
		return TF_FAIL(err, TF_E_MISMATCH, "the start-up ended as '%s' (%s), not 'timeout'",
			tf_status_name(status), seen.text);
	return tell(job, "start-up ended as '%s' after %.1f ms of a bound of %.0f ms: %s",
		tf_status_name(status), ms(tf_now_ns() - began), ms(2 * job->timeout_ns), seen.text);
}

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

static enum tf_status run_exchange(struct rank_job *job, struct tf_error *err)
{
	static const uint32_t rows[] = {65, 127, 128, 257, 512, 1000, 2048, 4096, 8191, 8192};
	struct exchange ex = {0};
	struct tf_nccl_communicator *comm = NULL;
	enum tf_status status;
	unsigned done = 0;

	TF_TRY(open_comm(job, job->across, NULL, &comm, err));
	status = open_exchange(job, &ex, (uint64_t)job->rows_max * job->row_elements, err);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]) && status == TF_OK; i++) {
		if (rows[i] > job->rows_max)
			continue;
		status = exchange_rows(job, comm, &ex, rows[i], err);
		done++;
	}
	close_exchange(job, &ex);
	TF_TRY(status);
	(void)tell(job,
		"reduce-scatter and all-gather equal all-reduce at %u sizes of %u to %u rows "
		"of %u elements",
		done, rows[0], job->rows_max, job->row_elements);
	return tf_nccl_communicator_close(comm, err);
}

/* ---- eager ---- */

static enum tf_status time_calls(struct rank_job *job, struct tf_nccl_communicator *comm,
	const struct tf_nccl_collective *what, unsigned calls, int64_t *out_ns, struct tf_error *err)
{
	int64_t began;

	TF_TRY(meet(job, err));
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
	(void)tell(job,
		"8 KiB all-reduce: parent, polled %.2f us, split %.2f us, ratio %.1f, the same "
		"bytes",
		(double)ns[1] / 1000, (double)ns[0] / 1000, ratio);
	if (ratio < job->least_ratio)
		return TF_FAIL(
			err, TF_E_MISMATCH, "the ratio is %.1f, below %.1f", ratio, job->least_ratio);
	return TF_OK;
}

static enum tf_status run_eager(struct rank_job *job, struct tf_error *err)
{
	struct tf_nccl_communicator *comms[2] = {NULL, NULL};
	struct exchange ex = {0};
	enum tf_status status;
	int64_t ns[2] = {0};

	/* The split first: what it sets of the environment then holds for both. */
	TF_TRY(open_comm(job, 0, NULL, &comms[0], err));
	TF_TRY(open_comm(job, 1, NULL, &comms[1], err));
	status = open_exchange(job, &ex, EAGER_SIZE, err);
	if (status == TF_OK)
		status = race(job, comms, &ex, ns, err);
	if (status == TF_OK)
		status = compare_eager(job, &ex, ns, err);
	close_exchange(job, &ex);
	TF_TRY(status);
	TF_TRY(tf_nccl_communicator_close(comms[1], err));
	return tf_nccl_communicator_close(comms[0], err);
}

/* ---- device: what all modes stand on, without NCCL ---- */

static enum tf_status run_device(struct rank_job *job, struct tf_error *err)
{
	struct chain chain = {{NULL, NULL}, {0}};
	float back[CHAIN_SIZE];

	TF_TRY(open_chain(job, &chain, err));
	TF_TRY(rank_device_wait(&job->device, tf_deadline_after(job->timeout_ns), err));
	TF_TRY(rank_device_read(&job->device, back, chain.at[0], sizeof(back), err));
	rank_device_free(&job->device, chain.at[0]);
	rank_device_free(&job->device, chain.at[1]);
	if (memcmp(back, chain.host, sizeof(back)) != 0)
		return TF_FAIL(err, TF_E_MISMATCH, "the device's memory does not hold what was written");
	return tell(job, "memory and stream hold, %" PRIu64 " MiB in use",
		rank_device_used_bytes(&job->device) >> 20);
}

enum tf_status rank_mode_run(struct rank_job *job, struct tf_error *err)
{
	const char *mode = job->mode;

	if (!strcmp(mode, "sum"))
		return run_sum(job, 0, err);
	if (!strcmp(mode, "disagree"))
		return run_sum(job, is_odd_one(job), err);
	if (!strcmp(mode, "timeout") || !strcmp(mode, "timeout-scatter"))
		return lose_peer(job, 0, err);
	if (!strcmp(mode, "eof") || !strcmp(mode, "eof-scatter"))
		return lose_peer(job, 1, err);
	if (!strcmp(mode, "missing"))
		return run_missing(job, err);
	if (!strcmp(mode, "exchange"))
		return run_exchange(job, err);
	if (!strcmp(mode, "eager"))
		return run_eager(job, err);
	if (!strcmp(mode, "device"))
		return run_device(job, err);
	return TF_FAIL(err, TF_E_USAGE, "mode '%s' is none of " RANK_MODES, mode);
}
