/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol memory, argument words, names, and the host module's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/collective/ranks.h"
#include "runtime/collective/flags.h"
#include "runtime/collective/host_simd.h"
#include "runtime/device/device.h"

static void plan_raises_maxima(void **state)
{
	struct tf_group group = {
		.op = TF_OP_ALL_REDUCE, .dtype = TF_DTYPE_BF16, .row_elements = 1000, .capacity = 3};
	struct tf_candidate candidate = {.writer = TF_WRITER_LL, .ctas = 1};
	struct tf_layout layout = {0};

	(void)state;
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.ll_source_bytes, 12032); /* 6000 bytes as 750 lines, to the next 128 */
	assert_int_equal(layout.sentinel_source_bytes, 0);
	candidate.algorithm = TF_ALGORITHM_TWO_SHOT;
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.ll_source_bytes, 12032);
	candidate.writer = TF_WRITER_SENTINEL;
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.sentinel_source_bytes, 2048);
	candidate.writer = TF_WRITER_PULL;
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.staging_source_bytes, 0);
	candidate.writer = TF_WRITER_QUEUED;
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.staging_source_bytes, 2048);
	candidate.writer = TF_WRITER_NCCL; /* needs none */
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.staging_source_bytes, 2048);
	/* staged: a slot's three sources hold one range, or a shard for each rank */
	layout.staging_source_bytes = 0;
	candidate.writer = TF_WRITER_STAGED;
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.staging_source_bytes, 2048);
	candidate.algorithm = TF_ALGORITHM_ONE_SHOT;
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.staging_source_bytes, 2048);
	candidate.writer = TF_WRITER_DIRECT;
	tf_protocol_plan(&layout, &group, &candidate, 3);
	assert_int_equal(layout.staging_source_bytes, 6016);
}

static void places_do_not_overlap(void **state)
{
	struct tf_layout layout = {
		.ll_source_bytes = 128, .sentinel_source_bytes = 256, .staging_source_bytes = 4096};
	uint64_t end;

	(void)state;
	end = tf_protocol_place(&layout, 8);
	assert_int_equal(layout.control_off, 0);
	assert_true(layout.control_bytes >= sizeof(struct tf_control));
	assert_true(layout.ll_off >= layout.control_bytes);
	assert_true(layout.sentinel_off >= layout.ll_off + 2 * 8 * 128);
	assert_true(layout.flag_off >= layout.sentinel_off + 3 * 8 * 256);
	assert_true(layout.flag_bytes >= sizeof(struct tf_flags));
	assert_true(layout.staging_off >= layout.flag_off + layout.flag_bytes);
	assert_true(end >= layout.staging_off + 2 * 8 * 4096);
	assert_int_equal(end % 4096, 0);
	assert_int_equal(layout.ll_off % 4096, 0);
	assert_int_equal(layout.staging_off % 4096, 0);
}

static void reset_gives_the_first_state(void **state)
{
	struct tf_layout layout = {
		.ll_source_bytes = 128, .sentinel_source_bytes = 128, .staging_source_bytes = 128};
	uint64_t end = tf_protocol_place(&layout, 3);
	uint8_t *segment = malloc(end);
	struct tf_control *control = (struct tf_control *)(void *)segment;
	struct tf_flags *flags;
	uint32_t *words;

	(void)state;
	assert_non_null(segment);
	memset(segment, 0x5a, end);
	tf_protocol_reset(segment, &layout, 1, 3, 12345, 77);
	assert_int_equal(control->rank, 1);
	assert_int_equal(control->world, 3);
	assert_int_equal(control->timeout_ns, 12345);
	assert_int_equal(control->abort, 0);
	assert_int_equal(control->fault.code, TF_FAULT_NONE);
	assert_int_equal(control->family[TF_FAMILY_LL][0].epoch, 77);
	assert_int_equal(control->family[TF_FAMILY_FLAG][0].epoch, 77);
	assert_int_equal(control->writer_calls[TF_WRITER_LL], 0);
	for (uint32_t i = 0; i < 2 * 3 * 128; i++)
		assert_int_equal(segment[layout.ll_off + i], 0);
	words = (uint32_t *)(void *)(segment + layout.sentinel_off);
	for (uint32_t i = 0; i < 3 * 3 * 128 / 4; i++)
		assert_int_equal(words[i], TF_SENTINEL_WORD);
	flags = (struct tf_flags *)(void *)(segment + layout.flag_off);
	assert_int_equal(flags->chunk[7][TF_CHUNKS_MAX - 1], 77);
	assert_int_equal(flags->entry[0].epoch, 77);
	free(segment);
}

static void epochs_skip_and_alternate(void **state)
{
	(void)state;
	assert_int_equal(tf_epoch_next(0), 1);
	assert_int_equal(tf_epoch_next(0x7fffffff), 0x80000000);
	assert_int_equal(tf_epoch_next(0xfffffffe), 0xffffffff);
	assert_int_equal(tf_epoch_next(0xffffffff), 2);
	assert_true(tf_epoch_refreshes(2) && tf_epoch_refreshes(0xc0000002) && !tf_epoch_refreshes(3));
}

static void words_cover_what_differs(void **state)
{
	struct tf_layout layout = {.stride_bytes = 1 << 20, .ll_source_bytes = 128};
	struct tf_group group = {
		.op = TF_OP_ALL_REDUCE, .dtype = TF_DTYPE_F32, .row_elements = 8, .capacity = 2};
	struct tf_candidate candidate = {.writer = TF_WRITER_LL, .ctas = 3, .threads = 64};
	struct tf_collective_args a, b;
	uint32_t count;
	const struct tf_kernel_word *words = tf_collective_words(&count);
	uint32_t mask;

	(void)state;
	tf_protocol_place(&layout, 4);
	tf_collective_args_fill(&a, &layout, &group, 9, &candidate, 1 << 24, 0, 4, &a, &b, &mask);
	tf_collective_args_fill(&b, &layout, &group, 9, &candidate, 1 << 25, 3, 4, &b, &a, NULL);
	assert_int_equal(a.count, 16);
	assert_int_equal(a.group, 9);
	assert_int_equal(a.lane_off, layout.ll_off);
	assert_int_equal((uintptr_t)a.control[3], (1 << 24) + 3 * (1 << 20));
	assert_int_equal((uintptr_t)b.control[0], (1 << 25) + 3 * (1 << 20));
	assert_int_equal((uintptr_t)b.control[1], 1 << 25);
	assert_null(a.control[4]);
	for (uint32_t i = 0; i < count; i++) {
		size_t bytes = words[i].kind == TF_WORD_RANK ? 4 : 8;

		assert_int_equal(words[i].nullable,
			!strcmp(words[i].name, "mask") ||
				(!strncmp(words[i].name, "control", 7) && words[i].name[8] >= '2'));
		memset((uint8_t *)&a + words[i].arg_off, 0, bytes);
		memset((uint8_t *)&b + words[i].arg_off, 0, bytes);
	}
	assert_int_equal(count, 12);
	assert_memory_equal(&a, &b, sizeof(a)); /* nothing else may differ between ranks and bases */
}

static void names_are_complete(void **state)
{
	uint32_t count, found = 0;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);

	(void)state;
	assert_int_equal(count, 29);
	for (int op = 0; op < TF_OP_COUNT; op++) {
		for (int algorithm = 0; algorithm < TF_ALGORITHM_COUNT; algorithm++) {
			for (int writer = 0; writer < TF_WRITER_COUNT; writer++) {
				const char *name = tf_collective_kernel_name(
					(enum tf_op)op, (enum tf_algorithm)algorithm, (enum tf_writer)writer);
				char expected[128];

				if (!name)
					continue;
				found++;
				snprintf(expected, sizeof(expected), "%s_%s_%s", tf_op_name((enum tf_op)op),
					tf_algorithm_name((enum tf_algorithm)algorithm),
					tf_writer_name((enum tf_writer)writer));
				assert_string_equal(name, expected);
			}
		}
	}
	assert_int_equal(found, count);
	assert_string_equal(kernels[0].name, "all_reduce_one_shot_ll");
	assert_null(
		tf_collective_kernel_name(TF_OP_ALL_GATHER, TF_ALGORITHM_TWO_SHOT, TF_WRITER_DIRECT));
	assert_int_equal(tf_writer_family(TF_WRITER_LL), TF_FAMILY_LL);
	assert_int_equal(tf_writer_family(TF_WRITER_SENTINEL), TF_FAMILY_SENTINEL);
	assert_int_equal(tf_writer_family(TF_WRITER_PULL), TF_FAMILY_FLAG);
}

static void the_module_holds_every_kernel(void **state)
{
	const struct tf_device_ops *ops;
	const struct tf_kernel_handle *kernel;
	struct tf_module_handle *module = NULL;
	struct tf_device *device = NULL;
	struct tf_error err = {0};
	uint8_t digest[32];
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);

	(void)state;
	tf_collective_register_host();
	tf_collective_register_host();
	assert_int_equal(tf_device_ops_find("host", &ops, &err), TF_OK);
	assert_int_equal(ops->open(0, &device, &err), TF_OK);
	tf_host_module_digest(digest);
	assert_int_equal(ops->module_load(device, NULL, 0, digest, &module, &err), TF_OK);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(ops->kernel_find(module, kernels[i].name,
							 sizeof(struct tf_collective_args), &kernel, &err),
			TF_OK);
	assert_int_equal(ops->kernel_find(module, "all_gather_two_shot_ll",
						 sizeof(struct tf_collective_args), &kernel, &err),
		TF_E_NOT_FOUND);
	ops->module_unload(module);
	ops->close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_raises_maxima),
		cmocka_unit_test(places_do_not_overlap),
		cmocka_unit_test(reset_gives_the_first_state),
		cmocka_unit_test(epochs_skip_and_alternate),
		cmocka_unit_test(words_cover_what_differs),
		cmocka_unit_test(names_are_complete),
		cmocka_unit_test(the_module_holds_every_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
