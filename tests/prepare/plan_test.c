/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans for worlds 2 to 8 and sizes that divide by nothing: parts disjoint, buffers where
 * arithmetic says, no group left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prepare/tune/plan.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"
#include "runtime/session/peer_access.h"

static const char odd_workload[] =
	"name: odd\nsummary: Sizes that divide by nothing.\ncapacities: [1, 3, 7]\ngroups:\n"
	"  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 1031, times: 5, buffer_pairs: 3}\n"
	"  - {name: gather, op: all_gather, dtype: f16, row_elements: 6144, times: 2}\n"
	"  - {name: one, op: all_reduce, dtype: f32, row_elements: 1}\n"
	"  - {name: scatter, op: reduce_scatter, dtype: f32, row_elements: 769, times: 3, capacities: "
	"[7]}\n";

struct part {
	uint64_t off, bytes;
};

static const char *const classes[] = {"local", "switched", "host-bridge"};

#define ALL_OF_PEERS (TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC)

static void make_plan(uint32_t world, const char *class, uint64_t granularity,
	uint32_t capabilities, struct tf_program *program)
{
	struct tf_device_properties properties = {
		.kind = "host",
		.model = "host",
		.granularity_bytes = granularity,
		.capabilities = capabilities,
	};
	struct tf_workload workload = {0};
	struct tf_ladder ladder = {0};
	struct tf_error err = {0};

	memset(program, 0, sizeof(*program));
	if (tf_workload_parse(odd_workload, sizeof(odd_workload) - 1, "odd.yaml", &workload, &err) !=
			TF_OK ||
		tf_ladder_builtin(class, &ladder, &err) != TF_OK ||
		tf_plan(&workload, &ladder, &properties, world, program, &err) != TF_OK)
		fail_msg("%s", err.text);
	tf_workload_fini(&workload);
	tf_ladder_fini(&ladder);
}

static void check_disjoint(const struct part *parts, size_t count, uint64_t end)
{
	for (size_t i = 0; i < count; i++) {
		assert_true(parts[i].off + parts[i].bytes <= end);
		for (size_t j = 0; j < i; j++)
			assert_true(parts[i].off + parts[i].bytes <= parts[j].off ||
				parts[j].off + parts[j].bytes <= parts[i].off);
	}
}

static void check_layout(const struct tf_program *program, uint64_t granularity)
{
	const struct tf_layout *layout = &program->layout;
	const struct part parts[] = {
		{layout->control_off, layout->control_bytes},
		{layout->ll_off, 2 * program->world * layout->ll_source_bytes},
		{layout->sentinel_off, 3 * program->world * layout->sentinel_source_bytes},
		{layout->flag_off, layout->flag_bytes},
		{layout->staging_off, 2 * program->world * layout->staging_source_bytes},
		{layout->exchange_off, layout->exchange_bytes},
		{layout->startup_off, layout->startup_bytes},
		{layout->private_off, layout->private_bytes},
	};

	check_disjoint(parts, sizeof(parts) / sizeof(parts[0]), layout->segment_bytes);
	assert_int_equal(layout->segment_bytes % granularity, 0);
	assert_int_equal(layout->stride_bytes % granularity, 0);
	assert_true(layout->segment_bytes <= layout->stride_bytes);
	assert_int_equal(layout->startup_bytes,
		tf_startup_places(
			program->group_count, program->candidate_count, NULL, NULL, NULL, NULL, NULL));
}

static void check_buffer(
	const struct tf_program *program, uint32_t group, uint32_t pair, enum tf_buffer_role role)
{
	const struct tf_group *of = &program->groups[group];
	uint32_t index = tf_plan_buffer(program, group, pair, role);
	const struct tf_buffer *buffer;
	uint64_t elements = 1;

	assert_true(index < program->buffer_count);
	buffer = &program->buffers[index];
	assert_int_equal(buffer->group, group);
	assert_int_equal(buffer->pair, pair);
	assert_int_equal(buffer->role, role);
	for (uint32_t dim = 0; dim < buffer->dims_count; dim++)
		elements *= buffer->dims[dim];
	assert_int_equal(elements * tf_dtype_bytes(buffer->dtype), buffer->bytes);
	assert_int_equal(buffer->bytes,
		role == TF_BUFFER_INPUT ? tf_group_input_bytes(of)
								: tf_group_output_bytes(of, program->world));
	assert_true(buffer->segment_off >= program->layout.exchange_off);
	assert_true(buffer->segment_off + buffer->bytes <=
		program->layout.exchange_off + program->layout.exchange_bytes);
}

static void check_buffers(const struct tf_program *program)
{
	struct part *parts = calloc(program->buffer_count, sizeof(parts[0]));

	assert_non_null(parts);
	for (uint32_t i = 0; i < program->buffer_count; i++)
		parts[i] = (struct part){program->buffers[i].segment_off, program->buffers[i].bytes};
	check_disjoint(parts, program->buffer_count, program->layout.segment_bytes);
	free(parts);
	for (uint32_t group = 0; group < program->group_count; group++) {
		for (uint32_t pair = 0; pair < program->groups[group].buffer_pairs; pair++) {
			check_buffer(program, group, pair, TF_BUFFER_INPUT);
			check_buffer(program, group, pair, TF_BUFFER_OUTPUT);
		}
	}
}

/*
 * Candidates stand by (group, rung); every group has some, its selector is its first, each has its
 * kernel.
 */
static void check_candidates(const struct tf_program *program)
{
	uint32_t slot = 0;

	for (uint32_t group = 0; group < program->group_count; group++) {
		uint32_t rung = 0;

		assert_int_equal(program->selectors[group], slot);
		for (; slot < program->candidate_count && program->candidates[slot].group == group;
			 slot++) {
			const struct tf_candidate *candidate = &program->candidates[slot].candidate;

			assert_int_equal(program->candidates[slot].rung, rung++);
			assert_true(tf_plan_kernel(program,
							tf_collective_kernel_name(program->groups[group].op,
								candidate->algorithm, candidate->writer)) != TF_PROGRAM_NONE);
		}
		assert_true(rung > 0);
	}
	assert_int_equal(slot, program->candidate_count);
	assert_int_equal(tf_plan_kernel(program, "all_reduce_three_shot"), TF_PROGRAM_NONE);
}

static void test_worlds_and_odd_sizes(void **state)
{
	static const uint64_t granularities[] = {4096, UINT64_C(2) << 20};

	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++) {
		for (size_t class = 0; class < sizeof(classes) / sizeof(classes[0]); class ++) {
			for (size_t i = 0; i < 2; i++) {
				struct tf_program program;

				make_plan(world, classes[class], granularities[i], ALL_OF_PEERS, &program);
				assert_int_equal(program.world, world);
				assert_int_equal(program.group_count, 3 * 3 + 1);
				check_layout(&program, granularities[i]);
				check_buffers(&program);
				check_candidates(&program);
				tf_program_fini(&program);
			}
		}
	}
}

/* Without peer access: only staged, and what ranks share lies before the exchange buffers. */
static void test_without_peers(void **state)
{
	static const uint64_t granularities[] = {4096, UINT64_C(2) << 20};

	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++) {
		for (size_t i = 0; i < 6; i++) {
			uint64_t granularity = granularities[i / 3], shared = 0;
			struct tf_program program;
			struct tf_error err = {0};

			make_plan(world, classes[i % 3], granularity, 0, &program);
			check_layout(&program, granularity);
			check_buffers(&program);
			check_candidates(&program);
			for (uint32_t slot = 0; slot < program.candidate_count; slot++)
				assert_int_equal(program.candidates[slot].candidate.writer, TF_WRITER_STAGED);
			assert_true(tf_peer_access_is_off(&program));
			assert_int_equal(
				tf_peer_access_shared_bytes(&program.layout, granularity, &shared, &err), TF_OK);
			assert_true(program.layout.startup_off + program.layout.startup_bytes <= shared);
			tf_program_fini(&program);
		}
	}
}

/* The identity says what the plan was made from. */
static void test_identity(void **state)
{
	struct tf_program program;

	(void)state;
	make_plan(5, "switched", 4096, ALL_OF_PEERS, &program);
	assert_string_equal(tf_program_identity(&program, "world"), "5");
	assert_string_equal(tf_program_identity(&program, "workload"), "odd");
	assert_string_equal(tf_program_identity(&program, "topology.class"), "switched");
	assert_string_equal(tf_program_identity(&program, "device.kind"), "host");
	assert_non_null(tf_program_identity(&program, "abi"));
	assert_non_null(tf_program_identity(&program, "numerics"));
	tf_program_fini(&program);
}

static void test_a_group_without_candidate_is_named(void **state)
{
	static const char narrow[] =
		"topology: local\nsummary: Only small ones.\nrungs:\n"
		"  - {algorithm: one_shot, writer: ll, threads: 32, ctas: 1, ops: [all_reduce], "
		"world: [2, 8], bytes: [1, 64KiB], reason: \"Small.\"}\n";
	struct tf_device_properties properties = {
		.kind = "host", .granularity_bytes = 4096, .capabilities = 7};
	struct tf_workload workload = {0};
	struct tf_ladder ladder = {0};
	struct tf_program program = {0};
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(
		tf_workload_parse(odd_workload, sizeof(odd_workload) - 1, "odd.yaml", &workload, &err),
		TF_OK);
	if (tf_ladder_parse(narrow, sizeof(narrow) - 1, "narrow.yaml", &ladder, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_int_equal(tf_plan(&workload, &ladder, &properties, 2, &program, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "'gather'"));
	tf_program_fini(&program);
	tf_workload_fini(&workload);
	tf_ladder_fini(&ladder);
}

/* Plans `text` for two ranks on a host without limits. */
static enum tf_status plan_text(const char *text, struct tf_program *program, struct tf_error *err)
{
	struct tf_device_properties properties = {
		.kind = "host", .granularity_bytes = 4096, .capabilities = ALL_OF_PEERS};
	struct tf_workload workload = {0};
	struct tf_ladder ladder = {0};
	enum tf_status status = tf_workload_parse(text, strlen(text), "w.yaml", &workload, err);

	memset(program, 0, sizeof(*program));
	if (status != TF_OK || tf_ladder_builtin("local", &ladder, err) != TF_OK)
		fail_msg("%s", err->text);
	status = tf_plan(&workload, &ladder, &properties, 2, program, err);
	tf_workload_fini(&workload);
	tf_ladder_fini(&ladder);
	return status;
}

/* Of 63 bytes, alike in the first 62; and one of 46, which every suffix leaves room for. */
static void test_names_that_begin_alike_differ(void **state)
{
	static const char text[] =
		"name: w\nsummary: Long names.\ncapacities: [1, 65536]\ngroups:\n"
		"  - {name: "
		"a23456789.123456789.123456789.123456789.123456789.123456789.12a, op: all_reduce, "
		"dtype: bf16, row_elements: 8, times: 2}\n"
		"  - {name: "
		"a23456789.123456789.123456789.123456789.123456789.123456789.12b, op: all_reduce, "
		"dtype: bf16, row_elements: 8, times: 2}\n"
		"  - {name: a23456789.123456789.123456789.123456789.12345c, op: all_reduce, dtype: bf16, "
		"row_elements: 8}\n";
	struct tf_program program;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(plan_text(text, &program, &err), TF_OK);
	for (uint32_t i = 0; i < program.buffer_count; i++) {
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(program.buffers[i].name, program.buffers[k].name);
	}
	assert_string_equal(program.buffers[tf_plan_buffer(&program, 3, 1, TF_BUFFER_OUTPUT)].name,
		"a23456789.123456789.123456789.123456789.1234567.g3.c65536.out.1");
	assert_string_equal(program.buffers[tf_plan_buffer(&program, 5, 0, TF_BUFFER_INPUT)].name,
		"a23456789.123456789.123456789.123456789.12345c.c65536.in.0");
	tf_program_fini(&program);
}

/* What the program calls its own buffers cannot be a workload's: told before anything is tuned. */
static void test_names_that_the_program_makes_are_refused(void **state)
{
	static const char *const taken[] = {"startup.evict", "x.c8", "a.c1.in.0"};
	struct tf_program program;
	struct tf_error err = {0};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		snprintf(text, sizeof(text),
			"name: w\nsummary: s\ncapacities: [1, 8]\ngroups:\n"
			"  - {name: a, op: all_reduce, dtype: bf16, row_elements: 64, output: x}\n"
			"buffers:\n  - {name: %s, role: work, dtype: f32, elements: 1}\n"
			"modules:\n  - {name: m, images: [{device: host, file: m.so}]}\n"
			"kernels:\n  - {name: k, module: m, grid: [1], block: [1], arguments: [{u32: 1}]}\n"
			"step: [a, k]\n",
			taken[i]);
		assert_int_equal(plan_text(text, &program, &err), TF_E_INVALID);
		assert_non_null(strstr(err.text, taken[i]));
		assert_non_null(strstr(err.text, "the program has another of that name"));
		tf_program_fini(&program);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_that_begin_alike_differ),
		cmocka_unit_test(test_names_that_the_program_makes_are_refused),
		cmocka_unit_test(test_worlds_and_odd_sizes),
		cmocka_unit_test(test_without_peers),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_a_group_without_candidate_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
