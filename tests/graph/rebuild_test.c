/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rebuilding: the right addresses for every rank and base, and the same bytes wherever it runs.
 */
#include "tests/graph/graph_rig.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/graph/resolve.h"
#include "tests/device/device_kernels.h"

/* The fixture itself is a legal program; else the refusals below would prove nothing. */
static void test_program_is_legal(void **state)
{
	struct graph_rig *rig = *state;

	assert_ok(tf_program_check(&rig->test.program, &rig->err), &rig->err);
}

static uint64_t word_at(const void *args, size_t off)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)args + off, sizeof(value));
	return value;
}

static void check_step(
	struct graph_rig *rig, const struct tf_resolved *resolved, uint64_t base, uint32_t rank)
{
	const struct tf_buffer *buffers = rig->test.buffers;
	uint64_t own = base + rank * TEST_STRIDE;
	uint64_t next = base + (rank + 1) % TEST_WORLD * TEST_STRIDE;
	uint64_t previous = base + (rank + 2) % TEST_WORLD * TEST_STRIDE;
	const struct tf_exec_node *nodes = resolved->nodes;
	const struct test_mix_args *mix = nodes[0].launch.args;

	assert_int_equal(resolved->node_count, 5);
	assert_int_equal((uintptr_t)mix->out, own + buffers[BUFFER_Y].segment_off);
	assert_int_equal((uintptr_t)mix->in, own + buffers[BUFFER_WORK].segment_off);
	assert_int_equal(mix->rank, rank);
	assert_int_equal(mix->salt, 7);
	assert_int_equal(nodes[0].launch.args_bytes, sizeof(*mix));
	assert_int_equal(nodes[0].launch.block[0], 32);
	assert_ptr_equal(nodes[0].launch.kernel, rig->modules.kernels[KERNEL_MIX]);
	assert_int_equal((uintptr_t)nodes[1].to, own + buffers[BUFFER_WORK].segment_off);
	assert_int_equal((uintptr_t)nodes[1].from, next + buffers[BUFFER_X].segment_off);
	assert_int_equal(nodes[1].bytes, 8 * TEST_COUNT);
	assert_int_equal((uintptr_t)nodes[3].to, own + buffers[BUFFER_MARK].segment_off + 1);
	assert_int_equal(nodes[3].value, 0xa5);
	assert_int_equal(word_at(nodes[4].launch.args, 0), previous + 0x80);
	assert_int_equal(word_at(nodes[4].launch.args, 8), 0x1122334455667788);
	assert_int_equal(resolved->edge_count, 4);
	assert_int_equal(resolved->edges[3].from, 0);
	assert_int_equal(resolved->edges[3].to, 4);
	assert_int_equal(resolved->edges[3].type, 1);
}

static void test_addresses(void **state)
{
	struct graph_rig *rig = *state;
	const uint64_t bases[] = {0, UINT64_C(0x7e9000000000), UINT64_MAX - TEST_WORLD * TEST_STRIDE};

	for (size_t b = 0; b < sizeof(bases) / sizeof(bases[0]); b++)
		for (uint32_t rank = 0; rank < TEST_WORLD; rank++) {
			struct tf_resolved resolved = {0};

			rig->target.window.base = bases[b];
			rig->target.window.rank = rank;
			assert_ok(
				tf_graph_resolve_nodes(&rig->test.program, 1, &rig->target, &resolved, &rig->err),
				&rig->err);
			check_step(rig, &resolved, bases[b], rank);
			tf_resolved_fini(&resolved);
		}
}

/* A call has the own segment's operands on every rank, and the target's library. */
static void test_comm_addresses(void **state)
{
	struct graph_rig *rig = *state;
	const struct tf_buffer *buffers = rig->test.buffers;

	graph_rig_plant_comm(rig);
	for (uint32_t rank = 0; rank < TEST_WORLD; rank++) {
		uint64_t own = rig->target.window.base + rank * TEST_STRIDE;
		struct tf_resolved resolved = {0};
		const struct tf_exec_node *node;

		rig->target.window.rank = rank;
		assert_ok(tf_graph_resolve_nodes(&rig->test.program, 1, &rig->target, &resolved, &rig->err),
			&rig->err);
		node = &resolved.nodes[2];
		assert_int_equal(node->kind, TF_NODE_COMM);
		assert_ptr_equal(node->caller, &rig->comm.caller);
		assert_int_equal(node->value, 1);
		assert_int_equal(node->bytes, 8 * TEST_COUNT);
		assert_int_equal((uintptr_t)node->from, own + buffers[BUFFER_X].segment_off);
		assert_int_equal((uintptr_t)node->to, own + buffers[BUFFER_HIDDEN].segment_off);
		assert_null(resolved.nodes[1].caller);
		tf_resolved_fini(&resolved);
	}
}

static void test_null_address(void **state)
{
	struct graph_rig *rig = *state;
	struct tf_resolved resolved = {0};
	const struct test_mix_args *fill;

	rig->target.window.rank = 2;
	assert_ok(tf_graph_resolve_nodes(&rig->test.program, 0, &rig->target, &resolved, &rig->err),
		&rig->err);
	fill = resolved.nodes[0].launch.args;
	assert_null(fill->in);
	assert_int_equal(fill->rank, 2);
	tf_resolved_fini(&resolved);
}

/* Protocol memory, also of peers, and the last byte of a buffer are places like any other. */
static void test_legal_places(void **state)
{
	struct graph_rig *rig = *state;
	const struct tf_layout *layout = &rig->test.program.layout;
	const struct tf_buffer *x = &rig->test.buffers[BUFFER_X];
	const uint64_t offs[] = {0, layout->control_bytes - 1, layout->ll_off,
		layout->ll_off + 2 * TEST_WORLD * 64 - 1, layout->sentinel_off + 3 * TEST_WORLD * 64 - 1,
		layout->flag_off, layout->staging_off + 2 * TEST_WORLD * 64 - 1, layout->startup_off,
		x->segment_off, x->segment_off + x->bytes - 1};

	for (uint32_t peer = 0; peer < TEST_WORLD; peer++)
		for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
			struct tf_resolved resolved = {0};

			rig->test.launch_words[5].peer = peer;
			rig->test.launch_words[5].segment_off = offs[i];
			assert_ok(
				tf_graph_resolve_nodes(&rig->test.program, 1, &rig->target, &resolved, &rig->err),
				&rig->err);
			assert_int_equal(word_at(resolved.nodes[4].launch.args, 0),
				rig->target.window.base + peer * TEST_STRIDE + offs[i]);
			tf_resolved_fini(&resolved);
		}
}

static void test_nodes_share_launches(void **state)
{
	struct graph_rig *rig = *state;
	struct tf_resolved resolved = {0};

	rig->test.step_nodes[2] = rig->test.step_nodes[0];
	rig->test.step_nodes[3] = rig->test.step_nodes[4];
	assert_ok(tf_graph_resolve_nodes(&rig->test.program, 1, &rig->target, &resolved, &rig->err),
		&rig->err);
	assert_ptr_equal(resolved.nodes[0].launch.args, resolved.nodes[2].launch.args);
	assert_ptr_equal(resolved.nodes[3].launch.args, resolved.nodes[4].launch.args);
	assert_ptr_not_equal(resolved.nodes[0].launch.args, resolved.nodes[4].launch.args);
	assert_int_equal((uintptr_t)resolved.nodes[4].launch.args % 16, 0);
	tf_resolved_fini(&resolved);
}

/*
 * Rebuilds and runs one graph for every rank in turn: no graph of the program waits for a peer.
 */
static void run_graph(
	struct graph_rig *rig, struct tf_stream *stream, uint64_t base, uint32_t graph)
{
	const struct tf_device_ops *ops = &tf_host_device_ops;

	for (uint32_t rank = 0; rank < TEST_WORLD; rank++) {
		struct tf_exec *exec = NULL;

		rig->target.window.base = base;
		rig->target.window.rank = rank;
		assert_ok(
			tf_graph_rebuild(&rig->test.program, graph, &rig->target, &exec, &rig->err), &rig->err);
		assert_ok(ops->stream_graph(stream, exec, &rig->err), &rig->err);
		assert_ok(
			ops->stream_wait(stream, tf_deadline_after(30 * TF_NS_PER_S), &rig->err), &rig->err);
		ops->graph_destroy(exec);
	}
}

/* Runs the program in a fresh window at `base` (0: anywhere) and copies all its bytes out. */
static uint64_t run_at(struct graph_rig *rig, uint64_t base, uint8_t *out)
{
	const struct tf_device_ops *ops = &tf_host_device_ops;
	uint64_t segment_bytes = rig->test.program.layout.segment_bytes;
	const uint8_t token[TF_WINDOW_TOKEN_BYTES] = "relocation";
	struct tf_window *window = NULL;
	struct tf_stream *stream = NULL;

	assert_ok(
		ops->window_open(rig->device, token, base, TEST_STRIDE, TEST_WORLD, &window, &rig->err),
		&rig->err);
	base = ops->window_base(window);
	for (uint32_t rank = 0; rank < TEST_WORLD; rank++) {
		int fd = -1;

		assert_ok(ops->segment_create(rig->device, segment_bytes, &fd, &rig->err), &rig->err);
		assert_ok(ops->window_map(window, rank, fd, segment_bytes, &rig->err), &rig->err);
		close(fd);
	}
	assert_ok(ops->stream_create(rig->device, &stream, &rig->err), &rig->err);
	run_graph(rig, stream, base, 0);
	run_graph(rig, stream, base, 1);
	for (uint32_t rank = 0; rank < TEST_WORLD; rank++)
		assert_ok(
			ops->read(rig->device, out + rank * segment_bytes,
				(const void *)(uintptr_t)(base + rank * TEST_STRIDE), segment_bytes, &rig->err),
			&rig->err);
	ops->stream_destroy(stream);
	ops->window_close(window);
	return base;
}

/* What the two graphs mean, computed without them. */
static void check_bytes(struct graph_rig *rig, const uint8_t *bytes)
{
	const struct tf_buffer *buffers = rig->test.buffers;

	for (uint64_t rank = 0; rank < TEST_WORLD; rank++) {
		const uint8_t *segment = bytes + rank * rig->test.program.layout.segment_bytes;
		uint64_t next = (rank + 1) % TEST_WORLD;

		for (size_t i = 0; i < TEST_COUNT; i++) {
			assert_int_equal(word_at(segment, buffers[BUFFER_X].segment_off + 8 * i), 1000 + rank);
			assert_int_equal(word_at(segment, buffers[BUFFER_Y].segment_off + 8 * i),
				(1000 + next) * 31 + 7 + rank);
		}
		assert_memory_equal(segment + buffers[BUFFER_MARK].segment_off, "\0\xa5\xa5\xa5\0", 5);
		assert_int_equal(word_at(segment, 0x80), 0x1122334455667788);
	}
}

static void test_relocation(void **state)
{
	struct graph_rig *rig = *state;
	size_t size = TEST_WORLD * rig->test.program.layout.segment_bytes;
	uint8_t *first = calloc(size, 1), *second = calloc(size, 1);
	uint64_t base = run_at(rig, tf_window_bases[0], first);
	uint64_t other = run_at(rig, 0, second);

	assert_int_not_equal(base, other);
	check_bytes(rig, first);
	assert_memory_equal(first, second, size);
	/* The program itself is as it was: nothing of one base stays for the next. */
	assert_ok(tf_program_check(&rig->test.program, &rig->err), &rig->err);
	free(first);
	free(second);
}

/* The rebuilt graph makes the call, and holds the library while it lives. */
static void test_comm_runs(void **state)
{
	struct graph_rig *rig = *state;
	size_t segment_bytes = rig->test.program.layout.segment_bytes;
	uint8_t *bytes = calloc(TEST_WORLD, segment_bytes);
	const struct tf_buffer *buffers = rig->test.buffers;

	graph_rig_plant_comm(rig);
	(void)run_at(rig, 0, bytes);
	check_bytes(rig, bytes);
	for (uint32_t rank = 0; rank < TEST_WORLD; rank++)
		assert_memory_equal(bytes + rank * segment_bytes + buffers[BUFFER_HIDDEN].segment_off,
			bytes + rank * segment_bytes + buffers[BUFFER_X].segment_off, 8 * TEST_COUNT);
	assert_int_equal(rig->comm.call_count, TEST_WORLD);
	assert_int_equal(rig->comm.calls[0].group, 1);
	assert_int_equal(rig->comm.refs, TEST_WORLD);
	assert_int_equal(rig->comm.held, 0);
	free(bytes);
}

static void test_no_memory(void **state)
{
	struct graph_rig *rig = *state;
	int failures = 0;

	for (uint64_t nth = 1;; nth++) {
		struct tf_exec *exec = NULL;
		enum tf_status status;

		tf_alloc_fail_at(nth);
		status = tf_graph_rebuild(&rig->test.program, 1, &rig->target, &exec, &rig->err);
		tf_alloc_fail_at(0);
		rig->target.ops->graph_destroy(exec);
		if (status == TF_OK)
			break;
		assert_refused(status, TF_E_NO_MEMORY, &rig->err, "graph 1");
		assert_null(exec);
		failures++;
	}
	assert_true(failures >= 7);
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, graph_rig_setup, graph_rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(test_program_is_legal),
		RIGGED(test_addresses),
		RIGGED(test_comm_addresses),
		RIGGED(test_null_address),
		RIGGED(test_legal_places),
		RIGGED(test_nodes_share_launches),
		RIGGED(test_relocation),
		RIGGED(test_comm_runs),
		RIGGED(test_no_memory),
	};

	test_kernels_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
