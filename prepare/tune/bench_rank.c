/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a rank for preparation, and enqueuing calls on it. */
#include "prepare/tune/bench_rank.h"

#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "prepare/tune/plan.h"
#include "prepare/tune/plan_foreign.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/copy_engine.h"
#include "runtime/collective/startup.h"
#include "runtime/device/builtin_module.h"
#include "runtime/session/peer_access.h"
#include "runtime/session/peer_proof.h"

/* One CTA does the work between samples: dirtying operands, the rendezvous, the selection. */
#define STARTUP_THREADS 256

static int64_t bound(const struct tf_bench_rank *rank)
{
	return tf_deadline_after(rank->timeout_ns);
}

static enum tf_status load_kernels(struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_device_properties properties;
	struct tf_builtin_module builtin;
	struct tf_module_image *images;
	enum tf_status status;

	rank->ops->properties(rank->device, &properties);
	TF_TRY(rank->ops->stream_create(rank->device, &rank->stream, err));
	TF_TRY(tf_builtin_module_for(&properties, &builtin, err));
	images = tf_calloc(rank->program->module_count, sizeof(images[0]));
	if (!images)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the modules");
	images[0] = (struct tf_module_image){builtin.bytes, builtin.size};
	for (uint32_t i = 1; i < rank->program->module_count; i++)
		images[i] = tf_plan_foreign_image(rank->foreign, rank->program->modules[i].digest);
	status = tf_rebuild_modules_load(
		rank->program, rank->ops, rank->device, images, &rank->modules, err);
	tf_free(images);
	TF_TRY(status);
	rank->target = (struct tf_rebuild_target){
		.ops = rank->ops,
		.device = rank->device,
		.window = tf_rank_window_view(&rank->window),
		.kernels = rank->modules.kernels,
	};
	return TF_OK;
}

static enum tf_status prove_peers(struct tf_bench_rank *rank, struct tf_error *err)
{
	enum tf_status status = tf_peer_proof(
		&rank->window, rank->device, rank->link, &rank->program->layout, rank->timeout_ns, err);

	rank->unbelieved = status == TF_E_MISFIT && !rank->window.parted;
	return status;
}

static enum tf_status open_library(struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_nccl_caller_options options = {
		.link = rank->link,
		.timeout_ns = rank->timeout_ns,
		.program = rank->program,
		.ops = rank->ops,
		.device = rank->device,
		.ending = tf_rank_memory_ending,
		.user = &rank->memory,
	};
	char version[TF_NCCL_VERSION_BYTES];

	TF_TRY(tf_nccl_caller_open(&options, &rank->nccl, err));
	rank->target.comm = tf_nccl_caller_of(rank->nccl);
	tf_nccl_version_text(tf_nccl_caller_facts(rank->nccl)->version, version);
	return tf_program_set_identity(rank->program, TF_NCCL_SAMPLES_KEY, version, err);
}

enum tf_status tf_bench_rank_open(struct tf_bench_rank *rank, struct tf_error *err)
{
	const struct tf_layout *layout = &rank->program->layout;
	struct tf_device_properties properties;
	struct tf_error local = {0};

	TF_TRY(tf_rank_window_reserve(
		rank->ops, rank->device, rank->link, layout, 0, bound(rank), &rank->window, err));
	rank->ops->properties(rank->device, &properties);
	rank->memory = (struct tf_rank_memory){
		.ops = rank->ops,
		.device = rank->device,
		.window = &rank->window,
		.capabilities = properties.capabilities,
	};
	TF_TRY(tf_rank_window_connect(&rank->window, rank->device, rank->link, layout,
		!tf_peer_access_is_off(rank->program), bound(rank), err));
	TF_TRY(prove_peers(rank, err));
	(void)!load_kernels(rank, &local);
	TF_TRY(tf_link_agree_ok(rank->link, &local, bound(rank), err));
	if (tf_program_tries_library(rank->program))
		TF_TRY(open_library(rank, err));
	return tf_bench_rank_reset(rank, err);
}

void tf_bench_rank_close(struct tf_bench_rank *rank)
{
	/* A call that still waits for a peer would hold the stream up. */
	if (rank->nccl)
		(void)!tf_bench_rank_wait(rank, 1, rank->timeout_ns, NULL);
	tf_rebuild_modules_unload(&rank->modules);
	if (rank->stream)
		rank->ops->stream_destroy(rank->stream);
	/* What NCCL did not give back may still be in this memory: all is left to the process's end. */
	if (tf_nccl_caller_close(rank->nccl, NULL) == TF_E_TIMEOUT)
		return;
	tf_rank_window_close(&rank->window);
	if (rank->ops)
		rank->ops->close(rank->device);
	memset(rank, 0, sizeof(*rank));
}

enum tf_status tf_bench_rank_fault(const struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_control copy;

	return tf_fault_to_error(tf_rank_memory_control(&rank->memory, 0, &copy), rank->program, err);
}

enum tf_status tf_bench_rank_wait(
	struct tf_bench_rank *rank, int calls_library, int64_t bound_ns, struct tf_error *err)
{
	if (calls_library && rank->nccl)
		return tf_nccl_caller_wait(rank->nccl, rank->stream, bound_ns, err);
	return rank->ops->stream_wait(rank->stream, tf_deadline_after(bound_ns), err);
}

/* The first barrier lets every rank finish with the old state before anyone clears it. */
enum tf_status tf_bench_rank_reset(struct tf_bench_rank *rank, struct tf_error *err)
{
	TF_TRY(tf_link_barrier(rank->link, bound(rank), err));
	TF_TRY(tf_rank_memory_reset(&rank->memory, &rank->program->layout, rank->timeout_ns, err));
	return tf_link_barrier(rank->link, bound(rank), err);
}

static enum tf_status launch(struct tf_bench_rank *rank, const char *kernel, uint32_t ctas,
	uint32_t threads, const void *args, uint32_t args_bytes, uint32_t flags, struct tf_error *err)
{
	uint32_t index = tf_plan_kernel(rank->program, kernel);
	struct tf_launch_call call = {
		.grid = {ctas, 1, 1},
		.block = {threads, 1, 1},
		.args = args,
		.args_bytes = args_bytes,
		.flags = flags,
	};

	if (index == TF_PROGRAM_NONE)
		return TF_FAIL(err, TF_E_INTERNAL, "the plan lacks the kernel '%s'", kernel);
	call.kernel = rank->target.kernels[index];
	return rank->ops->stream_launch(rank->stream, &call, err);
}

/* What comes before the last kernel of copy_engine. */
static enum tf_status launch_copies(struct tf_bench_rank *rank,
	const struct tf_candidate *candidate, const struct tf_collective_args *args,
	struct tf_error *err)
{
	struct tf_copy_engine_copy copies[TF_WORLD_MAX];
	uint32_t count = tf_copy_engine_copies(args, copies);

	TF_TRY(launch(rank, TF_COPY_ENGINE_OPEN, candidate->ctas, candidate->threads, args,
		sizeof(*args), rank->launch_flags, err));
	for (uint32_t i = 0; i < count; i++)
		TF_TRY(rank->ops->stream_copy(
			rank->stream, copies[i].to, copies[i].from, copies[i].bytes, err));
	return TF_OK;
}

/* No mask reaches it: NCCL's kernel reads none of ours. */
static enum tf_status launch_library(struct tf_bench_rank *rank, uint32_t group, uint32_t input,
	uint32_t output, struct tf_error *err)
{
	const struct tf_buffer *buffers = rank->program->buffers;
	struct tf_comm_call call = {
		.caller = rank->target.comm,
		.group = group,
		.from = tf_rank_window_at(&rank->window, 0, buffers[input].segment_off),
		.to = tf_rank_window_at(&rank->window, 0, buffers[output].segment_off),
		.bytes = buffers[input].bytes,
	};

	return rank->ops->stream_comm(rank->stream, &call, err);
}

enum tf_status tf_bench_rank_launch(struct tf_bench_rank *rank, uint32_t slot, uint32_t pair,
	const uint32_t *mask, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	const struct tf_group_candidate *entry = &program->candidates[slot];
	const struct tf_group *group = &program->groups[entry->group];
	uint32_t input = tf_plan_buffer(program, entry->group, pair, TF_BUFFER_INPUT);
	uint32_t output = tf_plan_buffer(program, entry->group, pair, TF_BUFFER_OUTPUT);
	const struct tf_candidate *candidate = &entry->candidate;
	struct tf_collective_args args;

	if (tf_candidate_is_library(candidate))
		return launch_library(rank, entry->group, input, output, err);
	tf_collective_args_fill(&args, &program->layout, group, entry->group, candidate,
		rank->window.base, rank->window.rank, rank->window.world,
		tf_rank_window_at(&rank->window, 0, program->buffers[input].segment_off),
		tf_rank_window_at(&rank->window, 0, program->buffers[output].segment_off), mask);
	if (candidate->writer == TF_WRITER_COPY_ENGINE)
		TF_TRY(launch_copies(rank, candidate, &args, err));
	return launch(rank,
		tf_collective_kernel_name(group->op, candidate->algorithm, candidate->writer),
		candidate->ctas, candidate->threads, &args, sizeof(args), rank->launch_flags, err);
}

enum tf_status tf_bench_rank_launch_startup(struct tf_bench_rank *rank, const char *kernel,
	uint32_t slot, uint32_t pass, uint32_t input, struct tf_error *err)
{
	struct tf_startup_args args = {
		.startup_off = rank->program->layout.startup_off,
		.rank = rank->window.rank,
		.world = rank->window.world,
		.slot = slot,
		.pass = pass,
	};

	for (uint32_t peer = 0; peer < rank->window.world; peer++)
		args.control[peer] =
			tf_rank_window_at(&rank->window, peer, rank->program->layout.control_off);
	if (input != TF_PROGRAM_NONE) {
		const struct tf_buffer *buffer = &rank->program->buffers[input];

		args.input = tf_rank_window_at(&rank->window, 0, buffer->segment_off);
		args.input_bytes = buffer->bytes;
	}
	return launch(rank, kernel, 1, STARTUP_THREADS, &args, sizeof(args), 0, err);
}
