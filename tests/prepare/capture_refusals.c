/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capture refuses and how it says so: launches, copies, sets and calls that a package could
 * not repeat at another base.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prepare/tune/plan.h"
#include "runtime/collective/collective.h"
#include "tests/device/planted_comm.h"
#include "tests/prepare/capture_rig.h"

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

void test_refused_without_storage(void **state)
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

void test_an_address_outside_the_window(void **state)
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

void test_an_address_in_no_buffer(void **state)
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

void test_foreign_operations(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 2, foreign);
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

void test_calls_outside_the_segment(void **state)
{
	struct run run;

	(void)state;
	run_on_ranks(&run, 2, comm_outside);
	bench_fini(&run.bench);
}
