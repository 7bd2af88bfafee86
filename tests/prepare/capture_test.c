/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture: what it refuses and how it says so, what it stores once, and that nothing in it knows
 * the base.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "prepare/capture/capture.h"
#include "prepare/tune/plan.h"
#include "runtime/collective/collective.h"
#include "tests/device/planted_comm.h"
#include "tests/prepare/bench_rig.h"
#include "tests/prepare/planted.h"

static const char workload[] =
	"name: sums\nsummary: Two sums.\ncapacities: [1, 3]\ngroups:\n"
	"  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 515, times: 9, "
	"buffer_pairs: 4}\n"
	"  - {name: gather, op: all_gather, dtype: f32, row_elements: 33, times: 2}\n";

/* A rank's test; a text in `wrong` fails the test in the main thread. */
typedef void (*rank_test)(struct tf_bench_rank *rank, char *wrong);

struct run {
	struct bench bench;
	rank_test test;
	char wrong[TF_WORLD_MAX][1200];
	uint64_t bases[TF_WORLD_MAX];
};

#define WRONG(...)                                                                                 \
	do {                                                                                           \
		snprintf(wrong, sizeof(((struct run *)0)->wrong[0]), __VA_ARGS__);                         \
		return;                                                                                    \
	} while (0)

static enum tf_status body(void *user, struct tf_link *link, struct tf_error *err)
{
	struct run *run = user;
	uint32_t number = tf_link_rank(link);
	struct tf_bench_rank rank = {0};
	enum tf_status status = bench_open(&run->bench, link, &run->bench.programs[number], &rank, err);

	if (status == TF_OK) {
		run->bases[number] = rank.window.base;
		run->test(&rank, run->wrong[number]);
		status = tf_link_barrier(link, SOON, err);
	}
	tf_bench_rank_close(&rank);
	return status;
}

static void run_on_ranks(struct run *run, uint32_t world, rank_test test)
{
	memset(run, 0, sizeof(*run));
	bench_init(&run->bench, world, workload, NULL);
	run->test = test;
	run_ranks(world, body, run, run->bench.errors);
	assert_true(bench_is_ok(&run->bench));
	for (uint32_t r = 0; r < world; r++)
		assert_string_equal(run->wrong[r], "");
}

static enum tf_status begin(
	struct tf_bench_rank *rank, struct tf_capture **out, struct tf_error *err)
{
	return tf_capture_begin(rank->program, &rank->target, rank->stream, TF_GRAPH_STEP, 1, out, err);
}

static void no_storage(struct tf_bench_rank *rank, char *wrong)
{
	struct tf_capture *capture = NULL;
	struct tf_error err = {0};

	if (tf_capture_begin(NULL, &rank->target, rank->stream, TF_GRAPH_STEP, 1, &capture, &err) !=
		TF_E_USAGE)
		WRONG("a capture without storage began");
	if (capture || !strstr(err.text, "package storage"))
		WRONG("'%s'", err.text);
}

static void test_refused_without_storage(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 2, no_storage);
	bench_fini(&run.bench);
}

/* Launches slot 0's kernel with another output or input address. */
static enum tf_status launch_at(
	struct tf_bench_rank *rank, const void *input, void *output, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	const struct tf_group_candidate *entry = &program->candidates[0];
	const struct tf_group *group = &program->groups[0];
	const char *kernel =
		tf_collective_kernel_name(group->op, entry->candidate.algorithm, entry->candidate.writer);
	struct tf_collective_args args;
	struct tf_launch_call call = {
		.kernel = rank->target.kernels[tf_plan_kernel(program, kernel)],
		.grid = {1, 1, 1},
		.block = {32, 1, 1},
		.args = &args,
		.args_bytes = sizeof(args),
	};

	tf_collective_args_fill(&args, &program->layout, group, 0, &entry->candidate, rank->window.base,
		rank->window.rank, rank->window.world, input, output, NULL);
	return rank->ops->stream_launch(rank->stream, &call, err);
}

/*
 * Names of the node, the kernel, the argument and the value are all in the text; then the stream
 * and program are as before.
 */
static void refuse(struct tf_bench_rank *rank, const void *input, void *output,
	const char *argument, const void *value, char *wrong)
{
	uint32_t graphs = rank->program->graph_count;
	struct tf_capture *capture = NULL;
	struct tf_error err = {0};
	char hex[32];

	snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)(uintptr_t)value);
	if (begin(rank, &capture, &err) != TF_OK ||
		tf_bench_rank_launch(rank, 0, 0, NULL, &err) != TF_OK)
		WRONG("%s", err.text);
	if (launch_at(rank, input, output, &err) != TF_E_INVALID)
		WRONG("the launch was taken");
	memset(&err, 0, sizeof(err));
	if (tf_capture_end(capture, &err) != TF_E_INVALID)
		WRONG("the capture ended well");
	if (!strstr(err.text, "node 1: all_reduce_one_shot_ll: ") || !strstr(err.text, argument) ||
		!strstr(err.text, hex))
		WRONG("'%s' lacks node, kernel, '%s' or %s", err.text, argument, hex);
	if (rank->program->graph_count != graphs)
		WRONG("a refused capture left a graph");
	if (begin(rank, &capture, &err) != TF_OK ||
		tf_bench_rank_launch(rank, 0, 0, NULL, &err) != TF_OK ||
		tf_capture_end(capture, &err) != TF_OK || rank->program->graph_count != graphs + 1)
		WRONG("after a refusal: '%s'", err.text);
}

static void outside(struct tf_bench_rank *rank, char *wrong)
{
	uint64_t end = rank->window.base + rank->window.world * rank->window.stride;
	void *own = tf_rank_window_at(&rank->window, 0, rank->program->buffers[0].segment_off);
	void *behind = (void *)(uintptr_t)end, *before = (void *)(uintptr_t)(rank->window.base - 1);
	static uint8_t elsewhere[4096];

	refuse(rank, own, elsewhere, "output", elsewhere, wrong);
	if (!wrong[0])
		refuse(rank, own, behind, "output", behind, wrong);
	if (!wrong[0])
		refuse(rank, before, own, "input", before, wrong);
	if (!wrong[0])
		refuse(rank, NULL, own, "input", NULL, wrong);
}

static void test_an_address_outside_the_window(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 3, outside);
	bench_fini(&run.bench);
}

/*
 * Inside the window, but in no declared buffer: the graph is not built, neither to sample nor in
 * the check before publishing.
 */
static void undeclared_place(struct tf_bench_rank *rank, char *wrong)
{
	const struct tf_buffer *buffer = &rank->program->buffers[0];
	void *own = tf_rank_window_at(&rank->window, 0, buffer->segment_off);
	void *gap = tf_rank_window_at(&rank->window, 0, buffer->segment_off + buffer->bytes);
	struct tf_capture *capture = NULL;
	struct tf_exec *exec = NULL;
	struct tf_error err = {0};

	if (begin(rank, &capture, &err) != TF_OK || launch_at(rank, own, gap, &err) != TF_OK ||
		tf_capture_end(capture, &err) != TF_OK)
		WRONG("%s", err.text);
	if (tf_graph_rebuild(rank->program, 0, &rank->target, &exec, &err) != TF_E_INVALID)
		WRONG("a launch into a gap was built");
	if (!strstr(err.text, "graph 0") || !strstr(err.text, "node 0") ||
		!strstr(err.text, "all_reduce_one_shot_ll") || !strstr(err.text, "output"))
		WRONG("'%s' does not name graph, node, kernel and argument", err.text);
}

static void test_an_address_in_no_buffer(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 2, undeclared_place);
	bench_fini(&run.bench);
}

/* A kernel that the program does not declare, and copies and sets outside the window. */
static void foreign(struct tf_bench_rank *rank, char *wrong)
{
	struct tf_collective_args args = {0};
	struct tf_launch_call call = {
		.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = &args, .args_bytes = sizeof(args)};
	void *own = tf_rank_window_at(&rank->window, 0, rank->program->buffers[0].segment_off);
	struct tf_capture *capture = NULL;
	struct tf_error err = {0};
	uint8_t elsewhere[16];

	if (rank->ops->kernel_find(
			rank->modules.modules[0], "planted_flip", sizeof(args), &call.kernel, &err) != TF_OK ||
		begin(rank, &capture, &err) != TF_OK)
		WRONG("%s", err.text);
	if (rank->ops->stream_launch(rank->stream, &call, &err) == TF_OK ||
		tf_capture_end(capture, &err) == TF_OK)
		WRONG("a kernel that is not declared was captured");
	if (!strstr(err.text, "node 0: ") || !strstr(err.text, "does not declare"))
		WRONG("'%s'", err.text);
	if (begin(rank, &capture, &err) != TF_OK)
		WRONG("%s", err.text);
	if (rank->ops->stream_set(rank->stream, elsewhere, 0, sizeof(elsewhere), &err) == TF_OK ||
		tf_capture_end(capture, &err) != TF_E_INVALID || !strstr(err.text, "outside the window"))
		WRONG("set: '%s'", err.text);
	if (begin(rank, &capture, &err) != TF_OK)
		WRONG("%s", err.text);
	if (rank->ops->stream_copy(rank->stream, own, elsewhere, sizeof(elsewhere), &err) == TF_OK ||
		tf_capture_end(capture, &err) != TF_E_INVALID || !strstr(err.text, "outside the window"))
		WRONG("copy: '%s'", err.text);
	if (begin(rank, &capture, &err) != TF_OK)
		WRONG("%s", err.text);
	if (tf_capture_end(capture, &err) != TF_E_INVALID || !strstr(err.text, "nothing was captured"))
		WRONG("empty: '%s'", err.text);
	if (rank->program->graph_count)
		WRONG("%u graphs were left", rank->program->graph_count);
}

static void test_foreign_operations(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 2, foreign);
	bench_fini(&run.bench);
}

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

/* Input and output of a group's first pair. */
static uint8_t *operand(
	const struct tf_bench_rank *rank, enum tf_buffer_role role, uint32_t group, uint32_t peer)
{
	const struct tf_program *program = rank->program;

	for (uint32_t i = 0; i < program->buffer_count; i++)
		if (program->buffers[i].role == role && program->buffers[i].group == group)
			return tf_rank_window_at(&rank->window, peer, program->buffers[i].segment_off);
	return NULL;
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

static void refuse_call(
	struct tf_bench_rank *rank, const struct tf_comm_call *call, const char *words, char *wrong)
{
	struct tf_capture *capture = NULL;
	struct tf_error err = {0};

	if (begin(rank, &capture, &err) != TF_OK)
		WRONG("%s", err.text);
	if (rank->ops->stream_comm(rank->stream, call, &err) != TF_E_INVALID ||
		tf_capture_end(capture, &err) != TF_E_INVALID || !strstr(err.text, "node 0: ") ||
		!strstr(err.text, words))
		WRONG("'%s' lacks '%s'", err.text, words);
	if (rank->program->graph_count)
		WRONG("a refused call left a graph");
}

static void comm_outside(struct tf_bench_rank *rank, char *wrong)
{
	uint8_t *from = operand(rank, TF_BUFFER_INPUT, 0, 0);
	uint8_t *to = operand(rank, TF_BUFFER_OUTPUT, 0, 0);
	uint8_t *theirs = operand(rank, TF_BUFFER_INPUT, 0, 1);
	struct planted_comm planted;
	uint8_t elsewhere[16];

	planted_comm_init(&planted, sizeof(elsewhere));
	refuse_call(rank, &(struct tf_comm_call){&planted.caller, 0, elsewhere, to, sizeof(elsewhere)},
		"outside the window", wrong);
	if (!wrong[0])
		refuse_call(rank,
			&(struct tf_comm_call){&planted.caller, 0, from, elsewhere, sizeof(elsewhere)},
			"outside the window", wrong);
	if (!wrong[0])
		refuse_call(rank, &(struct tf_comm_call){&planted.caller, 0, theirs, to, 16},
			"comm 'planted' of group 0: its input, 0x", wrong);
	if (!wrong[0])
		refuse_call(rank, &(struct tf_comm_call){&planted.caller, 0, from, theirs, 16},
			"comm 'planted' of group 0: its output, 0x", wrong);
	if (!wrong[0] && planted.call_count)
		WRONG("a captured call was made");
}

static void test_calls_outside_the_segment(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 2, comm_outside);
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
