/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct: each CTA stores its part to all destinations at once, then one flag a destination.
 *
 * Order: the part's bytes are plain stores, the flag a release store after them; the receiver
 * reads the flag (acquire), then the bytes. Two staging slots by parity of the epoch: a peer
 * stores epoch e + 2 only after it has ended e + 1, which needs our flag of e + 1, which we store
 * after we have read all of e.
 */
#include <string.h>

#include "runtime/collective/exchange.h"

#define BLOCK_BYTES 16384 /* stays in the first cache from one destination to the next */

static uint64_t lane_bytes(uint64_t bytes)
{
	return bytes;
}

static void send_part(struct tf_exchange *x, uint32_t cta)
{
	int open = x->placing != TF_PLACE_FORWARDED;

	for (uint64_t block = 0; open; block++) {
		open = 0;
		for (uint32_t k = 1; k < x->world; k++) {
			uint32_t to = tf_exchange_peer(x, k);
			uint64_t begin, end;

			tf_exchange_part(x->send_bytes[to], x->ctas, cta, &begin, &end);
			begin += block * BLOCK_BYTES;
			if (begin >= end)
				continue;
			end = end - begin < BLOCK_BYTES ? end : begin + BLOCK_BYTES;
			memcpy(
				tf_exchange_target(x, to) + begin, x->input + x->send_off[to] + begin, end - begin);
			open = 1;
		}
	}
	for (uint32_t k = 1; k < x->world; k++)
		tf_exchange_flag(x, tf_exchange_peer(x, k), cta);
}

static void send(struct tf_exchange *x)
{
	for (uint32_t cta = 0; cta < x->ctas; cta++)
		send_part(x, cta);
}

static const uint8_t *fetch(struct tf_exchange *x, uint32_t cta, uint32_t source, uint64_t off,
	uint64_t bytes, uint8_t *scratch)
{
	(void)bytes;
	(void)scratch;
	if (tf_exchange_wait_arrive(x, source, cta))
		return NULL;
	return tf_exchange_arrived(x, source, off);
}

const struct tf_writer_ops tf_writer_direct_ops = {
	.family = TF_FAMILY_FLAG,
	.block_bytes = BLOCK_BYTES,
	.straight = 1,
	.forwards = 1,
	.lane_bytes = lane_bytes,
	.send = send,
	.fetch = fetch,
};
