/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file says to our own kernels: a tuned program passes, with each field of its launches
 * planted wrong it is refused, and once that is taken back it passes again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/collective/launch_check.h"
#include "runtime/collective/startup.h"
#include "tests/prepare/bench_rig.h"

#define WORLD 3

static const char workload[] = "name: two\nsummary: Two groups.\ncapacities: [2]\ngroups:\n"
							   "  - {name: gather, op: all_gather, dtype: bf16, row_elements: 64}\n"
							   "  - {name: sum, op: all_reduce, dtype: f32, row_elements: 192}\n";

static struct bench bench;
static struct tf_program *program;

static int make(void **state)
{
	(void)state;
	bench_init(&bench, WORLD, workload, NULL);
	bench_tune(&bench);
	program = &bench.programs[0];
	return !bench_is_ok(&bench);
}

static int drop(void **state)
{
	(void)state;
	bench_fini(&bench);
	return 0;
}

static struct tf_launch *launch_of(const char *kernel)
{
	for (uint32_t i = 0; i < program->launch_count; i++)
		if (strstr(program->kernels[program->launches[i].kernel].name, kernel))
			return &program->launches[i];
	fail_msg("no launch of a kernel '%s'", kernel);
	return NULL;
}

static struct tf_launch_word *word_of(const struct tf_launch *launch, size_t arg_off)
{
	for (uint32_t i = 0; i < launch->words_count; i++)
		if (program->launch_words[launch->words_first + i].arg_off == arg_off)
			return &program->launch_words[launch->words_first + i];
	fail_msg("no word at %zu", arg_off);
	return NULL;
}

static void expect_refusal(const char *text)
{
	struct tf_error err = {0};

	assert_int_equal(tf_launches_check(program, &err), TF_E_INVALID);
	if (!strstr(err.text, text) || strncmp(err.text, "launch ", 7) != 0)
		fail_msg("'%s' is not in '%s'", text, err.text);
}

static void expect_pass(void)
{
	struct tf_error err = {0};

	if (tf_launches_check(program, &err) != TF_OK)
		fail_msg("%s", err.text);
}

/* Plants `value` of `bytes` bytes, expects the refusal, takes it back. */
static void plant(void *at, const void *value, size_t bytes, const char *text)
{
	uint8_t kept[16];

	assert_true(bytes <= sizeof(kept));
	memcpy(kept, at, bytes);
	assert_memory_not_equal(kept, value, bytes);
	memcpy(at, value, bytes);
	expect_refusal(text);
	memcpy(at, kept, bytes);
	expect_pass();
}

static void plant32(uint8_t *args, size_t off, uint32_t value, const char *text)
{
	plant(args + off, &value, sizeof(value), text);
}

static void plant64(uint8_t *args, size_t off, uint64_t value, const char *text)
{
	plant(args + off, &value, sizeof(value), text);
}

#define ARG(field) offsetof(struct tf_collective_args, field)

static void test_arguments(void **state)
{
	uint8_t *args = program->args.data + launch_of("all_reduce_one_shot_ll")->args_off;
	struct tf_collective_args now;

	(void)state;
	expect_pass();
	memcpy(&now, args, sizeof(now));
	plant64(args, ARG(count), now.count + 1, "count is ");
	plant64(args, ARG(count), 0, "count is 0, group 'sum' takes ");
	plant64(args, ARG(chunk_bytes), 64, "no candidate of this kernel");
	plant64(args, ARG(lane_off), now.lane_off + 4096, "lane_off is ");
	plant64(args, ARG(lane_source_bytes), UINT64_MAX, "lane_source_bytes is ");
	plant64(args, ARG(flag_off), UINT64_MAX - 7, "flag_off is ");
	plant32(args, ARG(world), 0, "world is 0");
	plant32(args, ARG(world), WORLD + 1, "world is ");
	plant32(args, ARG(dtype), 99, "dtype is 99");
	plant32(args, ARG(ctas), now.ctas + 77, "no candidate of this kernel");
	plant32(args, ARG(threads), 0, "no candidate of this kernel");
	plant32(args, ARG(group), 77, "group is 77, there are 2");
	plant32(args, ARG(group), 1 - now.group, "group 'gather' has no candidate of this kernel");
}

static void test_words(void **state)
{
	struct tf_launch *launch = launch_of("all_gather_one_shot_direct");
	struct tf_launch_word *input = word_of(launch, ARG(input));
	struct tf_launch_word *output = word_of(launch, ARG(output));
	struct tf_launch_word *control = word_of(launch, ARG(control[1]));
	uint64_t off = output->segment_off + 2, behind = program->layout.segment_bytes - 1;
	uint32_t peer = 2, own = 0, elsewhere = ARG(count);

	(void)state;
	expect_pass();
	plant(&output->segment_off, &off, sizeof(off), "'output' at offset ");
	plant(&input->segment_off, &behind, sizeof(behind), "'input' at offset ");
	plant(&output->peer, &peer, sizeof(peer), "'output' is in a peer's segment");
	plant(&control->peer, &own, sizeof(own), "'control[1]' is peer 0 at ");
	off = program->layout.control_off + 64;
	plant(&control->segment_off, &off, sizeof(off), "'control[1]' is peer 1 at ");
	plant(&input->arg_off, &elsewhere, sizeof(elsewhere), "'input' is missing");
}

/* In the startup graph a mask says which candidates are sampled: a word a slot. */
static void test_mask(void **state)
{
	uint32_t first = program->launch_word_count;
	uint64_t off;

	(void)state;
	for (uint32_t i = 0; i < program->launch_word_count && first == program->launch_word_count; i++)
		if (program->launch_words[i].kind == TF_WORD_ADDRESS &&
			program->launch_words[i].arg_off == ARG(mask))
			first = i;
	assert_true(first < program->launch_word_count);
	off = program->launch_words[first].segment_off;
	off -= 2;
	plant(&program->launch_words[first].segment_off, &off, sizeof(off), "'mask' is peer 0 at ");
	off = program->layout.startup_off + program->layout.startup_bytes;
	plant(&program->launch_words[first].segment_off, &off, sizeof(off), "'mask' is peer 0 at ");
	off = program->layout.startup_off;
	plant(&program->launch_words[first].segment_off, &off, sizeof(off), "'mask' is peer 0 at ");
}

#define START(field) offsetof(struct tf_startup_args, field)

static void test_startup(void **state)
{
	struct tf_launch *begin = launch_of("sample_begin");
	uint8_t *args = program->args.data + begin->args_off;
	struct tf_startup_args now;

	(void)state;
	memcpy(&now, args, sizeof(now));
	plant64(args, START(startup_off), now.startup_off + 8, "startup_off ");
	plant64(args, START(input_bytes), UINT64_MAX, "'input' at offset ");
	plant32(args, START(world), 0, "world 0");
	plant32(args, START(slot), program->candidate_count, "slot ");
	plant32(args, START(pass), 21, "pass 21");
}

/* A body reads its arguments where it was built to read them. */
static void test_rules(void **state)
{
	struct tf_kernel *kernel = &program->kernels[launch_of("all_reduce_one_shot_ll")->kernel];
	uint32_t bytes = kernel->args_bytes - 8, words = kernel->words_count - 1;
	struct tf_kernel_word *word = &program->kernel_words[kernel->words_first + 1];
	uint32_t off = word->arg_off + 8;

	(void)state;
	plant(&kernel->args_bytes, &bytes, sizeof(bytes), "are not this build's");
	plant(&kernel->words_count, &words, sizeof(words), "are not this build's");
	plant(&word->arg_off, &off, sizeof(off), "are not this build's");
}

/* Lanes that are smaller than the group's payload; the last test, as it leaves them so. */
static void test_room(void **state)
{
	uint64_t kept = program->layout.ll_source_bytes, less = 128;

	(void)state;
	program->layout.ll_source_bytes = less;
	for (uint32_t i = 0; i < program->launch_count; i++) {
		struct tf_collective_args all;

		if (!strstr(program->kernels[program->launches[i].kernel].name, "_ll"))
			continue;
		memcpy(&all, program->args.data + program->launches[i].args_off, sizeof(all));
		all.lane_source_bytes = less;
		memcpy(program->args.data + program->launches[i].args_off, &all, sizeof(all));
	}
	expect_refusal("needs more protocol memory than the layout has");
	program->layout.ll_source_bytes = kept;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_words), cmocka_unit_test(test_mask), cmocka_unit_test(test_startup),
		cmocka_unit_test(test_rules), cmocka_unit_test(test_room)};

	return cmocka_run_group_tests(tests, make, drop);
}
