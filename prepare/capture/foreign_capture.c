/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. What the workload says of its arguments is not asked: words are addresses because they moved.
 *    It is asked only which buffers a kernel just reads; a false answer there fails the proof of
 *    the outputs, it cannot pass one.
 * 2. The three bases differ, because all three windows are held at the same time.
 */
#include "prepare/capture/foreign_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "prepare/capture/address_words.h"
#include "prepare/capture/foreign_launch.h"
#include "prepare/tune/plan.h"
#include "runtime/graph/place.h"

/* A foreign launch as a capture saw it. */
struct seen {
	uint32_t capacity, node; /* node of the step's graph */
	uint32_t nth;            /* among the foreign launches of the step */
	uint32_t kernel;         /* of the program */
	uint32_t grid[3], block[3], shared_bytes;
	uint8_t args[8 * TF_FOREIGN_ARGUMENTS_MAX];
};

struct capture {
	const struct tf_bench_rank *rank;
	struct tf_window_view window;
	struct seen *seen;
	uint32_t count, room;
	uint32_t capacity, node, nth; /* the step under way */
};

struct captures {
	struct tf_bench_rank *rank;
	struct tf_rank_window extra[TF_CAPTURE_BASES - 1];
	struct capture all[TF_CAPTURE_BASES];
	struct tf_places places;
	uint8_t (*is_address)[TF_FOREIGN_ARGUMENTS_MAX]; /* (launches): by word */
	uint8_t *is_touched;                             /* (buffers) */
};

static enum tf_status keep(struct capture *capture, const struct tf_launch_call *call,
	uint32_t kernel, struct tf_error *err)
{
	struct seen *seen;

	if (capture->count == capture->room) {
		uint32_t room = capture->room ? 2 * capture->room : 64;
		struct seen *grown = tf_reallocarray(capture->seen, room, sizeof(grown[0]));

		if (!grown)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u launches", room);
		capture->seen = grown;
		capture->room = room;
	}
	seen = &capture->seen[capture->count];
	*seen = (struct seen){.capacity = capture->capacity,
		.node = capture->node,
		.nth = capture->nth++,
		.kernel = kernel,
		.shared_bytes = call->shared_bytes};
	if (call->args_bytes > sizeof(seen->args))
		return TF_FAIL(err, TF_E_LIMIT, "%u bytes of arguments, at most %zu are carried",
			call->args_bytes, sizeof(seen->args));
	memcpy(seen->grid, call->grid, sizeof(seen->grid));
	memcpy(seen->block, call->block, sizeof(seen->block));
	memcpy(seen->args, call->args, call->args_bytes);
	capture->count++;
	return TF_OK;
}

static enum tf_status tap(void *user, const struct tf_exec_node *node, struct tf_error *err)
{
	struct capture *capture = user;
	const struct tf_program *program = capture->rank->program;
	enum tf_status status = TF_OK;

	for (uint32_t i = 0; node->kind == TF_NODE_KERNEL && i < program->kernel_count; i++) {
		if (program->kernels[i].params_count &&
			capture->rank->target.kernels[i] == node->launch.kernel)
			status = keep(capture, &node->launch, i, err);
	}
	capture->node++;
	return status;
}

/* All steps at one base. */
static enum tf_status run(struct tf_bench_rank *rank, struct capture *capture, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	enum tf_status status = TF_OK;

	rank->ops->stream_tap(rank->stream, tap, capture);
	for (uint32_t g = 0; status == TF_OK && g < program->group_count; g++) {
		if (g && program->groups[g].capacity == program->groups[g - 1].capacity)
			continue;
		capture->capacity = program->groups[g].capacity;
		capture->node = capture->nth = 0;
		status = tf_foreign_record(rank, &capture->window, capture->capacity, err);
	}
	rank->ops->stream_tap(rank->stream, NULL, NULL);
	return status;
}

static void prefix(const struct captures *captures, uint32_t launch, struct tf_error *err)
{
	const struct seen *seen = &captures->all[0].seen[launch];

	tf_error_prefix(err, "step of capacity %u: node %u: kernel '%s'", seen->capacity, seen->node,
		captures->rank->program->kernels[seen->kernel].name);
}

static enum tf_status check_same(
	const struct captures *captures, uint32_t launch, struct tf_error *err)
{
	const struct seen *first = &captures->all[0].seen[launch];

	for (int i = 1; i < TF_CAPTURE_BASES; i++) {
		const struct seen *other = &captures->all[i].seen[launch];

		if (other->node != first->node || other->kernel != first->kernel ||
			other->shared_bytes != first->shared_bytes ||
			memcmp(other->grid, first->grid, sizeof(first->grid)) != 0 ||
			memcmp(other->block, first->block, sizeof(first->block)) != 0)
			return TF_FAIL(err, TF_E_INVALID,
				"capture %d has another launch there: node %u, grid %u x %u x %u, not %u x %u x %u",
				i + 1, other->node, other->grid[0], other->grid[1], other->grid[2], first->grid[0],
				first->grid[1], first->grid[2]);
	}
	return TF_OK;
}

static struct tf_address_case case_of(const struct captures *captures, uint32_t launch)
{
	const struct tf_program *program = captures->rank->program;
	const struct tf_kernel *kernel = &program->kernels[captures->all[0].seen[launch].kernel];
	struct tf_address_case out = {
		.params = program->kernel_params + kernel->params_first,
		.param_count = kernel->params_count,
		.args_bytes = kernel->args_bytes,
	};

	for (int i = 0; i < TF_CAPTURE_BASES; i++) {
		out.windows[i] = captures->all[i].window;
		out.args[i] = captures->all[i].seen[launch].args;
	}
	return out;
}

/* The argument whose bytes hold `byte`; there is one. */
static uint32_t argument_at(const struct tf_address_case *launch, uint32_t byte)
{
	uint32_t i = 0;

	while (byte - launch->params[i].arg_off >= launch->params[i].bytes)
		i++;
	return i;
}

/* An address lies in a declared buffer of the rank's own; notes what may be written through it. */
static enum tf_status take_address(struct captures *captures, const struct seen *seen,
	const struct tf_address_case *launch, uint32_t byte, struct tf_error *err)
{
	const struct tf_foreign *foreign = captures->rank->foreign;
	const struct tf_program *program = captures->rank->program;
	const struct tf_foreign_kernel *kernel =
		&foreign->kernels[tf_foreign_nth_kernel(foreign, seen->nth)];
	const struct tf_foreign_argument *argument = &kernel->arguments[argument_at(launch, byte)];
	char text[TF_ARGUMENT_TEXT_BYTES];
	uint64_t address, off = 0;
	uint32_t peer = 0, buffer = 0;
	enum tf_status status;

	memcpy(&address, launch->args[0] + byte, sizeof(address));
	status = tf_window_locate(&launch->windows[0], address, &peer, &off, err);
	if (status == TF_OK)
		status = tf_places_find_own(&captures->places, peer, off, &buffer, err);
	if (status != TF_OK) {
		tf_error_prefix(err, "%s: 0x%" PRIx64,
			tf_argument_text(launch->params, launch->param_count, byte, text), address);
		return status;
	}
	if (!argument->is_read_only ||
		tf_plan_named_buffer(program, argument->buffer, seen->capacity) != buffer)
		captures->is_touched[buffer] = 1;
	return TF_OK;
}

static enum tf_status learn_launch(struct captures *captures, uint32_t index, struct tf_error *err)
{
	struct tf_address_case launch = case_of(captures, index);
	uint8_t *is_address = captures->is_address[index];

	TF_TRY(check_same(captures, index, err));
	TF_TRY(tf_address_words_find(&launch, is_address, err));
	for (uint32_t word = 0; word < launch.args_bytes / 8; word++) {
		if (is_address[word])
			TF_TRY(take_address(captures, &captures->all[0].seen[index], &launch, 8 * word, err));
	}
	return tf_address_words_prove(&launch, is_address, err);
}

/* Where another launch of the kernel has an address, this one has one too, or zero. */
static enum tf_status check_null(const struct captures *captures, uint32_t index, uint32_t word,
	int *out_nullable, struct tf_error *err)
{
	const struct tf_address_case launch = case_of(captures, index);
	char text[TF_ARGUMENT_TEXT_BYTES];
	uint64_t value;

	if (captures->is_address[index][word])
		return TF_OK;
	memcpy(&value, launch.args[0] + 8 * word, sizeof(value));
	*out_nullable = 1;
	if (!value)
		return TF_OK;
	return TF_FAIL(err, TF_E_INVALID,
		"%s: 0x%" PRIx64 " is no address, where another launch of the kernel has one",
		tf_argument_text(launch.params, launch.param_count, 8 * word, text), value);
}

static enum tf_status add_word(struct tf_program *program, struct tf_kernel *kernel, uint32_t word,
	int nullable, struct tf_error *err)
{
	struct tf_kernel_word *grown =
		tf_reallocarray(program->kernel_words, program->kernel_word_count + 1, sizeof(grown[0]));
	const struct tf_address_case launch = {.params = program->kernel_params + kernel->params_first};
	struct tf_kernel_word *to;
	uint32_t argument;

	if (!grown)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a word of kernel '%s'", kernel->name);
	program->kernel_words = grown;
	to = &grown[program->kernel_word_count++];
	*to = (struct tf_kernel_word){
		.arg_off = 8 * word, .kind = TF_WORD_ADDRESS, .nullable = (uint8_t)nullable};
	argument = argument_at(&launch, 8 * word);
	snprintf(to->name, sizeof(to->name), "arg%u+%u", argument,
		8 * word - launch.params[argument].arg_off);
	kernel->words_count++;
	return TF_OK;
}

/* The words of one kernel: where any of its launches has an address. */
static enum tf_status add_words(struct captures *captures, uint32_t index, struct tf_error *err)
{
	struct tf_program *program = captures->rank->program;
	struct tf_kernel *kernel = &program->kernels[index];
	const struct seen *seen = captures->all[0].seen;
	uint32_t count = captures->all[0].count;

	kernel->words_first = program->kernel_word_count;
	for (uint32_t word = 0; word < kernel->args_bytes / 8; word++) {
		int is_word = 0, nullable = 0;

		for (uint32_t i = 0; i < count; i++)
			is_word |= seen[i].kernel == index && captures->is_address[i][word];
		for (uint32_t i = 0; is_word && i < count; i++) {
			if (seen[i].kernel == index && check_null(captures, i, word, &nullable, err) != TF_OK) {
				prefix(captures, i, err);
				return TF_E_INVALID;
			}
		}
		if (is_word)
			TF_TRY(add_word(program, kernel, word, nullable, err));
	}
	return TF_OK;
}

static enum tf_status add_touched(struct captures *captures, struct tf_error *err)
{
	struct tf_program *program = captures->rank->program;

	program->touched = tf_calloc(program->buffer_count, sizeof(program->touched[0]));
	if (!program->touched)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u buffers", program->buffer_count);
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		if (captures->is_touched[i])
			program->touched[program->touched_count++] = i;
	}
	return TF_OK;
}

static enum tf_status learn(struct captures *captures, struct tf_error *err)
{
	const struct tf_program *program = captures->rank->program;
	uint32_t count = captures->all[0].count;

	for (int i = 1; i < TF_CAPTURE_BASES; i++) {
		if (captures->all[i].count != count)
			return TF_FAIL(err, TF_E_INVALID, "capture %d holds %u foreign launches, the first %u",
				i + 1, captures->all[i].count, count);
	}
	captures->is_address = tf_calloc(count, sizeof(captures->is_address[0]));
	captures->is_touched = tf_calloc(program->buffer_count, 1);
	if (!captures->is_address || !captures->is_touched)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u launches", count);
	TF_TRY(tf_places_init(&captures->places, program, err));
	for (uint32_t i = 0; i < count; i++) {
		enum tf_status status = learn_launch(captures, i, err);

		if (status != TF_OK) {
			prefix(captures, i, err);
			return status;
		}
	}
	for (uint32_t i = 0; i < program->kernel_count; i++) {
		if (program->kernels[i].params_count)
			TF_TRY(add_words(captures, i, err));
	}
	return add_touched(captures, err);
}

static void captures_fini(struct captures *captures)
{
	for (int i = 0; i < TF_CAPTURE_BASES; i++)
		tf_free(captures->all[i].seen);
	for (int i = 0; i < TF_CAPTURE_BASES - 1; i++) {
		if (captures->extra[i].ops)
			tf_rank_window_close(&captures->extra[i]);
	}
	tf_places_fini(&captures->places);
	tf_free(captures->is_address);
	tf_free(captures->is_touched);
}

/* The rank's own window, and two more that only hold their addresses. Collective. */
static enum tf_status open_windows(struct captures *captures, struct tf_error *err)
{
	struct tf_bench_rank *rank = captures->rank;

	captures->all[0].window = tf_rank_window_view(&rank->window);
	for (uint32_t i = 0; i < TF_CAPTURE_BASES - 1; i++) {
		TF_TRY(tf_rank_window_reserve(rank->ops, rank->device, rank->link, &rank->program->layout,
			i + 1, tf_deadline_after(rank->timeout_ns), &captures->extra[i], err));
		captures->all[i + 1].window = tf_rank_window_view(&captures->extra[i]);
	}
	return TF_OK;
}

enum tf_status tf_foreign_capture(struct tf_bench_rank *rank, struct tf_error *err)
{
	struct captures captures = {.rank = rank};
	struct tf_error local = {0};
	enum tf_status status;

	if (!rank->foreign || !rank->foreign->kernel_count)
		return TF_OK;
	status = open_windows(&captures, err);
	if (status == TF_OK) {
		enum tf_status own = TF_OK;

		for (int i = 0; own == TF_OK && i < TF_CAPTURE_BASES; i++) {
			captures.all[i].rank = rank;
			own = run(rank, &captures.all[i], &local);
		}
		if (own == TF_OK)
			own = learn(&captures, &local);
		status = tf_link_agree_ok(rank->link, &local, tf_deadline_after(rank->timeout_ns), err);
	}
	captures_fini(&captures);
	return status;
}
