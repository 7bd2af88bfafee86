/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel: raw 32-bit words; TF_SENTINEL_WORD, compared bit by bit, marks "not arrived".
 *
 * Three slots in turn (control.family's turn, which unlike the epoch survives a wrap):
 *  1. In call i (slot t), before its first send, a rank refills its own slot of call i - 1 with
 *     the sentinel, to the extent of that use. It has read all of it. Peers store there again in
 *     call i + 2, after they ended call i + 1, which needs a word of ours of i + 1, sent after
 *     the refill (release fence; the peer's acquire fence ends its call). So the slot is clean in
 *     time.
 *  2. Each exchange sends at least one word to every peer (a zero where the range is empty), so
 *     "a word of ours" exists.
 *  3. A payload word may equal the sentinel. To be summed, it is sent as another NaN: the sum is
 *     the one quiet NaN in any case. To be copied, it stays; then the sender, after all of the
 *     CTA's words, stores the epoch into the CTA's trailer flag at that peer (release). A
 *     receiver that meets the sentinel polls both; once the trailer holds the epoch (acquire),
 *     what it then reads is payload.
 *  4. The last word of a range is padded with zeros, and so never the sentinel by accident.
 */
#include <string.h>

#include "runtime/collective/exchange.h"
#include "runtime/collective/order.h"

#define BLOCK_BYTES   16384
#define TRAILER_SHARE 8 /* looks at a word for one at the trailer */

static uint64_t word_count(uint64_t bytes)
{
	return bytes ? (bytes + 3) / 4 : 1;
}

static uint64_t lane_bytes(uint64_t bytes)
{
	return 4 * word_count(bytes);
}

/* Rule 1; returns the slot of this call. */
static uint32_t turn(struct tf_exchange *x)
{
	struct tf_control *own = x->own;
	uint32_t last = own->family[TF_FAMILY_SENTINEL][0].turn, next = last == 2 ? 0 : last + 1;
	uint64_t longest = 0;

	for (uint32_t k = 1; k < x->world; k++) {
		uint32_t source = tf_exchange_peer(x, k);
		uint32_t *words = (uint32_t *)(void *)tf_exchange_slot(x, x->rank, last, source);

		x->simd->sentinel_fill(words, own->sentinel_extent[last]);
		if (x->recv_bytes[source] > longest)
			longest = x->recv_bytes[source];
	}
	own->sentinel_extent[last] = 0;
	own->sentinel_extent[next] = word_count(longest);
	own->family[TF_FAMILY_SENTINEL][0].turn = next;
	return next;
}

static void send_tail(uint32_t *to, const uint8_t *from, uint64_t bytes)
{
	uint32_t word = 0;

	if (bytes % 4 == 0 && bytes)
		return;
	memcpy(&word, from + bytes / 4 * 4, bytes % 4);
	__atomic_store_n(&to[bytes / 4], word, TF_WORD_STORE);
}

static void send_part(struct tf_exchange *x, uint32_t slot, uint32_t cta, uint32_t to)
{
	uint32_t *words = (uint32_t *)(void *)tf_exchange_slot(x, to, slot, x->rank);
	const uint8_t *from = x->input + x->send_off[to];
	uint64_t begin, end;
	int found;

	if (!tf_exchange_part(x->send_bytes[to], x->ctas, cta, &begin, &end))
		return;
	words += begin / 4;
	found = x->simd->sentinel_pack(words, from + begin, (end - begin) / 4, !x->sum);
	send_tail(words, from + begin, end - begin);
	if (found && !x->sum)
		__atomic_store_n(
			&tf_exchange_flags(x, to)->trailer[x->rank][cta], x->waiter.epoch, __ATOMIC_RELEASE);
}

static void send(struct tf_exchange *x)
{
	uint32_t slot = turn(x);

	tf_fence_release();
	for (uint32_t cta = 0; cta < x->ctas; cta++) {
		for (uint32_t k = 1; k < x->world; k++)
			send_part(x, slot, cta, tf_exchange_peer(x, k));
	}
}

static const uint8_t *fetch(struct tf_exchange *x, uint32_t cta, uint32_t source, uint64_t off,
	uint64_t bytes, uint8_t *scratch)
{
	const uint8_t *range =
		tf_exchange_slot(x, x->rank, x->own->family[TF_FAMILY_SENTINEL][0].turn, source);
	const uint32_t *words = (const uint32_t *)(const void *)(range + off);
	const uint32_t *trailer = &tf_exchange_flags(x, x->rank)->trailer[source][cta];
	uint64_t count = word_count(bytes), done = 0;
	struct tf_wait wait = {0};

	(void)scratch;
	while ((done += x->simd->sentinel_scan(words + done, count - done)) < count) {
		if (!x->sum && wait.steps % TRAILER_SHARE == 0 && tf_flag_arrived(trailer, x->waiter.epoch))
			break;
		if (tf_wait_step(&x->waiter, &wait, source))
			return NULL;
	}
	tf_fence_acquire();
	return range + off;
}

const struct tf_writer_ops tf_writer_sentinel_ops = {
	.family = TF_FAMILY_SENTINEL,
	.block_bytes = BLOCK_BYTES,
	.lane_bytes = lane_bytes,
	.send = send,
	.fetch = fetch,
};
