/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the collectives and of the startup graph, one module a compute capability.
 *
 * Shapes: struct tf_collective_args (collective.h); count elements a rank of any dtype, any
 * alignment of an element; vectors are used where input and output are aligned to 16 bytes (ll: 8).
 * Launch: grid = args.ctas (1 to TF_CTAS_MAX), block = args.threads (whole warps, at most 1024),
 * no dynamic shared memory. All CTAs of all ranks need not run at once; ranks must (they wait for
 * each other). The kernels bear programmatic launch: see device_call.cuh.
 * Bytes moved a rank, memory order and freedom from deadlock: at the top of each writer's file.
 */
#include "runtime/collective/cuda/bulk_writers.cuh"
#include "runtime/collective/cuda/copy_engine.cuh"
#include "runtime/collective/cuda/pull_writer.cuh"
#include "runtime/collective/cuda/queued_writer.cuh"
#include "runtime/collective/cuda/staged_writer.cuh"
#include "runtime/collective/cuda/startup_kernels.cuh"
#include "runtime/collective/cuda/word_writers.cuh"

#define TF_KERNEL extern "C" __global__ void __launch_bounds__(1024, 1)

/*
 * Sources are unrolled: one body for 2, for 3 to 4 and for 5 to 8 ranks, and one for operands that
 * are not whole vectors.
 */
#define TF_BODIES(unit_bytes, OP, ALGORITHM, WRITER, RUN)                                          \
	typedef tf_kind<TF_OP_##OP, TF_ALGORITHM_##ALGORITHM, TF_WRITER_##WRITER, true> whole;         \
	typedef tf_kind<TF_OP_##OP, TF_ALGORITHM_##ALGORITHM, TF_WRITER_##WRITER, false> pieces;       \
                                                                                                   \
	if (!tf_call_whole(args, unit_bytes, whole::shards))                                           \
		RUN(pieces, 8);                                                                            \
	else if (args.world == 2)                                                                      \
		RUN(whole, 2);                                                                             \
	else if (args.world <= 4)                                                                      \
		RUN(whole, 4);                                                                             \
	else                                                                                           \
		RUN(whole, 8);

#define RUN_LL(kind, sources)       tf_words_run<tf_ll_words, kind, sources>(args)
#define RUN_SENTINEL(kind, sources) tf_words_run<tf_sentinel_words, kind, sources>(args)
#define RUN_BULK(kind, sources)     tf_bulk_run<kind, sources>(args)
#define RUN_QUEUED(kind, sources)   tf_queued_run<kind, sources>(args)
#define RUN_PULL(kind, sources)     tf_pull_run<kind, sources>(args)
#define RUN_STAGED(kind, sources)   tf_staged_run<kind, sources>(args)

#define COLLECTIVE(op, algorithm, writer, OP, ALGORITHM, WRITER, RUN, unit_bytes)                  \
	TF_KERNEL op##_##algorithm##_##writer(const __grid_constant__ tf_collective_args args)         \
	{                                                                                              \
		TF_BODIES(unit_bytes, OP, ALGORITHM, WRITER, RUN)                                          \
	}

#define COLLECTIVES(writer, WRITER, RUN, unit_bytes)                                               \
	COLLECTIVE(all_reduce, one_shot, writer, ALL_REDUCE, ONE_SHOT, WRITER, RUN, unit_bytes)        \
	COLLECTIVE(all_reduce, two_shot, writer, ALL_REDUCE, TWO_SHOT, WRITER, RUN, unit_bytes)        \
	COLLECTIVE(all_gather, one_shot, writer, ALL_GATHER, ONE_SHOT, WRITER, RUN, unit_bytes)        \
	COLLECTIVE(reduce_scatter, one_shot, writer, REDUCE_SCATTER, ONE_SHOT, WRITER, RUN, unit_bytes)

COLLECTIVES(ll, LL, RUN_LL, 8)
COLLECTIVES(sentinel, SENTINEL, RUN_SENTINEL, 16)
COLLECTIVES(direct, DIRECT, RUN_BULK, 16)
COLLECTIVES(serial, SERIAL, RUN_BULK, 16)
COLLECTIVES(queued, QUEUED, RUN_QUEUED, 16)
COLLECTIVES(pull, PULL, RUN_PULL, 16)
COLLECTIVES(staged, STAGED, RUN_STAGED, 16)

/* Of one CTA, with copies between them. */
TF_KERNEL copy_engine_open(const __grid_constant__ tf_collective_args args)
{
	tf_copy_engine_open(args);
}

TF_KERNEL all_gather_one_shot_copy_engine(const __grid_constant__ tf_collective_args args)
{
	tf_copy_engine_close(args);
}

/* Remembers the pass that the samples after it belong to. */
TF_KERNEL pass_begin(const __grid_constant__ tf_startup_args args)
{
	tf_grid_wait();
	if (threadIdx.x == 0)
		args.control[0]->pass = args.pass;
}

TF_KERNEL sample_begin(const __grid_constant__ tf_startup_args args)
{
	tf_grid_wait();
	const tf_store store = tf_store_at(args, 0);

	if (tf_startup_faulted(args) || !store.mask[args.slot])
		return;
	if (args.input)
		tf_dirty((uint8_t *)args.input, args.input_bytes);
	if (tf_rendezvous(args) && threadIdx.x == 0)
		store.header->begin_ns = tf_device_ns();
}

TF_KERNEL sample_end(const __grid_constant__ tf_startup_args args)
{
	tf_grid_wait();
	const uint64_t now = tf_device_ns();
	const tf_store store = tf_store_at(args, 0);

	if (threadIdx.x || tf_startup_faulted(args) || !store.mask[args.slot] ||
		store.header->launch > TF_LAUNCHES)
		return;
	store.ns[tf_store_cell(store, store.header->launch, args.slot, args.control[0]->pass)] =
		now - store.header->begin_ns;
}

/* Exchanges the durations and decides: survivors after the first launch, picks after the last. */
TF_KERNEL select(const __grid_constant__ tf_startup_args args)
{
	tf_grid_wait();
	tf_select(args);
}
