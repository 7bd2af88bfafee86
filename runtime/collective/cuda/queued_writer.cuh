/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queued: ranges are cut into chunks; the first half of the CTAs drains a queue of (chunk,
 * destination), chunk-major, each entry with a completion flag that holds the epoch; the other
 * CTAs, and the first ones when the queue is empty, consume chunk by chunk. Both queues are
 * counters in the own control words; the CTA with the last ticket puts them back to 0.
 *
 * two_shot: who has summed a chunk of our shard stores it into every peer's output, with flags in
 * the upper half of the chunk flags (in the lower half, a sum's flag could stand for a chunk that
 * has not been sent yet). At the end the CTAs share the wait for the flags of all sums.
 *
 * Chunks: as chunk_bytes says, in whole units; larger where a range would have more than
 * TF_CHUNKS_MAX of them (half of it for two_shot). All ranks compute the same from the longest
 * range.
 *
 * Memory order, staging slots: as in bulk_writers.cuh, with chunks in the place of CTAs.
 *
 * Why it cannot deadlock: CTAs that send wait for nobody until the queue is empty, CTAs start in
 * order of their index, and CTA 0 sends. So every entry of every rank is sent at last, even when
 * the other CTAs of a grid cannot run at the same time; then every chunk can be consumed, and
 * every sum is sent.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_QUEUED_WRITER_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_QUEUED_WRITER_CUH

#include "runtime/collective/cuda/bulk_writers.cuh"

#define TF_CHUNK_DEFAULT 16384

struct tf_chunks {
	uint32_t units; /* a chunk */
	uint32_t count; /* of the longest range */
};

template <class K> TF_FN tf_chunks tf_chunks_of(const tf_collective_args &args, const tf_call &c)
{
	const uint32_t units = tf_units(K::shards ? c.shard : c.bytes, TF_BULK_UNIT);
	const uint32_t most = K::two_shot ? TF_CHUNKS_MAX / 2 : TF_CHUNKS_MAX;
	const uint32_t least = (units + most - 1) / most;
	uint64_t asked = (args.chunk_bytes ? args.chunk_bytes : TF_CHUNK_DEFAULT) / TF_BULK_UNIT;
	tf_chunks chunks;

	if (asked < least)
		asked = least;
	chunks.units = asked < units ? (uint32_t)asked : units;
	chunks.count = (units + chunks.units - 1) / chunks.units;
	return chunks;
}

/* Units [begin, end) of a chunk of a range of `bytes`; whether there are any. */
TF_FN bool tf_chunk_span(
	const tf_chunks &chunks, int64_t bytes, uint32_t chunk, uint32_t *out_begin, uint32_t *out_end)
{
	uint32_t units = tf_units(bytes, TF_BULK_UNIT);

	*out_begin = tf_min(chunk * chunks.units, units);
	*out_end = units - *out_begin < chunks.units ? units : *out_begin + chunks.units;
	return *out_begin < *out_end;
}

/* All threads: the next number of a queue, the same in the CTA. */
TF_FN uint32_t tf_queue_next(uint32_t *counter)
{
	__shared__ uint32_t taken;
	uint32_t number;

	__syncthreads();
	if (threadIdx.x == 0)
		taken = atomicAdd(counter, 1);
	__syncthreads();
	number = taken;
	return number;
}

template <class K>
TF_FN void tf_queued_send(const tf_collective_args &args, const tf_call &c, const tf_chunks &chunks)
{
	const uint32_t peers = c.world - 1, entries = chunks.count * peers;

	for (;;) {
		uint32_t entry = tf_queue_next(&args.control[0]->queue_head);
		uint32_t chunk = entry / peers, k = 1 + entry % peers, to = tf_rank_at(c, k), begin, end;

		if (entry >= entries)
			return;
		if (!tf_chunk_span(chunks, tf_range_bytes<K>(c, to), chunk, &begin, &end))
			continue;
		tf_bulk_stage<K>(tf_slot_at(args, k, c.epoch[0] & 1, c.rank), tf_bulk_from<K>(args, c, to),
			tf_range_bytes<K>(c, to), begin, end);
		__syncthreads();
		if (threadIdx.x == 0)
			tf_store_release(&tf_flags_at(args, k)->chunk[c.rank][chunk], c.epoch[0]);
	}
}

template <class K, int W>
TF_FN void tf_queued_consume(
	const tf_collective_args &args, const tf_call &c, uint32_t begin, uint32_t end, uint32_t chunk)
{
	const tf_sources staged = {
		tf_slot_at(args, 0, c.epoch[0] & 1, 0), (int64_t)args.lane_source_bytes};
	const int64_t bytes = tf_range_bytes<K>(c, c.rank);
	uint8_t *output = (uint8_t *)args.output + (K::two_shot ? tf_shard_off(c, c.rank) : 0);

	if (!K::gathers) {
		tf_bulk_sum<K, W>(args, c, staged, tf_bulk_from<K>(args, c, c.rank), output, bytes, begin,
			end, K::two_shot);
	} else {
		for (uint32_t k = 0; k < c.world; k++) {
			uint32_t s = tf_rank_at(c, k);

			tf_bulk_copy<K>(output + s * bytes,
				k ? staged.base + s * staged.stride : (const uint8_t *)args.input, bytes, begin,
				end);
		}
	}
	if (K::two_shot) {
		__syncthreads();
		if (threadIdx.x >= 1 && threadIdx.x < c.world)
			tf_store_release(
				&tf_flags_at(args, threadIdx.x)->chunk[c.rank][TF_CHUNKS_MAX / 2 + chunk],
				c.epoch[1]);
	}
}

template <class K, int W>
TF_FN bool tf_queued_receive(
	const tf_collective_args &args, const tf_call &c, const tf_chunks &chunks)
{
	const struct tf_flags *flags = tf_flags_at(args, 0);
	const uint32_t source = tf_rank_at(c, threadIdx.x < c.world ? threadIdx.x : 0);

	for (;;) {
		uint32_t chunk = tf_queue_next(&args.control[0]->queue_tail), begin, end;
		bool bad = false;

		if (chunk >= chunks.count ||
			!tf_chunk_span(chunks, tf_range_bytes<K>(c, c.rank), chunk, &begin, &end))
			return true;
		if (threadIdx.x >= 1 && threadIdx.x < c.world)
			bad = !tf_wait_flag(c.blame, &flags->chunk[source][chunk], c.epoch[0], source);
		if (__syncthreads_or(bad))
			return false;
		tf_queued_consume<K, W>(args, c, begin, end, chunk);
	}
}

/* two_shot: waits for all sums of the peers, shared out among all threads of the grid. */
template <class K>
TF_FN bool tf_queued_settle(
	const tf_collective_args &args, const tf_call &c, const tf_chunks &chunks)
{
	const struct tf_flags *flags = tf_flags_at(args, 0);
	bool bad = false;

	for (uint32_t i = c.cta * blockDim.x + threadIdx.x; i < c.world * chunks.count && !bad;
		 i += c.ctas * blockDim.x) {
		uint32_t source = i / chunks.count, chunk = i % chunks.count, begin, end;

		if (source != c.rank &&
			tf_chunk_span(chunks, tf_shard_bytes<K>(c, source), chunk, &begin, &end))
			bad = !tf_wait_flag(
				c.blame, &flags->chunk[source][TF_CHUNKS_MAX / 2 + chunk], c.epoch[1], source);
	}
	return !__syncthreads_or(bad);
}

template <class K, int W> TF_FN void tf_queued_run(const tf_collective_args &args)
{
	const tf_call c = tf_call_begin<K>(args);
	const tf_chunks chunks = tf_chunks_of<K>(args, c);
	bool good;

	tf_call_wait();
	if (!tf_call_enter_late<K>(args, c))
		return;
	tf_call_count<K>(args, c);
	if (c.cta < (c.ctas + 1) / 2)
		tf_queued_send<K>(args, c, chunks);
	good = tf_queued_receive<K, W>(args, c, chunks);
	if (K::two_shot && good)
		good = tf_queued_settle<K>(args, c, chunks);
	if (threadIdx.x == 0 && good && tf_ticket_is_last(args, c))
		args.control[0]->queue_head = args.control[0]->queue_tail = 0;
}

#endif
