/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of kernels, one function a row for the host's built-in module, and the registration
 * of them all.
 */
#include "runtime/collective/kernels.h"

#include <pthread.h>
#include <stdio.h>

#include "runtime/collective/copy_engine.h"
#include "runtime/collective/flags.h"
#include "runtime/collective/startup.h"
#include "runtime/collective/startup_host.h"

/* Raise it when the layout of slots or flags changes and no size in the ABI's text does. */
#define LAYOUT_VERSION 2

/* X(op, algorithm, writer, OP, ALGORITHM, WRITER) */
#define WRITERS(X, op, algorithm, OP, ALGORITHM)                                                   \
	X(op, algorithm, ll, OP, ALGORITHM, LL)                                                        \
	X(op, algorithm, sentinel, OP, ALGORITHM, SENTINEL)                                            \
	X(op, algorithm, direct, OP, ALGORITHM, DIRECT)                                                \
	X(op, algorithm, serial, OP, ALGORITHM, SERIAL)                                                \
	X(op, algorithm, queued, OP, ALGORITHM, QUEUED)                                                \
	X(op, algorithm, pull, OP, ALGORITHM, PULL)                                                    \
	X(op, algorithm, staged, OP, ALGORITHM, STAGED)

#define KERNELS(X)                                                                                 \
	WRITERS(X, all_reduce, one_shot, ALL_REDUCE, ONE_SHOT)                                         \
	WRITERS(X, all_reduce, two_shot, ALL_REDUCE, TWO_SHOT)                                         \
	WRITERS(X, all_gather, one_shot, ALL_GATHER, ONE_SHOT)                                         \
	WRITERS(X, reduce_scatter, one_shot, REDUCE_SCATTER, ONE_SHOT)

#define DEFINE_BODY(op, algorithm, writer, OP, ALGORITHM, WRITER)                                  \
	static void op##_##algorithm##_##writer(const struct tf_launch_call *call)                     \
	{                                                                                              \
		tf_collective_host_run(                                                                    \
			call->args, TF_OP_##OP, TF_ALGORITHM_##ALGORITHM, TF_WRITER_##WRITER);                 \
	}
KERNELS(DEFINE_BODY)

#define KERNEL_ROW(op, algorithm, writer, OP, ALGORITHM, WRITER)                                   \
	{#op "_" #algorithm "_" #writer, TF_OP_##OP, TF_ALGORITHM_##ALGORITHM, TF_WRITER_##WRITER},
/* clang-format off */
static const struct tf_collective_kernel kernels[] = {
	KERNELS(KERNEL_ROW)
	KERNEL_ROW(all_gather, one_shot, copy_engine, ALL_GATHER, ONE_SHOT, COPY_ENGINE)
};
/* clang-format on */

static void copy_engine_open(const struct tf_launch_call *call)
{
	tf_copy_engine_host_open(call->args);
}

static void all_gather_one_shot_copy_engine(const struct tf_launch_call *call)
{
	tf_copy_engine_host_close(call->args);
}

#define HOST_ROW(op, algorithm, writer, OP, ALGORITHM, WRITER)                                     \
	{#op "_" #algorithm "_" #writer, op##_##algorithm##_##writer,                                  \
		sizeof(struct tf_collective_args)},
/* clang-format off */
static const struct tf_host_kernel host_kernels[] = {
	{"pass_begin", tf_host_pass_begin, sizeof(struct tf_startup_args)},
	{"sample_begin", tf_host_sample_begin, sizeof(struct tf_startup_args)},
	{"sample_end", tf_host_sample_end, sizeof(struct tf_startup_args)},
	{"select", tf_host_select, sizeof(struct tf_startup_args)},
	KERNELS(HOST_ROW)
	HOST_ROW(all_gather, one_shot, copy_engine, ALL_GATHER, ONE_SHOT, COPY_ENGINE)
	{TF_COPY_ENGINE_OPEN, copy_engine_open, sizeof(struct tf_collective_args)},
};
/* clang-format on */

#define KERNEL_COUNT (sizeof(kernels) / sizeof(kernels[0]))

const struct tf_collective_kernel *tf_collective_kernels(uint32_t *out_count)
{
	*out_count = KERNEL_COUNT;
	return kernels;
}

const char *tf_collective_kernel_name(
	enum tf_op op, enum tf_algorithm algorithm, enum tf_writer writer)
{
	for (uint32_t i = 0; i < KERNEL_COUNT; i++) {
		if (kernels[i].op == op && kernels[i].algorithm == algorithm && kernels[i].writer == writer)
			return kernels[i].name;
	}
	return NULL;
}

static void register_once(void)
{
	static char abi[128]; /* the device keeps the pointer */

	snprintf(abi, sizeof(abi), "collective %d: args %zu, control %zu, flags %zu", LAYOUT_VERSION,
		sizeof(struct tf_collective_args), sizeof(struct tf_control), sizeof(struct tf_flags));
	tf_host_module_register(host_kernels, sizeof(host_kernels) / sizeof(host_kernels[0]), abi);
}

void tf_collective_register_host(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_once);
}
