/* SPDX-License-Identifier: Apache-2.0 */
/* Every kernel, data type, world, count and CTA count gives the reference's bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/collective/ranks.h"
#include "runtime/collective/order.h"

#define COUNT_LARGEST 4101

#ifdef TF_THREAD_SANITIZER
#define COUNT_LONG 20001
#define CASE_STEP                                                                                  \
	7 /* every seventh case: coprime with all dimensions, so each value still occurs */
#else
#define COUNT_LONG 150001
#define CASE_STEP  1
#endif

static const uint64_t counts[] = {1, 2, 3, 7, 8, 31, 33, 257, 1000, 2048, COUNT_LARGEST};
static const uint32_t ctas[] = {1, 3, 8, 31};
static const uint64_t chunks[] = {0, 16, 4096, 100};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* All cases of one kernel; every call has other data. */
static void kernel_cases(
	struct ranks *ranks, uint32_t rank, const struct tf_collective_kernel *kernel, uint64_t *seed)
{
	struct ranks_call call = {.kernel = kernel};

	for (uint32_t i = 0; i < LENGTH(counts) * LENGTH(ctas) * TF_DTYPE_COUNT * 2; i += CASE_STEP) {
		uint32_t rest = i;

		call.count = counts[rest % LENGTH(counts)];
		rest /= LENGTH(counts);
		call.ctas = ctas[rest % LENGTH(ctas)];
		call.chunk_bytes = chunks[rest % LENGTH(chunks)];
		rest /= LENGTH(ctas);
		call.dtype = (enum tf_dtype)(rest % TF_DTYPE_COUNT);
		call.fill = rest / TF_DTYPE_COUNT ? TF_FILL_SPECIAL : TF_FILL_RANDOM;
		call.shift = i % 4;
		call.seed = (*seed)++;
		ranks_check(ranks, rank, &call);
	}
}

static void all_cases(struct ranks *ranks, uint32_t rank, void *user)
{
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);
	uint64_t seed = *(uint64_t *)user;

	for (uint32_t i = 0; i < count; i++)
		kernel_cases(ranks, rank, &kernels[i], &seed);
}

static void bytes_equal_the_reference(void **state)
{
	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++) {
		struct ranks ranks;
		uint64_t seed = world * 1000000;

		ranks_init(&ranks, world, 4 * COUNT_LARGEST + 64, 0);
		ranks_threads(&ranks, all_cases, &seed);
		assert_int_equal(ranks_failures(&ranks), 0);
		ranks_fini(&ranks);
	}
}

static void large_cases(struct ranks *ranks, uint32_t rank, void *user)
{
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);

	(void)user;
	for (uint32_t i = 0; i < count; i++) {
		struct ranks_call call = {.kernel = &kernels[i],
			.dtype = (enum tf_dtype)(i % TF_DTYPE_COUNT),
			.fill = i & 1 ? TF_FILL_SPECIAL : TF_FILL_RANDOM,
			.count = COUNT_LONG,
			.seed = 77 + i,
			.ctas = 1 + i % 7,
			.chunk_bytes = i & 2 ? 16 : 10000};

		ranks_check(ranks, rank, &call);
		call.count = 5;
		ranks_check(ranks, rank, &call);
		call.count = COUNT_LONG - 1 - i;
		call.ctas = 5;
		ranks_check(ranks, rank, &call);
	}
}

/*
 * Large, small, large: what a large call leaves in the slots must not look like the next one's
 * words.
 */
static void large_small_large(void **state)
{
	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= 5; world++) {
		struct ranks ranks;

		ranks_init(&ranks, world, 4 * COUNT_LONG, 0);
		ranks_threads(&ranks, large_cases, NULL);
		assert_int_equal(ranks_failures(&ranks), 0);
		ranks_fini(&ranks);
	}
}

/* Ranks as processes, as they are in production. */
static void processes_agree(void **state)
{
	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= 4; world += 2) {
		struct ranks ranks;
		uint64_t seed = world * 7000000;

		ranks_init(&ranks, world, 4 * COUNT_LARGEST + 64, 0);
		ranks_processes(&ranks, all_cases, &seed);
		assert_int_equal(ranks_failures(&ranks), 0);
		ranks_fini(&ranks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_equal_the_reference),
		cmocka_unit_test(large_small_large),
		cmocka_unit_test(processes_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
