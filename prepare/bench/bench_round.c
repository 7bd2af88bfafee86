/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A chain is captured and rebuilt as step graphs are, and holds nothing but the calls.
 * 2. Before each launch the ranks meet in shared memory, as ranks of MPI do before each of theirs,
 *    so neither side's time holds the spread of starts. A launch counts with the slowest rank.
 */
#include "prepare/bench/bench_round.h"

#include "base/alloc.h"
#include "base/deadline.h"
#include "prepare/capture/capture.h"
#include "prepare/export/job_watch.h"
#include "prepare/tune/plan.h"
#include "runtime/collective/barrier.h"
#include "runtime/collective/collective.h"
#include "runtime/link/channel.h"

#define WORD_NS (2 * TF_NS_PER_S)
#define SEED    UINT64_C(0x7466707265700005)

struct round_job {
	struct tf_program *program;
	const struct tf_bench_case *cases;
	uint32_t case_count;
	int64_t timeout_ns;
};

static enum tf_status open_rank(const struct round_job *job, struct tf_link *link,
	struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_error local = {0};

	tf_collective_register_host();
	rank->link = link;
	rank->timeout_ns = job->timeout_ns;
	rank->program = job->program;
	if (tf_device_ops_find("host", &rank->ops, &local) == TF_OK)
		(void)!rank->ops->open(0, &rank->device, &local);
	TF_TRY(tf_link_agree_ok(link, &local, tf_deadline_after(job->timeout_ns), err));
	return tf_bench_rank_open(rank, err);
}

static void write_inputs(
	const struct tf_bench_rank *rank, uint32_t group, uint32_t calls, uint64_t seed)
{
	const struct tf_program *program = rank->program;

	for (uint32_t call = 0; call < calls; call++) {
		uint32_t input = tf_plan_buffer(program, group, call, TF_BUFFER_INPUT);

		tf_operand_fill(TF_FILL_RANDOM, program->groups[group].dtype, seed + call,
			rank->window.rank, tf_group_input_count(&program->groups[group]),
			tf_rank_window_at(&rank->window, 0, program->buffers[input].segment_off));
	}
}

static enum tf_status record_chain(
	struct tf_bench_rank *rank, uint32_t group, uint32_t calls, struct tf_error *err)
{
	const struct tf_program *program = rank->program;

	for (uint32_t i = 0; i < calls; i++)
		TF_TRY(tf_bench_rank_launch(
			rank, program->selectors[group], i % program->groups[group].buffer_pairs, NULL, err));
	return TF_OK;
}

static enum tf_status build_chain(struct tf_bench_rank *rank, uint32_t group, uint32_t calls,
	struct tf_exec **out, struct tf_error *err)
{
	struct tf_capture *capture = NULL;
	enum tf_status status = tf_capture_begin(rank->program, &rank->target, rank->stream,
		TF_GRAPH_STEP, rank->program->groups[group].capacity, &capture, err);

	if (status == TF_OK)
		status = record_chain(rank, group, calls, err);
	if (status == TF_OK) {
		status = tf_capture_end(capture, err);
		capture = NULL;
	}
	tf_capture_cancel(capture);
	if (status != TF_OK)
		return status;
	return tf_graph_rebuild(rank->program, rank->program->graph_count - 1, &rank->target, out, err);
}

/* Returns a fault's code. */
static int meet(const struct tf_bench_rank *rank)
{
	struct tf_control *control[TF_WORLD_MAX] = {NULL};

	for (uint32_t peer = 0; peer < rank->window.world; peer++)
		control[peer] = tf_rank_window_at(&rank->window, peer, rank->program->layout.control_off);
	return tf_barrier(control, rank->window.rank, rank->window.world, TF_PROGRAM_NONE);
}

static enum tf_status launch_chain(
	struct tf_bench_rank *rank, struct tf_exec *exec, int64_t *out_ns, struct tf_error *err)
{
	int64_t begin;

	if (meet(rank))
		return tf_bench_rank_fault(rank, err);
	begin = tf_now_ns();
	TF_TRY(rank->ops->stream_graph(rank->stream, exec, err));
	TF_TRY(rank->ops->stream_wait(rank->stream, tf_deadline_after(rank->timeout_ns), err));
	*out_ns = tf_now_ns() - begin;
	return tf_bench_rank_fault(rank, err);
}

static enum tf_status launch_all(struct tf_bench_rank *rank, uint32_t group, uint32_t calls,
	struct tf_exec *exec, int64_t *out_ns, struct tf_error *err)
{
	int64_t unused;

	for (int i = -TF_BENCH_WARM; i < TF_BENCH_LAUNCHES; i++) {
		write_inputs(rank, group, calls, SEED + (uint64_t)(i + TF_BENCH_WARM));
		TF_TRY(launch_chain(rank, exec, i < 0 ? &unused : &out_ns[i], err));
	}
	return TF_OK;
}

/* The maximum over ranks of each launch. */
static enum tf_status slowest(const struct tf_bench_rank *rank, int64_t *ns, struct tf_error *err)
{
	int64_t all[TF_WORLD_MAX][TF_BENCH_LAUNCHES];

	TF_TRY(tf_link_exchange_fixed(
		rank->link, ns, sizeof(all[0]), all, tf_deadline_after(rank->timeout_ns), err));
	for (uint32_t r = 0; r < rank->window.world; r++) {
		for (int i = 0; i < TF_BENCH_LAUNCHES; i++)
			ns[i] = all[r][i] > ns[i] ? all[r][i] : ns[i];
	}
	return TF_OK;
}

static enum tf_status run_case(struct tf_bench_rank *rank, uint32_t group, uint32_t calls,
	int64_t *out_ns, struct tf_error *err)
{
	struct tf_exec *exec = NULL;
	struct tf_error local = {0};
	enum tf_status status;

	(void)!build_chain(rank, group, calls, &exec, &local);
	status = tf_link_agree_ok(rank->link, &local, tf_deadline_after(rank->timeout_ns), err);
	if (status == TF_OK) {
		if (launch_all(rank, group, calls, exec, out_ns, &local) != TF_OK)
			tf_rank_memory_abort(&rank->memory);
		status = tf_link_agree_ok(rank->link, &local, tf_deadline_after(rank->timeout_ns), err);
	}
	if (exec)
		rank->ops->graph_destroy(exec);
	return status == TF_OK ? slowest(rank, out_ns, err) : status;
}

static enum tf_status run_cases(const struct round_job *job, struct tf_link *link,
	struct tf_bench_rank *rank, int64_t *ns, struct tf_error *err)
{
	TF_TRY(open_rank(job, link, rank, err));
	for (uint32_t i = 0; i < job->case_count; i++)
		TF_TRY(run_case(rank, i, job->cases[i].calls, ns + (size_t)i * TF_BENCH_LAUNCHES, err));
	return TF_OK;
}

static int run(void *user, uint32_t index, struct tf_link *link, int command_fd)
{
	int64_t ns[TF_BENCH_CASES_MAX * TF_BENCH_LAUNCHES] = {0};
	const struct round_job *job = user;
	struct tf_bench_rank rank = {0};
	struct tf_error err = {0};
	enum tf_status status = run_cases(job, link, &rank, ns, &err);

	(void)index;
	tf_bench_rank_close(&rank);
	if (status == TF_OK)
		status = tf_channel_send(command_fd, TF_JOB_DONE, 0, ns,
			job->case_count * TF_BENCH_LAUNCHES * sizeof(ns[0]), tf_deadline_after(WORD_NS), &err);
	else
		(void)!tf_channel_send(
			command_fd, TF_JOB_FAILED, 0, &err, sizeof(err), tf_deadline_after(WORD_NS), NULL);
	return tf_status_exit(status);
}

enum tf_status tf_bench_round(const struct tf_bench_options *options,
	struct tf_bench_result *result, uint32_t round, struct tf_error *err)
{
	int64_t ns[TF_BENCH_CASES_MAX][TF_BENCH_LAUNCHES];
	struct round_job job = {
		.program = &result->program,
		.cases = result->cases,
		.case_count = result->case_count,
		.timeout_ns = options->timeout_ns,
	};

	TF_TRY(tf_job_run(options->world, run, &job,
		tf_deadline_after(TF_BENCH_JOB_TIMEOUTS * options->timeout_ns), NULL, NULL,
		options->interrupted, ns, result->case_count * sizeof(ns[0]), err));
	for (uint32_t i = 0; i < result->case_count; i++) {
		for (int k = 0; k < TF_BENCH_LAUNCHES; k++)
			result->times[TF_SIDE_OURS][i].chain_ns[round][k] = ns[i][k];
	}
	return TF_OK;
}
