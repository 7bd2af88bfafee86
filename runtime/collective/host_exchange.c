/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving half of every host body: fetch block by block, then sum or copy while the block
 * is in cache.
 *
 * Why it cannot deadlock: a rank waits only for what its peers send before they wait for anything
 * later (a writer that sends while it receives keeps that rule itself, writer_queued.c).
 */
#include "runtime/collective/exchange.h"

#include <string.h>

#include "runtime/collective/order.h"

#define SCRATCH_BYTES 4096 /* a source; eight of them stay in the first cache */

const struct tf_writer_ops *tf_writer_ops_of(enum tf_writer writer)
{
	switch (writer) {
	case TF_WRITER_LL:
		return &tf_writer_ll_ops;
	case TF_WRITER_SENTINEL:
		return &tf_writer_sentinel_ops;
	case TF_WRITER_DIRECT:
		return &tf_writer_direct_ops;
	case TF_WRITER_SERIAL:
		return &tf_writer_serial_ops;
	case TF_WRITER_QUEUED:
		return &tf_writer_queued_ops;
	case TF_WRITER_PULL:
		return &tf_writer_pull_ops;
	case TF_WRITER_STAGED:
		return &tf_writer_staged_ops;
	case TF_WRITER_COPY_ENGINE:
		return &tf_writer_copy_engine_ops;
	default:
		return NULL;
	}
}

/* A slot of one that publishes has room for `world` sources and holds one range. */
uint64_t tf_writer_lane_bytes(
	const struct tf_writer_ops *ops, uint64_t bytes, int shards, uint32_t world)
{
	return ops->lane_bytes(ops->publishes && !shards ? (bytes + world - 1) / world : bytes);
}

int tf_exchange_part(uint64_t bytes, uint32_t ctas, uint32_t cta, uint64_t *begin, uint64_t *end)
{
	uint64_t units, each;

	if (ctas == 1) {
		*begin = 0;
		*end = bytes;
		return 1;
	}
	units = (bytes + TF_PART_ALIGN - 1) / TF_PART_ALIGN;
	each = (units + ctas - 1) / ctas * TF_PART_ALIGN;
	*begin = cta * each < bytes ? cta * each : bytes;
	*end = *begin + each < bytes ? *begin + each : bytes;
	return cta == 0 || *begin < *end;
}

void tf_exchange_flag(const struct tf_exchange *x, uint32_t to, uint32_t cta)
{
	uint64_t begin, end;

	if (tf_exchange_part(x->send_bytes[to], x->ctas, cta, &begin, &end))
		__atomic_store_n(
			&tf_exchange_flags(x, to)->arrive[x->rank][cta], x->waiter.epoch, __ATOMIC_RELEASE);
}

int tf_exchange_wait_arrive(const struct tf_exchange *x, uint32_t source, uint32_t cta)
{
	const struct tf_flags *flags = tf_exchange_flags(x, x->rank);

	return tf_wait_flag(&x->waiter, &flags->arrive[source][cta], source);
}

void tf_exchange_refresh(const struct tf_exchange *x, size_t flags_member_off, size_t source_bytes,
	uint32_t count, uint32_t step_bytes)
{
	uint32_t last = x->own->family[x->ops->family][0].epoch;

	for (uint32_t k = 0; k < x->world; k++) {
		uint8_t *flags = (uint8_t *)tf_exchange_flags(x, tf_exchange_peer(x, k));
		uint8_t *mine = flags + flags_member_off + x->rank * source_bytes;

		for (uint32_t i = 0; i < count; i++)
			__atomic_store_n((uint32_t *)(void *)(mine + i * step_bytes), last, __ATOMIC_RELAXED);
	}
}

void tf_exchange_refresh_family(const struct tf_exchange *x)
{
	struct tf_flags *none = NULL;

	if (x->ops->family == TF_FAMILY_SENTINEL) {
		tf_exchange_refresh(x, offsetof(struct tf_flags, trailer), sizeof(none->trailer[0]),
			TF_CTAS_MAX, sizeof(uint32_t));
	} else if (x->ops->family == TF_FAMILY_FLAG) {
		tf_exchange_refresh(x, offsetof(struct tf_flags, entry), TF_LINE_BYTES, 1, 0);
		tf_exchange_refresh(x, offsetof(struct tf_flags, exit), TF_LINE_BYTES, 1, 0);
		tf_exchange_refresh(x, offsetof(struct tf_flags, arrive), sizeof(none->arrive[0]),
			TF_CTAS_MAX, sizeof(uint32_t));
		tf_exchange_refresh(x, offsetof(struct tf_flags, chunk), sizeof(none->chunk[0]),
			TF_CHUNKS_MAX, sizeof(uint32_t));
	}
}

static void forward(const struct tf_exchange *x, uint64_t off, uint64_t bytes)
{
	for (uint32_t k = 1; k < x->world; k++) {
		uint8_t *peer = x->segment[tf_exchange_peer(x, k)];

		memcpy(peer + (x->output + off - x->segment[x->rank]), x->output + off, bytes);
	}
}

static int sum_block(struct tf_exchange *x, uint32_t cta, uint64_t off, uint64_t bytes,
	uint8_t (*scratch)[SCRATCH_BYTES])
{
	const void *from[TF_WORLD_MAX];

	from[x->rank] = x->input + x->send_off[x->rank] + off;
	for (uint32_t k = 1; k < x->world; k++) {
		uint32_t source = tf_exchange_peer(x, k);

		from[source] = x->ops->fetch(x, cta, source, off, bytes, scratch[source]);
		if (!from[source])
			return -1;
	}
	if (!bytes)
		return 0;
	x->simd->sum[x->dtype](x->output + off, from, x->world, bytes / tf_dtype_bytes(x->dtype));
	if (x->forward)
		forward(x, off, bytes);
	return 0;
}

static int sum_part(struct tf_exchange *x, uint32_t cta)
{
	_Alignas(64) uint8_t scratch[TF_WORLD_MAX][SCRATCH_BYTES];
	uint64_t begin, end, block = x->block_bytes;

	if (!tf_exchange_part(x->recv_bytes[x->rank], x->ctas, cta, &begin, &end))
		return 0;
	do {
		uint64_t bytes = end - begin < block ? end - begin : block;

		if (sum_block(x, cta, begin, bytes, scratch))
			return -1;
		begin += bytes;
	} while (begin < end);
	return 0;
}

static int copy_block(
	struct tf_exchange *x, uint32_t cta, uint32_t source, uint64_t off, uint64_t bytes)
{
	uint8_t *to = x->output + x->recv_off[source] + off;
	const uint8_t *from;

	if (source == x->rank)
		from = x->input + x->send_off[source] + off;
	else
		from = x->ops->fetch(x, cta, source, off, bytes, to);
	if (!from)
		return -1;
	if (from != to && bytes)
		memcpy(to, from, bytes);
	return 0;
}

/* Sources take turns by block: what the queue sends in turns is read in turns. */
static int copy_part(struct tf_exchange *x, uint32_t cta)
{
	uint64_t at[TF_WORLD_MAX], end[TF_WORLD_MAX], block = x->block_bytes;
	uint32_t open = 0;

	for (uint32_t s = 0; s < x->world; s++)
		open |= (uint32_t)tf_exchange_part(x->recv_bytes[s], x->ctas, cta, &at[s], &end[s]) << s;
	while (open) {
		for (uint32_t k = 1; k <= x->world; k++) {
			uint32_t source = tf_exchange_peer(x, k == x->world ? 0 : k);
			uint64_t bytes;

			if (!(open >> source & 1))
				continue;
			bytes = end[source] - at[source] < block ? end[source] - at[source] : block;
			if (copy_block(x, cta, source, at[source], bytes))
				return -1;
			at[source] += bytes;
			if (at[source] >= end[source])
				open &= ~(UINT32_C(1) << source);
		}
	}
	return 0;
}

static void count_bytes(struct tf_exchange *x)
{
	uint64_t bytes = 0;

	for (uint32_t k = 1; k < x->world; k++) {
		uint32_t peer = tf_exchange_peer(x, k);

		bytes += x->ops == &tf_writer_pull_ops || x->ops->publishes ? x->recv_bytes[peer]
																	: x->send_bytes[peer];
		if (x->forward && x->ops->single)
			bytes += x->recv_bytes[x->rank];
	}
	x->own->writer_bytes[x->waiter.writer] += bytes;
}

int tf_exchange_run(struct tf_exchange *x)
{
	int code = 0;

	x->waiter.epoch = tf_epoch_next(x->own->family[x->ops->family][0].epoch);
	if (__builtin_expect(tf_epoch_refreshes(x->waiter.epoch), 0))
		tf_exchange_refresh_family(x);
	x->block_bytes = x->ops->block_bytes;
	x->ops->send(x);
	for (uint32_t cta = 0; cta < x->ctas && !code; cta++)
		code = x->sum ? sum_part(x, cta) : copy_part(x, cta);
	if (!code && x->ops->finish)
		code = x->ops->finish(x);
	if (code)
		return (int)__atomic_load_n(&x->own->fault.code, __ATOMIC_RELAXED);
	tf_fence_acquire();
	count_bytes(x);
	x->own->family[x->ops->family][0].epoch = x->waiter.epoch;
	return 0;
}
