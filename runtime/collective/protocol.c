/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol memory: how much, where, and its first state; the argument struct of a call. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "runtime/collective/exchange.h"

#define PAGE_BYTES 4096

_Static_assert(sizeof(struct tf_control) <= TF_CONTROL_BYTES, "control words outgrew their place");

/* clang-format off */
#define ADDRESS_WORD(field, nullable) \
	{offsetof(struct tf_collective_args, field), TF_WORD_ADDRESS, nullable, #field}
/* clang-format on */

const struct tf_kernel_word *tf_collective_words(uint32_t *out_count)
{
	static const struct tf_kernel_word words[] = {
		ADDRESS_WORD(input, 0),
		ADDRESS_WORD(output, 0),
		ADDRESS_WORD(control[0], 0),
		ADDRESS_WORD(control[1], 0),
		ADDRESS_WORD(control[2], 1),
		ADDRESS_WORD(control[3], 1),
		ADDRESS_WORD(control[4], 1),
		ADDRESS_WORD(control[5], 1),
		ADDRESS_WORD(control[6], 1),
		ADDRESS_WORD(control[7], 1),
		ADDRESS_WORD(mask, 1),
		{offsetof(struct tf_collective_args, rank), TF_WORD_RANK, 0, "rank"},
	};

	*out_count = sizeof(words) / sizeof(words[0]);
	return words;
}

enum tf_family tf_writer_family(enum tf_writer writer)
{
	const struct tf_writer_ops *ops = tf_writer_ops_of(writer);

	return ops ? ops->family : TF_FAMILY_COUNT;
}

void tf_protocol_plan(struct tf_layout *layout, const struct tf_group *group,
	const struct tf_candidate *candidate, uint32_t world)
{
	const struct tf_writer_ops *ops = tf_writer_ops_of(candidate->writer);
	uint64_t count = tf_group_input_count(group), bytes, *source_bytes;
	int shards = group->op == TF_OP_REDUCE_SCATTER || candidate->algorithm == TF_ALGORITHM_TWO_SHOT;

	if (!ops)
		return;
	if (shards)
		count = tf_shard_count(count, world);
	bytes = tf_writer_lane_bytes(ops, count * tf_dtype_bytes(group->dtype), shards, world);
	bytes = tf_align_up(bytes, TF_LINE_BYTES);
	if (ops->family == TF_FAMILY_LL)
		source_bytes = &layout->ll_source_bytes;
	else if (ops->family == TF_FAMILY_SENTINEL)
		source_bytes = &layout->sentinel_source_bytes;
	else
		source_bytes = &layout->staging_source_bytes;
	if (*source_bytes < bytes)
		*source_bytes = bytes;
}

static uint64_t place(uint64_t *out_off, uint64_t at, uint64_t bytes)
{
	*out_off = at;
	return tf_align_up(at + bytes, PAGE_BYTES);
}

uint64_t tf_protocol_place(struct tf_layout *layout, uint32_t world)
{
	uint64_t at = 0;

	layout->control_bytes = TF_CONTROL_BYTES;
	layout->flag_bytes = tf_align_up(sizeof(struct tf_flags), PAGE_BYTES);
	at = place(&layout->control_off, at, layout->control_bytes);
	at = place(&layout->ll_off, at, TF_SLOTS_LL * world * layout->ll_source_bytes);
	at =
		place(&layout->sentinel_off, at, TF_SLOTS_SENTINEL * world * layout->sentinel_source_bytes);
	at = place(&layout->flag_off, at, layout->flag_bytes);
	return place(&layout->staging_off, at, TF_SLOTS_STAGING * world * layout->staging_source_bytes);
}

#define FIELD(name)                                                                                \
	{                                                                                              \
#name, layout->name, own.name                                                              \
	}

enum tf_status tf_protocol_check(
	const struct tf_layout *layout, uint32_t world, struct tf_error *err)
{
	struct tf_layout own = *layout;

	(void)tf_protocol_place(&own, world);
	const struct {
		const char *name;
		uint64_t found, wanted;
	} fields[] = {FIELD(control_off), FIELD(control_bytes), FIELD(ll_off), FIELD(sentinel_off),
		FIELD(flag_off), FIELD(flag_bytes), FIELD(staging_off)};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].found != fields[i].wanted)
			return TF_FAIL(err, TF_E_INVALID,
				"layout: %s is %" PRIu64 ", this build's kernels take %" PRIu64, fields[i].name,
				fields[i].found, fields[i].wanted);
	}
	return TF_OK;
}

static void fill_words(void *to, uint64_t bytes, uint32_t word)
{
	uint32_t *words = to;

	for (uint64_t i = 0; i < bytes / 4; i++)
		words[i] = word;
}

void tf_protocol_reset(void *segment, const struct tf_layout *layout, uint32_t rank, uint32_t world,
	uint64_t timeout_ns, uint32_t first_epoch)
{
	uint8_t *base = segment;
	struct tf_control *control = (struct tf_control *)(void *)(base + layout->control_off);

	memset(control, 0, sizeof(*control));
	control->rank = rank;
	control->world = world;
	control->timeout_ns = timeout_ns;
	for (uint32_t family = 0; family < TF_FAMILY_COUNT; family++) {
		for (uint32_t cta = 0; cta < TF_CTAS_MAX; cta++)
			control->family[family][cta].epoch = first_epoch;
	}
	control->barrier_epoch = first_epoch;
	for (uint32_t peer = 0; peer < TF_WORLD_MAX; peer++)
		control->barrier[peer].epoch = first_epoch;
	memset(base + layout->ll_off, 0, TF_SLOTS_LL * world * layout->ll_source_bytes);
	fill_words(base + layout->sentinel_off,
		TF_SLOTS_SENTINEL * world * layout->sentinel_source_bytes, TF_SENTINEL_WORD);
	fill_words(base + layout->flag_off, sizeof(struct tf_flags), first_epoch);
}

struct tf_layout tf_protocol_in_use(const struct tf_program *program)
{
	struct tf_layout layout = program->layout;
	int used[TF_FAMILY_COUNT + 1] = {0};

	for (uint32_t g = 0; g < program->group_count; g++)
		used[tf_writer_family(program->candidates[program->selectors[g]].candidate.writer)] = 1;
	if (!used[TF_FAMILY_LL])
		layout.ll_source_bytes = 0;
	if (!used[TF_FAMILY_SENTINEL])
		layout.sentinel_source_bytes = 0;
	if (!used[TF_FAMILY_FLAG])
		layout.staging_source_bytes = 0;
	return layout;
}

void tf_collective_args_fill(struct tf_collective_args *args, const struct tf_layout *layout,
	const struct tf_group *group, uint32_t group_index, const struct tf_candidate *candidate,
	uint64_t base, uint32_t rank, uint32_t world, const void *input, void *output,
	const uint32_t *mask)
{
	enum tf_family family = tf_writer_family(candidate->writer);

	memset(args, 0, sizeof(*args));
	args->input = input;
	args->output = output;
	for (uint32_t k = 0; k < world; k++) {
		uint64_t segment = base + (rank + k) % world * layout->stride_bytes;

		args->control[k] = (struct tf_control *)(uintptr_t)(segment + layout->control_off);
	}
	args->mask = mask;
	args->count = tf_group_input_count(group);
	args->chunk_bytes = candidate->chunk_bytes;
	if (family == TF_FAMILY_LL) {
		args->lane_off = layout->ll_off;
		args->lane_source_bytes = layout->ll_source_bytes;
	} else if (family == TF_FAMILY_SENTINEL) {
		args->lane_off = layout->sentinel_off;
		args->lane_source_bytes = layout->sentinel_source_bytes;
	} else {
		args->lane_off = layout->staging_off;
		args->lane_source_bytes = layout->staging_source_bytes;
	}
	args->flag_off = layout->flag_off;
	args->rank = rank;
	args->world = world;
	args->dtype = (uint32_t)group->dtype;
	args->ctas = candidate->ctas;
	args->threads = candidate->threads;
	args->group = group_index;
}
