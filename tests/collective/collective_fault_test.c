/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults: a rank that never comes, aborts, refused arguments, their texts, and the reset after
 * them; the barrier.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "tests/collective/ranks.h"
#include "runtime/collective/barrier.h"

#define BOUND_NS  (60 * TF_NS_PER_MS)
#define ABSENT    2
#define PATIENT_S 15 /* far above the bound: only a wait without one gets here */

static void all_but_one(struct ranks *ranks, uint32_t rank, void *user)
{
	struct ranks_call call = {
		.kernel = user, .dtype = TF_DTYPE_F16, .count = 1000, .ctas = 2, .chunk_bytes = 64};
	struct tf_control *control = ranks_control(ranks, rank);

	if (rank == ABSENT)
		return;
	ranks_launch(ranks, rank, &call);
	if (control->fault.code == TF_FAULT_NONE || control->calls != 1)
		ranks_fail(
			ranks, "rank %u: fault %u after %u calls", rank, control->fault.code, control->calls);
	ranks_launch(ranks, rank, &call);
	if (control->calls != 1)
		ranks_fail(ranks, "rank %u: a call ran after a fault", rank);
	for (uint32_t w = 0; w < TF_WRITER_COUNT; w++) {
		if (control->writer_calls[w])
			ranks_fail(ranks, "rank %u: a failed call counts as done", rank);
	}
}

static void check_faults(struct ranks *ranks, const struct tf_collective_kernel *kernel)
{
	uint32_t timeouts = 0;

	for (uint32_t r = 0; r < ranks->world; r++) {
		struct tf_control *control = ranks_control(ranks, r);

		if (r == ABSENT) {
			assert_int_not_equal(control->abort, 0);
			assert_int_not_equal(control->abort, 1 + ABSENT);
			continue;
		}
		assert_int_equal(control->fault.writer, kernel->writer);
		assert_int_equal(control->fault.epoch, 1);
		if (control->fault.code == TF_FAULT_TIMEOUT) {
			timeouts++;
			assert_int_equal(control->fault.peer, ABSENT);
		} else {
			assert_int_equal(control->fault.code, TF_FAULT_ABORTED);
			assert_int_not_equal(control->fault.peer, ABSENT);
			assert_int_equal(
				ranks_control(ranks, control->fault.peer)->fault.code, TF_FAULT_TIMEOUT);
		}
	}
	assert_true(timeouts >= 1);
}

static void checked_call(struct ranks *ranks, uint32_t rank, void *user)
{
	struct ranks_call call = {
		.kernel = user, .dtype = TF_DTYPE_F16, .count = 1000, .ctas = 2, .chunk_bytes = 64};

	ranks_check(ranks, rank, &call);
}

static void a_rank_that_never_comes_ends_the_others(void **state)
{
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		struct ranks ranks;
		int64_t begin = tf_now_ns();

		ranks_init(&ranks, 4, 8192, 0);
		ranks_reset(&ranks, BOUND_NS, 0);
		ranks_threads(&ranks, all_but_one, (void *)(uintptr_t)&kernels[i]);
		assert_true(tf_now_ns() - begin < PATIENT_S * TF_NS_PER_S);
		assert_int_equal(ranks_failures(&ranks), 0);
		check_faults(&ranks, &kernels[i]);
		ranks_reset(&ranks, RANKS_TIMEOUT_NS, 0);
		ranks_threads(&ranks, checked_call, (void *)(uintptr_t)&kernels[i]);
		assert_int_equal(ranks_failures(&ranks), 0);
		ranks_fini(&ranks);
	}
}

static void rank_0_aborts(struct ranks *ranks, uint32_t rank, void *user)
{
	struct ranks_call call = {.kernel = user, .dtype = TF_DTYPE_BF16, .count = 100, .ctas = 1};

	if (rank) {
		ranks_launch(ranks, rank, &call);
		return;
	}
	usleep(3000);
	tf_collective_abort(ranks->base, ranks->layout.stride_bytes, ranks->world, 0);
}

static void an_abort_ends_all_waits(void **state)
{
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);

	(void)state;
	for (uint32_t i = 0; i < count; i += 5) {
		struct ranks ranks;

		ranks_init(&ranks, 3, 4096, 0);
		ranks_threads(&ranks, rank_0_aborts, (void *)(uintptr_t)&kernels[i]);
		for (uint32_t r = 0; r < 3; r++) {
			assert_int_equal(ranks_control(&ranks, r)->abort, 1);
			if (r == 0)
				continue;
			assert_int_equal(ranks_control(&ranks, r)->fault.code, TF_FAULT_ABORTED);
			assert_int_equal(ranks_control(&ranks, r)->fault.peer, 0);
		}
		ranks_fini(&ranks);
	}
}

static void run_args(struct tf_collective_args *args, struct ranks *ranks, uint32_t code)
{
	ranks_reset(ranks, BOUND_NS, 0);
	tf_collective_host_run(args, TF_OP_ALL_REDUCE, TF_ALGORITHM_ONE_SHOT, TF_WRITER_DIRECT);
	assert_int_equal(ranks_control(ranks, 0)->fault.code, code);
	assert_int_equal(ranks_control(ranks, 1)->abort, 1);
}

static void arguments_are_refused(void **state)
{
	struct tf_group group = {
		.op = TF_OP_ALL_REDUCE, .dtype = TF_DTYPE_F32, .row_elements = 64, .capacity = 1};
	struct tf_candidate candidate = {.writer = TF_WRITER_DIRECT, .ctas = 1};
	struct tf_collective_args good, args;
	struct ranks ranks;
	uint8_t *input;

	(void)state;
	ranks_init(&ranks, 2, 4096, 0);
	input = ranks_input(&ranks, 0);
	tf_collective_args_fill(&good, &ranks.layout, &group, 0, &candidate, ranks.base, 0, 2, input,
		ranks_output(&ranks, 0), NULL);
	run_args(&good, &ranks, TF_FAULT_TIMEOUT); /* good arguments: only the peer is missing */
	args = good;
	args.output = input;
	run_args(&args, &ranks, TF_FAULT_ARGUMENT);
	args.output = input + 252; /* the last element */
	run_args(&args, &ranks, TF_FAULT_ARGUMENT);
	args.output = input + 256;
	run_args(&args, &ranks, TF_FAULT_TIMEOUT);
	args = good;
	args.ctas = TF_CTAS_MAX + 1;
	run_args(&args, &ranks, TF_FAULT_ARGUMENT);
	args.ctas = 0;
	run_args(&args, &ranks, TF_FAULT_ARGUMENT);
	args = good;
	args.count = 0;
	run_args(&args, &ranks, TF_FAULT_ARGUMENT);
	args.count = args.lane_source_bytes / 4 + 1;
	args.output = input + 2 * args.lane_source_bytes;
	run_args(&args, &ranks, TF_FAULT_ARGUMENT);
	args = good;
	args.dtype = TF_DTYPE_COUNT;
	run_args(&args, &ranks, TF_FAULT_ARGUMENT);
	ranks_fini(&ranks);
}

static void faults_read_well(void **state)
{
	struct tf_group groups[2] = {{.name = "first"}, {.name = "layer.down"}};
	struct tf_program program = {.groups = groups, .group_count = 2};
	struct tf_control control = {.timeout_ns = UINT64_C(2000000000)};
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_fault_to_error(&control, &program, &err), TF_OK);
	assert_int_equal(err.status, TF_OK);
	control.abort = 1 + 3;
	assert_int_equal(tf_fault_to_error(&control, &program, &err), TF_E_ABORTED);
	assert_string_equal(err.text, "rank 3 ended the step");
	control.fault = (struct tf_fault){
		.code = TF_FAULT_TIMEOUT, .group = 1, .peer = 2, .epoch = 17, .writer = TF_WRITER_LL};
	assert_int_equal(tf_fault_to_error(&control, &program, &err), TF_E_TIMEOUT);
	assert_string_equal(
		err.text, "group 'layer.down': no arrival from rank 2 within 2000 ms (ll, epoch 17)");
	control.fault.code = TF_FAULT_ABORTED;
	assert_int_equal(tf_fault_to_error(&control, &program, &err), TF_E_ABORTED);
	assert_string_equal(err.text, "group 'layer.down': rank 2 ended the call (ll, epoch 17)");
	control.fault.code = TF_FAULT_ARGUMENT;
	assert_int_equal(tf_fault_to_error(&control, &program, &err), TF_E_INTERNAL);
	assert_string_equal(err.text, "group 'layer.down': rank 2 refused the kernel's arguments (ll)");
	control.fault = (struct tf_fault){.code = TF_FAULT_TIMEOUT,
		.group = TF_PROGRAM_NONE,
		.peer = 3,
		.epoch = 4,
		.writer = TF_WRITER_COUNT};
	assert_int_equal(tf_fault_to_error(&control, &program, &err), TF_E_TIMEOUT);
	assert_string_equal(
		err.text, "barrier: no arrival from rank 3 within 2000 ms (barrier, epoch 4)");
	control.fault.writer = 0xffffffff; /* a peer may have overwritten it */
	control.fault.code = 99;
	assert_int_equal(tf_fault_to_error(&control, NULL, &err), TF_E_INTERNAL);
}

struct meeting {
	uint32_t arrived[64]; /* by round */
	struct tf_control *control[TF_WORLD_MAX][TF_WORLD_MAX];
};

static void meet(struct ranks *ranks, uint32_t rank, void *user)
{
	struct meeting *meeting = user;

	for (uint32_t k = 0; k < ranks->world; k++)
		meeting->control[rank][k] = ranks_control(ranks, (rank + k) % ranks->world);
	for (uint32_t round = 0; round < 64; round++) {
		if ((round + rank) % 16 == 0)
			usleep(500);
		__atomic_fetch_add(&meeting->arrived[round], 1, __ATOMIC_RELAXED);
		if (tf_barrier(meeting->control[rank], rank, ranks->world, 0))
			ranks_fail(ranks, "rank %u: barrier %u failed", rank, round);
		if (__atomic_load_n(&meeting->arrived[round], __ATOMIC_RELAXED) != ranks->world)
			ranks_fail(ranks, "rank %u left barrier %u early", rank, round);
	}
}

static void nobody_leaves_a_barrier_early(void **state)
{
	static const uint32_t first_epochs[] = {0, 0x7fffffe0, 0xffffffe0};

	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++) {
		struct meeting meeting = {0};
		struct ranks ranks;

		ranks_init(&ranks, world, 64, first_epochs[world % 3]);
		ranks_threads(&ranks, meet, &meeting);
		assert_int_equal(ranks_failures(&ranks), 0);
		assert_int_equal(ranks_control(&ranks, 0)->barriers, 64);
		ranks_fini(&ranks);
	}
}

static void a_barrier_is_bounded(void **state)
{
	struct tf_control *control[TF_WORLD_MAX] = {0};
	struct ranks ranks;

	(void)state;
	ranks_init(&ranks, 2, 64, 0);
	ranks_reset(&ranks, BOUND_NS, 0);
	control[0] = ranks_control(&ranks, 1);
	control[1] = ranks_control(&ranks, 0);
	assert_int_equal(tf_barrier(control, 1, 2, 5), TF_FAULT_TIMEOUT);
	assert_int_equal(control[0]->fault.peer, 0);
	assert_int_equal(control[0]->fault.group, 5);
	assert_int_equal(control[0]->fault.writer, TF_WRITER_COUNT);
	assert_int_equal(control[1]->abort, 2);
	assert_int_equal(tf_barrier(control, 1, 2, 6), TF_FAULT_TIMEOUT);
	assert_int_equal(control[0]->fault.group, 5);
	assert_int_equal(control[0]->barriers, 0);
	ranks_fini(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_never_comes_ends_the_others),
		cmocka_unit_test(an_abort_ends_all_waits),
		cmocka_unit_test(arguments_are_refused),
		cmocka_unit_test(faults_read_well),
		cmocka_unit_test(nobody_leaves_a_barrier_early),
		cmocka_unit_test(a_barrier_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
