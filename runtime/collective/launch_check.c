/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments are not judged one by one but made again, from what the program says of the group. */
#include "runtime/collective/launch_check.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/copy_engine.h"
#include "runtime/collective/kernels.h"
#include "runtime/collective/startup.h"

struct checking {
	const struct tf_program *program;
	uint32_t *by_off; /* (buffer_count): buffers by rising segment_off */
	uint64_t mask_off, mask_end;
};

static const struct tf_launch_word *word_at(
	const struct checking *check, const struct tf_launch *launch, size_t arg_off)
{
	const struct tf_launch_word *words = check->program->launch_words + launch->words_first;

	for (uint32_t i = 0; i < launch->words_count; i++)
		if (words[i].arg_off == arg_off)
			return &words[i];
	return NULL;
}

static enum tf_status check_operand(const struct checking *check, const struct tf_launch *launch,
	size_t arg_off, const char *name, uint64_t bytes, struct tf_error *err)
{
	const struct tf_launch_word *word = word_at(check, launch, arg_off);
	const struct tf_buffer *buffer;

	if (!word || word->peer)
		return TF_FAIL(
			err, TF_E_INVALID, "'%s' is %s", name, word ? "in a peer's segment" : "missing");
	buffer = tf_program_buffer_before(check->program, check->by_off, word->segment_off);
	if (!buffer || word->segment_off - buffer->segment_off > buffer->bytes ||
		bytes > buffer->bytes - (word->segment_off - buffer->segment_off))
		return TF_FAIL(err, TF_E_INVALID,
			"'%s' at offset %" PRIu64 ": no buffer has its %" PRIu64 " bytes there", name,
			word->segment_off, bytes);
	return TF_OK;
}

static enum tf_status check_controls(const struct checking *check, const struct tf_launch *launch,
	size_t controls_off, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	for (uint32_t k = 0; k < TF_WORLD_MAX; k++) {
		const struct tf_launch_word *word =
			word_at(check, launch, controls_off + k * sizeof(struct tf_control *));

		if (!word != (k >= program->world))
			return TF_FAIL(err, TF_E_INVALID, "'control[%" PRIu32 "]' is %s in a world of %" PRIu32,
				k, word ? "given" : "missing", program->world);
		if (word && (word->peer != k || word->segment_off != program->layout.control_off))
			return TF_FAIL(err, TF_E_INVALID,
				"'control[%" PRIu32 "]' is peer %" PRIu32 " at %" PRIu64 ", not peer %" PRIu32
				" at %" PRIu64,
				k, word->peer, word->segment_off, k, program->layout.control_off);
	}
	return TF_OK;
}

static enum tf_status check_mask(
	const struct checking *check, const struct tf_launch *launch, struct tf_error *err)
{
	const struct tf_launch_word *word =
		word_at(check, launch, offsetof(struct tf_collective_args, mask));

	if (!word)
		return TF_OK;
	if (word->peer || word->segment_off < check->mask_off || word->segment_off >= check->mask_end ||
		(word->segment_off - check->mask_off) % sizeof(uint32_t))
		return TF_FAIL(err, TF_E_INVALID,
			"'mask' is peer %" PRIu32 " at %" PRIu64 ", no word of %" PRIu64 "..%" PRIu64,
			word->peer, word->segment_off, check->mask_off, check->mask_end);
	return TF_OK;
}

/* Candidates stand in the order of their groups. */
static uint32_t first_candidate(const struct tf_program *program, uint32_t group)
{
	uint32_t low = 0, high = program->candidate_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (program->candidates[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The group's candidate that makes these arguments; NULL: none. */
static const struct tf_candidate *candidate_of(
	const struct checking *check, const struct tf_collective_args *args, const char *kernel)
{
	const struct tf_program *program = check->program;
	enum tf_op op = program->groups[args->group].op;

	for (uint32_t i = first_candidate(program, args->group);
		 i < program->candidate_count && program->candidates[i].group == args->group; i++) {
		const struct tf_candidate *candidate = &program->candidates[i].candidate;
		const char *name;

		if (candidate->ctas != args->ctas || candidate->threads != args->threads ||
			candidate->chunk_bytes != args->chunk_bytes)
			continue;
		name = tf_collective_kernel_name(op, candidate->algorithm, candidate->writer);
		if (name &&
			(!strcmp(name, kernel) ||
				(candidate->writer == TF_WRITER_COPY_ENGINE &&
					!strcmp(kernel, TF_COPY_ENGINE_OPEN))))
			return candidate;
	}
	return NULL;
}

#define FIELD(name)                                                                                \
	{                                                                                              \
#name, found->name, wanted.name                                                            \
	}

static enum tf_status check_fields(const struct checking *check,
	const struct tf_collective_args *found, const struct tf_candidate *candidate,
	struct tf_error *err)
{
	const struct tf_program *program = check->program;
	const struct tf_layout *layout = &program->layout;
	const struct tf_group *group = &program->groups[found->group];
	struct tf_collective_args wanted;
	struct tf_layout room = {0};

	tf_collective_args_fill(
		&wanted, layout, group, found->group, candidate, 0, 0, program->world, NULL, NULL, NULL);
	const struct {
		const char *name;
		uint64_t found, wanted;
	} fields[] = {FIELD(count), FIELD(lane_off), FIELD(lane_source_bytes), FIELD(flag_off),
		FIELD(world), FIELD(dtype)};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].found != fields[i].wanted)
			return TF_FAIL(err, TF_E_INVALID, "%s is %" PRIu64 ", group '%s' takes %" PRIu64,
				fields[i].name, fields[i].found, group->name, fields[i].wanted);
	tf_protocol_plan(&room, group, candidate, program->world);
	if (room.ll_source_bytes > layout->ll_source_bytes ||
		room.sentinel_source_bytes > layout->sentinel_source_bytes ||
		room.staging_source_bytes > layout->staging_source_bytes)
		return TF_FAIL(err, TF_E_INVALID,
			"group '%s' needs more protocol memory than the layout has", group->name);
	return TF_OK;
}

static enum tf_status check_collective(
	const struct checking *check, const struct tf_launch *launch, struct tf_error *err)
{
	const struct tf_program *program = check->program;
	const char *kernel = program->kernels[launch->kernel].name;
	const struct tf_candidate *candidate;
	const struct tf_group *group;
	struct tf_collective_args args;

	memcpy(&args, program->args.data + launch->args_off, sizeof(args));
	if (args.group >= program->group_count)
		return TF_FAIL(err, TF_E_INVALID, "group is %" PRIu32 ", there are %" PRIu32, args.group,
			program->group_count);
	group = &program->groups[args.group];
	candidate = candidate_of(check, &args, kernel);
	if (!candidate)
		return TF_FAIL(err, TF_E_INVALID,
			"group '%s' has no candidate of this kernel with %" PRIu32 " CTAs of %" PRIu32
			" threads and chunks of %" PRIu64 " bytes",
			group->name, args.ctas, args.threads, args.chunk_bytes);
	TF_TRY(check_fields(check, &args, candidate, err));
	TF_TRY(check_controls(check, launch, offsetof(struct tf_collective_args, control), err));
	TF_TRY(check_mask(check, launch, err));
	TF_TRY(check_operand(check, launch, offsetof(struct tf_collective_args, input), "input",
		tf_group_input_bytes(group), err));
	return check_operand(check, launch, offsetof(struct tf_collective_args, output), "output",
		tf_group_output_bytes(group, program->world), err);
}

static enum tf_status check_startup(
	const struct checking *check, const struct tf_launch *launch, struct tf_error *err)
{
	const struct tf_program *program = check->program;
	const struct tf_layout *layout = &program->layout;
	int has_input = !strcmp(program->kernels[launch->kernel].name, "sample_begin");
	struct tf_startup_args args;

	memcpy(&args, program->args.data + launch->args_off, sizeof(args));
	if (args.startup_off != layout->startup_off || args.world != program->world ||
		args.slot >= program->candidate_count || args.pass >= TF_PASSES)
		return TF_FAIL(err, TF_E_INVALID,
			"startup_off %" PRIu64 ", world %" PRIu32 ", slot %" PRIu32 ", pass %" PRIu32
			": the program has %" PRIu64 ", %" PRIu32 ", %" PRIu32 " slots and %u passes",
			args.startup_off, args.world, args.slot, args.pass, layout->startup_off, program->world,
			program->candidate_count, TF_PASSES);
	TF_TRY(check_controls(check, launch, offsetof(struct tf_startup_args, control), err));
	if (has_input)
		return check_operand(
			check, launch, offsetof(struct tf_startup_args, input), "input", args.input_bytes, err);
	return TF_OK;
}

static int is_startup_kernel(const char *name)
{
	uint32_t count;
	const char *const *names = tf_startup_kernel_names(&count);

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/* A body finds a word where it was built to find it. */
static enum tf_status check_rules(
	const struct tf_program *program, const struct tf_kernel *kernel, struct tf_error *err)
{
	int is_startup = is_startup_kernel(kernel->name);
	size_t bytes = is_startup ? sizeof(struct tf_startup_args) : sizeof(struct tf_collective_args);
	uint32_t count;
	const struct tf_kernel_word *wanted =
		is_startup ? tf_startup_words(&count) : tf_collective_words(&count);
	const struct tf_kernel_word *found = program->kernel_words + kernel->words_first;
	int same = kernel->args_bytes == bytes && kernel->words_count == count;

	for (uint32_t i = 0; same && i < count; i++)
		same = found[i].arg_off == wanted[i].arg_off && found[i].kind == wanted[i].kind &&
			found[i].nullable == wanted[i].nullable;
	return same ? TF_OK
				: TF_FAIL(err, TF_E_INVALID,
					  "its arguments (%" PRIu32 " bytes, %" PRIu32
					  " words) are not this build's (%zu bytes, %" PRIu32 " words)",
					  kernel->args_bytes, kernel->words_count, bytes, count);
}

/* Foreign modules never have these names (prepare/workload). */
static int is_ours(const struct tf_program *program, const struct tf_kernel *kernel)
{
	const struct tf_module *module = &program->modules[kernel->module];

	if (module->kind == TF_MODULE_HOST)
		return module->member == TF_PROGRAM_NONE;
	return !strncmp(module->name, "collectives-", strlen("collectives-"));
}

static enum tf_status check_launch(
	const struct checking *check, const struct tf_launch *launch, struct tf_error *err)
{
	const struct tf_kernel *kernel = &check->program->kernels[launch->kernel];

	if (!is_ours(check->program, kernel))
		return TF_OK;
	TF_TRY(check_rules(check->program, kernel, err));
	return is_startup_kernel(kernel->name) ? check_startup(check, launch, err)
										   : check_collective(check, launch, err);
}

enum tf_status tf_launches_check(const struct tf_program *program, struct tf_error *err)
{
	struct checking check = {.program = program};
	enum tf_status status = tf_program_order_buffers(program, &check.by_off, err);

	(void)tf_startup_places(
		program->group_count, program->candidate_count, &check.mask_off, NULL, NULL, NULL, NULL);
	check.mask_off += program->layout.startup_off;
	check.mask_end = check.mask_off + program->candidate_count * sizeof(uint32_t);
	for (uint32_t i = 0; i < program->launch_count && status == TF_OK; i++) {
		status = check_launch(&check, &program->launches[i], err);
		if (status != TF_OK)
			tf_error_prefix(err, "launch %" PRIu32 " of kernel '%s'", i,
				program->kernels[program->launches[i].kernel].name);
	}
	tf_free(check.by_off);
	return status;
}
