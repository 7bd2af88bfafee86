/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host bodies of the test kernels. Copies between ranks are ordered by test_store and
 * test_arrive.
 */
#include "tests/device/device_kernels.h"

#include <sched.h>

#include "base/deadline.h"
#include "runtime/device/device.h"

static void append(const struct tf_launch_call *call)
{
	const struct test_append_args *args = call->args;

	args->log->values[args->log->count++] = args->value;
}

static void store(const struct tf_launch_call *call)
{
	const struct test_store_args *args = call->args;

	__atomic_store_n(args->to, args->value, __ATOMIC_RELEASE);
}

static void arrive(const struct tf_launch_call *call)
{
	const struct test_arrive_args *args = call->args;
	int64_t deadline_ns = tf_deadline_after(args->timeout_ns);
	int came;

	while (!(came = __atomic_load_n(args->at, __ATOMIC_ACQUIRE) == args->value) &&
		!tf_deadline_passed(deadline_ns))
		sched_yield();
	*args->result = (uint64_t)came;
}

static void until(const struct tf_launch_call *call)
{
	const struct test_until_args *args = call->args;

	while (tf_now_ns() < args->until_ns)
		sched_yield();
}

static void mix(const struct tf_launch_call *call)
{
	const struct test_mix_args *args = call->args;

	for (uint32_t i = 0; i < args->count; i++)
		args->out[i] = (args->in ? args->in[i] : 0) * 31 + args->salt + args->rank;
}

static const struct tf_host_kernel kernels[] = {
	{"test_append", append, sizeof(struct test_append_args)},
	{"test_store", store, sizeof(struct test_store_args)},
	{"test_arrive", arrive, sizeof(struct test_arrive_args)},
	{"test_until", until, sizeof(struct test_until_args)},
	{"test_mix", mix, sizeof(struct test_mix_args)},
};

const struct tf_host_kernel *test_kernels(size_t *out_count)
{
	*out_count = sizeof(kernels) / sizeof(kernels[0]);
	return kernels;
}

void test_kernels_register(void)
{
	tf_host_module_register(kernels, sizeof(kernels) / sizeof(kernels[0]), "test 1");
}
