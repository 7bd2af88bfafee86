/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host bodies of the collectives: each is put together from exchanges (exchange.h).
 *
 * A body returns at once where the mask is off or the rank already has a fault; neither touches
 * an epoch, and both hold on all ranks alike (the fault through the abort word). It checks its
 * arguments before it stores anything into a peer.
 */
#include <assert.h>
#include <stdint.h>

#include "runtime/collective/exchange.h"
#include "runtime/collective/kernels.h"
#include "runtime/collective/numeric.h"
#include "runtime/collective/virtual_clock.h"

#define COUNT_MAX (UINT64_C(1) << 40) /* elements; keeps every product below within 64 bits */

struct shards {
	uint64_t off[TF_WORLD_MAX], bytes[TF_WORLD_MAX];
};

static struct shards shards_of(uint64_t count, uint32_t world, uint64_t element_bytes)
{
	uint64_t each = (count + world - 1) / world;
	struct shards shards = {0};

	for (uint32_t r = 0; r < world; r++) {
		uint64_t begin = r * each < count ? r * each : count;
		uint64_t end = begin + each < count ? begin + each : count;

		shards.off[r] = begin * element_bytes;
		shards.bytes[r] = (end - begin) * element_bytes;
	}
	return shards;
}

static int exchange_same(struct tf_exchange *x, uint64_t bytes, int sum)
{
	x->sum = sum;
	x->shards = 0;
	x->longest_bytes = bytes;
	for (uint32_t r = 0; r < x->world; r++) {
		x->send_off[r] = 0;
		x->send_bytes[r] = bytes;
		x->recv_off[r] = sum ? 0 : r * bytes;
		x->recv_bytes[r] = bytes;
	}
	return tf_exchange_run(x);
}

static int exchange_shards(struct tf_exchange *x, const struct shards *shards)
{
	x->sum = 1;
	x->shards = 1;
	x->longest_bytes = shards->bytes[0];
	for (uint32_t r = 0; r < x->world; r++) {
		x->send_off[r] = shards->off[r];
		x->send_bytes[r] = shards->bytes[r];
		x->recv_off[r] = 0;
		x->recv_bytes[r] = shards->bytes[x->rank];
	}
	return tf_exchange_run(x);
}

static int two_shot(struct tf_exchange *x, const struct shards *shards)
{
	x->forward = x->ops->forwards;
	x->output = (uint8_t *)x->args->output + shards->off[x->rank];
	if (exchange_shards(x, shards))
		return -1;
	if (x->ops->single)
		return 0;
	x->sum = x->shards = 0;
	x->forward = 0;
	if (x->ops->straight)
		x->placing = x->ops->forwards ? TF_PLACE_FORWARDED : TF_PLACE_STRAIGHT;
	x->input = x->args->output;
	x->output = x->args->output;
	for (uint32_t r = 0; r < x->world; r++) {
		x->send_off[r] = shards->off[x->rank];
		x->send_bytes[r] = shards->bytes[x->rank];
		x->recv_off[r] = shards->off[r];
		x->recv_bytes[r] = shards->bytes[r];
	}
	return tf_exchange_run(x);
}

static int overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes)
{
	return (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/* What the host side should have refused. */
static int arguments_good(const struct tf_collective_args *args, enum tf_op op,
	enum tf_algorithm algorithm, const struct tf_writer_ops *ops)
{
	uint64_t element_bytes, in, out, range;
	int shards = op == TF_OP_REDUCE_SCATTER || algorithm == TF_ALGORITHM_TWO_SHOT;

	if (!ops || args->dtype >= TF_DTYPE_COUNT || args->count < 1 || args->count > COUNT_MAX)
		return 0;
	if (args->ctas < 1 || args->ctas > TF_CTAS_MAX || !args->input || !args->output)
		return 0;
	if (algorithm == TF_ALGORITHM_TWO_SHOT && op != TF_OP_ALL_REDUCE)
		return 0;
	element_bytes = tf_dtype_bytes((enum tf_dtype)args->dtype);
	in = args->count * element_bytes;
	range = (args->count + args->world - 1) / args->world * element_bytes;
	out = op == TF_OP_REDUCE_SCATTER ? range : op == TF_OP_ALL_GATHER ? args->world * in : in;
	if (!shards)
		range = in;
	if (tf_writer_lane_bytes(ops, range, shards, args->world) > args->lane_source_bytes)
		return 0;
	return !overlap(args->input, in, args->output, out);
}

static int run(struct tf_exchange *x, enum tf_op op, enum tf_algorithm algorithm)
{
	uint64_t element_bytes = tf_dtype_bytes(x->dtype);
	struct shards shards;

	if (op == TF_OP_ALL_GATHER)
		return exchange_same(x, x->args->count * element_bytes, 0);
	if (op == TF_OP_ALL_REDUCE && algorithm == TF_ALGORITHM_ONE_SHOT)
		return exchange_same(x, x->args->count * element_bytes, 1);
	shards = shards_of(x->args->count, x->world, element_bytes);
	return op == TF_OP_REDUCE_SCATTER ? exchange_shards(x, &shards) : two_shot(x, &shards);
}

static void exchange_init(struct tf_exchange *x, const struct tf_collective_args *args,
	const struct tf_writer_ops *ops, enum tf_writer writer)
{
	x->waiter = (struct tf_waiter){.control = args->control,
		.rank = args->rank,
		.world = args->world,
		.group = args->group,
		.writer = (uint32_t)writer};
	x->args = args;
	x->ops = ops;
	x->simd = tf_host_simd();
	x->own = args->control[0];
	x->rank = args->rank;
	x->world = args->world;
	x->ctas = args->ctas;
	x->dtype = (enum tf_dtype)args->dtype;
	x->sum = x->forward = x->shards = 0;
	x->placing = TF_PLACE_STAGED;
	x->input = args->input;
	x->output = args->output;
	for (uint32_t k = 0; k < args->world; k++)
		x->segment[tf_exchange_peer(x, k)] = (uint8_t *)args->control[k];
}

int tf_exchange_enter(struct tf_exchange *x, const struct tf_collective_args *args, enum tf_op op,
	enum tf_algorithm algorithm, enum tf_writer writer)
{
	struct tf_control *own = args->control[0];
	const struct tf_writer_ops *ops = tf_writer_ops_of(writer);

	assert(own && args->world >= TF_WORLD_MIN && args->world <= TF_WORLD_MAX);
	assert(args->rank < args->world);
	if (args->mask && *args->mask == 0)
		return 0;
	if (__atomic_load_n(&own->fault.code, __ATOMIC_ACQUIRE) != TF_FAULT_NONE)
		return 0;
	exchange_init(x, args, ops, writer);
	if (arguments_good(args, op, algorithm, ops))
		return 1;
	tf_fault_record(&x->waiter, TF_FAULT_ARGUMENT, args->rank);
	own->calls++;
	return 0;
}

void tf_collective_host_run(const struct tf_collective_args *args, enum tf_op op,
	enum tf_algorithm algorithm, enum tf_writer writer)
{
	struct tf_control *own = args->control[0];
	struct tf_exchange x; /* not cleared: exchange_init and the exchanges set what they read */
	unsigned mode;

	assert(writer != TF_WRITER_COPY_ENGINE); /* more than one kernel */
	if (!tf_exchange_enter(&x, args, op, algorithm, writer))
		return;
	mode = tf_numeric_begin();
	if (!run(&x, op, algorithm)) {
		own->writer_calls[writer]++;
		tf_virtual_clock_tell(args, op, algorithm, writer);
	}
	tf_numeric_end(mode);
	own->calls++;
}
