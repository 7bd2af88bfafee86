/* SPDX-License-Identifier: Apache-2.0 */
/* Two groups on a bench, a thread a rank; no rank leaves while another is still at its test. */
#include "tests/prepare/capture_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char workload[] =
	"name: sums\nsummary: Two sums.\ncapacities: [1, 3]\ngroups:\n"
	"  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 515, times: 9, "
	"buffer_pairs: 4}\n"
	"  - {name: gather, op: all_gather, dtype: f32, row_elements: 33, times: 2}\n";

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

void run_on_ranks(struct run *run, uint32_t world, rank_test test)
{
	memset(run, 0, sizeof(*run));
	bench_init(&run->bench, world, workload, NULL);
	run->test = test;
	run_ranks(world, body, run, run->bench.errors);
	assert_true(bench_is_ok(&run->bench));
	for (uint32_t r = 0; r < world; r++)
		assert_string_equal(run->wrong[r], "");
}

enum tf_status begin(struct tf_bench_rank *rank, struct tf_capture **out, struct tf_error *err)
{
	return tf_capture_begin(rank->program, &rank->target, rank->stream, TF_GRAPH_STEP, 1, out, err);
}

uint8_t *operand(
	const struct tf_bench_rank *rank, enum tf_buffer_role role, uint32_t group, uint32_t peer)
{
	const struct tf_program *program = rank->program;

	for (uint32_t i = 0; i < program->buffer_count; i++)
		if (program->buffers[i].role == role && program->buffers[i].group == group)
			return tf_rank_window_at(&rank->window, peer, program->buffers[i].segment_off);
	return NULL;
}
