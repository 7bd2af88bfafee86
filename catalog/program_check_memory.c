/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_program_check: the segment's layout and buffers. Invariants afterwards:
 * 1. No two parts of the layout and no two buffers overlap, and nothing passes the segment's end.
 * 2. Peers can see exactly the buffers that lie in exported parts: control, protocol, exchange,
 *    startup.
 */
#include "catalog/program_check.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/program_limits.h"
#include "catalog/program_names.h"

enum part_kind {
	PART_PROTOCOL, /* control, protocol, startup: exported, used without a buffer */
	PART_EXCHANGE, /* exported, holds buffers */
	PART_PRIVATE   /* not exported, holds buffers */
};

struct part {
	const char *name;
	enum part_kind kind;
	uint64_t off, bytes;
};

#define PART_COUNT 8

/* Inside, without overflow. */
static int range_inside(uint64_t off, uint64_t bytes, uint64_t outer_off, uint64_t outer_bytes)
{
	return off >= outer_off && off - outer_off <= outer_bytes &&
		bytes <= outer_bytes - (off - outer_off);
}

/* The layout's source bytes have been bounded, so the products cannot overflow. */
static void parts_of(const struct tf_program *program, struct part parts[PART_COUNT])
{
	const struct tf_layout *l = &program->layout;
	uint64_t world = program->world;
	const struct part all[PART_COUNT] = {
		{"control", PART_PROTOCOL, l->control_off, l->control_bytes},
		{"ll", PART_PROTOCOL, l->ll_off, 2 * world * l->ll_source_bytes},
		{"sentinel", PART_PROTOCOL, l->sentinel_off, 3 * world * l->sentinel_source_bytes},
		{"flag", PART_PROTOCOL, l->flag_off, l->flag_bytes},
		{"staging", PART_PROTOCOL, l->staging_off, 2 * world * l->staging_source_bytes},
		{"exchange", PART_EXCHANGE, l->exchange_off, l->exchange_bytes},
		{"startup", PART_PROTOCOL, l->startup_off, l->startup_bytes},
		{"private", PART_PRIVATE, l->private_off, l->private_bytes},
	};

	memcpy(parts, all, sizeof(all));
}

static enum tf_status check_segment(const struct tf_program *program, struct tf_error *err)
{
	const struct tf_layout *l = &program->layout;

	if (l->segment_bytes == 0 || l->segment_bytes > TF_SEGMENT_MAX)
		return TF_FAIL(err, TF_E_INVALID, "layout: segment_bytes is %" PRIu64 ", not 1..%" PRIu64,
			l->segment_bytes, TF_SEGMENT_MAX);
	if (l->stride_bytes < l->segment_bytes || l->stride_bytes > TF_STRIDE_MAX)
		return TF_FAIL(err, TF_E_INVALID,
			"layout: stride_bytes is %" PRIu64 ", not %" PRIu64 " (a segment)..%" PRIu64,
			l->stride_bytes, l->segment_bytes, TF_STRIDE_MAX);
	if (l->ll_source_bytes > l->segment_bytes || l->sentinel_source_bytes > l->segment_bytes ||
		l->staging_source_bytes > l->segment_bytes)
		return TF_FAIL(err, TF_E_INVALID,
			"layout: bytes a source (ll %" PRIu64 ", sentinel %" PRIu64 ", staging %" PRIu64
			") pass the segment of %" PRIu64 " bytes",
			l->ll_source_bytes, l->sentinel_source_bytes, l->staging_source_bytes,
			l->segment_bytes);
	return TF_OK;
}

static int parts_overlap(const struct part *a, const struct part *b)
{
	return a->bytes && b->bytes && a->off < b->off + b->bytes && b->off < a->off + a->bytes;
}

enum tf_status tf_check_layout(const struct tf_check *check, struct tf_error *err)
{
	struct part parts[PART_COUNT];

	TF_TRY(check_segment(check->program, err));
	parts_of(check->program, parts);
	for (int i = 0; i < PART_COUNT; i++) {
		if (!range_inside(parts[i].off, parts[i].bytes, 0, check->program->layout.segment_bytes))
			return TF_FAIL(err, TF_E_INVALID,
				"layout: %s at %" PRIu64 " with %" PRIu64 " bytes passes the segment of %" PRIu64
				" bytes",
				parts[i].name, parts[i].off, parts[i].bytes, check->program->layout.segment_bytes);
		for (int k = 0; k < i; k++) {
			if (parts_overlap(&parts[i], &parts[k]))
				return TF_FAIL(
					err, TF_E_INVALID, "layout: %s overlaps %s", parts[i].name, parts[k].name);
		}
	}
	return TF_OK;
}

/*
 * Which part a buffer may lie in: protocol buffers in any but private, or private; others as peers
 * see them.
 */
static int part_may_hold(const struct part *part, const struct tf_buffer *buffer)
{
	if (!buffer->peer_visible)
		return part->kind == PART_PRIVATE;
	return part->kind == PART_EXCHANGE ||
		(part->kind == PART_PROTOCOL && buffer->role == TF_BUFFER_PROTOCOL);
}

static enum tf_status check_buffer_place(
	const struct tf_program *program, const struct tf_buffer *buffer, struct tf_error *err)
{
	struct part parts[PART_COUNT];

	parts_of(program, parts);
	if (buffer->segment_off % tf_dtype_bytes(buffer->dtype))
		return TF_FAIL(err, TF_E_INVALID, "segment_off %" PRIu64 " is not aligned to %s",
			buffer->segment_off, tf_dtype_name(buffer->dtype));
	for (int i = 0; i < PART_COUNT; i++) {
		if (range_inside(buffer->segment_off, buffer->bytes, parts[i].off, parts[i].bytes) &&
			part_may_hold(&parts[i], buffer))
			return TF_OK;
	}
	return TF_FAIL(err, TF_E_INVALID,
		"segment_off %" PRIu64 " with %" PRIu64 " bytes lies in no part for %s %s buffers",
		buffer->segment_off, buffer->bytes, buffer->peer_visible ? "peer-visible" : "private",
		tf_buffer_role_name(buffer->role));
}

static enum tf_status check_shape(const struct tf_buffer *buffer, struct tf_error *err)
{
	uint64_t bytes = tf_dtype_bytes(buffer->dtype);

	if (buffer->dims_count > TF_PROGRAM_DIMS_MAX)
		return TF_FAIL(err, TF_E_INVALID, "dims_count is %" PRIu32 ", not 0..%d",
			buffer->dims_count, TF_PROGRAM_DIMS_MAX);
	for (uint32_t i = 0; i < buffer->dims_count; i++) {
		if (buffer->dims[i] == 0 || __builtin_mul_overflow(bytes, buffer->dims[i], &bytes))
			return TF_FAIL(err, TF_E_INVALID,
				"dim %" PRIu32 " is %" PRIu64 ", zero or beyond 64 bits of bytes", i,
				buffer->dims[i]);
	}
	if (buffer->bytes == 0 || (buffer->dims_count && buffer->bytes < bytes))
		return TF_FAIL(err, TF_E_INVALID,
			"bytes is %" PRIu64 ", fewer than the %" PRIu64 " of its shape", buffer->bytes, bytes);
	return TF_OK;
}

/*
 * An operand must be long enough for its group, or the collective would write past it, and of its
 * data type, by which it is filled and compared.
 */
static enum tf_status check_operand(
	const struct tf_program *program, const struct tf_buffer *buffer, struct tf_error *err)
{
	const struct tf_group *group;
	uint64_t needed;

	if (buffer->group == TF_PROGRAM_NONE)
		return TF_OK;
	if (buffer->group >= program->group_count)
		return TF_FAIL(err, TF_E_INVALID, "group is %" PRIu32 ", there are %" PRIu32, buffer->group,
			program->group_count);
	group = &program->groups[buffer->group];
	if (buffer->pair >= group->buffer_pairs)
		return TF_FAIL(err, TF_E_INVALID, "pair is %" PRIu32 ", group '%s' has %" PRIu32,
			buffer->pair, group->name, group->buffer_pairs);
	if (buffer->role != TF_BUFFER_INPUT && buffer->role != TF_BUFFER_OUTPUT)
		return TF_OK;
	if (buffer->dtype != group->dtype)
		return TF_FAIL(err, TF_E_INVALID, "dtype is %s, group '%s' has %s",
			tf_dtype_name(buffer->dtype), group->name, tf_dtype_name(group->dtype));
	needed = buffer->role == TF_BUFFER_INPUT ? tf_group_input_bytes(group)
											 : tf_group_output_bytes(group, program->world);
	if (buffer->bytes < needed)
		return TF_FAIL(err, TF_E_INVALID,
			"bytes is %" PRIu64 ", fewer than the %" PRIu64 " of group '%s'", buffer->bytes, needed,
			group->name);
	return TF_OK;
}

static enum tf_status check_buffer(
	const struct tf_program *program, const struct tf_buffer *buffer, struct tf_error *err)
{
	if (!tf_text_is_name(buffer->name, sizeof(buffer->name)))
		return TF_FAIL(err, TF_E_INVALID, "name is not a name of A-Z a-z 0-9 . _ -");
	if (!tf_buffer_role_name(buffer->role))
		return TF_FAIL(err, TF_E_INVALID, "role %d is unknown", (int)buffer->role);
	if (!tf_dtype_name(buffer->dtype))
		return TF_FAIL(err, TF_E_INVALID, "dtype %d is unknown", (int)buffer->dtype);
	if (buffer->peer_visible > 1)
		return TF_FAIL(err, TF_E_INVALID, "peer_visible is %u, not 0 or 1", buffer->peer_visible);
	TF_TRY(check_shape(buffer, err));
	TF_TRY(check_buffer_place(program, buffer, err));
	return check_operand(program, buffer, err);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_off(const void *a, const void *b, void *program)
{
	const struct tf_buffer *buffers = ((const struct tf_program *)program)->buffers;

	return compare_u64(
		buffers[*(const uint32_t *)a].segment_off, buffers[*(const uint32_t *)b].segment_off);
}

enum tf_status tf_program_order_buffers(
	const struct tf_program *program, uint32_t **out, struct tf_error *err)
{
	const struct tf_check check = {.program = program};

	return tf_check_order(&check, program->buffer_count, compare_off, out, err);
}

static int compare_name(const void *a, const void *b, void *program)
{
	const struct tf_buffer *buffers = ((const struct tf_program *)program)->buffers;

	return strcmp(buffers[*(const uint32_t *)a].name, buffers[*(const uint32_t *)b].name);
}

static int is_operand(const struct tf_buffer *buffer)
{
	return buffer->group != TF_PROGRAM_NONE && buffer->role <= TF_BUFFER_OUTPUT;
}

/* Equal only for two operands of the same group, role and pair; other buffers differ by index. */
static int compare_operand(const void *a, const void *b, void *program)
{
	const struct tf_buffer *buffers = ((const struct tf_program *)program)->buffers;
	uint32_t index_a = *(const uint32_t *)a, index_b = *(const uint32_t *)b;
	const struct tf_buffer *x = &buffers[index_a], *y = &buffers[index_b];

	if (x->group != y->group)
		return compare_u64(x->group, y->group);
	if (x->role != y->role)
		return compare_u64(x->role, y->role);
	if (!is_operand(x) || x->pair == y->pair)
		return is_operand(x) ? 0 : compare_u64(index_a, index_b);
	return compare_u64(x->pair, y->pair);
}

static enum tf_status check_overlap(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	for (uint32_t i = 1; i < program->buffer_count; i++) {
		const struct tf_buffer *a = &program->buffers[check->buffers_by_off[i - 1]];
		const struct tf_buffer *b = &program->buffers[check->buffers_by_off[i]];

		if (b->segment_off - a->segment_off < a->bytes)
			return TF_FAIL(err, TF_E_INVALID,
				"buffer '%s' at %" PRIu64 " overlaps buffer '%s' at %" PRIu64 " with %" PRIu64
				" bytes",
				b->name, b->segment_off, a->name, a->segment_off, a->bytes);
	}
	return TF_OK;
}

enum tf_status tf_check_buffers(struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	TF_TRY(tf_check_count("buffers", program->buffers, program->buffer_count, TF_BUFFERS_MAX, err));
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		enum tf_status status = check_buffer(program, &program->buffers[i], err);

		if (status != TF_OK) {
			tf_error_prefix(err, "buffer %" PRIu32 " '%s'", i,
				tf_text_shown(program->buffers[i].name, TF_NAME_BYTES));
			return status;
		}
	}
	TF_TRY(tf_check_unique(
		check, program->buffer_count, compare_name, "buffers", "have the same name", err));
	TF_TRY(tf_check_unique(check, program->buffer_count, compare_operand, "buffers",
		"are the same operand of the same group and pair", err));
	TF_TRY(tf_program_order_buffers(program, &check->buffers_by_off, err));
	return check_overlap(check, err);
}

const struct tf_buffer *tf_program_buffer_before(
	const struct tf_program *program, const uint32_t *by_off, uint64_t off)
{
	uint32_t low = 0, high = program->buffer_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (program->buffers[by_off[middle]].segment_off <= off)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &program->buffers[by_off[low - 1]] : NULL;
}

enum tf_status tf_check_place(
	const struct tf_check *check, uint32_t peer, uint64_t off, uint64_t bytes, struct tf_error *err)
{
	const struct tf_program *program = check->program;
	const struct tf_buffer *buffer;
	struct part parts[PART_COUNT];

	if (peer >= program->world)
		return TF_FAIL(
			err, TF_E_INVALID, "peer is %" PRIu32 ", the world has %" PRIu32, peer, program->world);
	if (!range_inside(off, bytes, 0, program->layout.segment_bytes))
		return TF_FAIL(err, TF_E_INVALID,
			"offset %" PRIu64 " with %" PRIu64 " bytes passes the segment of %" PRIu64 " bytes",
			off, bytes, program->layout.segment_bytes);
	parts_of(program, parts);
	for (int i = 0; i < PART_COUNT; i++) {
		if (parts[i].kind == PART_PROTOCOL &&
			range_inside(off, bytes, parts[i].off, parts[i].bytes))
			return TF_OK;
	}
	buffer = tf_program_buffer_before(program, check->buffers_by_off, off);
	if (!buffer || !range_inside(off, bytes, buffer->segment_off, buffer->bytes))
		return TF_FAIL(err, TF_E_INVALID,
			"offset %" PRIu64 " with %" PRIu64 " bytes lies in no declared buffer", off, bytes);
	if (peer && !buffer->peer_visible)
		return TF_FAIL(err, TF_E_INVALID,
			"offset %" PRIu64 " lies in buffer '%s', which peer %" PRIu32 " does not export", off,
			buffer->name, peer);
	return TF_OK;
}
