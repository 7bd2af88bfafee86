/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture: what it stores, what of it once, and that nothing in it knows the base. What it refuses
 * is in capture_refusals.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tests/device/planted_comm.h"
#include "tests/prepare/capture_rig.h"
#include "tests/prepare/planted.h"

/*
 * Equal launches are stored once, within a graph and between graphs; another pair, geometry or slot
 * is another launch.
 */
static void dedupe(struct tf_bench_rank *rank, char *wrong)
{
	const struct tf_program *program = rank->program;
	struct tf_capture *capture = NULL;
	struct tf_error err = {0};

	for (uint32_t graph = 0; graph < 2; graph++) {
		if (begin(rank, &capture, &err) != TF_OK)
			WRONG("%s", err.text);
		for (uint32_t i = 0; i < 3000; i++) {
			if (tf_bench_rank_launch(rank, i % 3, i % 2, NULL, &err) != TF_OK)
				WRONG("%s", err.text);
		}
		if (tf_capture_end(capture, &err) != TF_OK)
			WRONG("%s", err.text);
		if (program->launch_count != 6 || program->graphs[graph].node_count != 3000 ||
			program->graphs[graph].edge_count != 2999)
			WRONG(
				"%u launches, %u nodes", program->launch_count, program->graphs[graph].node_count);
	}
	for (uint32_t i = 0; i < 3000; i++) {
		if (program->graphs[1].nodes[i].launch != program->graphs[0].nodes[i].launch ||
			program->graphs[0].nodes[i].launch != program->graphs[0].nodes[i % 6].launch)
			WRONG("node %u has launch %u", i, program->graphs[1].nodes[i].launch);
	}
	if (begin(rank, &capture, &err) != TF_OK ||
		tf_bench_rank_launch(rank, 0, 2, NULL, &err) != TF_OK)
		WRONG("%s", err.text);
	if (tf_capture_end(capture, &err) != TF_OK || program->launch_count != 7)
		WRONG("another pair: %u launches; %s", program->launch_count, err.text);
}

static void test_equal_launches_are_stored_once(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 2, dedupe);
	bench_fini(&run.bench);
}

/*
 * Given up, or given back to the stream: nothing ran while it was captured, and what comes after
 * runs.
 */
static void cancel(struct tf_bench_rank *rank, char *wrong)
{
	uint8_t *own = tf_rank_window_at(&rank->window, 0, rank->program->buffers[0].segment_off);
	struct tf_capture *capture = NULL;
	struct tf_error err = {0};

	own[0] = 7;
	if (begin(rank, &capture, &err) != TF_OK ||
		rank->ops->stream_set(rank->stream, own, 1, 1, &err) != TF_OK ||
		rank->ops->stream_wait(rank->stream, SOON, &err) != TF_OK)
		WRONG("%s", err.text);
	tf_capture_cancel(capture);
	tf_capture_cancel(NULL);
	if (own[0] != 7 || rank->program->graph_count)
		WRONG("a captured operation ran, or a cancelled graph stayed");
	if (rank->ops->stream_set(rank->stream, own, 2, 1, &err) != TF_OK ||
		rank->ops->stream_wait(rank->stream, SOON, &err) != TF_OK || own[0] != 2)
		WRONG("after a cancelled capture: '%s', %u", err.text, own[0]);
}

static void test_cancel(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 2, cancel);
	bench_fini(&run.bench);
}

static void compare_programs(const struct tf_program *a, const struct tf_program *b)
{
	assert_int_equal(a->launch_count, b->launch_count);
	assert_int_equal(a->launch_word_count, b->launch_word_count);
	assert_int_equal(a->args.size, b->args.size);
	assert_int_equal(a->graph_count, b->graph_count);
	assert_memory_equal(a->launches, b->launches, a->launch_count * sizeof(a->launches[0]));
	assert_memory_equal(a->args.data, b->args.data, a->args.size);
	for (uint32_t i = 0; i < a->launch_word_count; i++) {
		assert_int_equal(a->launch_words[i].arg_off, b->launch_words[i].arg_off);
		assert_int_equal(a->launch_words[i].kind, b->launch_words[i].kind);
		assert_int_equal(a->launch_words[i].peer, b->launch_words[i].peer);
		assert_int_equal(a->launch_words[i].segment_off, b->launch_words[i].segment_off);
	}
	for (uint32_t g = 0; g < a->graph_count; g++) {
		assert_int_equal(a->graphs[g].node_count, b->graphs[g].node_count);
		for (uint32_t n = 0; n < a->graphs[g].node_count; n++) {
			assert_int_equal(a->graphs[g].nodes[n].launch, b->graphs[g].nodes[n].launch);
			assert_int_equal(a->graphs[g].nodes[n].to_off, b->graphs[g].nodes[n].to_off);
		}
	}
}

/* Between a set and a launch, a call of the library on the last group: what is stored of it. */
static enum tf_status capture_call(
	struct tf_bench_rank *rank, const struct tf_comm_call *call, struct tf_error *err)
{
	struct tf_capture *capture = NULL;

	TF_TRY(begin(rank, &capture, err));
	if (rank->ops->stream_set(
			rank->stream, (void *)(uintptr_t)call->from, 0x5a, call->bytes, err) != TF_OK ||
		rank->ops->stream_comm(rank->stream, call, err) != TF_OK ||
		tf_bench_rank_launch(rank, 0, 0, NULL, err) != TF_OK) {
		(void)!tf_capture_end(capture, err);
		return err->status;
	}
	return tf_capture_end(capture, err);
}

/* What tuning would leave: a pick of every group. */
static void pick_first(struct tf_program *program)
{
	for (uint32_t i = program->candidate_count; i-- > 0;)
		program->selectors[program->candidates[i].group] = i;
	for (uint32_t g = 0; g < program->group_count; g++)
		program->candidates[program->selectors[g]].state = TF_CANDIDATE_PICKED;
}

/* A tap sees in the rebuilt graph what the first capture saw on the stream. */
static void capture_again(struct tf_bench_rank *rank, struct tf_exec *exec, char *wrong)
{
	const struct tf_program *program = rank->program;
	struct tf_capture *capture = NULL;
	struct tf_error err = {0};

	if (begin(rank, &capture, &err) != TF_OK ||
		rank->ops->stream_graph(rank->stream, exec, &err) != TF_OK ||
		tf_capture_end(capture, &err) != TF_OK)
		WRONG("%s", err.text);
	for (uint32_t i = 0; i < 3; i++) {
		const struct tf_node *now = &program->graphs[1].nodes[i];
		const struct tf_node *first = &program->graphs[0].nodes[i];

		if (program->graphs[1].node_count != 3 || now->kind != first->kind ||
			now->launch != first->launch || now->to_off != first->to_off ||
			now->from_off != first->from_off || now->bytes != first->bytes ||
			now->value != first->value)
			WRONG("node %u of the rebuilt graph is captured as another one", i);
	}
}

static void comm_round_trip(struct tf_bench_rank *rank, char *wrong)
{
	struct tf_program *program = rank->program;
	uint32_t group = program->group_count - 1;
	uint8_t *from = operand(rank, TF_BUFFER_INPUT, group, 0);
	uint8_t *to = operand(rank, TF_BUFFER_OUTPUT, group, 0);
	uint64_t bytes = tf_group_input_bytes(&program->groups[group]);
	struct planted_comm planted;
	struct tf_comm_call call = {&planted.caller, group, from, to, bytes};
	const struct tf_node *node;
	struct tf_exec *exec = NULL;
	struct tf_error err = {0};

	planted_comm_init(&planted, bytes);
	pick_first(program);
	if (capture_call(rank, &call, &err) != TF_OK || tf_program_check(program, &err) != TF_OK)
		WRONG("%s", err.text);
	node = &program->graphs[0].nodes[1];
	if (node->kind != TF_NODE_COMM || node->value != group || node->bytes != bytes ||
		node->launch != TF_PROGRAM_NONE || node->from_peer || node->to_peer)
		WRONG("node 1: kind %d, value %u, launch %u", (int)node->kind, node->value, node->launch);
	if (program->graphs[0].edges[0].type || program->graphs[0].edges[1].type)
		WRONG("an edge at the call is programmatic");
	if (planted.call_count || tf_graph_rebuild(program, 0, &rank->target, &exec, &err) == TF_OK)
		WRONG("the call was made by the capture, or by nobody");
	if (!strstr(err.text, "no communicator was opened"))
		WRONG("'%s'", err.text);
	rank->target.comm = &planted.caller;
	memset(to, 0, bytes);
	if (tf_graph_rebuild(program, 0, &rank->target, &exec, &err) != TF_OK ||
		rank->ops->stream_graph(rank->stream, exec, &err) != TF_OK ||
		rank->ops->stream_wait(rank->stream, SOON, &err) != TF_OK)
		WRONG("%s", err.text);
	capture_again(rank, exec, wrong);
	rank->ops->graph_destroy(exec);
	rank->target.comm = NULL;
	if (wrong[0])
		return;
	if (planted.call_count != 1 || planted.calls[0].group != group ||
		planted.calls[0].from != from || planted.calls[0].to != to || planted.held)
		WRONG("%u calls, of group %u; %d are held", planted.call_count, planted.calls[0].group,
			planted.held);
	if (to[0] != 0x5a || memcmp(to, from, bytes) != 0)
		WRONG("the call did not see what was set before it");
}

static void test_comm_round_trip(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 3, comm_round_trip);
	for (uint32_t r = 1; r < 3; r++)
		compare_programs(&run.bench.programs[0], &run.bench.programs[r]);
	bench_fini(&run.bench);
}

static void capture_all(struct tf_bench_rank *rank, char *wrong)
{
	struct tf_error err = {0};

	if (tf_capture_startup_graph(rank, &err) != TF_OK ||
		tf_capture_step_graphs(rank, &err) != TF_OK)
		WRONG("%s", err.text);
}

/* No byte of what is captured depends on the base, nor on the rank that captured it. */
static void test_two_bases_give_the_same_program(void **state)
{
	void *first = (void *)(uintptr_t)tf_window_bases[0];
	struct run at_first, at_second;

	(void)state;
	run_on_ranks(&at_first, 3, capture_all);
	assert_ptr_equal(
		mmap(first, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
		first);
	run_on_ranks(&at_second, 3, capture_all);
	munmap(first, 4096);
	assert_int_equal(at_first.bases[0], tf_window_bases[0]);
	assert_int_equal(at_second.bases[0], tf_window_bases[1]);
	for (uint32_t r = 0; r < 3; r++)
		compare_programs(&at_first.bench.programs[0], &at_second.bench.programs[r]);
	bench_fini(&at_first.bench);
	bench_fini(&at_second.bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_without_storage),
		cmocka_unit_test(test_an_address_outside_the_window),
		cmocka_unit_test(test_an_address_in_no_buffer),
		cmocka_unit_test(test_foreign_operations),
		cmocka_unit_test(test_equal_launches_are_stored_once),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_comm_round_trip),
		cmocka_unit_test(test_calls_outside_the_segment),
		cmocka_unit_test(test_two_bases_give_the_same_program),
	};

	planted_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
