/* SPDX-License-Identifier: Apache-2.0 */
/* The program of graph_program.h, row by row. */
#include "tests/graph/graph_program.h"

#include <string.h>

#include "runtime/device/device.h"
#include "tests/device/device_kernels.h"

static void init_layout(struct tf_layout *layout)
{
	*layout = (struct tf_layout){
		.stride_bytes = TEST_STRIDE,
		.segment_bytes = 5 * TEST_UNIT,
		.control_off = 0,
		.control_bytes = 8192,
		.ll_off = 8192,
		.ll_source_bytes = 64,
		.sentinel_off = 0x4000,
		.sentinel_source_bytes = 64,
		.flag_off = 0x5000,
		.flag_bytes = 4096,
		.staging_off = 0x6000,
		.staging_source_bytes = 64,
		.exchange_off = TEST_UNIT,
		.exchange_bytes = TEST_UNIT,
		.startup_off = 2 * TEST_UNIT,
		.startup_bytes = 4096,
		.private_off = 3 * TEST_UNIT,
		.private_bytes = 2 * TEST_UNIT,
	};
}

static struct tf_buffer buffer(
	const char *name, enum tf_buffer_role role, uint64_t off, uint64_t bytes)
{
	struct tf_buffer row = {
		.role = role,
		.dtype = TF_DTYPE_F32,
		.dims_count = 1,
		.dims = {bytes / 4},
		.segment_off = off,
		.bytes = bytes,
		.peer_visible = off < 3 * TEST_UNIT,
		.group = TF_PROGRAM_NONE,
	};

	strncpy(row.name, name, sizeof(row.name) - 1);
	return row;
}

static void init_buffers(struct test_program *test)
{
	uint64_t bytes = 8 * TEST_COUNT;

	test->buffers[BUFFER_X] = buffer("x", TF_BUFFER_INPUT, TEST_UNIT + 0x200, bytes);
	test->buffers[BUFFER_Y] = buffer("y", TF_BUFFER_OUTPUT, TEST_UNIT + 0x800, bytes);
	test->buffers[BUFFER_HIDDEN] = buffer("hidden", TF_BUFFER_WORK, 3 * TEST_UNIT, bytes);
	test->buffers[BUFFER_WORK] = buffer("work", TF_BUFFER_WORK, 3 * TEST_UNIT + 0x1000, bytes);
	test->buffers[BUFFER_MARK] = buffer("mark", TF_BUFFER_WORK, 4 * TEST_UNIT, 64);
}

static void init_kernels(struct test_program *test)
{
	test->modules[0] =
		(struct tf_module){.name = "host", .kind = TF_MODULE_HOST, .member = TF_PROGRAM_NONE};
	tf_host_module_digest(test->modules[0].digest);
	test->kernels[KERNEL_MIX] = (struct tf_kernel){.name = "test_mix",
		.args_bytes = sizeof(struct test_mix_args),
		.words_first = 0,
		.words_count = 3};
	test->kernels[KERNEL_STORE] = (struct tf_kernel){.name = "test_store",
		.args_bytes = sizeof(struct test_store_args),
		.words_first = 3,
		.words_count = 1};
	test->kernel_words[0] = (struct tf_kernel_word){
		.arg_off = offsetof(struct test_mix_args, out), .kind = TF_WORD_ADDRESS, .name = "out"};
	test->kernel_words[1] = (struct tf_kernel_word){.arg_off = offsetof(struct test_mix_args, in),
		.kind = TF_WORD_ADDRESS,
		.nullable = 1,
		.name = "in"};
	test->kernel_words[2] = (struct tf_kernel_word){
		.arg_off = offsetof(struct test_mix_args, rank), .kind = TF_WORD_RANK, .name = "rank"};
	test->kernel_words[3] = (struct tf_kernel_word){
		.arg_off = offsetof(struct test_store_args, to), .kind = TF_WORD_ADDRESS, .name = "to"};
}

static struct tf_launch launch(
	uint32_t kernel, uint64_t args_off, uint32_t words_first, uint32_t words_count)
{
	return (struct tf_launch){
		.kernel = kernel,
		.grid = {1, 1, 1},
		.block = {32, 1, 1},
		.args_off = args_off,
		.words_first = words_first,
		.words_count = words_count,
	};
}

static struct tf_launch_word address(uint32_t arg_off, uint32_t peer, uint64_t segment_off)
{
	return (struct tf_launch_word){
		.arg_off = arg_off, .kind = TF_WORD_ADDRESS, .peer = peer, .segment_off = segment_off};
}

static void init_launches(struct test_program *test)
{
	struct test_mix_args fill = {.salt = 1000, .count = TEST_COUNT};
	struct test_mix_args mix = {.salt = 7, .count = TEST_COUNT};
	struct test_store_args store = {.value = 0x1122334455667788};
	uint32_t out = offsetof(struct test_mix_args, out), in = offsetof(struct test_mix_args, in);
	struct tf_launch_word rank = {
		.arg_off = offsetof(struct test_mix_args, rank), .kind = TF_WORD_RANK};

	test->launches[LAUNCH_FILL] = launch(KERNEL_MIX, 0, 0, 2);
	test->launches[LAUNCH_MIX] = launch(KERNEL_MIX, 32, 2, 3);
	test->launches[LAUNCH_STORE] = launch(KERNEL_STORE, 68, 5, 1); /* off any alignment */
	test->launch_words[0] = address(out, 0, test->buffers[BUFFER_X].segment_off);
	test->launch_words[1] = rank;
	test->launch_words[2] = address(out, 0, test->buffers[BUFFER_Y].segment_off);
	test->launch_words[3] = address(in, 0, test->buffers[BUFFER_WORK].segment_off);
	test->launch_words[4] = rank;
	/* The control memory of the rank behind this one. */
	test->launch_words[5] = address(0, TEST_WORLD - 1, 0x80);
	memcpy(test->args, &fill, sizeof(fill));
	memcpy(test->args + 32, &mix, sizeof(mix));
	memcpy(test->args + 68, &store, sizeof(store));
}

static void init_graphs(struct test_program *test)
{
	const struct tf_buffer *buffers = test->buffers;

	test->fill_nodes[0] = (struct tf_node){.kind = TF_NODE_KERNEL, .launch = LAUNCH_FILL};
	test->step_nodes[0] = (struct tf_node){.kind = TF_NODE_KERNEL, .launch = LAUNCH_MIX};
	test->step_nodes[1] = (struct tf_node){.kind = TF_NODE_COPY,
		.to_off = buffers[BUFFER_WORK].segment_off,
		.from_peer = 1,
		.from_off = buffers[BUFFER_X].segment_off,
		.bytes = 8 * TEST_COUNT};
	test->step_nodes[2] = (struct tf_node){.kind = TF_NODE_EMPTY};
	test->step_nodes[3] = (struct tf_node){.kind = TF_NODE_SET,
		.to_off = buffers[BUFFER_MARK].segment_off + 1,
		.bytes = 3,
		.value = 0xa5};
	test->step_nodes[4] = (struct tf_node){.kind = TF_NODE_KERNEL, .launch = LAUNCH_STORE};
	test->step_edges[0] = (struct tf_edge){.from = 1, .to = 0};
	test->step_edges[1] = (struct tf_edge){.from = 2, .to = 1};
	test->step_edges[2] = (struct tf_edge){.from = 3, .to = 2};
	test->step_edges[3] = (struct tf_edge){.from = 0, .to = 4, .type = 1};
	test->graphs[0] = (struct tf_graph){
		.kind = TF_GRAPH_STEP, .capacity = 1, .nodes = test->fill_nodes, .node_count = 1};
	test->graphs[1] = (struct tf_graph){.kind = TF_GRAPH_STEP,
		.capacity = 2,
		.nodes = test->step_nodes,
		.node_count = 5,
		.edges = test->step_edges,
		.edge_count = 4};
}

void test_program_init(struct test_program *test)
{
	memset(test, 0, sizeof(*test));
	init_layout(&test->program.layout);
	init_buffers(test);
	init_kernels(test);
	init_launches(test);
	init_graphs(test);
	test->program.world = TEST_WORLD;
	test->program.buffers = test->buffers;
	test->program.buffer_count = TEST_BUFFERS;
	test->program.modules = test->modules;
	test->program.module_count = 1;
	test->program.kernels = test->kernels;
	test->program.kernel_count = TEST_KERNELS;
	test->program.kernel_words = test->kernel_words;
	test->program.kernel_word_count = 4;
	test->program.launches = test->launches;
	test->program.launch_count = TEST_LAUNCHES;
	test->program.launch_words = test->launch_words;
	test->program.launch_word_count = 6;
	test->program.args = (struct tf_bytes){test->args, 84, sizeof(test->args)};
	test->program.graphs = test->graphs;
	test->program.graph_count = 2;
}
