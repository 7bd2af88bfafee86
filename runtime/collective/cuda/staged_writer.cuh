/* SPDX-License-Identifier: Apache-2.0 */
/*
 * staged: each rank publishes what it sends in its own segment, once, with one flag a CTA beside
 * it; peers wait for the flag there and read. As in writer_staged.c: a slot holds one range for
 * all, or one range a destination; the flags are arrive[rank] of the own segment.
 *
 * Without peer access control words, flags and slots lie in host memory that every device has
 * mapped (rank_window.h), operands in the device's own. Of a peer's segment nothing else is
 * touched: the second exchange of two_shot is published and read like the first.
 *
 * Memory order. Plain 16-byte stores into the own slot, a CTA barrier, st.release.sys of the
 * flag by thread 0, which is cumulative over the barrier. The reader: one thread a source polls
 * that flag relaxed, fences (acquire, system scope), a CTA barrier, then all threads read with
 * relaxed loads at system scope, so never from a line that its own device kept.
 *
 * Two slots by parity. A rank stores epoch e + 2 into the slot of e in a later launch, or in the
 * second exchange of one, after every peer's flag of e + 1: a peer's CTA stores that after its
 * reads of e, or in a launch that began when the reads had ended.
 *
 * Why it cannot deadlock: a CTA stores its flag of an exchange before it waits for any of that
 * exchange, and waits only for the CTAs of its own index at its peers.
 *
 * Bytes a rank: one_shot stores its input once and reads (world - 1) times as much, two_shot stores
 * (world - 1) / world of it and a shard, and reads 2 (world - 1) / world of it; all over the link
 * to host memory.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_STAGED_WRITER_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_STAGED_WRITER_CUH

#include "runtime/collective/cuda/bulk_writers.cuh"

/* Where the rank `of` has published what `to` reads in `exchange`. */
template <class K>
TF_FN uint8_t *tf_staged_at(
	const tf_collective_args &args, const tf_call &c, uint32_t exchange, uint32_t of, uint32_t to)
{
	return tf_slot_at(
		args, tf_distance(c, of), c.epoch[exchange] & 1, K::shards && exchange == 0 ? to : 0);
}

/* All threads: what they have stored of `exchange` is published. */
TF_FN void tf_staged_publish(const tf_collective_args &args, const tf_call &c, uint32_t exchange)
{
	__syncthreads();
	if (threadIdx.x == 0)
		tf_store_release(&tf_flags_at(args, 0)->arrive[c.rank][c.cta], c.epoch[exchange]);
}

/* All threads: waits for every source of which this CTA has a part; as tf_bulk_wait. */
template <class K>
TF_FN bool tf_staged_wait(const tf_collective_args &args, const tf_call &c, uint32_t exchange,
	uint32_t begin, uint32_t end)
{
	const uint32_t k = threadIdx.x < c.world ? threadIdx.x : 0;
	const uint32_t source = tf_rank_at(c, k);
	bool bad = false;

	if (k && tf_bulk_has<K>(c, begin, end, exchange ? source : c.rank))
		bad = !tf_wait_flag(
			c.blame, &tf_flags_at(args, k)->arrive[source][c.cta], c.epoch[exchange], source);
	return !__syncthreads_or(bad);
}

/* Stores our payload into our slot: to be read by all, or a range for each. */
template <class K>
TF_FN void tf_staged_send(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t end)
{
	if (!K::shards) {
		tf_bulk_stage<K>(tf_staged_at<K>(args, c, 0, c.rank, 0), (const uint8_t *)args.input,
			c.bytes, begin, end);
	} else {
		for (uint32_t k = 1; k < c.world; k++) {
			const uint32_t to = tf_rank_at(c, k);
			const int64_t bytes = tf_range_bytes<K>(c, to);

			tf_bulk_stage<K>(tf_staged_at<K>(args, c, 0, c.rank, to), tf_bulk_from<K>(args, c, to),
				bytes, begin, tf_min(end, tf_units(bytes, TF_BULK_UNIT)));
		}
	}
	if (begin < end)
		tf_staged_publish(args, c, 0);
}

/* Sums units [begin, end) of what the peers have published for us and of our own. */
template <class K, int W>
TF_FN void tf_staged_sum(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t end)
{
	constexpr int depth = K::whole ? tf_depth<W>::value : 1;
	const uint32_t step = blockDim.x;
	const int64_t bytes = tf_range_bytes<K>(c, c.rank);
	const uint8_t *own = tf_bulk_from<K>(args, c, c.rank);
	uint8_t *output = (uint8_t *)args.output + (K::two_shot ? tf_shard_off(c, c.rank) : 0);

	for (uint32_t i = begin + threadIdx.x; i < end; i += depth * step) {
		tf_vec<4> v[depth][W];

		tf_each<K::whole, 0, depth>([&](uint32_t u) {
			const int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			tf_each<K::whole, 0, W>([&](uint32_t s) {
				if (i + u * step < end && s < c.world)
					v[u][s] = s == c.rank
						? tf_read<4, K::whole>(own + off, bytes - off)
						: tf_load_line(tf_staged_at<K>(args, c, 0, s, c.rank) + off);
			});
		});
		tf_each<K::whole, 0, depth>([&](uint32_t u) {
			const int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			if (i + u * step < end)
				tf_write<4, K::whole>(
					output + off, bytes - off, tf_sum<W, 4, K::whole>(args.dtype, v[u], c.world));
		});
	}
}

/* Copies every peer's range of `exchange` to its place in the output. */
template <class K>
TF_FN void tf_staged_gather(const tf_collective_args &args, const tf_call &c, uint32_t exchange,
	uint32_t begin, uint32_t end)
{
	for (uint32_t k = 1; k < c.world; k++) {
		const uint32_t s = tf_rank_at(c, k);
		const int64_t bytes = tf_range_bytes<K>(c, s);
		const int64_t place = K::shards ? tf_shard_off(c, s) : (int64_t)s * bytes;

		const uint8_t *from = tf_staged_at<K>(args, c, exchange, s, 0);

		/* what is published are whole units */
		tf_bulk_copy_by<K>((uint8_t *)args.output + place, bytes, begin,
			tf_min(end, tf_units(bytes, TF_BULK_UNIT)),
			[&](int64_t off) { return tf_load_line(from + off); });
	}
}

/* The second exchange of two_shot: publishes our sums and reads the peers'. */
template <class K>
TF_FN void tf_staged_second(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t end, uint32_t mine)
{
	__syncthreads();
	tf_bulk_stage<K>(tf_staged_at<K>(args, c, 1, c.rank, 0),
		(const uint8_t *)args.output + tf_shard_off(c, c.rank), tf_shard_bytes<K>(c, c.rank), begin,
		mine);
	if (begin < mine)
		tf_staged_publish(args, c, 1);
	if (tf_staged_wait<K>(args, c, 1, begin, end))
		tf_staged_gather<K>(args, c, 1, begin, end);
}

template <class K, int W> TF_FN void tf_staged_run(const tf_collective_args &args)
{
	const tf_call c = tf_call_begin<K>(args);
	uint32_t begin, end, mine;

	tf_part(c, tf_units(K::shards ? c.shard : c.bytes, TF_BULK_UNIT), &begin, &end);
	mine = tf_min(end, tf_units(tf_range_bytes<K>(c, c.rank), TF_BULK_UNIT));
	tf_call_wait();
	if (!tf_call_enter_late<K>(args, c))
		return;
	tf_staged_send<K>(args, c, begin, end);
	tf_call_count<K>(args, c);
	if (!tf_staged_wait<K>(args, c, 0, begin, end))
		return;
	if constexpr (K::gathers) {
		tf_bulk_copy<K>((uint8_t *)args.output + c.rank * c.bytes, (const uint8_t *)args.input,
			c.bytes, begin, mine);
		tf_staged_gather<K>(args, c, 0, begin, mine);
	} else {
		tf_staged_sum<K, W>(args, c, begin, mine);
	}
	if constexpr (K::two_shot)
		tf_staged_second<K>(args, c, begin, end, mine);
}

#endif
