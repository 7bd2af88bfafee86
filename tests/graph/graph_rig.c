/* SPDX-License-Identifier: Apache-2.0 */
/* One rig a test: tests plant faults in its program. */
#include "tests/graph/graph_rig.h"

#include <stdlib.h>
#include <string.h>

void graph_assert_ok(enum tf_status got, const struct tf_error *err, const char *file, int line)
{
	if (got == TF_OK)
		return;
	print_error("%s: %s\n", tf_status_name(got), err->text);
	_fail(file, line);
}

void graph_assert_refused(enum tf_status got, enum tf_status wanted, const struct tf_error *err,
	const char *words, const char *file, int line)
{
	if (got == wanted && err->status == wanted && strstr(err->text, words))
		return;
	print_error("wanted %s with \"%s\", got %s: \"%s\"\n", tf_status_name(wanted), words,
		tf_status_name(got), err->text);
	_fail(file, line);
}

int graph_rig_setup(void **state)
{
	struct graph_rig *rig = calloc(1, sizeof(*rig));
	const struct tf_device_ops *ops = &tf_host_device_ops;

	*state = rig;
	test_program_init(&rig->test);
	assert_ok(ops->open(0, &rig->device, &rig->err), &rig->err);
	assert_ok(tf_rebuild_modules_load(
				  &rig->test.program, ops, rig->device, NULL, &rig->modules, &rig->err),
		&rig->err);
	rig->target = (struct tf_rebuild_target){
		.ops = ops,
		.device = rig->device,
		.window = {UINT64_C(0x123400000000), TEST_STRIDE, 0, TEST_WORLD},
		.kernels = rig->modules.kernels,
	};
	return 0;
}

void graph_rig_plant_comm(struct graph_rig *rig)
{
	const struct tf_buffer *buffers = rig->test.buffers;

	rig->groups[1] = (struct tf_group){.name = "sum",
		.op = TF_OP_ALL_REDUCE,
		.dtype = TF_DTYPE_F32,
		.row_elements = TEST_COUNT,
		.capacity = 2,
		.times = 1,
		.buffer_pairs = 1};
	rig->test.program.groups = rig->groups;
	rig->test.program.group_count = 2;
	rig->test.step_nodes[2] = (struct tf_node){.kind = TF_NODE_COMM,
		.launch = TF_PROGRAM_NONE,
		.to_off = buffers[BUFFER_HIDDEN].segment_off,
		.from_off = buffers[BUFFER_X].segment_off,
		.bytes = 8 * TEST_COUNT,
		.value = 1};
	planted_comm_init(&rig->comm, 8 * TEST_COUNT);
	rig->target.comm = &rig->comm.caller;
}

int graph_rig_teardown(void **state)
{
	struct graph_rig *rig = *state;

	tf_rebuild_modules_unload(&rig->modules);
	tf_host_device_ops.close(rig->device);
	free(rig);
	return 0;
}
