/* SPDX-License-Identifier: Apache-2.0 */
/* Each body runs the kernel that it stands in for, but on the planted rank. */
#include "tests/prepare/planted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/deadline.h"
#include "prepare/tune/plan.h"
#include "runtime/collective/host_simd.h"
#include "runtime/collective/kernels.h"
#include "runtime/device/device.h"
#include "tests/prepare/bench_rig.h"

uint32_t planted_rank;
int planted_good_calls;
int planted_jitters;

static int is_masked_off(const struct tf_collective_args *args)
{
	return args->mask && !*args->mask;
}

static void silent(const struct tf_launch_call *call)
{
	const struct tf_collective_args *args = call->args;

	if (args->rank != planted_rank)
		tf_collective_host_run(args, TF_OP_ALL_REDUCE, TF_ALGORITHM_ONE_SHOT, TF_WRITER_DIRECT);
}

static void late(const struct tf_launch_call *call)
{
	const struct tf_collective_args *args = call->args;
	static atomic_int calls;

	if (args->rank == planted_rank && !is_masked_off(args) &&
		atomic_fetch_add(&calls, 1) >= planted_good_calls)
		return;
	tf_collective_host_run(args, TF_OP_ALL_REDUCE, TF_ALGORITHM_ONE_SHOT, TF_WRITER_DIRECT);
}

static void flip_last_bit(
	const struct tf_launch_call *call, enum tf_algorithm algorithm, enum tf_writer writer)
{
	const struct tf_collective_args *args = call->args;
	uint8_t *output = args->output;

	tf_collective_host_run(args, TF_OP_ALL_REDUCE, algorithm, writer);
	if (args->rank == planted_rank && !is_masked_off(args))
		output[args->count * tf_dtype_bytes((enum tf_dtype)args->dtype) - 1] ^= 1;
}

static void flip(const struct tf_launch_call *call)
{
	flip_last_bit(call, TF_ALGORITHM_ONE_SHOT, TF_WRITER_SENTINEL);
}

static void flip_serial(const struct tf_launch_call *call)
{
	flip_last_bit(call, TF_ALGORITHM_TWO_SHOT, TF_WRITER_SERIAL);
}

/* One byte of a payload of a megabyte, in the middle, in one word of one rank's output. */
static void corrupt(const struct tf_launch_call *call)
{
	const struct tf_collective_args *args = call->args;
	uint8_t *output = args->output;

	tf_collective_host_run(args, TF_OP_ALL_REDUCE, TF_ALGORITHM_TWO_SHOT, TF_WRITER_DIRECT);
	if (args->rank == planted_rank && !is_masked_off(args))
		output[args->count * tf_dtype_bytes((enum tf_dtype)args->dtype) / 2 + 1] ^= 0x40;
}

/* A rank that is late by a millisecond, or by another time in every call. */
static void slow(const struct tf_launch_call *call)
{
	const struct tf_collective_args *args = call->args;
	static _Thread_local unsigned calls;
	struct timespec nap = {.tv_nsec = 200000};

	if (planted_jitters)
		nap.tv_nsec = 1 + 50000 * (long)(calls++ * 7 % 13);
	if (args->rank == planted_rank && !is_masked_off(args))
		nanosleep(&nap, NULL);
	tf_collective_host_run(args, TF_OP_ALL_REDUCE, TF_ALGORITHM_ONE_SHOT, TF_WRITER_LL);
}

/*
 * What a rank does whose peers' data never come: it waits out its bound, says so, and sends
 * nothing.
 */
static void fault(const struct tf_launch_call *call)
{
	const struct tf_collective_args *args = call->args;
	struct tf_control *own = args->control[0];
	const struct timespec nap = {.tv_nsec = 1000000};
	int64_t deadline = tf_deadline_after((int64_t)own->timeout_ns);

	if (args->rank != planted_rank || is_masked_off(args)) {
		tf_collective_host_run(args, TF_OP_ALL_REDUCE, TF_ALGORITHM_ONE_SHOT, TF_WRITER_LL);
		return;
	}
	while (!tf_deadline_passed(deadline) && !__atomic_load_n(&own->abort, __ATOMIC_ACQUIRE))
		nanosleep(&nap, NULL);
	own->fault.group = args->group;
	own->fault.peer = (args->rank + 1) % args->world;
	own->fault.writer = TF_WRITER_LL;
	__atomic_store_n(&own->fault.code, TF_FAULT_TIMEOUT, __ATOMIC_RELEASE);
}

int planted_sentinels;

static void watch(const struct tf_launch_call *call)
{
	const struct tf_collective_args *args = call->args;
	const uint32_t *words = args->input;
	int found = 0;

	for (uint64_t i = 0; i < args->count * tf_dtype_bytes((enum tf_dtype)args->dtype) / 4; i++)
		found += words[i] == TF_SENTINEL_WORD;
	if (args->rank == planted_rank && found)
		planted_sentinels++;
	tf_collective_host_run(args, TF_OP_ALL_REDUCE, TF_ALGORITHM_ONE_SHOT, TF_WRITER_DIRECT);
}

/* In the place of which kernel: the arguments hold that kernel's lane, of its writer's form. */
static const struct planted {
	const char *name;
	const char *kernel;
	void (*body)(const struct tf_launch_call *);
} planted[] = {
	{"planted_silent", "all_reduce_one_shot_direct", silent},
	{"planted_late", "all_reduce_one_shot_direct", late},
	{"planted_watch", "all_reduce_one_shot_direct", watch},
	{"planted_flip", "all_reduce_one_shot_sentinel", flip},
	{"planted_flip_serial", "all_reduce_two_shot_serial", flip_serial},
	{"planted_corrupt", "all_reduce_two_shot_direct", corrupt},
	{"planted_slow", "all_reduce_one_shot_ll", slow},
	{"planted_fault", "all_reduce_one_shot_ll", fault},
};

#define PLANTED_COUNT (sizeof(planted) / sizeof(planted[0]))

enum tf_status planted_swap(struct tf_bench_rank *rank, const char *name, struct tf_error *err)
{
	const struct planted *at = planted;
	uint32_t index;

	while (at < planted + PLANTED_COUNT && strcmp(at->name, name) != 0)
		at++;
	if (at == planted + PLANTED_COUNT)
		return TF_FAIL(err, TF_E_INTERNAL, "no planted kernel is called '%s'", name);
	index = tf_plan_kernel(rank->program, at->kernel);
	if (index == TF_PROGRAM_NONE)
		return TF_FAIL(err, TF_E_INTERNAL, "the plan lacks '%s'", at->kernel);
	return rank->ops->kernel_find(rank->modules.modules[0], name,
		rank->program->kernels[index].args_bytes, &rank->modules.kernels[index], err);
}

static void register_once(void)
{
	static struct tf_host_kernel kernels[PLANTED_COUNT];

	for (size_t i = 0; i < PLANTED_COUNT; i++)
		kernels[i] = (struct tf_host_kernel){
			planted[i].name, planted[i].body, sizeof(struct tf_collective_args)};
	tf_collective_register_host();
	tf_host_module_register(kernels, PLANTED_COUNT, "planted 1");
}

void planted_register(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_once);
}
