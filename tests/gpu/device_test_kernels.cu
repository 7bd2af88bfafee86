/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of tests/device/device_kernels.h for CUDA devices. Each is launched with one
 * thread. Every kernel waits for its predecessor first, which is nothing unless the launch or the
 * edge is programmatic; they trigger nothing, so their successors begin when they end.
 *
 * Memory order: test_store releases and test_arrive acquires at system scope, because the word
 * may lie in another device's memory.
 */
#include "tests/device/device_kernels.h"

static __device__ void wait_for_predecessor(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ uint64_t global_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
	return ns;
}

extern "C" __global__ void test_append(struct test_append_args args)
{
	wait_for_predecessor();
	args.log->values[atomicAdd(&args.log->count, 1u)] = args.value;
}

extern "C" __global__ void test_store(struct test_store_args args)
{
	wait_for_predecessor();
	asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(args.to), "l"(args.value) : "memory");
}

extern "C" __global__ void test_arrive(struct test_arrive_args args)
{
	uint64_t value, start_ns;
	int came;

	wait_for_predecessor();
	start_ns = global_ns();
	do {
		asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(args.at) : "memory");
		came = value == args.value;
	} while (!came && (int64_t)(global_ns() - start_ns) < args.timeout_ns);
	*args.result = came ? 1 : 0;
}

extern "C" __global__ void test_until(struct test_until_args args)
{
	uint64_t start_ns;

	wait_for_predecessor();
	start_ns = global_ns();
	while ((int64_t)(global_ns() - start_ns) < args.lasts_ns)
		__nanosleep(1000);
}

extern "C" __global__ void test_mix(struct test_mix_args args)
{
	wait_for_predecessor();
	for (uint32_t i = 0; i < args.count; i++)
		args.out[i] = (args.in ? args.in[i] : 0) * 31 + args.salt + args.rank;
}
