/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's own look at every place before it becomes an address: a program that was captured
 * a moment ago is held to the same rules as one that was read from a file.
 */
#include "runtime/graph/place.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

struct range {
	uint64_t off, bytes;
};

#define PART_COUNT 6

/* Inside, without overflow. */
static int is_inside(struct range inner, struct range outer)
{
	return inner.off >= outer.off && inner.off - outer.off <= outer.bytes &&
		inner.bytes <= outer.bytes - (inner.off - outer.off);
}

/* Products that overflow become a size that no segment holds. */
static uint64_t slots_bytes(uint64_t slots, uint64_t world, uint64_t source_bytes)
{
	uint64_t bytes;

	return __builtin_mul_overflow(slots * world, source_bytes, &bytes) ? UINT64_MAX : bytes;
}

/* The parts that kernels address without a declared buffer; peers see all of them. */
static void protocol_parts(const struct tf_program *program, struct range out[PART_COUNT])
{
	const struct tf_layout *layout = &program->layout;
	uint64_t world = program->world;

	out[0] = (struct range){layout->control_off, layout->control_bytes};
	out[1] = (struct range){layout->ll_off, slots_bytes(2, world, layout->ll_source_bytes)};
	out[2] =
		(struct range){layout->sentinel_off, slots_bytes(3, world, layout->sentinel_source_bytes)};
	out[3] = (struct range){layout->flag_off, layout->flag_bytes};
	out[4] =
		(struct range){layout->staging_off, slots_bytes(2, world, layout->staging_source_bytes)};
	out[5] = (struct range){layout->startup_off, layout->startup_bytes};
}

static int compare_off(const void *a, const void *b, void *user)
{
	const struct tf_buffer *buffers = user;
	uint64_t x = buffers[*(const uint32_t *)a].segment_off;
	uint64_t y = buffers[*(const uint32_t *)b].segment_off;

	return (x > y) - (x < y);
}

enum tf_status tf_places_init(
	struct tf_places *places, const struct tf_program *program, struct tf_error *err)
{
	static const char *const names[PART_COUNT] = {
		"control", "ll", "sentinel", "flag", "staging", "startup"};
	struct range segment = {0, program->layout.segment_bytes};
	struct range parts[PART_COUNT];

	protocol_parts(program, parts);
	for (int i = 0; i < PART_COUNT; i++)
		if (!is_inside(parts[i], segment))
			return TF_FAIL(err, TF_E_INVALID,
				"layout: %s at 0x%" PRIx64 " with %" PRIu64 " bytes passes the segment of %" PRIu64,
				names[i], parts[i].off, parts[i].bytes, segment.bytes);
	places->program = program;
	places->by_off = tf_calloc(program->buffer_count, sizeof(*places->by_off));
	if (!places->by_off)
		return TF_FAIL(
			err, TF_E_NO_MEMORY, "no memory to sort %" PRIu32 " buffers", program->buffer_count);
	for (uint32_t i = 0; i < program->buffer_count; i++)
		places->by_off[i] = i;
	qsort_r(places->by_off, program->buffer_count, sizeof(*places->by_off), compare_off,
		program->buffers);
	return TF_OK;
}

void tf_places_fini(struct tf_places *places)
{
	tf_free(places->by_off);
	*places = (struct tf_places){0};
}

/*
 * The last buffer that starts at or before `off`; NULL if there is none. Buffers do not overlap.
 */
static const struct tf_buffer *buffer_before(const struct tf_places *places, uint64_t off)
{
	const struct tf_buffer *buffers = places->program->buffers;
	uint32_t low = 0, high = places->program->buffer_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (buffers[places->by_off[middle]].segment_off <= off)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &buffers[places->by_off[low - 1]] : NULL;
}

static enum tf_status check_buffer(
	const struct tf_places *places, uint32_t peer, struct range wanted, struct tf_error *err)
{
	const struct tf_layout *layout = &places->program->layout;
	struct range exchange = {layout->exchange_off, layout->exchange_bytes};
	const struct tf_buffer *buffer = buffer_before(places, wanted.off);

	if (!buffer || !is_inside(wanted, (struct range){buffer->segment_off, buffer->bytes}))
		return TF_FAIL(err, TF_E_INVALID,
			"%" PRIu64 " bytes at 0x%" PRIx64 " of peer %" PRIu32
			" lie in no declared buffer and no protocol memory",
			wanted.bytes, wanted.off, peer);
	if (peer && (!buffer->peer_visible || !is_inside(wanted, exchange)))
		return TF_FAIL(err, TF_E_INVALID,
			"%" PRIu64 " bytes at 0x%" PRIx64 " of peer %" PRIu32
			" lie in buffer '%s', which is not exported to peers",
			wanted.bytes, wanted.off, peer, buffer->name);
	return TF_OK;
}

enum tf_status tf_places_check(const struct tf_places *places, uint32_t peer, uint64_t off,
	uint64_t bytes, struct tf_error *err)
{
	const struct tf_program *program = places->program;
	struct range segment = {0, program->layout.segment_bytes};
	struct range wanted = {off, bytes};
	struct range parts[PART_COUNT];

	if (peer >= program->world)
		return TF_FAIL(err, TF_E_INVALID,
			"0x%" PRIx64 " of peer %" PRIu32 ", in a world of %" PRIu32, off, peer, program->world);
	if (!is_inside(wanted, segment))
		return TF_FAIL(err, TF_E_INVALID,
			"%" PRIu64 " bytes at 0x%" PRIx64 " of peer %" PRIu32 " pass the segment of %" PRIu64
			" bytes",
			bytes, off, peer, segment.bytes);
	protocol_parts(program, parts);
	for (int i = 0; i < PART_COUNT; i++)
		if (is_inside(wanted, parts[i]))
			return TF_OK;
	return check_buffer(places, peer, wanted, err);
}

enum tf_status tf_places_find_own(const struct tf_places *places, uint32_t peer, uint64_t off,
	uint32_t *out_buffer, struct tf_error *err)
{
	const struct tf_buffer *buffer = buffer_before(places, off);

	if (peer)
		return TF_FAIL(err, TF_E_INVALID,
			"0x%" PRIx64 " of peer %" PRIu32 " is not in the rank's own segment", off, peer);
	if (!buffer || off - buffer->segment_off >= buffer->bytes || buffer->role == TF_BUFFER_PROTOCOL)
		return TF_FAIL(err, TF_E_INVALID,
			"0x%" PRIx64 " of the segment lies in no declared buffer; the one before it is '%s'",
			off, buffer ? buffer->name : "");
	*out_buffer = (uint32_t)(buffer - places->program->buffers);
	return TF_OK;
}
