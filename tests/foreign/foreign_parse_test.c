/* SPDX-License-Identifier: Apache-2.0 */
/* The language of steps with kernels: what it says, and the message of every fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "prepare/workload/workload.h"

#define HEAD    "name: w\nsummary: s\ncapacities: [1, 8]\n"
#define A       "  - {name: a, op: all_reduce, dtype: bf16, row_elements: 64, output: x}\n"
#define B       "  - {name: b, op: all_gather, dtype: f32, row_elements: 64, input: y}\n"
#define GROUPS  "groups:\n" A B
#define BUFFERS "buffers:\n  - {name: g, role: constant, dtype: bf16, elements: 64, file: g.bin}\n"
#define IMAGE   "{device: host, file: m.so}"
#define MODULES "modules:\n  - {name: m, images: [" IMAGE ", {device: sm_90, file: /m.cubin}]}\n"
#define KERNEL(more)                                                                               \
	"kernels:\n  - {name: k, module: m, grid: [rows], block: [32], arguments: [{buffer: x}]" more  \
	"}\n"
#define STEP "step: [a, k, b, a]\n"

struct bad {
	const char *text, *message;
};

static const struct bad bads[] = {
	{HEAD GROUPS, "groups[0].name"}, /* replaced below: operands need a step */
	{HEAD GROUPS BUFFERS MODULES KERNEL("") "step: [a, b, z]\n", "step[2]: 'z' is no group and no"},
	{HEAD GROUPS BUFFERS MODULES KERNEL("") "step: [a, k]\n",
		"groups[1].name: the step calls 'b' 0 times, allowed: 1 to 65536"},
	{HEAD GROUPS BUFFERS MODULES KERNEL("") STEP "repeat: 0\n", "repeat: found '0', allowed: a"},
	{HEAD GROUPS MODULES
		"kernels:\n  - {name: k, module: n, grid: [1], block: [1], arguments: [{u32: 1}]}\n" STEP,
		"kernels[0].module: there is no module 'n'"},
	{HEAD GROUPS MODULES
		"kernels:\n  - {name: a, module: m, grid: [1], block: [1], arguments: [{u32: 1}]}\n" STEP,
		"kernels[0].name: 'a' is the name of a group or kernel already"},
	{HEAD GROUPS MODULES "kernels:\n  - {name: k, module: m, grid: [1], block: [1], arguments: "
						 "[{buffer: q}]}\n" STEP,
		"kernels[0].arguments[0].buffer: 'q' is no buffer and no named operand of a collective"},
	{HEAD GROUPS MODULES "kernels:\n  - {name: k, module: m, grid: [1], block: [1], arguments: "
						 "[{u32: 1, f32: 2}]}\n" STEP,
		"kernels[0].arguments[0]: found 2 of buffer, u32, i32, f32, u64 and rows, allowed: one"},
	{HEAD GROUPS MODULES "kernels:\n  - {name: k, module: m, grid: [1], block: [1], arguments: "
						 "[{u32: 1, offset: 2}]}\n" STEP,
		"kernels[0].arguments[0]: offset and access are for arguments that are buffers"},
	{HEAD GROUPS MODULES "kernels:\n  - {name: k, module: m, grid: [1], block: [1], arguments: "
						 "[{i32: -2147483649}]}\n" STEP,
		"arguments[0].i32: found '-2147483649', allowed: a number from -2147483648 to 2147483647"},
	{HEAD GROUPS MODULES "kernels:\n  - {name: k, module: m, grid: [1], block: [1], arguments: "
						 "[{f32: 1.5x}]}\n" STEP,
		"arguments[0].f32: found '1.5x', allowed: a number"},
	{HEAD GROUPS MODULES "kernels:\n  - {name: k, module: m, grid: [1], block: [1], arguments: "
						 "[{rows: u64}]}\n" STEP,
		"arguments[0].rows: found 'u64', allowed: u32"},
	{HEAD GROUPS MODULES "kernels:\n  - {name: k, module: m, grid: [1], block: [1], arguments: "
						 "[{buffer: x, access: none}]}\n" STEP,
		"arguments[0].access: found 'none', allowed: read or write"},
	{HEAD GROUPS MODULES
		"kernels:\n  - {name: k, module: m, grid: [row], block: [1], arguments: [{u32: 1}]}\n" STEP,
		"kernels[0].grid[0]: found 'row', allowed: N, rows or N*rows, and /M behind it"},
	{HEAD GROUPS MODULES "kernels:\n  - {name: k, module: m, grid: [rows/0], block: [1], "
						 "arguments: [{u32: 1}]}\n" STEP,
		"kernels[0].grid[0]: found 'rows/0', allowed"},
	{HEAD GROUPS MODULES KERNEL(", programmatic: yes") STEP,
		"kernels[0].programmatic: found 'yes', allowed: true or false"},
	{HEAD GROUPS "buffers:\n  - {name: x, role: work, dtype: f32, elements: 1}\n" MODULES KERNEL("")
			STEP,
		"buffers[0].name: 'x' is the name of a buffer or operand already"},
	{HEAD GROUPS
		"buffers:\n  - {name: g, role: constant, dtype: f32, elements: 1}\n" MODULES KERNEL("")
			STEP,
		"buffers[0]: a constant has elements and a file, and no other role has a file"},
	{HEAD GROUPS "buffers:\n  - {name: g, role: work, dtype: f32}\n" MODULES KERNEL("") STEP,
		"buffers[0]: one of row_elements and elements is needed, and not both"},
	{HEAD GROUPS "modules:\n  - {name: m, images: [{device: gpu, file: f}]}\n" KERNEL("") STEP,
		"modules[0].images[0].device: found 'gpu', allowed: host, sm_NN, or cuda for any GPU"},
	{HEAD GROUPS "modules:\n  - {name: m, images: [" IMAGE ", " IMAGE "]}\n" KERNEL("") STEP,
		"modules[0].images[1].device: 'host' is given twice"},
	{HEAD GROUPS "modules:\n  - {name: host, images: [" IMAGE "]}\n" KERNEL("") STEP,
		"modules[0].name: 'host' is the name of a module already"},
	/* its image for sm_90 would be called as ours: modules/collectives-sm_90.cubin */
	{HEAD GROUPS "modules:\n  - {name: collectives, images: [" IMAGE "]}\n" KERNEL("") STEP,
		"modules[0].name: 'collectives' is the name of a module already"},
	{HEAD "groups:\n  - {name: a, op: all_reduce, dtype: bf16, row_elements: 64, times: 2}\n"
		  "step: [a]\n",
		"groups[0].times: a workload with a step counts the calls in it"},
	{HEAD "groups:\n  - {name: a, op: all_reduce, dtype: bf16, row_elements: 64, input: x, "
		  "buffer_pairs: 1}\nstep: [a]\n",
		"groups[0].buffer_pairs: operands with a name are one pair"},
	{HEAD "groups:\n  - {name: a, op: all_reduce, dtype: bf16, row_elements: 64, capacities: [1]}\n"
		  "step: [a]\n",
		"groups[0].capacities: a workload with a step calls every group at every capacity"},
};

static void test_faults(void **state)
{
	(void)state;
	for (size_t i = 1; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct tf_workload workload = {0};
		struct tf_error err = {0};

		if (tf_workload_parse(bads[i].text, strlen(bads[i].text), "w.yaml", &workload, &err) !=
				TF_E_INVALID ||
			!strstr(err.text, bads[i].message))
			fail_msg("case %zu: wanted \"%s\", got \"%s\"", i, bads[i].message, err.text);
	}
}

static void test_needs_a_step(void **state)
{
	struct tf_workload workload = {0};
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(
		tf_workload_parse(bads[0].text, strlen(bads[0].text), "w.yaml", &workload, &err),
		TF_E_INVALID);
	assert_string_equal(
		err.text, "w.yaml:1: buffers, modules, kernels, repeat and names of operands need a step");
}

static const char whole[] = HEAD GROUPS BUFFERS MODULES
	"kernels:\n"
	"  - name: k\n    module: m\n    function: kernel_fn\n    grid: [2*rows/3, 4]\n    block: "
	"[32]\n"
	"    shared_bytes: 8*rows\n    programmatic: true\n    arguments: [{buffer: x, offset: 16, "
	"access: read}, {buffer: g}, {i32: -1}, {f32: 0.5}, {u64: 18446744073709551615}, {rows: u32}]\n"
	"step: [a, k, b, a]\nrepeat: 3\n";

static void test_whole(void **state)
{
	struct tf_workload workload = {0};
	struct tf_error err = {0};
	const struct tf_foreign_kernel *kernel;

	(void)state;
	if (tf_workload_parse(whole, strlen(whole), "dir/w.yaml", &workload, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_int_equal(workload.group_count, 4);
	assert_int_equal(workload.groups[0].times, 6);
	assert_int_equal(workload.groups[0].buffer_pairs, 1);
	assert_int_equal(workload.groups[1].times, 3);
	assert_string_equal(workload.foreign->modules[0].images[0].path, "dir/m.so");
	assert_string_equal(workload.foreign->modules[0].images[1].path, "/m.cubin");
	kernel = &workload.foreign->kernels[0];
	assert_string_equal(kernel->function, "kernel_fn");
	assert_int_equal(tf_foreign_size_at(&kernel->grid[0], 8), 6);
	assert_int_equal(tf_foreign_size_at(&kernel->grid[1], 8), 4);
	assert_int_equal(tf_foreign_size_at(&kernel->grid[2], 8), 1);
	assert_int_equal(tf_foreign_size_at(&kernel->shared, 8), 64);
	assert_true(kernel->programmatic);
	assert_int_equal(kernel->argument_count, 6);
	assert_int_equal(kernel->arguments[0].value, 16);
	assert_true(kernel->arguments[0].is_read_only && !kernel->arguments[1].is_read_only);
	assert_int_equal(kernel->arguments[2].value, UINT32_MAX);
	assert_int_equal(kernel->arguments[3].value, 0x3f000000);
	assert_true(kernel->arguments[4].value == UINT64_MAX);
	assert_int_equal(workload.foreign->call_count, 4);
	assert_int_equal(workload.foreign->repeat, 3);
	tf_workload_fini(&workload);
}

static void test_no_memory(void **state)
{
	int failures = 0;

	(void)state;
	for (uint64_t nth = 1;; nth++) {
		struct tf_workload workload = {0};
		struct tf_error err = {0};
		enum tf_status status;

		tf_alloc_fail_at(nth);
		status = tf_workload_parse(whole, strlen(whole), "w.yaml", &workload, &err);
		tf_alloc_fail_at(0);
		tf_workload_fini(&workload);
		if (status == TF_OK)
			break;
		assert_int_equal(status, TF_E_NO_MEMORY);
		failures++;
	}
	assert_true(failures > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_needs_a_step),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
