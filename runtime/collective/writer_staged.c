/* SPDX-License-Identifier: Apache-2.0 */
/*
 * staged: each rank publishes what it sends in its own segment, once, and one release flag a CTA
 * beside it; peers wait for the flag there and read. Nobody stores into a peer's slots or output
 * and nobody reads a peer's input, so all that ranks share may lie in host memory.
 *
 * A slot of ours holds one range for all, or one range a destination; its `world` sources are that
 * much room (protocol.c). The flags are those that we would keep for ourselves: arrive[rank].
 *
 * Order: the published bytes are plain stores, the flag a release store after them; the reader
 * reads the flag (acquire), then the bytes.
 *
 * Two slots by parity of the epoch: we store epoch e + 2 into the slot of e only after we have
 * ended e + 1, which needs every peer's flag of e + 1, which it stores after it has read all of e.
 */
#include <string.h>

#include "runtime/collective/exchange.h"

#define BLOCK_BYTES 16384

static uint64_t lane_bytes(uint64_t bytes)
{
	return bytes;
}

/* Where rank `of` publishes what is for rank `to`. */
static uint8_t *published(const struct tf_exchange *x, uint32_t of, uint32_t to)
{
	return tf_exchange_slot(x, of, x->waiter.epoch & 1, x->shards ? to : 0);
}

/* Whether the CTA has a part of any range; its flag then stands for all of them. */
static int send_part(struct tf_exchange *x, uint32_t cta)
{
	int has = 0, done = 0;

	for (uint32_t k = 1; k < x->world && !done; k++) {
		uint32_t to = tf_exchange_peer(x, k);
		uint64_t begin, end;

		if (!tf_exchange_part(x->send_bytes[to], x->ctas, cta, &begin, &end))
			continue;
		memcpy(published(x, x->rank, to) + begin, x->input + x->send_off[to] + begin, end - begin);
		has = 1;
		done = !x->shards;
	}
	return has;
}

static void send(struct tf_exchange *x)
{
	uint32_t *flags = tf_exchange_flags(x, x->rank)->arrive[x->rank];

	for (uint32_t cta = 0; cta < x->ctas; cta++) {
		if (send_part(x, cta))
			__atomic_store_n(&flags[cta], x->waiter.epoch, __ATOMIC_RELEASE);
	}
}

static const uint8_t *fetch(struct tf_exchange *x, uint32_t cta, uint32_t source, uint64_t off,
	uint64_t bytes, uint8_t *scratch)
{
	const uint32_t *flags = tf_exchange_flags(x, source)->arrive[source];

	(void)bytes;
	(void)scratch;
	if (tf_wait_flag(&x->waiter, &flags[cta], source))
		return NULL;
	return published(x, source, x->rank) + off;
}

const struct tf_writer_ops tf_writer_staged_ops = {
	.family = TF_FAMILY_FLAG,
	.block_bytes = BLOCK_BYTES,
	.publishes = 1,
	.lane_bytes = lane_bytes,
	.send = send,
	.fetch = fetch,
};
