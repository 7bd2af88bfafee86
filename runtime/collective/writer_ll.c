/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ll: data and epoch in one store. A range is an array of 16-byte lines {d0, e, d1, e}; each half
 * is one relaxed 8-byte store, so a torn line is harmless. Nothing else says "arrived", and
 * nothing is cleared but at a wrap.
 *
 * Two slots, by parity of the epoch:
 *  1. A peer stores epoch e + 2 into our slot only after it has ended e + 1, which needs a line
 *     of ours of e + 1, which we send after we have read all of e. Each exchange sends at least
 *     one line to every peer, so "a line of ours" exists.
 *  2. A line is stale if it holds another epoch. Epochs of one slot are distinct until the
 *     counter wraps (tf_epoch_next).
 *  3. The wrap: in the exchanges e = 0xfffffffe and e = 0xffffffff, before the first send, a rank
 *     zeroes its own slot of the next epoch's parity. It has read all that was sent to this slot
 *     (epoch e - 1, ended). No peer can have stored next(e) there: for that it must have ended e,
 *     which needs our line of e, sent after the zeroing (release fence, and the peer's acquire
 *     fence at the end of e). So after a wrap no line of an earlier round is left: those of
 *     0xfffffffe are zeroed in 0xffffffff, those of 0xffffffff in 0xfffffffe of the next round,
 *     before that epoch comes again. 0 is never an epoch after the wrap.
 */
#include <string.h>

#include "runtime/collective/exchange.h"
#include "runtime/collective/order.h"

#define BLOCK_BYTES 4096

static uint64_t line_count(uint64_t bytes)
{
	return bytes ? (bytes + 7) / 8 : 1;
}

static uint64_t lane_bytes(uint64_t bytes)
{
	return 16 * line_count(bytes);
}

static void zero_slot(const struct tf_exchange *x, uint32_t slot)
{
	uint64_t *words = (uint64_t *)(void *)tf_exchange_slot(x, x->rank, slot, 0);
	uint64_t count = x->world * x->args->lane_source_bytes / 8;

	for (uint64_t i = 0; i < count; i++)
		__atomic_store_n(&words[i], 0, TF_WORD_STORE);
}

/*
 * The bytes of a range's last line that fill no whole word, and the words that only fill the
 * line.
 */
static void send_tail(uint64_t *to, const uint8_t *from, uint64_t bytes, uint32_t epoch)
{
	uint64_t words = 2 * line_count(bytes);

	for (uint64_t i = bytes / 4; i < words; i++) {
		uint32_t word = 0;

		if (4 * i < bytes)
			memcpy(&word, from + 4 * i, bytes - 4 * i);
		__atomic_store_n(&to[i], (uint64_t)epoch << 32 | word, TF_WORD_STORE);
	}
}

static void send(struct tf_exchange *x)
{
	uint32_t epoch = x->waiter.epoch;

	if (epoch >= UINT32_MAX - 1)
		zero_slot(x, (epoch + 1) & 1);
	tf_fence_release();
	for (uint32_t cta = 0; cta < x->ctas; cta++) {
		for (uint32_t k = 1; k < x->world; k++) {
			uint32_t to = tf_exchange_peer(x, k);
			const uint8_t *from = x->input + x->send_off[to];
			uint64_t *words = (uint64_t *)(void *)tf_exchange_slot(x, to, epoch & 1, x->rank);
			uint64_t begin, end;

			if (!tf_exchange_part(x->send_bytes[to], x->ctas, cta, &begin, &end))
				continue;
			words += begin / 4;
			x->simd->ll_pack(words, from + begin, (end - begin) / 4, epoch);
			send_tail(words, from + begin, end - begin, epoch);
		}
	}
}

static int fetch_words(
	struct tf_exchange *x, uint32_t source, const uint64_t *words, uint64_t count, uint8_t *to)
{
	struct tf_wait wait = {0};
	uint64_t done = 0;

	while ((done += x->simd->ll_unpack(
				to + 4 * done, words + done, count - done, x->waiter.epoch)) < count) {
		if (tf_wait_step(&x->waiter, &wait, source))
			return -1;
	}
	return 0;
}

static const uint8_t *fetch(struct tf_exchange *x, uint32_t cta, uint32_t source, uint64_t off,
	uint64_t bytes, uint8_t *scratch)
{
	const uint64_t *words =
		(const uint64_t *)(void *)tf_exchange_slot(x, x->rank, x->waiter.epoch & 1, source);
	uint64_t whole = bytes / 4, all = 2 * line_count(bytes);
	uint32_t tail[2];

	(void)cta;
	words += off / 4;
	if (fetch_words(x, source, words, whole, scratch))
		return NULL;
	if (all > whole) {
		if (fetch_words(x, source, words + whole, all - whole, (uint8_t *)tail))
			return NULL;
		memcpy(scratch + 4 * whole, tail, bytes - 4 * whole);
	}
	return scratch;
}

const struct tf_writer_ops tf_writer_ll_ops = {
	.family = TF_FAMILY_LL,
	.block_bytes = BLOCK_BYTES,
	.lane_bytes = lane_bytes,
	.send = send,
	.fetch = fetch,
};
