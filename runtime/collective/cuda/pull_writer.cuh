/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pull: "my input is ready" (entry flag of CTA 0), peers' inputs are read where they lie, "I have
 * read" (exit flag of the rank's last CTA). As in writer_pull.c: inputs lie at the same offset in
 * every segment, two_shot is one exchange that stores the sums into every peer's output.
 *
 * Memory order. The entry flag releases what earlier launches of the stream wrote. Readers poll it
 * relaxed, fence (acquire), meet at a CTA barrier and read the peers with relaxed loads at system
 * scope, never from a cache of their own device. Each CTA ends with a CTA barrier, a fence and
 * its ticket; the last ticket follows all reads (and stores into peers' outputs) of the rank and
 * releases them with the exit flags; then its CTA waits for the peers' exit flags, so the launch
 * ends when nobody reads our input any more and our output is whole.
 *
 * Why it cannot deadlock: CTA 0 stores the entry flags before it waits, CTAs wait only for entry
 * flags, and the last CTA stores the exit flags before it waits for the peers'.
 *
 * Bytes read a rank: (world - 1) times the input, or of two_shot (world - 1) / world times it read
 * and as many stored.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_PULL_WRITER_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_PULL_WRITER_CUH

#include "runtime/collective/cuda/bulk_writers.cuh"

/* Where `rank`'s input lies, ours included. */
TF_FN const uint8_t *tf_pull_input(const tf_collective_args &args, const tf_call &c, uint32_t rank)
{
	return (const uint8_t *)args.control[tf_distance(c, rank)] +
		((const uint8_t *)args.input - (const uint8_t *)args.control[0]);
}

/* As tf_bulk_sum, from the ranks' inputs at `off`. */
template <class K, int W>
TF_FN void tf_pull_sum(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t end)
{
	constexpr int depth = !K::whole ? 1 : W == 2 ? 3 : tf_depth<W>::value;
	const uint32_t step = blockDim.x;
	const int64_t shard = K::shards ? tf_shard_off(c, c.rank) : 0;
	const int64_t bytes = tf_range_bytes<K>(c, c.rank);
	const int64_t place =
		(const uint8_t *)args.output - (const uint8_t *)args.control[0] + (K::two_shot ? shard : 0);

	for (uint32_t i = begin + threadIdx.x; i < end; i += depth * step) {
		tf_vec<4> v[depth][W];

		tf_each<K::whole, 0, depth>([&](uint32_t u) {
			const int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			tf_each<K::whole, 0, W>([&](uint32_t s) {
				if (i + u * step < end && s < c.world)
					v[u][s] =
						tf_read<4, K::whole>(tf_pull_input(args, c, s) + shard + off, bytes - off);
			});
		});
		tf_each<K::whole, 0, depth>([&](uint32_t u) {
			const int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			if (i + u * step >= end)
				return;
			tf_vec<4> sum = tf_sum<W, 4, K::whole>(args.dtype, v[u], c.world);

			tf_each<K::whole, 0, W>([&](uint32_t k) {
				if (k == 0 || (K::two_shot && k < c.world))
					tf_write<4, K::whole>(
						(uint8_t *)args.control[k] + place + off, bytes - off, sum);
			});
		});
	}
}

/* The last CTA of the rank: tells the peers, and waits for them. All its threads. */
template <class K> TF_FN void tf_pull_exit(const tf_collective_args &args, const tf_call &c)
{
	const uint32_t k = threadIdx.x;

	if (k >= 1 && k < c.world) {
		uint32_t source = tf_rank_at(c, k);

		tf_fence_sys();
		tf_store_release(&tf_flags_at(args, k)->exit[c.rank].epoch, c.epoch[0]);
		tf_wait_flag(c.blame, &tf_flags_at(args, 0)->exit[source].epoch, c.epoch[0], source);
	}
}

template <class K, int W> TF_FN void tf_pull_run(const tf_collective_args &args)
{
	__shared__ uint32_t is_last;
	const tf_call c = tf_call_begin<K>(args);
	const uint32_t k = threadIdx.x;
	uint32_t begin, end, source = tf_rank_at(c, k < c.world ? k : 0);
	bool bad = false;

	tf_part(c, tf_units(tf_range_bytes<K>(c, c.rank), TF_BULK_UNIT), &begin, &end);
	tf_call_wait();
	if (!tf_call_enter_late<K>(args, c))
		return;
	tf_call_count<K>(args, c);
	if (k >= 1 && k < c.world) {
		if (c.cta == 0)
			tf_store_release(&tf_flags_at(args, k)->entry[c.rank].epoch, c.epoch[0]);
		bad =
			!tf_wait_flag(c.blame, &tf_flags_at(args, 0)->entry[source].epoch, c.epoch[0], source);
	}
	if (__syncthreads_or(bad))
		return;
	if (!K::gathers) {
		tf_pull_sum<K, W>(args, c, begin, end);
	} else {
		for (uint32_t d = 0; d < c.world; d++) {
			uint32_t s = tf_rank_at(c, d);

			tf_bulk_copy<K>((uint8_t *)args.output + s * c.bytes, tf_pull_input(args, c, s),
				c.bytes, begin, end);
		}
	}
	__syncthreads();
	if (k == 0) {
		tf_fence_sys();
		is_last = tf_ticket_is_last(args, c);
		tf_fence_sys();
	}
	__syncthreads();
	if (is_last)
		tf_pull_exit<K>(args, c);
}

#endif
