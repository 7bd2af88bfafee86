/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct and serial: plain 16-byte stores into the peers' staging slots, then one flag a CTA and
 * destination.
 *
 * direct stores a part to all destinations as it is read. serial finishes one destination (its
 * stores have arrived, its flag is stored) before it begins the next, starting after the own
 * rank; CTAs do so each for itself, at about one pace.
 *
 * two_shot stores its second exchange straight into the peers' outputs: a CTA has a flag of the
 * first exchange from every peer, so every peer has entered the call. direct does so while it
 * sums; serial sums first and then sends the sums destination by destination.
 *
 * Memory order. The CTA's stores, a CTA barrier, then st.release.sys of the flag by one thread:
 * release is cumulative, so it covers the stores of all threads before the barrier. The receiver:
 * one thread polls the flag relaxed, fences (acquire, system scope), a CTA barrier, then all
 * threads read. Flags of one (destination, CTA) are stored by one thread, in the order of epochs.
 *
 * Two staging slots by parity: see writer_direct.c. What peers wait for before they store into a
 * slot again is a flag of this CTA that follows its reads of that slot, or the end of this launch.
 *
 * Why it cannot deadlock: a CTA stores all its flags of an exchange before it waits for any of
 * that exchange, and waits only for the CTAs of its own index at its peers.
 *
 * Bytes moved a rank: (world - 1) times the input (one_shot), or 2 (world - 1) / world times it.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_BULK_WRITERS_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_BULK_WRITERS_CUH

#include "runtime/collective/cuda/device_call.cuh"
#include "runtime/collective/cuda/device_sum.cuh"

#define TF_BULK_UNIT 16

/* Where sources' ranges lie that are to be summed or copied. */
struct tf_sources {
	const uint8_t *base; /* of source 0 */
	int64_t stride;      /* from one source to the next */
};

/* Vectors a thread has in flight for each source. */
template <int W> struct tf_depth {
	static constexpr int value = W == 2 ? 4 : W == 4 ? 2 : 1;
};

/* What is sent to the rank `to`: its shard, or the whole input. */
template <class K>
TF_FN const uint8_t *tf_bulk_from(const tf_collective_args &args, const tf_call &c, uint32_t to)
{
	return (const uint8_t *)args.input + (K::shards ? tf_shard_off(c, to) : 0);
}

/* Copies units [begin, end) of `from`, which holds `bytes`, to staging: whole vectors. */
template <class K>
TF_FN void tf_bulk_stage(
	uint8_t *to, const uint8_t *from, int64_t bytes, uint32_t begin, uint32_t end)
{
	const uint32_t step = blockDim.x;

	for (uint32_t i = begin + threadIdx.x; i < end; i += 4 * step) {
		tf_vec<4> v[4];

#pragma unroll
		for (uint32_t u = 0; u < 4; u++) {
			int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			if (i + u * step < end)
				v[u] = tf_read<4, K::whole>(from + off, bytes - off);
		}
#pragma unroll
		for (uint32_t u = 0; u < 4; u++) {
			if (i + u * step < end)
				tf_store_whole(to + ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT, v[u]);
		}
	}
}

/* The same range to all: read once. */
template <class K, int W>
TF_FN void tf_bulk_stage_all(
	const tf_collective_args &args, const tf_call &c, uint32_t slot, uint32_t begin, uint32_t end)
{
	const uint32_t step = blockDim.x;

	for (uint32_t i = begin + threadIdx.x; i < end; i += 2 * step) {
		const int64_t off = (int64_t)i * TF_BULK_UNIT, next = off + (int64_t)step * TF_BULK_UNIT;
		const bool two = i + step < end;
		tf_vec<4> v = tf_read<4, K::whole>((const uint8_t *)args.input + off, c.bytes - off), w;

		if (two)
			w = tf_read<4, K::whole>((const uint8_t *)args.input + next, c.bytes - next);
		tf_each<K::whole, 1, W>([&](uint32_t k) {
			if (k < c.world)
				tf_store_whole(tf_slot_at(args, k, slot, c.rank) + off, v);
			if (k < c.world && two)
				tf_store_whole(tf_slot_at(args, k, slot, c.rank) + next, w);
		});
	}
}

/* Whether this CTA has a part of the range of `rank`. */
template <class K>
TF_FN bool tf_bulk_has(const tf_call &c, uint32_t begin, uint32_t end, uint32_t rank)
{
	return begin < tf_min(end, tf_units(tf_range_bytes<K>(c, rank), TF_BULK_UNIT));
}

template <class K, int W>
TF_FN void tf_bulk_send_all(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t end)
{
	const uint32_t slot = c.epoch[0] & 1, k = threadIdx.x;

	if (!K::shards) {
		tf_bulk_stage_all<K, W>(args, c, slot, begin, end);
	} else {
		for (uint32_t d = 1; d < c.world; d++) {
			uint32_t to = tf_rank_at(c, d);
			int64_t bytes = tf_range_bytes<K>(c, to);

			tf_bulk_stage<K>(tf_slot_at(args, d, slot, c.rank), tf_bulk_from<K>(args, c, to), bytes,
				begin, tf_min(end, tf_units(bytes, TF_BULK_UNIT)));
		}
	}
	__syncthreads();
	if (k >= 1 && k < c.world && tf_bulk_has<K>(c, begin, end, tf_rank_at(c, k)))
		tf_store_release(&tf_flags_at(args, k)->arrive[c.rank][c.cta], c.epoch[0]);
}

template <class K>
TF_FN void tf_bulk_send_serial(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t end)
{
	for (uint32_t k = 1; k < c.world; k++) {
		uint32_t to = tf_rank_at(c, k);
		int64_t bytes = tf_range_bytes<K>(c, to);

		tf_bulk_stage<K>(tf_slot_at(args, k, c.epoch[0] & 1, c.rank), tf_bulk_from<K>(args, c, to),
			bytes, begin, tf_min(end, tf_units(bytes, TF_BULK_UNIT)));
		tf_fence_sys();
		__syncthreads();
		if (threadIdx.x == 0 && tf_bulk_has<K>(c, begin, end, to))
			tf_store_release(&tf_flags_at(args, k)->arrive[c.rank][c.cta], c.epoch[0]);
	}
}

/*
 * All threads: waits until part `cta` of every source whose range this CTA has a part of is
 * there. `of_source`: the ranges are the sources' own shards, else they are as long as ours.
 */
template <class K>
TF_FN bool tf_bulk_wait(const tf_collective_args &args, const tf_call &c, uint32_t epoch,
	uint32_t begin, uint32_t end, bool of_source)
{
	uint32_t source = tf_rank_at(c, threadIdx.x < c.world ? threadIdx.x : 0);
	bool bad = false;

	if (threadIdx.x >= 1 && threadIdx.x < c.world &&
		tf_bulk_has<K>(c, begin, end, of_source ? source : c.rank))
		bad = !tf_wait_flag(c.blame, &tf_flags_at(args, 0)->arrive[source][c.cta], epoch, source);
	return !__syncthreads_or(bad);
}

/*
 * Sums units [begin, end) of all ranks' ranges of `bytes` (our own at `own`) into `output`, and at
 * the same place in every peer's output where `forward`.
 */
template <class K, int W>
TF_FN void tf_bulk_sum(const tf_collective_args &args, const tf_call &c, tf_sources from,
	const uint8_t *own, uint8_t *output, int64_t bytes, uint32_t begin, uint32_t end, bool forward)
{
	constexpr int depth = K::whole ? tf_depth<W>::value : 1;
	const uint32_t step = blockDim.x;
	const int64_t place = output - (const uint8_t *)args.control[0];

	for (uint32_t i = begin + threadIdx.x; i < end; i += depth * step) {
		tf_vec<4> v[depth][W];

		tf_each<K::whole, 0, depth>([&](uint32_t u) {
			const int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			tf_each<K::whole, 0, W>([&](uint32_t s) {
				if (i + u * step < end && s < c.world)
					v[u][s] = tf_read<4, K::whole>(
						(s == c.rank ? own : from.base + s * from.stride) + off, bytes - off);
			});
		});
		tf_each<K::whole, 0, depth>([&](uint32_t u) {
			const int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			if (i + u * step >= end)
				return;
			tf_vec<4> sum = tf_sum<W, 4, K::whole>(args.dtype, v[u], c.world);

			tf_write<4, K::whole>(output + off, bytes - off, sum);
			tf_each<K::whole, 1, W>([&](uint32_t k) {
				if (forward && k < c.world)
					tf_write<4, K::whole>(
						(uint8_t *)args.control[k] + place + off, bytes - off, sum);
			});
		});
	}
}

/*
 * Copies units [begin, end) to `to`, which holds `bytes`: whole or, at its end, in part. load(off)
 * reads a unit.
 */
template <class K, class Load>
TF_FN void tf_bulk_copy_by(uint8_t *to, int64_t bytes, uint32_t begin, uint32_t end, Load load)
{
	const uint32_t step = blockDim.x;

	for (uint32_t i = begin + threadIdx.x; i < end; i += 4 * step) {
		tf_vec<4> v[4];

#pragma unroll
		for (uint32_t u = 0; u < 4; u++) {
			int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			if (i + u * step < end)
				v[u] = load(off);
		}
#pragma unroll
		for (uint32_t u = 0; u < 4; u++) {
			int64_t off = ((int64_t)i + (int64_t)u * step) * TF_BULK_UNIT;

			if (i + u * step < end)
				tf_write<4, K::whole>(to + off, bytes - off, v[u]);
		}
	}
}

/* From a range of `bytes` too. */
template <class K>
TF_FN void tf_bulk_copy(
	uint8_t *to, const uint8_t *from, int64_t bytes, uint32_t begin, uint32_t end)
{
	tf_bulk_copy_by<K>(to, bytes, begin, end,
		[=](int64_t off) { return tf_read<4, K::whole>(from + off, bytes - off); });
}

/* The second exchange of serial: our sums into every peer's output, one after the other. */
template <class K>
TF_FN void tf_bulk_forward_serial(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t end)
{
	const int64_t bytes = tf_shard_bytes<K>(c, c.rank);
	const uint8_t *sums = (const uint8_t *)args.output + tf_shard_off(c, c.rank);
	const int64_t place = sums - (const uint8_t *)args.control[0];

	__syncthreads();
	for (uint32_t k = 1; k < c.world; k++) {
		tf_bulk_copy<K>((uint8_t *)args.control[k] + place, sums, bytes, begin, end);
		tf_fence_sys();
		__syncthreads();
		if (threadIdx.x == 0 && begin < end)
			tf_store_release(&tf_flags_at(args, k)->arrive[c.rank][c.cta], c.epoch[1]);
	}
}

/* Consumes the first exchange. */
template <class K, int W>
TF_FN void tf_bulk_consume(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t mine)
{
	const tf_sources staged = {
		tf_slot_at(args, 0, c.epoch[0] & 1, 0), (int64_t)args.lane_source_bytes};
	const int64_t bytes = tf_range_bytes<K>(c, c.rank);
	uint8_t *output = (uint8_t *)args.output;

	if constexpr (!K::gathers) {
		if (K::two_shot)
			output += tf_shard_off(c, c.rank);
		tf_bulk_sum<K, W>(args, c, staged, tf_bulk_from<K>(args, c, c.rank), output, bytes, begin,
			mine, K::two_shot && K::writer == TF_WRITER_DIRECT);
	} else {
		for (uint32_t k = 0; k < c.world; k++) {
			uint32_t s = tf_rank_at(c, k);

			tf_bulk_copy<K>(output + s * bytes,
				k ? staged.base + s * staged.stride : (const uint8_t *)args.input, bytes, begin,
				mine);
		}
	}
}

template <class K, int W> TF_FN void tf_bulk_run(const tf_collective_args &args)
{
	const tf_call c = tf_call_begin<K>(args);
	const uint32_t k = threadIdx.x;
	uint32_t begin, end, mine;

	tf_part(c, tf_units(K::shards ? c.shard : c.bytes, TF_BULK_UNIT), &begin, &end);
	mine = tf_min(end, tf_units(tf_range_bytes<K>(c, c.rank), TF_BULK_UNIT));
	tf_call_wait();
	if (!tf_call_enter_late<K>(args, c))
		return;
	if (K::writer == TF_WRITER_SERIAL)
		tf_bulk_send_serial<K>(args, c, begin, end);
	else
		tf_bulk_send_all<K, W>(args, c, begin, end);
	tf_call_count<K>(args, c);
	if (!tf_bulk_wait<K>(args, c, c.epoch[0], begin, end, false))
		return;
	tf_bulk_consume<K, W>(args, c, begin, mine);
	if (K::two_shot) {
		if (K::writer == TF_WRITER_SERIAL) {
			tf_bulk_forward_serial<K>(args, c, begin, mine);
		} else {
			__syncthreads();
			if (k >= 1 && k < c.world && begin < mine)
				tf_store_release(&tf_flags_at(args, k)->arrive[c.rank][c.cta], c.epoch[1]);
		}
		tf_bulk_wait<K>(args, c, c.epoch[1], begin, end, true);
	}
}

#endif
