/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pull: each rank says "my input is ready" (entry flag), reads its peers' inputs where they lie,
 * and says "I have read" (exit flag). It returns only when every peer has read, so that the
 * caller may overwrite its input.
 *
 * Inputs lie at the same offset in every segment, in the part that peers may touch. Nothing is
 * staged.
 *
 * two_shot is one exchange: a rank sums its shard from all inputs and stores it into every peer's
 * output. That is allowed, since it has seen the entry flag of every peer; and the exit flag,
 * stored after that, then also says "my shard is in your output".
 */
#include "runtime/collective/exchange.h"

#define BLOCK_BYTES 32768

static uint64_t lane_bytes(uint64_t bytes)
{
	(void)bytes;
	return 0;
}

static void send(struct tf_exchange *x)
{
	for (uint32_t k = 1; k < x->world; k++) {
		struct tf_flags *flags = tf_exchange_flags(x, tf_exchange_peer(x, k));

		__atomic_store_n(&flags->entry[x->rank].epoch, x->waiter.epoch, __ATOMIC_RELEASE);
	}
}

static const uint8_t *fetch(struct tf_exchange *x, uint32_t cta, uint32_t source, uint64_t off,
	uint64_t bytes, uint8_t *scratch)
{
	const struct tf_flags *flags = tf_exchange_flags(x, x->rank);

	(void)cta;
	(void)bytes;
	(void)scratch;
	if (tf_wait_flag(&x->waiter, &flags->entry[source].epoch, source))
		return NULL;
	return x->segment[source] + (x->input - x->segment[x->rank]) + x->send_off[x->rank] + off;
}

static int finish(struct tf_exchange *x)
{
	for (uint32_t k = 1; k < x->world; k++) {
		struct tf_flags *flags = tf_exchange_flags(x, tf_exchange_peer(x, k));

		__atomic_store_n(&flags->exit[x->rank].epoch, x->waiter.epoch, __ATOMIC_RELEASE);
	}
	for (uint32_t k = 1; k < x->world; k++) {
		const struct tf_flags *flags = tf_exchange_flags(x, x->rank);
		uint32_t source = tf_exchange_peer(x, k);
		int code = tf_wait_flag(&x->waiter, &flags->exit[source].epoch, source);

		if (code)
			return code;
	}
	return 0;
}

const struct tf_writer_ops tf_writer_pull_ops = {
	.family = TF_FAMILY_FLAG,
	.block_bytes = BLOCK_BYTES,
	.straight = 1,
	.forwards = 1,
	.single = 1,
	.lane_bytes = lane_bytes,
	.send = send,
	.fetch = fetch,
	.finish = finish,
};
