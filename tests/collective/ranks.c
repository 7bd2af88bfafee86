/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks for tests: the window, threads and processes, and the checked call. */
#include "tests/collective/ranks.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "runtime/collective/copy_engine.h"

#define PAGE          4096
#define MESSAGE_BYTES 512

static void plan(struct ranks *ranks)
{
	struct tf_layout *layout = &ranks->layout;
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);
	uint64_t at;

	for (uint32_t i = 0; i < count; i++) {
		struct tf_group group = {.op = kernels[i].op,
			.dtype = TF_DTYPE_F32,
			.row_elements = (ranks->operand_bytes + 3) / 4,
			.capacity = 1};
		struct tf_candidate candidate = {
			.algorithm = kernels[i].algorithm, .writer = kernels[i].writer, .ctas = 1};

		tf_protocol_plan(layout, &group, &candidate, ranks->world);
	}
	at = tf_protocol_place(layout, ranks->world);
	layout->exchange_off = at;
	layout->exchange_bytes =
		tf_align_up((ranks->world + 1) * (ranks->operand_bytes + 4 * RANKS_GUARD), PAGE);
	layout->segment_bytes = at + layout->exchange_bytes;
	layout->stride_bytes = layout->segment_bytes + PAGE;
}

void ranks_init(struct ranks *ranks, uint32_t world, uint64_t operand_bytes, uint32_t first_epoch)
{
	void *map;

	memset(ranks, 0, sizeof(*ranks));
	ranks->world = world;
	ranks->operand_bytes = tf_align_up(operand_bytes, 64);
	plan(ranks);
	ranks->mapped_bytes = world * ranks->layout.stride_bytes + PAGE;
	map =
		mmap(NULL, ranks->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		abort();
	ranks->failures = map;
	ranks->message = (char *)map + 64;
	ranks->base = (uint64_t)(uintptr_t)map + PAGE;
	ranks_reset(ranks, RANKS_TIMEOUT_NS, first_epoch);
}

void ranks_reset(struct ranks *ranks, uint64_t timeout_ns, uint32_t first_epoch)
{
	for (uint32_t r = 0; r < ranks->world; r++)
		tf_protocol_reset((void *)(uintptr_t)(ranks->base + r * ranks->layout.stride_bytes),
			&ranks->layout, r, ranks->world, timeout_ns, first_epoch);
}

void ranks_fini(struct ranks *ranks)
{
	munmap((void *)(uintptr_t)(ranks->base - PAGE), ranks->mapped_bytes);
}

struct thread {
	pthread_t id;
	struct ranks *ranks;
	uint32_t rank;
	ranks_fn fn;
	void *user;
};

static void *thread_main(void *user)
{
	struct thread *thread = user;

	thread->fn(thread->ranks, thread->rank, thread->user);
	return NULL;
}

void ranks_threads(struct ranks *ranks, ranks_fn fn, void *user)
{
	struct thread threads[TF_WORLD_MAX];

	for (uint32_t r = 0; r < ranks->world; r++) {
		threads[r] = (struct thread){.ranks = ranks, .rank = r, .fn = fn, .user = user};
		if (pthread_create(&threads[r].id, NULL, thread_main, &threads[r]))
			abort();
	}
	for (uint32_t r = 0; r < ranks->world; r++)
		pthread_join(threads[r].id, NULL);
}

void ranks_processes(struct ranks *ranks, ranks_fn fn, void *user)
{
	pid_t pids[TF_WORLD_MAX];

	for (uint32_t r = 0; r < ranks->world; r++) {
		pids[r] = fork();
		if (pids[r] < 0)
			abort();
		if (pids[r] == 0) {
			fn(ranks, r, user);
			_exit(0);
		}
	}
	for (uint32_t r = 0; r < ranks->world; r++) {
		int status = 0;

		if (waitpid(pids[r], &status, 0) != pids[r] || status)
			ranks_fail(ranks, "rank %u's process ended with %d", r, status);
	}
}

void ranks_fail(struct ranks *ranks, const char *fmt, ...)
{
	va_list args;

	if (__atomic_fetch_add(ranks->failures, 1, __ATOMIC_ACQ_REL))
		return;
	va_start(args, fmt);
	vsnprintf(ranks->message, MESSAGE_BYTES, fmt, args);
	va_end(args);
}

uint32_t ranks_failures(struct ranks *ranks)
{
	if (*ranks->failures)
		fprintf(stderr, "%s (%u failures)\n", ranks->message, *ranks->failures);
	return *ranks->failures;
}

static uint8_t *segment(const struct ranks *ranks, uint32_t rank)
{
	return (uint8_t *)(uintptr_t)(ranks->base + rank * ranks->layout.stride_bytes);
}

struct tf_control *ranks_control(const struct ranks *ranks, uint32_t rank)
{
	return (struct tf_control *)(void *)(segment(ranks, rank) + ranks->layout.control_off);
}

uint8_t *ranks_input(const struct ranks *ranks, uint32_t rank)
{
	return segment(ranks, rank) + ranks->layout.exchange_off;
}

uint8_t *ranks_output(const struct ranks *ranks, uint32_t rank)
{
	return ranks_input(ranks, rank) + ranks->operand_bytes + RANKS_GUARD;
}

/* As a stream runs them; copies that a mask or a fault makes void do not happen here. */
static void copy_engine(const struct tf_collective_args *args)
{
	struct tf_copy_engine_copy copies[TF_WORLD_MAX];
	uint32_t count = tf_copy_engine_copies(args, copies);

	tf_copy_engine_host_open(args);
	for (uint32_t i = 0; i < count && *args->mask && !args->control[0]->fault.code; i++)
		memcpy(copies[i].to, copies[i].from, copies[i].bytes);
	tf_copy_engine_host_close(args);
}

void ranks_launch(struct ranks *ranks, uint32_t rank, const struct ranks_call *call)
{
	const struct tf_collective_kernel *kernel = call->kernel;
	struct tf_group group = {
		.op = kernel->op, .dtype = call->dtype, .row_elements = call->count, .capacity = 1};
	struct tf_candidate candidate = {.algorithm = kernel->algorithm,
		.writer = kernel->writer,
		.ctas = call->ctas,
		.threads = 1,
		.chunk_bytes = call->chunk_bytes};
	uint64_t shift = call->shift * tf_dtype_bytes(call->dtype);
	uint32_t mask = !call->masked_off;
	struct tf_collective_args args;

	tf_collective_args_fill(&args, &ranks->layout, &group, 0, &candidate, ranks->base, rank,
		ranks->world, ranks_input(ranks, rank) + shift, ranks_output(ranks, rank) + shift, &mask);
	if (kernel->writer == TF_WRITER_COPY_ENGINE)
		copy_engine(&args);
	else
		tf_collective_host_run(&args, kernel->op, kernel->algorithm, kernel->writer);
}

static uint64_t owned(const struct ranks *ranks, uint32_t rank, const struct ranks_call *call)
{
	uint64_t each = (call->count + ranks->world - 1) / ranks->world;

	if (call->kernel->op == TF_OP_ALL_GATHER)
		return ranks->world * call->count;
	if (call->kernel->op == TF_OP_ALL_REDUCE)
		return call->count;
	if (rank * each >= call->count)
		return 0;
	return call->count - rank * each < each ? call->count - rank * each : each;
}

static void compare(struct ranks *ranks, uint32_t rank, const struct ranks_call *call,
	const uint8_t *output, const uint8_t *expected, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		if (output[i] == expected[i])
			continue;
		ranks_fail(ranks,
			"%s %s world %u rank %u count %llu ctas %u chunk %llu fill %d seed %llu: byte %llu of "
			"%llu is %02x, not %02x",
			call->kernel->name, tf_dtype_name(call->dtype), ranks->world, rank,
			(unsigned long long)call->count, call->ctas, (unsigned long long)call->chunk_bytes,
			call->fill, (unsigned long long)call->seed, (unsigned long long)i,
			(unsigned long long)bytes, output[i], expected[i]);
		return;
	}
}

void ranks_check(struct ranks *ranks, uint32_t rank, const struct ranks_call *call)
{
	uint64_t element = tf_dtype_bytes(call->dtype), in_bytes = call->count * element;
	uint64_t out_bytes = owned(ranks, rank, call) * element;
	uint8_t *output = ranks_output(ranks, rank) + call->shift * element;
	uint8_t *room = malloc(ranks->world * in_bytes + out_bytes + RANKS_GUARD);
	const void *inputs[TF_WORLD_MAX];
	uint8_t *expected;

	if (!room)
		abort();
	for (uint32_t r = 0; r < ranks->world; r++) {
		inputs[r] = room + r * in_bytes;
		tf_operand_fill(call->fill, call->dtype, call->seed, r, call->count, room + r * in_bytes);
	}
	expected = room + ranks->world * in_bytes;
	memset(expected, 0xa5, out_bytes + RANKS_GUARD);
	memset(output, 0xa5, out_bytes + RANKS_GUARD);
	memcpy(ranks_input(ranks, rank) + call->shift * element, inputs[rank], in_bytes);
	ranks_launch(ranks, rank, call);
	if (!call->masked_off)
		tf_reference(
			call->kernel->op, call->dtype, ranks->world, rank, call->count, inputs, expected);
	if (ranks_control(ranks, rank)->fault.code)
		ranks_fail(ranks, "%s world %u rank %u count %llu: fault %u of rank %u", call->kernel->name,
			ranks->world, rank, (unsigned long long)call->count,
			ranks_control(ranks, rank)->fault.code, ranks_control(ranks, rank)->fault.peer);
	else
		compare(ranks, rank, call, output, expected, out_bytes + RANKS_GUARD);
	free(room);
}
