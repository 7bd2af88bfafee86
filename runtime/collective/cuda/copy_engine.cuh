/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_engine: the two kernels around an all-gather's copies, one CTA each, as in
 * writer_copy_engine.c. Both are of one epoch; the closing one moves it on.
 *
 * Memory order. Entry: what earlier launches of the stream wrote to and read from our output comes
 * before the flag, which releases it; the copies are enqueued behind the kernel that has seen the
 * flags of all peers. Exit: a copy has ended, and its bytes are where they belong, when the kernel
 * behind it begins; the flag follows them. Waits are bounded and acquire, so what the stream runs
 * next may read the output.
 *
 * Why it cannot deadlock: each kernel stores its flags before it waits.
 *
 * Bytes copied a rank: (world - 1) times the input to peers, and once to the own output.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_COPY_ENGINE_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_COPY_ENGINE_CUH

#include "runtime/collective/cuda/device_call.cuh"

typedef tf_kind<TF_OP_ALL_GATHER, TF_ALGORITHM_ONE_SHOT, TF_WRITER_COPY_ENGINE, false>
	tf_copy_engine_kind;

/* All threads: tells every peer by our line of entry or exit, and waits until each has told us. */
TF_FN bool tf_copy_engine_meet(const tf_collective_args &args, const tf_call &c, bool entry)
{
	const uint32_t k = threadIdx.x, source = tf_rank_at(c, k < c.world ? k : 0);
	bool bad = false;

	if (k >= 1 && k < c.world) {
		struct tf_flags *there = tf_flags_at(args, k), *here = tf_flags_at(args, 0);

		tf_fence_sys();
		tf_store_release(
			entry ? &there->entry[c.rank].epoch : &there->exit[c.rank].epoch, c.epoch[0]);
		bad = !tf_wait_flag(c.blame, entry ? &here->entry[source].epoch : &here->exit[source].epoch,
			c.epoch[0], source);
	}
	return !__syncthreads_or(bad);
}

TF_FN void tf_copy_engine_open(const tf_collective_args &args)
{
	const tf_call c = tf_call_begin<tf_copy_engine_kind, true>(args);

	tf_call_wait();
	if (tf_call_enter_late<tf_copy_engine_kind>(args, c))
		tf_copy_engine_meet(args, c, true);
}

TF_FN void tf_copy_engine_close(const tf_collective_args &args)
{
	const tf_call c = tf_call_begin<tf_copy_engine_kind>(args);

	tf_call_wait();
	/* No gate: the flags of this epoch are refreshed, and some of them stored since. */
	if (!c.on || tf_call_faulted(args))
		return;
	tf_call_count<tf_copy_engine_kind>(args, c);
	tf_copy_engine_meet(args, c, false);
}

#endif
