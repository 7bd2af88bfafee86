/* SPDX-License-Identifier: Apache-2.0 */
/* One planted fault after another: each is refused, and the text names where it lies. */
#include "tests/graph/graph_rig.h"

#include <string.h>

#include "tests/device/device_kernels.h"

struct fault {
	void (*plant)(struct graph_rig *rig);
	uint32_t graph;
	enum tf_status status;
	const char *words;
};

static struct tf_launch_word *store_word(struct graph_rig *rig)
{
	return &rig->test.launch_words[5]; /* "to" of node 4 in graph 1, at the previous rank */
}

static void past_segment(struct graph_rig *rig)
{
	store_word(rig)->segment_off = rig->test.program.layout.segment_bytes;
}

static void far_past_segment(struct graph_rig *rig)
{
	store_word(rig)->segment_off = UINT64_MAX;
}

static void peer_outside_world(struct graph_rig *rig)
{
	store_word(rig)->peer = TEST_WORLD;
}

static void between_buffers(struct graph_rig *rig)
{
	store_word(rig)->segment_off = TEST_UNIT + 0x600;
}

static void one_past_buffer(struct graph_rig *rig)
{
	const struct tf_buffer *x = &rig->test.buffers[BUFFER_X];

	rig->test.launch_words[0].segment_off = x->segment_off + x->bytes;
}

static void one_before_buffer(struct graph_rig *rig)
{
	rig->test.launch_words[0].segment_off = rig->test.buffers[BUFFER_X].segment_off - 1;
}

static void peer_private(struct graph_rig *rig)
{
	store_word(rig)->segment_off = rig->test.buffers[BUFFER_HIDDEN].segment_off;
}

static void peer_not_visible(struct graph_rig *rig)
{
	rig->test.buffers[BUFFER_X].peer_visible = 0;
}

static void peer_visible_but_private(struct graph_rig *rig)
{
	rig->test.buffers[BUFFER_HIDDEN].peer_visible = 1;
	peer_private(rig);
}

static void past_ll(struct graph_rig *rig)
{
	store_word(rig)->segment_off = rig->test.program.layout.ll_off + 2 * TEST_WORLD * 64;
}

static void layout_passes_segment(struct graph_rig *rig)
{
	rig->test.program.layout.flag_bytes = 6 * TEST_UNIT;
}

static void layout_overflows(struct graph_rig *rig)
{
	rig->test.program.layout.ll_source_bytes = UINT64_MAX / 4;
}

static void copy_past_buffer(struct graph_rig *rig)
{
	rig->test.step_nodes[1].bytes += 1;
}

static void copy_to_past_buffer(struct graph_rig *rig)
{
	rig->test.step_nodes[1].to_off += 8;
}

static void copy_overflows(struct graph_rig *rig)
{
	rig->test.step_nodes[1].bytes = UINT64_MAX - 16;
}

static void set_in_peer_private(struct graph_rig *rig)
{
	rig->test.step_nodes[3].to_peer = 2;
}

/* A user's kernel may point at none of what our own may: peers, protocol memory. */
static void users_at_peer(struct graph_rig *rig)
{
	rig->test.kernels[KERNEL_STORE].params_count = 1;
}

static void users_at_protocol(struct graph_rig *rig)
{
	rig->test.kernels[KERNEL_STORE].params_count = 1;
	rig->test.launch_words[5].peer = 0;
}

static void users_at_gap(struct graph_rig *rig)
{
	rig->test.kernels[KERNEL_STORE].params_count = 1;
	rig->test.launch_words[5].peer = 0;
	rig->test.launch_words[5].segment_off = rig->test.buffers[BUFFER_MARK].segment_off + 64;
}

static void set_value(struct graph_rig *rig)
{
	rig->test.step_nodes[3].value = 256;
}

static void args_not_zero(struct graph_rig *rig)
{
	rig->test.args[32 + 15] = 1; /* in "in" of the mix launch: a stored address */
}

static void args_past_end(struct graph_rig *rig)
{
	rig->test.program.args.size--;
}

static void word_missing(struct graph_rig *rig)
{
	rig->test.launches[LAUNCH_STORE].words_count = 0;
}

static void rank_missing(struct graph_rig *rig)
{
	rig->test.launches[LAUNCH_FILL].words_count = 1;
}

static void word_foreign(struct graph_rig *rig)
{
	rig->test.launch_words[3].arg_off = 16;
}

static void word_kind(struct graph_rig *rig)
{
	rig->test.launch_words[1].kind = TF_WORD_ADDRESS;
}

static void word_off(struct graph_rig *rig)
{
	rig->test.kernel_words[2].arg_off = sizeof(struct test_mix_args) - 3;
}

static void word_kind_unknown(struct graph_rig *rig)
{
	rig->test.kernel_words[2].kind = (enum tf_word_kind)9;
}

static void words_range(struct graph_rig *rig)
{
	rig->test.launches[LAUNCH_STORE].words_first = 6;
}

static void launch_range(struct graph_rig *rig)
{
	rig->test.step_nodes[4].launch = TEST_LAUNCHES;
}

static void kernel_range(struct graph_rig *rig)
{
	rig->test.launches[LAUNCH_STORE].kernel = TEST_KERNELS;
}

static void kernel_not_loaded(struct graph_rig *rig)
{
	rig->modules.kernels[KERNEL_STORE] = NULL;
}

static void kernel_args_huge(struct graph_rig *rig)
{
	rig->test.kernels[KERNEL_STORE].args_bytes = TF_EXEC_ARGS_BYTES_MAX + 1;
}

static void empty_grid(struct graph_rig *rig)
{
	rig->test.launches[LAUNCH_STORE].grid[1] = 0;
}

static void comm_nobody(struct graph_rig *rig)
{
	graph_rig_plant_comm(rig);
	rig->target.comm = NULL;
}

static void comm_group(struct graph_rig *rig)
{
	graph_rig_plant_comm(rig);
	rig->test.step_nodes[2].value = 2;
}

static void comm_bytes(struct graph_rig *rig)
{
	graph_rig_plant_comm(rig);
	rig->test.step_nodes[2].bytes -= 4;
}

static void comm_from_peer(struct graph_rig *rig)
{
	graph_rig_plant_comm(rig);
	rig->test.step_nodes[2].from_peer = 1;
}

static void comm_to_peer(struct graph_rig *rig)
{
	graph_rig_plant_comm(rig);
	rig->test.step_nodes[2].to_peer = 2;
}

static void comm_from_outside(struct graph_rig *rig)
{
	graph_rig_plant_comm(rig);
	rig->test.step_nodes[2].from_off += 4;
}

static void comm_to_outside(struct graph_rig *rig)
{
	graph_rig_plant_comm(rig);
	rig->test.step_nodes[2].to_off = rig->test.program.layout.segment_bytes;
}

/* The input fits, and so would an output of its size, but a gather's is world times as large. */
static void comm_output_outside(struct graph_rig *rig)
{
	graph_rig_plant_comm(rig);
	rig->groups[1].op = TF_OP_ALL_GATHER;
}

static void node_unknown(struct graph_rig *rig)
{
	rig->test.step_nodes[2].kind = (enum tf_node_kind)11;
}

static void edge_range(struct graph_rig *rig)
{
	rig->test.step_edges[2].to = 5;
}

static void edge_cycle(struct graph_rig *rig)
{
	rig->test.step_edges[3] = (struct tf_edge){.from = 0, .to = 3};
}

static void graph_range(struct graph_rig *rig)
{
	rig->test.program.graph_count = 1;
}

static void window_world(struct graph_rig *rig)
{
	rig->target.window.world = TEST_WORLD + 1;
}

static void window_stride(struct graph_rig *rig)
{
	rig->target.window.stride *= 2;
}

static void window_rank(struct graph_rig *rig)
{
	rig->target.window.rank = TEST_WORLD;
}

static void window_base(struct graph_rig *rig)
{
	rig->target.window.base = UINT64_MAX - TEST_STRIDE;
}

static void segment_past_stride(struct graph_rig *rig)
{
	rig->test.program.layout.segment_bytes = TEST_STRIDE + 1;
}

#define STORE "graph 1 (capacity 2): node 4 (kernel): kernel 'test_store': argument 'to': "
#define FILL  "graph 0 (capacity 1): node 0 (kernel): kernel 'test_mix': argument 'out': "

static const struct fault place_faults[] = {
	{past_segment, 1, TF_E_INVALID, STORE "1 bytes at 0x50000 of peer 2 pass the segment"},
	{far_past_segment, 1, TF_E_INVALID, STORE "1 bytes at 0xffffffffffffffff of peer 2 pass"},
	{peer_outside_world, 1, TF_E_INVALID, STORE "0x80 of peer 3, in a world of 3"},
	{between_buffers, 1, TF_E_INVALID, STORE "1 bytes at 0x10600 of peer 2 lie in no declared"},
	{one_past_buffer, 0, TF_E_INVALID, FILL "1 bytes at 0x10400 of peer 0 lie in no declared"},
	{one_before_buffer, 0, TF_E_INVALID, FILL "1 bytes at 0x101ff of peer 0 lie in no declared"},
	{peer_private, 1, TF_E_INVALID, STORE "1 bytes at 0x30000 of peer 2 lie in buffer 'hidden'"},
	{peer_not_visible, 1, TF_E_INVALID, "node 1 (copy): from: 512 bytes at 0x10200 of peer 1"},
	{peer_visible_but_private, 1, TF_E_INVALID, STORE "1 bytes at 0x30000 of peer 2 lie in "},
	{past_ll, 1, TF_E_INVALID, STORE "1 bytes at 0x2180 of peer 2 lie in no declared"},
	{layout_passes_segment, 1, TF_E_INVALID, "layout: flag at 0x5000"},
	{layout_overflows, 1, TF_E_INVALID, "layout: ll at 0x2000"},
	{copy_past_buffer, 1, TF_E_INVALID, "node 1 (copy): to: 513 bytes at 0x31000 of peer 0"},
	{copy_to_past_buffer, 1, TF_E_INVALID, "node 1 (copy): to: 512 bytes at 0x31008 of peer 0"},
	{copy_overflows, 1, TF_E_INVALID, "node 1 (copy): to: 18446744073709551599 bytes"},
	{users_at_peer, 1, TF_E_INVALID, STORE "0x80 of peer 2 is not in the rank's own segment"},
	{users_at_protocol, 1, TF_E_INVALID, STORE "0x80 of the segment lies in no declared buffer"},
	{users_at_gap, 1, TF_E_INVALID, "in no declared buffer; the one before it is 'mark'"},
	{set_in_peer_private, 1, TF_E_INVALID, "node 3 (set): to: 3 bytes at 0x40001 of peer 2"},
};

static const struct fault row_faults[] = {
	{args_not_zero, 1, TF_E_INVALID, "argument 'in': its argument bytes in the program are not"},
	{args_past_end, 1, TF_E_INVALID, "'test_store': 16 argument bytes at 68 pass the 83"},
	{word_missing, 1, TF_E_INVALID, STORE "the launch gives it no value"},
	{rank_missing, 0, TF_E_INVALID, "argument 'rank': the launch gives it no value"},
	{word_foreign, 1, TF_E_INVALID, "argument 'rank': the launch gives it no value"},
	{word_kind, 0, TF_E_INVALID, "argument 'rank': kind 0 of word, not 1"},
	{word_off, 0, TF_E_INVALID, "argument 'rank': byte 29 of a struct of 32 bytes"},
	{word_kind_unknown, 0, TF_E_INVALID, "argument 'rank': kind 9 of word is unknown"},
	{words_range, 1, TF_E_INVALID, "'test_store': words of the kernel or launch pass"},
	{launch_range, 1, TF_E_INVALID, "node 4 (kernel): launch 3, of 3"},
	{kernel_range, 1, TF_E_INVALID, "node 4 (kernel): launch 2: kernel 2, of 2"},
	{kernel_not_loaded, 1, TF_E_NOT_FOUND, "kernel 'test_store': no module that has it is loaded"},
	{kernel_args_huge, 1, TF_E_LIMIT, "kernel 'test_store': 32765 argument bytes, at most 32764"},
	{node_unknown, 1, TF_E_INVALID, "node 2 (?): kind 11 is unknown"},
	{edge_range, 1, TF_E_INVALID, "edge 2 from node 3 to node 5, of 5 nodes"},
};

#define COMM "graph 1 (capacity 2): node 2 (comm): "

static const struct fault comm_faults[] = {
	{comm_nobody, 1, TF_E_UNSUPPORTED,
		COMM "a call of the communication library, and no communicator was opened for it"},
	{comm_group, 1, TF_E_INVALID, COMM "group is 2, there are 2"},
	{comm_bytes, 1, TF_E_INVALID, COMM "bytes is 508, group 'sum' has 512"},
	{comm_from_peer, 1, TF_E_INVALID, COMM "the input of the call of group 'sum' lies with peer 1"},
	{comm_to_peer, 1, TF_E_INVALID, COMM "the output of the call of group 'sum' lies with peer 2"},
	{comm_from_outside, 1, TF_E_INVALID, COMM "from: 512 bytes at 0x10204 of peer 0 lie in no"},
	{comm_to_outside, 1, TF_E_INVALID, COMM "to: 512 bytes at 0x50000 of peer 0 pass the segment"},
	{comm_output_outside, 1, TF_E_INVALID, COMM "to: 1536 bytes at 0x30000 of peer 0 lie in no"},
};

static const struct fault device_faults[] = {
	{set_value, 1, TF_E_INVALID, "graph 1: node 3: a set to 256"},
	{empty_grid, 1, TF_E_INVALID, "graph 1: node 4: kernel 'test_store': grid 1 x 0 x 1"},
	{edge_cycle, 1, TF_E_INVALID, "graph 1: node 0 lies on a cycle"},
};

static const struct fault target_faults[] = {
	{graph_range, 1, TF_E_USAGE, "there is no graph 1, of 1"},
	{window_world, 1, TF_E_MISFIT, "the window is for 4 ranks"},
	{window_stride, 1, TF_E_MISFIT, "stride 2097152, the program for 3 with 1048576"},
	{window_rank, 1, TF_E_USAGE, "rank 3 of 3"},
	{window_base, 1, TF_E_MISFIT, "passes 64 bits of address"},
	{segment_past_stride, 1, TF_E_INVALID, "passes the stride"},
};

static void check_faults(const struct fault *faults, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tf_exec *exec = NULL;
		struct graph_rig *rig;
		void *state;

		graph_rig_setup(&state);
		rig = state;
		faults[i].plant(rig);
		assert_refused(
			tf_graph_rebuild(&rig->test.program, faults[i].graph, &rig->target, &exec, &rig->err),
			faults[i].status, &rig->err, faults[i].words);
		assert_null(exec);
		graph_rig_teardown(&state);
	}
}

#define CHECK(faults) check_faults(faults, sizeof(faults) / sizeof((faults)[0]))

static void test_places(void **state)
{
	(void)state;
	CHECK(place_faults);
}

static void test_rows(void **state)
{
	(void)state;
	CHECK(row_faults);
}

static void test_calls(void **state)
{
	(void)state;
	CHECK(comm_faults);
}

static void test_what_the_device_refuses(void **state)
{
	(void)state;
	CHECK(device_faults);
}

static void test_targets(void **state)
{
	(void)state;
	CHECK(target_faults);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_what_the_device_refuses),
		cmocka_unit_test(test_targets),
	};

	test_kernels_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
