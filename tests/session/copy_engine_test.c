/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pick that is more than one node: copy_engine is tuned, travels in a package as two kernels and
 * copies into peers' segments, and steps bytewise from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/collective/copy_engine.h"
#include "tests/session/session_rig.h"

static const char ladder[] =
	"topology: local\nsummary: Copies for gathers.\nrungs:\n"
	"  - {algorithm: one_shot, writer: copy_engine, threads: 32, ctas: 1, ops: [all_gather],\n"
	"     world: [2, 8], bytes: [1, 64MiB], reason: \"Under test.\"}\n"
	"  - {algorithm: one_shot, writer: direct, threads: 32, ctas: 1,\n"
	"     ops: [all_reduce, reduce_scatter], world: [2, 8], bytes: [1, 64MiB], reason: \"Rest\"}\n";

static enum tf_status counted(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;
	enum tf_status status = tf_session_open(&options, link, &session, err);
	uint64_t before;

	(void)report, (void)user;
	TF_TRY(status);
	before = tf_session_control(session)->writer_calls[TF_WRITER_COPY_ENGINE];
	status = tf_session_check(session, 1, err);
	/* "gather" is called twice a step */
	if (status == TF_OK &&
		tf_session_control(session)->writer_calls[TF_WRITER_COPY_ENGINE] != before + 2)
		status = TF_FAIL(err, TF_E_INTERNAL, "the writer did not run twice");
	tf_session_close(session);
	return status;
}

static enum tf_status plain(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);

	(void)user;
	return rig_open_and_check(rig, report, link, &options, err);
}

static uint32_t nodes_of_kind(const struct tf_graph *graph, enum tf_node_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->node_count; i++)
		count += graph->nodes[i].kind == kind;
	return count;
}

static void copies_travel_and_step(void **state)
{
	(void)state;
	for (uint32_t world = 2; world <= TF_WORLD_MAX; world += 3) {
		const struct tf_program *program;
		struct rig rig;

		rig_init_with(&rig, world, ladder, 0);
		program = &rig.bench.programs[0];
		for (uint32_t i = 0; i < program->candidate_count; i++)
			assert_int_equal(program->candidates[i].state, TF_CANDIDATE_PICKED);
		/* a step: 3 sums, 2 gathers of two kernels and `world` copies, 2 scatters */
		assert_int_equal(nodes_of_kind(&program->graphs[0], TF_NODE_COPY), 2 * world);
		assert_int_equal(nodes_of_kind(&program->graphs[0], TF_NODE_KERNEL), 3 + 2 * 2 + 2);
		rig_threads(&rig, world, counted, NULL);
		assert_true(rig_is_ok(&rig, world));
		assert_true(rig_processes(&rig, world, TF_PROGRAM_NONE, plain, NULL));
		assert_true(rig_is_ok(&rig, world));
		rig_fini(&rig);
	}
}

static void copies_cover_every_output_once(void **state)
{
	struct tf_copy_engine_copy copies[TF_WORLD_MAX];
	struct tf_collective_args args = {.world = 4, .rank = 1, .count = 10, .dtype = TF_DTYPE_F16};

	(void)state;
	for (uint32_t k = 0; k < 4; k++)
		args.control[k] = (struct tf_control *)(uintptr_t)(0x10000 * (1 + (1 + k) % 4));
	args.input = (void *)(uintptr_t)0x20100;
	args.output = (void *)(uintptr_t)0x20400;
	assert_int_equal(tf_copy_engine_copies(&args, copies), 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal((uintptr_t)copies[i].to, 0x10000 * (1 + (2 + i) % 4) + 0x400 + 20);
		assert_int_equal((uintptr_t)copies[i].from, 0x20100);
		assert_int_equal(copies[i].bytes, 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_travel_and_step),
		cmocka_unit_test(copies_cover_every_output_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
