/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queued: ranges are cut into chunks; a queue of (chunk, destination), chunk-major, is drained in
 * order, and every chunk has a completion flag that holds the epoch. Receivers consume chunk by
 * chunk.
 *
 * Draining and receiving interleave: before a rank waits for chunk c it has sent its own chunks
 * up to c (and AHEAD more). So of all ranks that wait, take one that waits for the lowest chunk
 * c: the peer it waits for waits for chunk >= c itself, or is done receiving and drains the rest;
 * either way it has sent, or is sending, chunk c. Nobody waits in a circle.
 *
 * At most TF_CHUNKS_MAX chunks a range: a larger range gets larger chunks. All ranks compute the
 * chunk from the longest range of the exchange, which all of them know. Order and slots as in
 * writer_direct.c.
 */
#include <string.h>

#include "runtime/collective/exchange.h"

#define AHEAD         2 /* chunks sent beyond the one waited for */
#define DEFAULT_CHUNK 16384

static uint64_t lane_bytes(uint64_t bytes)
{
	return bytes;
}

static void send_chunk(struct tf_exchange *x, uint64_t chunk)
{
	uint64_t begin = chunk * x->chunk_bytes;

	for (uint32_t k = 1; k < x->world; k++) {
		uint32_t to = tf_exchange_peer(x, k);
		uint64_t left = begin < x->send_bytes[to] ? x->send_bytes[to] - begin : 0;
		uint64_t bytes = left < x->chunk_bytes ? left : x->chunk_bytes;

		if (!bytes && chunk)
			continue;
		memcpy(tf_exchange_target(x, to) + begin, x->input + x->send_off[to] + begin, bytes);
		__atomic_store_n(
			&tf_exchange_flags(x, to)->chunk[x->rank][chunk], x->waiter.epoch, __ATOMIC_RELEASE);
	}
}

/* Sends chunks below `until`, as far as there are any; chunk 0 stands for an empty range. */
static void drain(struct tf_exchange *x, uint64_t until)
{
	while (x->sent_chunks < until &&
		(x->sent_chunks == 0 || x->sent_chunks * x->chunk_bytes < x->longest_bytes))
		send_chunk(x, x->sent_chunks++);
}

static void send(struct tf_exchange *x)
{
	uint64_t least = (x->longest_bytes + TF_CHUNKS_MAX - 1) / TF_CHUNKS_MAX;
	uint64_t chunk = x->args->chunk_bytes ? x->args->chunk_bytes : DEFAULT_CHUNK;

	if (chunk < least)
		chunk = least;
	x->chunk_bytes = (chunk + TF_PART_ALIGN - 1) / TF_PART_ALIGN * TF_PART_ALIGN;
	x->block_bytes = x->chunk_bytes; /* who is behind is then who is blamed */
	x->sent_chunks = 0;
	drain(x, 1 + AHEAD);
}

static const uint8_t *fetch(struct tf_exchange *x, uint32_t cta, uint32_t source, uint64_t off,
	uint64_t bytes, uint8_t *scratch)
{
	const struct tf_flags *flags = tf_exchange_flags(x, x->rank);
	uint64_t first = off / x->chunk_bytes;
	uint64_t last = bytes ? (off + bytes - 1) / x->chunk_bytes : first;

	(void)cta;
	(void)scratch;
	for (uint64_t chunk = first; chunk <= last; chunk++) {
		drain(x, chunk + 1 + AHEAD);
		if (tf_wait_flag(&x->waiter, &flags->chunk[source][chunk], source))
			return NULL;
	}
	return tf_exchange_arrived(x, source, off);
}

static int finish(struct tf_exchange *x)
{
	drain(x, TF_CHUNKS_MAX);
	return 0;
}

const struct tf_writer_ops tf_writer_queued_ops = {
	.family = TF_FAMILY_FLAG,
	.block_bytes = DEFAULT_CHUNK,
	.straight = 1,
	.lane_bytes = lane_bytes,
	.send = send,
	.fetch = fetch,
	.finish = finish,
};
