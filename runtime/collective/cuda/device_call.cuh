/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One launch of a collective: how its CTAs enter, what they share, and how they leave.
 *
 *   begin   geometry from the arguments alone. Then each CTA reads its own copy of the family's
 *           epoch and moves on the copies that it owns.
 *   wait    for the launches before (griddepcontrol.wait); dependents are let go after it, so at
 *           most one launch of the stream stands ready behind the running one. Operands and peers
 *           are not touched before.
 *   enter   whether the call is to be run at all: not masked off, not refused, no fault.
 *   count   CTA 0 counts the call, while words are on their way.
 *
 * Epochs before the wait. CTA c of a launch of n CTAs reads copy c and writes the copies c, c + n,
 * c + 2 n ...: what a CTA reads, no other CTA of the launch writes. It writes, fences (device
 * scope) and meets its other threads at a barrier before it lets dependents go; a dependent starts
 * when all CTAs have done so, whether the launch between them is one of ours or not. So a launch
 * finds the epoch of the one before while that still runs, and its first store to a peer waits for
 * no word of memory but the payload. A launch with a mask waits first: the mask is written by an
 * earlier launch, and only a call that runs counts.
 *
 * CTAs. CTA c owns part c of every range, cut by the longest range of the call, so part c of a
 * range is sent, summed and received by CTA c of the ranks concerned and no CTA waits for another
 * one of its own rank. A range that is empty still has one unit (zeros), so CTA 0 sends every peer
 * at least one word in every exchange.
 *
 * The gate. Rare things must be done by one CTA before any CTA sends: ll zeroes a slot near the
 * wrap, and flags are refreshed (writer_ll.c, flags.h). CTA 0 does them and opens the gate; the
 * others wait for it. CTA 0 waits for nobody, and CTAs start in order of their index, so this
 * holds also when a grid does not fit the device at once. Only the second gate of ll's two_shot
 * (once in 2^32 exchanges) needs all CTAs at once. Calls that need no gate close it again.
 *
 * Faults. After a fault the words here are not kept up: everything returns until the protocol is
 * reset. The fault is read with the epoch, so the one launch that stood ready behind the faulted
 * one may still send its words, and a peer may take them for those of an earlier exchange. That is
 * not silent: before them, the faulted launch has raised the abort words of all peers, and no
 * result counts on a rank whose abort word is raised when its step has ended.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_DEVICE_CALL_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_DEVICE_CALL_CUH

#include <stddef.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/cuda/device_wait.cuh"
#include "runtime/collective/flags.h"

#define TF_CALL_BYTES_MAX (UINT64_C(1) << 34) /* of a rank's input: unit numbers fit 32 bits */
#define TF_LL_WRAP_EPOCH  0xfffffffeu         /* from here on ll zeroes slots (writer_ll.c) */

/* What a kernel is, known when it is compiled. */
template <uint32_t OP, uint32_t ALGORITHM, uint32_t WRITER, bool WHOLE> struct tf_kind {
	static constexpr uint32_t op = OP, algorithm = ALGORITHM, writer = WRITER;
	static constexpr uint32_t family = WRITER == TF_WRITER_LL ? TF_FAMILY_LL
		: WRITER == TF_WRITER_SENTINEL                        ? TF_FAMILY_SENTINEL
															  : TF_FAMILY_FLAG;
	static constexpr bool two_shot = ALGORITHM == TF_ALGORITHM_TWO_SHOT;
	static constexpr bool gathers = OP == TF_OP_ALL_GATHER;
	static constexpr bool shards = two_shot || OP == TF_OP_REDUCE_SCATTER;
	/*
	 * Operands are aligned to units, every range ends with a whole one, and all shards are equal:
	 * the fast bodies. Else sources are not unrolled, and operands move element by element.
	 */
	static constexpr bool whole = WHOLE;
	/* pull proves the arrival of its sums in the same exchange */
	static constexpr uint32_t exchanges = two_shot && WRITER != TF_WRITER_PULL ? 2 : 1;
};

struct tf_call {
	struct tf_blame blame;
	int64_t bytes, shard; /* one rank's input; a full shard of it */
	uint32_t rank, world, cta, ctas;
	uint32_t last;     /* epoch before this call */
	uint32_t epoch[2]; /* of the exchanges; one exchange: both the same */
	uint32_t turn;     /* sentinel: slot of the last exchange before this call */
	bool good;         /* the arguments are */
	bool on;           /* good, not masked off, and no fault when the launch began */
};

TF_FN int64_t tf_shard_off(const tf_call &c, uint32_t rank)
{
	return (int64_t)rank * c.shard;
}

template <class K> TF_FN int64_t tf_shard_bytes(const tf_call &c, uint32_t rank)
{
	int64_t left = c.bytes - tf_shard_off(c, rank);

	return K::whole ? c.shard : left < 0 ? 0 : left < c.shard ? left : c.shard;
}

/* Bytes of the range that goes to, or comes from, `rank`. */
template <class K> TF_FN int64_t tf_range_bytes(const tf_call &c, uint32_t rank)
{
	return K::shards ? tf_shard_bytes<K>(c, rank) : c.bytes;
}

/* Units of a range; an empty one has one. */
TF_FN uint32_t tf_units(int64_t bytes, uint32_t unit_bytes)
{
	return bytes ? (uint32_t)((bytes + unit_bytes - 1) / unit_bytes) : 1;
}

/* Part `cta` of `units`. */
TF_FN void tf_part(const tf_call &c, uint32_t units, uint32_t *out_begin, uint32_t *out_end)
{
	uint32_t each = c.ctas == 1 ? units : (units + c.ctas - 1) / c.ctas;
	uint64_t begin = (uint64_t)c.cta * each;

	*out_begin = begin < units ? (uint32_t)begin : units;
	*out_end = units - *out_begin < each ? units : *out_begin + each;
}

TF_FN uint32_t tf_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The rank that stands k after ours. */
TF_FN uint32_t tf_rank_at(const tf_call &c, uint32_t k)
{
	uint32_t rank = c.rank + k;

	return rank < c.world ? rank : rank - c.world;
}

/* And the other way about: control[k] is the segment of `rank`. */
TF_FN uint32_t tf_distance(const tf_call &c, uint32_t rank)
{
	return rank >= c.rank ? rank - c.rank : rank + c.world - c.rank;
}

TF_FN struct tf_flags *tf_flags_at(const tf_collective_args &args, uint32_t k)
{
	return (struct tf_flags *)((uint8_t *)args.control[k] + args.flag_off);
}

/* Where source's range lies in the segment of control[k]. */
TF_FN uint8_t *tf_slot_at(
	const tf_collective_args &args, uint32_t k, uint32_t slot, uint32_t source)
{
	uint64_t off = args.lane_off + (uint64_t)(slot * args.world + source) * args.lane_source_bytes;

	return (uint8_t *)args.control[k] + off;
}

/* What the host side should have refused. */
template <class K> TF_FN bool tf_arguments_good(const tf_collective_args &args, const tf_call &c)
{
	const int64_t range = K::shards ? c.shard : c.bytes;
	const int64_t out = K::op == TF_OP_REDUCE_SCATTER ? c.shard
		: K::gathers                                  ? c.world * c.bytes
													  : c.bytes;
	const int64_t lane = K::writer == TF_WRITER_LL ? (range + 7) / 8 * 16 : (range + 15) / 16 * 16;
	/* without shards a slot of staged holds one range in the room of all sources */
	const int64_t sources = K::writer == TF_WRITER_STAGED && !K::shards ? args.world : 1;
	const uint64_t from = (uint64_t)args.input, to = (uint64_t)args.output;

	if (args.dtype >= TF_DTYPE_COUNT || args.count < 1 || !from || !to)
		return false;
	if (args.count > TF_CALL_BYTES_MAX / 4 || args.ctas != gridDim.x || args.ctas > TF_CTAS_MAX)
		return false;
	if (K::writer != TF_WRITER_PULL && K::writer != TF_WRITER_COPY_ENGINE &&
		lane > sources * (int64_t)args.lane_source_bytes)
		return false;
	return from + c.bytes <= to || to + out <= from;
}

/* Whether the fast bodies may run (tf_kind.whole). */
TF_FN bool tf_call_whole(const tf_collective_args &args, uint32_t unit_bytes, bool shards)
{
	const uint64_t bytes = args.count * (args.dtype == TF_DTYPE_F32 ? 4 : 2);
	const uint64_t places = (uint64_t)args.input | (uint64_t)args.output;
	const uint32_t all = unit_bytes * args.world;

	return ((places | bytes) & (unit_bytes - 1)) == 0 &&
		(!shards || (bytes >> 32 ? bytes % all : (uint32_t)bytes % all) == 0);
}

/*
 * All threads: fills c.on, c.epoch and c.turn, and moves the copies of this CTA on. STAYS: it does
 * not, as another kernel of the same call will.
 */
template <class K, bool STAYS> TF_FN void tf_call_number(const tf_collective_args &args, tf_call &c)
{
	__shared__ struct tf_epoch_word shared_last;
	__shared__ uint32_t shared_on;

	if (threadIdx.x < warpSize) {
		struct tf_epoch_word *copies = args.control[0]->family[K::family];
		const struct tf_epoch_word last = tf_load_epoch(&copies[c.cta < TF_CTAS_MAX ? c.cta : 0]);
		const uint32_t fault = tf_load_gpu(&args.control[0]->fault.code);
		const bool on = c.good && fault == TF_FAULT_NONE && (!args.mask || tf_load_gpu(args.mask));
		struct tf_epoch_word next = {tf_epoch_next(last.epoch), (last.turn + K::exchanges) % 3};

		if (K::exchanges == 2)
			next.epoch = tf_epoch_next(next.epoch);
		__syncwarp();
		for (uint32_t i = c.cta + threadIdx.x * c.ctas; on && !STAYS && i < TF_CTAS_MAX;
			 i += warpSize * c.ctas)
			tf_store_epoch(&copies[i], next);
		tf_fence_gpu();
		if (threadIdx.x == 0) {
			shared_last = last;
			shared_on = on;
		}
	}
	__syncthreads();
	c.on = shared_on;
	c.last = shared_last.epoch;
	c.turn = shared_last.turn;
	c.epoch[0] = tf_epoch_next(c.last);
	c.epoch[1] = K::exchanges == 2 ? tf_epoch_next(c.epoch[0]) : c.epoch[0];
}

template <class K, bool STAYS = false> TF_FN tf_call tf_call_begin(const tf_collective_args &args)
{
	const uint32_t element = args.dtype == TF_DTYPE_F32 ? 4 : 2;
	tf_call c = {};

	c.blame = {args.control, args.rank, args.world, args.group, K::writer};
	c.rank = args.rank;
	c.world = args.world;
	c.cta = blockIdx.x;
	c.ctas = gridDim.x;
	c.bytes = (int64_t)args.count * element;
	if (K::shards) {
		uint64_t total = args.count + args.world - 1;

		c.shard = (int64_t)(total >> 32 ? total / args.world : (uint32_t)total / args.world);
		c.shard *= element;
	}
	c.good = tf_arguments_good<K>(args, c);
	if (args.mask)
		tf_grid_wait();
	tf_call_number<K, STAYS>(args, c);
	return c;
}

TF_FN void tf_call_wait()
{
	tf_grid_wait();
	tf_grid_trigger();
}

/* Stores the last epoch into all our flags of the family at every rank (flags.h). */
template <class K> TF_FN void tf_flags_refresh(const tf_collective_args &args, uint32_t last)
{
	for (uint32_t k = 0; k < args.world; k++) {
		struct tf_flags *flags = tf_flags_at(args, k);

		for (uint32_t i = threadIdx.x; i < TF_CHUNKS_MAX; i += blockDim.x) {
			if (K::family == TF_FAMILY_SENTINEL) {
				if (i < TF_CTAS_MAX)
					tf_store_sys(&flags->trailer[args.rank][i], last);
				continue;
			}
			tf_store_sys(&flags->chunk[args.rank][i], last);
			if (i < TF_CTAS_MAX)
				tf_store_sys(&flags->arrive[args.rank][i], last);
			if (i == 0)
				tf_store_sys(&flags->entry[args.rank].epoch, last);
			if (i == 0)
				tf_store_sys(&flags->exit[args.rank].epoch, last);
		}
	}
}

/* Empties our slot of the parity that `epoch` does not have. */
TF_FN void tf_ll_zero(const tf_collective_args &args, uint32_t epoch)
{
	uint8_t *slot = tf_slot_at(args, 0, (epoch + 1) & 1, 0);
	uint64_t bytes = args.world * args.lane_source_bytes;

	for (uint64_t at = 16 * threadIdx.x; at < bytes; at += 16 * blockDim.x)
		tf_store_pair(slot + at, 0, 0);
}

template <class K> TF_FN bool tf_gate_needed(const tf_call &c)
{
	if (K::family == TF_FAMILY_LL)
		return c.epoch[0] >= TF_LL_WRAP_EPOCH;
	return tf_epoch_refreshes(c.epoch[0]) || tf_epoch_refreshes(c.epoch[1]);
}

/* All threads of all CTAs; the same answer in a CTA. False: a fault. */
template <class K>
static __device__ __noinline__ bool tf_gate_first(
	const tf_collective_args *args, tf_blame blame, uint32_t epoch, uint32_t last)
{
	struct tf_control *own = args->control[0];
	bool bad = false;

	if (blockIdx.x == 0) {
		if (K::family == TF_FAMILY_LL)
			tf_ll_zero(*args, epoch);
		else
			tf_flags_refresh<K>(*args, last);
		tf_fence_sys();
		__syncthreads();
		if (threadIdx.x == 0)
			tf_store_release(&own->gate[K::family], epoch);
	} else if (threadIdx.x == 0) {
		tf_spin spin = {};

		while (tf_load_sys(&own->gate[K::family]) != epoch && !bad)
			bad = !tf_spin_on(spin, blame, epoch, blame.rank);
		tf_fence_sys();
	}
	return !__syncthreads_or(bad);
}

/*
 * Before the second exchange of ll's two_shot at the wrap: every CTA has read the first exchange,
 * none has sent of the second. All CTAs must be running; else the wait ends by its bound.
 */
static __device__ __noinline__ bool tf_gate_second(
	const tf_collective_args *args, tf_blame blame, uint32_t epoch)
{
	struct tf_control *own = args->control[0];
	bool bad = false;

	__syncthreads();
	if (threadIdx.x == 0) {
		tf_spin spin = {};

		tf_fence_sys();
		atomicAdd(&own->gate_count, 1);
		while (!bad && blockIdx.x == 0 && tf_load_sys(&own->gate_count) != gridDim.x)
			bad = !tf_spin_on(spin, blame, epoch, blame.rank);
		while (!bad && blockIdx.x != 0 && tf_load_sys(&own->gate_second) != epoch)
			bad = !tf_spin_on(spin, blame, epoch, blame.rank);
		tf_fence_sys();
	}
	if (__syncthreads_or(bad))
		return false;
	if (blockIdx.x == 0) {
		tf_ll_zero(*args, epoch);
		tf_fence_sys();
		__syncthreads();
		if (threadIdx.x == 0) {
			tf_store_sys(&own->gate_count, 0);
			tf_store_release(&own->gate_second, epoch);
		}
	}
	return true;
}

/* All threads, before anything is read or sent. False: not to be run, or a fault. */
template <class K> TF_FN bool tf_call_enter(const tf_collective_args &args, const tf_call &c)
{
	if (!c.on) {
		if (!c.good && threadIdx.x == 0)
			tf_fault_raise(c.blame, c.epoch[0], TF_FAULT_ARGUMENT, args.rank);
		return false;
	}
	return !tf_gate_needed<K>(c) || tf_gate_first<K>(&args, c.blame, c.epoch[0], c.last);
}

/* All threads; the same answer in a CTA. */
TF_FN bool tf_call_faulted(const tf_collective_args &args)
{
	return __syncthreads_or(tf_load_gpu(&args.control[0]->fault.code) != TF_FAULT_NONE);
}

/* All threads, in its place where a load more is not felt: faults of the launch before, too. */
template <class K> TF_FN bool tf_call_enter_late(const tf_collective_args &args, const tf_call &c)
{
	return tf_call_enter<K>(args, c) && !tf_call_faulted(args);
}

/* Bytes that the call stores into peers' segments, or reads from them by pull. */
template <class K> TF_FN uint64_t tf_call_moves(const tf_call &c)
{
	uint64_t peers = c.world - 1;
	uint64_t mine = K::shards ? tf_shard_bytes<K>(c, c.rank) : c.bytes;

	if (!K::shards)
		return peers * mine;
	if (K::writer == TF_WRITER_STAGED && !K::two_shot)
		return peers * mine;
	if (K::writer == TF_WRITER_PULL)
		return peers * mine * (K::two_shot ? 2 : 1);
	return c.bytes - mine + (K::two_shot ? peers * mine : 0);
}

/* Thread 0 of CTA 0, once a call: nothing here is waited for. */
template <class K> TF_FN void tf_call_count(const tf_collective_args &args, const tf_call &c)
{
	struct tf_control *own = args.control[0];

	if (threadIdx.x || c.cta)
		return;
	if (!tf_gate_needed<K>(c))
		own->gate[K::family] = 0;
	if (K::family == TF_FAMILY_LL && c.epoch[1] < TF_LL_WRAP_EPOCH)
		own->gate_second = 0;
	atomicAdd(&own->calls, 1);
	atomicAdd((unsigned long long *)&own->writer_calls[K::writer], 1ull);
	atomicAdd((unsigned long long *)&own->writer_bytes[K::writer],
		(unsigned long long)tf_call_moves<K>(c));
}

/* Thread 0 of each CTA that is done: whether it is the rank's last. */
TF_FN bool tf_ticket_is_last(const tf_collective_args &args, const tf_call &c)
{
	struct tf_control *own = args.control[0];

	if (c.ctas > 1 && atomicAdd(&own->ticket, 1) != c.ctas - 1)
		return false;
	own->ticket = 0;
	return true;
}

#endif
