/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many calls on one protocol memory: mixed kernels and sizes, late ranks, masks, and epochs that
 * wrap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "tests/collective/ranks.h"
#include "runtime/collective/flags.h"
#include "runtime/collective/order.h"

#ifdef TF_THREAD_SANITIZER
#define MANY 400
#else
#define MANY 3000
#endif

#define COUNT_LARGEST 4101

/* The same stream on every rank: what is called must agree. */
static uint32_t draw(uint64_t *state, uint32_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33) % below;
}

struct plan {
	uint32_t calls, late_share; /* one call in late_share finds the rank asleep; 0: never */
	const struct tf_collective_kernel *only;
	uint64_t seed;
};

static void draw_call(struct ranks_call *call, uint64_t *state)
{
	static const uint64_t counts[] = {1, 5, 64, 700, COUNT_LARGEST};
	static const uint64_t chunks[] = {0, 16, 1000, 65536};
	uint32_t kernel_count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&kernel_count);

	call->kernel = &kernels[draw(state, kernel_count)];
	call->dtype = (enum tf_dtype)draw(state, TF_DTYPE_COUNT);
	call->fill = draw(state, 2) ? TF_FILL_SPECIAL : TF_FILL_RANDOM;
	call->count = 1 + draw(state, (uint32_t)counts[draw(state, 5)]);
	call->ctas = 1 + draw(state, 12);
	call->chunk_bytes = chunks[draw(state, 4)];
	call->seed = *state;
}

static void run_plan(struct ranks *ranks, uint32_t rank, void *user)
{
	const struct plan *plan = user;
	uint64_t state = plan->seed, own = plan->seed + rank + 1;

	for (uint32_t i = 0; i < plan->calls; i++) {
		struct ranks_call call = {0};

		draw_call(&call, &state);
		if (plan->only)
			call.kernel = plan->only;
		if (plan->late_share && draw(&own, plan->late_share) == 0)
			usleep(draw(&own, 300));
		ranks_check(ranks, rank, &call);
	}
}

static void run(uint32_t world, uint32_t first_epoch, struct plan *plan)
{
	struct ranks ranks;

	ranks_init(&ranks, world, 4 * COUNT_LARGEST, first_epoch);
	ranks_threads(&ranks, run_plan, plan);
	assert_int_equal(ranks_failures(&ranks), 0);
	ranks_fini(&ranks);
}

static void families_share_the_memory(void **state)
{
	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world += 2) {
		struct plan plan = {.calls = MANY, .seed = 11 * world};

		run(world, 0, &plan);
	}
}

static void ranks_may_be_late(void **state)
{
	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= 5; world += 3) {
		struct plan plan = {.calls = MANY / 2, .late_share = 5, .seed = 13 * world};

		run(world, 0, &plan);
	}
}

static void epochs_cross(uint32_t first_epoch)
{
	uint32_t kernel_count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&kernel_count);

	for (uint32_t i = 0; i < kernel_count; i++) {
		for (uint32_t world = TF_WORLD_MIN; world <= 3; world++) {
			struct plan plan = {
				.calls = MANY / 10, .late_share = 50, .only = &kernels[i], .seed = i + 1};

			run(world, first_epoch, &plan);
		}
	}
}

static void epochs_cross_the_middle(void **state)
{
	(void)state;
	epochs_cross(0x7ffffff0);
}

static void epochs_cross_the_end(void **state)
{
	(void)state;
	epochs_cross(0xfffffff0);
}

/* Words of a round 2^32 calls ago: what the next round's first epochs would take for arrived. */
static void plant_lines(struct ranks *ranks)
{
	const struct tf_layout *layout = &ranks->layout;

	for (uint32_t r = 0; r < ranks->world; r++) {
		uint64_t *words =
			(uint64_t *)(uintptr_t)(ranks->base + r * layout->stride_bytes + layout->ll_off);
		uint64_t slot = ranks->world * layout->ll_source_bytes / 8;

		for (uint64_t i = 0; i < 2 * slot; i++)
			words[i] = (i < slot ? UINT64_C(2) : UINT64_C(3)) << 32 | 0xdeadbeef;
	}
}

static void small_calls(struct ranks *ranks, uint32_t rank, void *user)
{
	const struct plan *plan = user;

	for (uint32_t i = 0; i < plan->calls; i++) {
		struct ranks_call call = {.kernel = plan->only,
			.dtype = TF_DTYPE_F32,
			.fill = i & 1 ? TF_FILL_SPECIAL : TF_FILL_RANDOM,
			.count = 3,
			.seed = plan->seed + i,
			.ctas = 1,
			.chunk_bytes = 1024};

		ranks_check(ranks, rank, &call);
	}
}

static const struct tf_collective_kernel *kernel_named(const char *name)
{
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);

	for (uint32_t i = 0; i < count; i++) {
		if (!strcmp(kernels[i].name, name))
			return &kernels[i];
	}
	fail_msg("no kernel '%s'", name);
	return NULL;
}

static void assert_no_planted_lines(struct ranks *ranks)
{
	const struct tf_layout *layout = &ranks->layout;

	for (uint32_t r = 0; r < ranks->world; r++) {
		const uint64_t *words =
			(uint64_t *)(uintptr_t)(ranks->base + r * layout->stride_bytes + layout->ll_off);

		for (uint64_t i = 0; i < 2 * ranks->world * layout->ll_source_bytes / 8; i++)
			assert_true(words[i] >> 32 != 2 && words[i] >> 32 != 3);
	}
}

/* Once epoch 0xffffffff has ended, no line may look like one of epochs 2 and 3, which come next. */
static void a_wrap_clears_old_lines(void **state)
{
	static const char *const names[] = {
		"all_reduce_one_shot_ll", "all_reduce_two_shot_ll", "all_gather_one_shot_ll"};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		/* a two-shot call takes two epochs */
		struct plan plan = {.calls = i == 1 ? 7 : 15, .only = kernel_named(names[i]), .seed = 5};
		struct ranks ranks;

		ranks_init(&ranks, 3, 4 * COUNT_LARGEST, i == 1 ? 0xfffffff1 : 0xfffffff0);
		plant_lines(&ranks);
		ranks_threads(&ranks, small_calls, &plan);
		assert_int_equal(ranks_failures(&ranks), 0);
		assert_int_equal(ranks_control(&ranks, 0)->family[TF_FAMILY_LL][0].epoch, UINT32_MAX);
		assert_no_planted_lines(&ranks);
		ranks_fini(&ranks);
	}
}

static struct tf_flags *flags_of(const struct ranks *ranks, uint32_t rank)
{
	return (struct tf_flags *)(uintptr_t)(ranks->base + rank * ranks->layout.stride_bytes +
		ranks->layout.flag_off);
}

/*
 * Flags last used 2^31 - 8 epochs before the first call: without the refresh they turn into the
 * future.
 */
static void plant_flags(struct ranks *ranks, uint32_t first_epoch)
{
	for (uint32_t r = 0; r < ranks->world; r++) {
		struct tf_flags *flags = flags_of(ranks, r);

		for (uint32_t s = 0; s < TF_WORLD_MAX; s++) {
			for (uint32_t i = 1; i < TF_CTAS_MAX; i++)
				flags->arrive[s][i] = flags->trailer[s][i] = first_epoch + 0x80000008;
			for (uint32_t i = 1; i < TF_CHUNKS_MAX; i++)
				flags->chunk[s][i] = first_epoch + 0x80000008;
		}
	}
}

static void assert_not_arrived(const uint32_t *flags, uint32_t count, uint32_t epoch)
{
	for (uint32_t i = 1; i < count; i++)
		assert_false((int32_t)(flags[i] - epoch) >= 0);
}

static void idle_flags_never_look_new(void **state)
{
	static const char *const names[] = {
		"all_reduce_one_shot_direct", "all_gather_one_shot_sentinel", "all_reduce_one_shot_staged"};
	const uint32_t first_epoch = 0x3ffffff0, calls = 40;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct plan plan = {.calls = calls, .only = kernel_named(names[i]), .seed = 9};
		struct ranks ranks;

		ranks_init(&ranks, 3, 4 * COUNT_LARGEST, first_epoch);
		plant_flags(&ranks, first_epoch);
		ranks_threads(&ranks, small_calls, &plan);
		assert_int_equal(ranks_failures(&ranks), 0);
		for (uint32_t source = 1; source < 3; source++) {
			const struct tf_flags *flags = flags_of(&ranks, i == 2 ? source : 0);
			uint32_t next = first_epoch + calls + 1;

			if (i == 1) {
				assert_not_arrived(flags->trailer[source], TF_CTAS_MAX, next);
				continue;
			}
			assert_not_arrived(flags->arrive[source], TF_CTAS_MAX, next);
			assert_not_arrived(flags->chunk[source], TF_CHUNKS_MAX, next);
		}
		ranks_fini(&ranks);
	}
}

static void masked_calls(struct ranks *ranks, uint32_t rank, void *user)
{
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);
	struct tf_control *control = ranks_control(ranks, rank);

	(void)user;
	for (uint32_t i = 0; i < 4 * count; i++) {
		struct ranks_call call = {.kernel = &kernels[i % count],
			.dtype = TF_DTYPE_BF16,
			.count = 333,
			.seed = i,
			.ctas = 2,
			.masked_off = i % 3 == 1};
		uint32_t calls = control->calls;

		ranks_check(ranks, rank, &call);
		if (control->calls != calls + (i % 3 != 1))
			ranks_fail(ranks, "call %u: %u calls counted after %u", i, control->calls, calls);
	}
}

static void mask_off_skips_on_all_ranks(void **state)
{
	struct ranks ranks;

	(void)state;
	ranks_init(&ranks, 3, 4096, 0);
	ranks_threads(&ranks, masked_calls, NULL);
	assert_int_equal(ranks_failures(&ranks), 0);
	ranks_fini(&ranks);
}

static void counted_calls(struct ranks *ranks, uint32_t rank, void *user)
{
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);
	struct tf_control *control = ranks_control(ranks, rank);

	(void)user;
	for (uint32_t i = 0; i < count; i++) {
		struct ranks_call call = {
			.kernel = &kernels[i], .dtype = TF_DTYPE_F32, .count = 300, .seed = i, .ctas = 1};
		uint64_t calls[TF_WRITER_COUNT], bytes[TF_WRITER_COUNT];
		/*
		 * a peer's input in one shot, a third of it reduce-scattered, a third twice in two shots
		 */
		uint64_t expected = kernels[i].op == TF_OP_REDUCE_SCATTER ? 2 * 400
			: kernels[i].algorithm == TF_ALGORITHM_TWO_SHOT       ? 2 * 800
																  : 2 * 1200;

		memcpy(calls, control->writer_calls, sizeof(calls));
		memcpy(bytes, control->writer_bytes, sizeof(bytes));
		ranks_check(ranks, rank, &call);
		for (uint32_t w = 0; w < TF_WRITER_COUNT; w++) {
			uint32_t ran = w == kernels[i].writer;

			if (control->writer_calls[w] != calls[w] + ran ||
				control->writer_bytes[w] != bytes[w] + (ran ? expected : 0))
				ranks_fail(ranks, "%s: writer %u counts %llu bytes more", kernels[i].name, w,
					(unsigned long long)(control->writer_bytes[w] - bytes[w]));
		}
	}
}

static void counters_prove_the_writer(void **state)
{
	struct ranks ranks;

	(void)state;
	ranks_init(&ranks, 3, 4096, 0);
	ranks_threads(&ranks, counted_calls, NULL);
	assert_int_equal(ranks_failures(&ranks), 0);
	ranks_fini(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_share_the_memory),
		cmocka_unit_test(ranks_may_be_late),
		cmocka_unit_test(epochs_cross_the_middle),
		cmocka_unit_test(epochs_cross_the_end),
		cmocka_unit_test(a_wrap_clears_old_lines),
		cmocka_unit_test(idle_flags_never_look_new),
		cmocka_unit_test(mask_off_skips_on_all_ranks),
		cmocka_unit_test(counters_prove_the_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
