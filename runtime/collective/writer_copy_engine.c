/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_engine: an all-gather by copy nodes, between two kernels of one CTA (copy_engine.h).
 *
 *   open    "my output may be written" (entry flag); waits for every peer's
 *   copies  own input to its place in every rank's output, by the stream or graph
 *   close   "my copies have landed" (exit flag); waits for every peer's, counts the call
 *
 * Both are of one epoch, which close moves on: between them the rank runs no other collective.
 * Flags and their order as in writer_pull.c; a copy has ended when the operation behind it in
 * the stream begins, so the exit flag releases it.
 *
 * Copies cannot be left out: after a fault, and where the mask is off, they run all the same. The
 * bytes then land in outputs that nobody may use (after a fault), or in those of a candidate that
 * takes no part in the sampling any more (its mask is off on all ranks alike).
 */
#include "runtime/collective/copy_engine.h"

#include "runtime/collective/exchange.h"
#include "runtime/collective/virtual_clock.h"

static uint64_t lane_bytes(uint64_t bytes)
{
	(void)bytes;
	return 0;
}

const struct tf_writer_ops tf_writer_copy_engine_ops = {
	.family = TF_FAMILY_FLAG,
	.lane_bytes = lane_bytes,
};

static int begin(struct tf_exchange *x, const struct tf_collective_args *args)
{
	if (!tf_exchange_enter(x, args, TF_OP_ALL_GATHER, TF_ALGORITHM_ONE_SHOT, TF_WRITER_COPY_ENGINE))
		return 0;
	x->waiter.epoch = tf_epoch_next(x->own->family[TF_FAMILY_FLAG][0].epoch);
	return 1;
}

/* Tells every peer by the line of ours in `lines`, and waits until each has told us. */
static int meet(const struct tf_exchange *x, size_t lines_off)
{
	int code = 0;

	for (uint32_t k = 1; k < x->world; k++) {
		uint8_t *flags = (uint8_t *)tf_exchange_flags(x, tf_exchange_peer(x, k));
		struct tf_flag_line *lines = (struct tf_flag_line *)(void *)(flags + lines_off);

		__atomic_store_n(&lines[x->rank].epoch, x->waiter.epoch, __ATOMIC_RELEASE);
	}
	for (uint32_t k = 1; k < x->world && !code; k++) {
		const uint8_t *flags = (const uint8_t *)tf_exchange_flags(x, x->rank);
		const struct tf_flag_line *lines = (const void *)(flags + lines_off);
		uint32_t source = tf_exchange_peer(x, k);

		code = tf_wait_flag(&x->waiter, &lines[source].epoch, source);
	}
	return code;
}

void tf_copy_engine_host_open(const struct tf_collective_args *args)
{
	struct tf_exchange x;

	if (!begin(&x, args))
		return;
	if (tf_epoch_refreshes(x.waiter.epoch))
		tf_exchange_refresh_family(&x);
	if (meet(&x, offsetof(struct tf_flags, entry)))
		x.own->calls++; /* failed; close finds the fault and leaves it alone */
}

void tf_copy_engine_host_close(const struct tf_collective_args *args)
{
	struct tf_exchange x;

	if (!begin(&x, args))
		return;
	if (!meet(&x, offsetof(struct tf_flags, exit))) {
		x.own->family[TF_FAMILY_FLAG][0].epoch = x.waiter.epoch;
		x.own->writer_calls[TF_WRITER_COPY_ENGINE]++;
		x.own->writer_bytes[TF_WRITER_COPY_ENGINE] +=
			(x.world - 1) * args->count * tf_dtype_bytes(x.dtype);
		tf_virtual_clock_tell(args, TF_OP_ALL_GATHER, TF_ALGORITHM_ONE_SHOT, TF_WRITER_COPY_ENGINE);
	}
	x.own->calls++;
}

uint32_t tf_copy_engine_copies(
	const struct tf_collective_args *args, struct tf_copy_engine_copy out[TF_WORLD_MAX])
{
	uint64_t bytes = args->count * tf_dtype_bytes((enum tf_dtype)args->dtype);
	uint64_t own = (uint64_t)(uintptr_t)args->control[0];

	for (uint32_t i = 0; i < args->world; i++) {
		uint32_t k = (i + 1) % args->world; /* the own output last */
		uint64_t output = (uint64_t)(uintptr_t)args->output - own;
		uint64_t segment = (uint64_t)(uintptr_t)args->control[k];

		out[i] = (struct tf_copy_engine_copy){
			.to = (void *)(uintptr_t)(segment + output + args->rank * bytes),
			.from = args->input,
			.bytes = bytes,
		};
	}
	return args->world;
}
