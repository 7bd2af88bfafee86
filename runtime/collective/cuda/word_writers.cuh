/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ll and sentinel: words that carry their own arrival. Lines and slots as on the host
 * (writer_ll.c, writer_sentinel.c) with these differences:
 *
 * - A unit is what a thread moves at once: one ll line (8 bytes of payload in 16), or 16 bytes of
 *   raw words. A sentinel range is padded with zeros to whole units.
 * - A sentinel slot is cleared by the thread that has read it, at once. So at the end of a launch
 *   every slot is clean, whatever sizes were used before, and no extent is kept. In time: a slot
 *   read in one launch is stored again by a peer in an exchange that needs a word of ours from a
 *   later launch, and a launch starts only when the one before has ended with all its stores.
 * - two_shot is one pass: a thread sums unit i of the own shard, then sends it at once to all
 *   peers as unit i of the second exchange. Each thread waits for single words alone.
 *
 * Memory order. Payload words are relaxed stores at system scope to the peer, and polled relaxed
 * in own memory; a word is at most 8 bytes, seen whole, and nothing else is read because of it.
 * Two ll slots suffice: a peer stores epoch e + 2 into the slot of e only once it has a word of
 * ours of e + 1, which a thread of ours sent after our part of e was read (an earlier launch) or,
 * in two_shot, after the launch in which e was read had ended (e + 1 is sent by the launch that
 * receives it). Same for sentinel's three.
 *
 * Why it cannot deadlock: thread t of CTA c waits only for thread t of CTA c at its peers. Take
 * the lowest unit that any of them waits for: all of them have sent it, since each sends unit i
 * before it waits for unit i. CTAs need not run at the same time within a rank.
 *
 * Bytes moved a rank: ll 2x, sentinel 1x of (world - 1) times the input (one_shot) or of
 * 2 (world - 1) / world times (two_shot). Any grid up to TF_CTAS_MAX, any block of whole warps.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_WORD_WRITERS_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_WORD_WRITERS_CUH

#include "runtime/collective/cuda/device_call.cuh"
#include "runtime/collective/cuda/device_sum.cuh"
#include "runtime/collective/host_simd.h"

/* Units a thread sends beyond the one it waits for: keeps the link busy while sums are made. */
#define TF_UNITS_AHEAD 4
/* Looks at a word for one at the trailer. */
#define TF_POLLS_PER_TRAILER 8

struct tf_ll_words {
	static constexpr int words = 2;
	static constexpr uint32_t stride = 16;
	static constexpr bool trailer = false;
	typedef struct {
		uint64_t a, b;
	} line;

	static __device__ __forceinline__ void put(
		uint8_t *range, uint32_t i, const tf_vec<2> &v, uint32_t epoch)
	{
		tf_store_pair(range + (uint64_t)i * stride, (uint64_t)epoch << 32 | v.w[0],
			(uint64_t)epoch << 32 | v.w[1]);
	}
	static __device__ __forceinline__ line get(const uint8_t *at)
	{
		line l;

		tf_load_pair(at, &l.a, &l.b);
		return l;
	}
	static __device__ __forceinline__ bool arrived(const line &l, uint32_t epoch)
	{
		return (uint32_t)(l.a >> 32) == epoch && (uint32_t)(l.b >> 32) == epoch;
	}
	static __device__ __forceinline__ tf_vec<2> payload(const line &l)
	{
		return tf_vec<2>{{(uint32_t)l.a, (uint32_t)l.b}};
	}
	static __device__ __forceinline__ void clear(uint8_t *)
	{
	}
	static __device__ __forceinline__ bool marks(const tf_vec<2> &)
	{
		return false;
	}
	static __device__ __forceinline__ void disguise(tf_vec<2> &)
	{
	}
	static __device__ __forceinline__ uint32_t slot(const tf_call &c, uint32_t exchange)
	{
		return c.epoch[exchange] & 1;
	}
};

struct tf_sentinel_words {
	static constexpr int words = 4;
	static constexpr uint32_t stride = 16;
	static constexpr bool trailer = true;
	typedef tf_vec<4> line;

	static __device__ __forceinline__ void put(
		uint8_t *range, uint32_t i, const tf_vec<4> &v, uint32_t)
	{
		tf_store_line(range + (uint64_t)i * stride, v);
	}
	static __device__ __forceinline__ line get(const uint8_t *at)
	{
		return tf_load_line(at);
	}
	/* Whether a word of the vector equals the sentinel. */
	static __device__ __forceinline__ bool marks(const tf_vec<4> &v)
	{
		return v.w[0] == TF_SENTINEL_WORD || v.w[1] == TF_SENTINEL_WORD ||
			v.w[2] == TF_SENTINEL_WORD || v.w[3] == TF_SENTINEL_WORD;
	}
	static __device__ __forceinline__ bool arrived(const line &l, uint32_t)
	{
		return !marks(l);
	}
	static __device__ __forceinline__ tf_vec<4> payload(const line &l)
	{
		return l;
	}
	static __device__ __forceinline__ void clear(uint8_t *at)
	{
		tf_store_line(at,
			tf_vec<4>{{TF_SENTINEL_WORD, TF_SENTINEL_WORD, TF_SENTINEL_WORD, TF_SENTINEL_WORD}});
	}
	/* To be summed, the payload's own sentinel is sent as another NaN. */
	static __device__ __forceinline__ void disguise(tf_vec<4> &v)
	{
#pragma unroll
		for (int i = 0; i < 4; i++)
			v.w[i] = v.w[i] == TF_SENTINEL_WORD ? TF_SENTINEL_OTHER : v.w[i];
	}
	static __device__ __forceinline__ uint32_t slot(const tf_call &c, uint32_t exchange)
	{
		return (c.turn + 1 + exchange) % 3;
	}
};

/* What is known of a call before its wait. */
struct tf_words_plan {
	uint32_t first; /* the thread's first unit of the CTA's part */
	uint32_t end;   /* of that part */
	uint32_t mine;  /* end of those that the own range has */
	/* by exchange: where our range lies in any segment, and where source 0's does */
	uint64_t put_off[2], get_off[2];
	const uint8_t *input; /* of the thread's first unit; of shard 0 where shards are sent */
};

/* What a thread sends of one unit: v[k] to the rank k after ours, v[0] is its own; shards: W. */
template <class P, class K, int W> struct tf_outgoing {
	static constexpr int count = K::shards ? W : 1;
	tf_vec<P::words> v[count];
};

template <class P, class K>
TF_FN tf_words_plan tf_words_plan_of(const tf_collective_args &args, const tf_call &c)
{
	tf_words_plan plan;
	uint32_t begin;

	tf_part(c, tf_units(K::shards ? c.shard : c.bytes, 4 * P::words), &begin, &plan.end);
	plan.mine = K::shards ? tf_min(plan.end, tf_units(tf_shard_bytes<K>(c, c.rank), 4 * P::words))
						  : plan.end;
	plan.first = begin + threadIdx.x;
	plan.input = (const uint8_t *)args.input + (int64_t)plan.first * (4 * P::words);
#pragma unroll
	for (uint32_t x = 0; x < K::exchanges; x++) {
		uint64_t slot = args.lane_off + P::slot(c, x) * args.world * args.lane_source_bytes;

		plan.get_off[x] = slot;
		plan.put_off[x] = slot + c.rank * args.lane_source_bytes;
		tf_pin(plan.get_off[x]);
		tf_pin(plan.put_off[x]);
	}
	tf_pin(plan.first);
	tf_pin(plan.end);
	tf_pin(plan.mine);
	tf_pin(plan.input);
	return plan;
}

template <class P, class K, int W>
TF_FN void tf_words_fetch(
	const tf_call &c, const uint8_t *input, uint32_t i, tf_outgoing<P, K, W> &out)
{
	const int64_t off = (int64_t)i * (4 * P::words);

	if (!K::shards) {
		out.v[0] = tf_read<P::words, K::whole>(input, c.bytes - off);
	} else {
		tf_each<K::whole, 0, W>([&](uint32_t k) {
			uint32_t to = tf_rank_at(c, k);

			if (k < c.world)
				out.v[k] = tf_read<P::words, K::whole>(
					input + tf_shard_off(c, to), tf_shard_bytes<K>(c, to) - off);
		});
	}
}

/* Sends unit i of the first exchange; returns whether a gathered word looks like the sentinel. */
template <class P, class K, int W>
TF_FN bool tf_words_push(const tf_collective_args &args, const tf_call &c,
	const tf_words_plan &plan, uint32_t i, tf_outgoing<P, K, W> &out)
{
	const bool marked = K::gathers && P::marks(out.v[0]);

	if (!K::gathers)
		P::disguise(out.v[0]);
	tf_each<K::whole, 1, W>([&](uint32_t k) {
		tf_vec<P::words> &v = out.v[K::shards ? k : 0];

		if (k >= c.world)
			return;
		if (K::shards)
			P::disguise(v);
		if (K::whole || !K::shards ||
			i < tf_units(tf_shard_bytes<K>(c, tf_rank_at(c, k)), 4 * P::words))
			P::put((uint8_t *)args.control[k] + plan.put_off[0], i, v, c.epoch[0]);
	});
	return marked;
}

/* Sources whose CTA has said that its words are there as they stand. */
template <class P>
TF_FN uint32_t tf_words_trailers(
	const tf_collective_args &args, const tf_call &c, uint32_t missing, uint32_t epoch)
{
	uint32_t told = 0;

	for (uint32_t s = 0; s < c.world; s++) {
		if ((missing >> s & 1) && tf_flag_at(&tf_flags_at(args, 0)->trailer[s][c.cta], epoch))
			told |= 1u << s;
	}
	if (told)
		tf_fence_sys();
	return told;
}

/* v[s]: unit i of every source in `want`, waited for; of the others `own`. False: a fault. */
template <class P, class K, int W, bool TRAILER>
TF_FN bool tf_words_gather(const tf_collective_args &args, const tf_call &c,
	const tf_words_plan &plan, uint32_t exchange, uint32_t i, uint32_t want,
	const tf_vec<P::words> &own, tf_vec<P::words> (&v)[W])
{
	uint8_t *at = (uint8_t *)args.control[0] + plan.get_off[exchange] + (uint64_t)i * P::stride;
	typename P::line line[W] = {};
	uint32_t missing = want, told = 0;
	tf_spin spin = {};

	tf_each<K::whole, 0, W>([&](uint32_t s) {
		if (want >> s & 1)
			line[s] = P::get(at + s * args.lane_source_bytes);
	});
	for (;;) {
		tf_each<K::whole, 0, W>([&](uint32_t s) {
			if ((missing >> s & 1) && P::arrived(line[s], c.epoch[exchange]))
				missing &= ~(1u << s);
		});
		missing &= ~told;
		if (!missing)
			break;
		if (!tf_spin_on(spin, c.blame, c.epoch[exchange], __ffs((int)missing) - 1))
			return false;
		if (TRAILER && spin.polls % TF_POLLS_PER_TRAILER == 0)
			told = tf_words_trailers<P>(args, c, missing, c.epoch[exchange]);
		tf_each<K::whole, 0, W>([&](uint32_t s) {
			if (missing >> s & 1)
				line[s] = P::get(at + s * args.lane_source_bytes);
		});
	}
	tf_each<K::whole, 0, W>([&](uint32_t s) {
		const tf_vec<P::words> payload = P::payload(line[s]);
		const bool wanted = want >> s & 1;

#pragma unroll
		for (int j = 0; j < P::words; j++)
			v[s].w[j] = wanted ? payload.w[j] : own.w[j];
		if (wanted)
			P::clear(at + s * args.lane_source_bytes);
	});
	return true;
}

/* Unit i of our shard's sums, to all peers. */
template <class P, class K, int W>
TF_FN void tf_words_forward(const tf_collective_args &args, const tf_call &c,
	const tf_words_plan &plan, uint32_t i, const tf_vec<P::words> &v)
{
	tf_each<K::whole, 1, W>([&](uint32_t k) {
		if (k < c.world)
			P::put((uint8_t *)args.control[k] + plan.put_off[1], i, v, c.epoch[1]);
	});
}

/* Receives unit i of the first exchange, sums it with our own and places it. */
template <class P, class K, int W>
TF_FN bool tf_words_sum(const tf_collective_args &args, const tf_call &c, const tf_words_plan &plan,
	uint32_t i, const tf_vec<P::words> &own, bool forward)
{
	const int64_t off = (int64_t)i * (4 * P::words);
	const int64_t bytes = tf_range_bytes<K>(c, c.rank);
	const uint32_t others = ((1u << c.world) - 1) & ~(1u << c.rank);
	uint8_t *output = (uint8_t *)args.output + (K::two_shot ? tf_shard_off(c, c.rank) : 0);
	tf_vec<P::words> v[W], sum;

	if (!tf_words_gather<P, K, W, false>(args, c, plan, 0, i, others, own, v))
		return false;
	sum = tf_sum<W, P::words, K::whole>(args.dtype, v, c.world);
	if (forward)
		tf_words_forward<P, K, W>(args, c, plan, i, sum);
	tf_write<P::words, K::whole>(output + off, bytes - off, sum);
	return true;
}

/* Receives unit i of every peer's range of `exchange` and places it. */
template <class P, class K, int W>
TF_FN bool tf_words_copy(const tf_collective_args &args, const tf_call &c,
	const tf_words_plan &plan, uint32_t exchange, uint32_t i)
{
	const int64_t off = (int64_t)i * (4 * P::words);
	const tf_vec<P::words> none = {};
	uint32_t want = 0;
	tf_vec<P::words> v[W];

	tf_each<K::whole, 0, W>([&](uint32_t s) {
		int64_t bytes = tf_range_bytes<K>(c, s);

		if (s < c.world && s != c.rank && (K::whole || i < tf_units(bytes, 4 * P::words)))
			want |= 1u << s;
	});
	if (!tf_words_gather < P, K, W,
		P::trailer && K::gathers > (args, c, plan, exchange, i, want, none, v))
		return false;
	tf_each<K::whole, 0, W>([&](uint32_t s) {
		int64_t bytes = tf_range_bytes<K>(c, s);
		int64_t place = K::shards ? tf_shard_off(c, s) : (int64_t)s * c.bytes;

		if (want >> s & 1)
			tf_write<P::words, K::whole>((uint8_t *)args.output + place + off, bytes - off, v[s]);
	});
	return true;
}

/* Reads our own unit i again. */
template <class P, class K>
TF_FN tf_vec<P::words> tf_words_own(const tf_collective_args &args, const tf_call &c, uint32_t i)
{
	const int64_t off = (int64_t)i * (4 * P::words);
	const int64_t place = K::shards ? tf_shard_off(c, c.rank) : 0;
	const int64_t bytes = tf_range_bytes<K>(c, c.rank);

	return tf_read<P::words, K::whole>((const uint8_t *)args.input + place + off, bytes - off);
}

/* At the wrap alone: the second exchange is sent when all CTAs have read the first. */
template <class P, class K, int W>
TF_FN bool tf_words_forward_late(
	const tf_collective_args &args, const tf_call &c, const tf_words_plan &plan)
{
	const int64_t bytes = tf_shard_bytes<K>(c, c.rank);
	const uint8_t *sums = (const uint8_t *)args.output + tf_shard_off(c, c.rank);

	if (!tf_gate_second(&args, c.blame, c.epoch[1]))
		return false;
	for (uint32_t i = plan.first; i < plan.mine; i += blockDim.x) {
		const int64_t off = (int64_t)i * (4 * P::words);

		tf_words_forward<P, K, W>(
			args, c, plan, i, tf_read<P::words, K::whole>(sums + off, bytes - off));
	}
	return true;
}

/* Input of the thread's unit i. */
template <class P> TF_FN const uint8_t *tf_words_input(const tf_words_plan &plan, uint32_t i)
{
	return plan.input + (int64_t)(i - plan.first) * (4 * P::words);
}

/* all_gather with a trailer sends all before it waits: the trailer speaks of all words. */
template <class P, class K, int W>
TF_FN void tf_words_run_gather(
	const tf_collective_args &args, const tf_call &c, const tf_words_plan &plan)
{
	const uint32_t step = blockDim.x;
	bool marked = false, good = true;
	tf_outgoing<P, K, W> out;

	for (uint32_t i = plan.first; i < plan.end; i += step) {
		tf_words_fetch<P, K, W>(c, tf_words_input<P>(plan, i), i, out);
		marked |= tf_words_push<P, K, W>(args, c, plan, i, out);
		tf_write<P::words, K::whole>(
			(uint8_t *)args.output + c.rank * c.bytes + (int64_t)i * (4 * P::words),
			c.bytes - (int64_t)i * (4 * P::words), out.v[0]);
	}
	if (P::trailer && __syncthreads_or(marked) && threadIdx.x >= 1 && threadIdx.x < c.world)
		tf_store_release(&tf_flags_at(args, threadIdx.x)->trailer[c.rank][c.cta], c.epoch[0]);
	tf_call_count<K>(args, c);
	for (uint32_t i = plan.first; i < plan.end && good; i += step)
		good = tf_words_copy<P, K, W>(args, c, plan, 0, i);
}

template <class P, class K, int W>
TF_FN void tf_words_run_sum(
	const tf_collective_args &args, const tf_call &c, const tf_words_plan &plan)
{
	const uint32_t step = blockDim.x;
	uint32_t next = plan.first;
	bool good = true, fused = true;
	tf_outgoing<P, K, W> out;
	tf_vec<P::words> own;

	if (K::two_shot && K::family == TF_FAMILY_LL)
		fused = c.epoch[1] < TF_LL_WRAP_EPOCH;
	for (uint32_t i = plan.first, n = 0; i < plan.end && good; n++) {
		if (next < plan.end) {
			tf_words_fetch<P, K, W>(c, tf_words_input<P>(plan, next), next, out);
			tf_words_push<P, K, W>(args, c, plan, next, out);
			if (!n) {
				own = out.v[0];
				tf_call_count<K>(args, c);
			}
			next += step;
		}
		if (n + 1 < TF_UNITS_AHEAD && next < plan.end)
			continue;
		if (i < plan.mine) {
			if (i != plan.first)
				own = tf_words_own<P, K>(args, c, i);
			good = tf_words_sum<P, K, W>(args, c, plan, i, own, K::two_shot && fused);
		}
		i += step;
	}
	if constexpr (K::two_shot) {
		if (!fused)
			good = tf_words_forward_late<P, K, W>(args, c, plan) && good;
		for (uint32_t i = plan.first; i < plan.end && good; i += step)
			good = tf_words_copy<P, K, W>(args, c, plan, 1, i);
	}
}

template <class P, class K, int W> TF_FN void tf_words_run(const tf_collective_args &args)
{
	const tf_call c = tf_call_begin<K>(args);
	const tf_words_plan plan = tf_words_plan_of<P, K>(args, c);

	tf_call_wait();
	if (!tf_call_enter<K>(args, c))
		return;
	if constexpr (K::gathers)
		tf_words_run_gather<P, K, W>(args, c, plan);
	else
		tf_words_run_sum<P, K, W>(args, c, plan);
}

#endif
