/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serial: finish one destination (all CTAs, then its flags) before the next begins, starting
 * after the own rank, so that each rank has one stream out and one in at any time. Order and
 * slots as in writer_direct.c.
 */
#include <string.h>

#include "runtime/collective/exchange.h"

#define BLOCK_BYTES 16384

static uint64_t lane_bytes(uint64_t bytes)
{
	return bytes;
}

static void send(struct tf_exchange *x)
{
	for (uint32_t k = 1; k < x->world; k++) {
		uint32_t to = tf_exchange_peer(x, k);
		uint8_t *target = tf_exchange_target(x, to);

		for (uint32_t cta = 0; cta < x->ctas; cta++) {
			uint64_t begin, end;

			if (tf_exchange_part(x->send_bytes[to], x->ctas, cta, &begin, &end))
				memcpy(target + begin, x->input + x->send_off[to] + begin, end - begin);
		}
		for (uint32_t cta = 0; cta < x->ctas; cta++)
			tf_exchange_flag(x, to, cta);
	}
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

const struct tf_writer_ops tf_writer_serial_ops = {
	.family = TF_FAMILY_FLAG,
	.block_bytes = BLOCK_BYTES,
	.straight = 1,
	.lane_bytes = lane_bytes,
	.send = send,
	.fetch = fetch,
};
