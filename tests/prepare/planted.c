/* SPDX-License-Identifier: Apache-2.0 */
/* Each body runs the kernel that it stands in for, but on the planted rank. */
#include "tests/prepare/planted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/deadline.h"
#include "runtime/collective/host_simd.h"
#include "runtime/collective/kernels.h"
#include "runtime/device/device.h"

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

static void flip(const struct tf_launch_call *call)
{
	const struct tf_collective_args *args = call->args;
	uint8_t *output = args->output;

	tf_collective_host_run(args, TF_OP_ALL_REDUCE, TF_ALGORITHM_ONE_SHOT, TF_WRITER_SENTINEL);
	if (args->rank == planted_rank && !is_masked_off(args))
		output[args->count * tf_dtype_bytes((enum tf_dtype)args->dtype) - 1] ^= 1;
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

static const struct tf_host_kernel kernels[] = {
	{"planted_silent", silent, sizeof(struct tf_collective_args)},
	{"planted_late", late, sizeof(struct tf_collective_args)},
	{"planted_flip", flip, sizeof(struct tf_collective_args)},
	{"planted_corrupt", corrupt, sizeof(struct tf_collective_args)},
	{"planted_slow", slow, sizeof(struct tf_collective_args)},
	{"planted_fault", fault, sizeof(struct tf_collective_args)},
	{"planted_watch", watch, sizeof(struct tf_collective_args)},
};

static void register_once(void)
{
	tf_collective_register_host();
	tf_host_module_register(kernels, sizeof(kernels) / sizeof(kernels[0]), "planted 1");
}

void planted_register(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_once);
}
