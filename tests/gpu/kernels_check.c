/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA kernels against the reference, byte by byte.
 *
 *   matrix    every kernel, worlds, dtypes, sizes, fills, alignments
 *   sequence  launches back to back without a wait, of mixed kernels and of one kernel with sizes
 *             that go up and down, from epochs near 2^30, 2^31 and 2^32
 *   faults    a peer that never comes, arguments that do not fit, a mask that is off
 *   copies    the two kernels of copy_engine, with copies between them
 *   startup   the sampling kernels, and select against the host's selection
 */
#include "tests/gpu/kernels_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/program.h"
#include "tests/gpu/kernels_rig.h"

#define TIMEOUT_NS 200000000u
#define WAIT_S     20
#define COUNT_MAX  9000
#define AREAS      28
#define POISON     0xa5
#define MESSAGES   20
#define FAULTS_MAX 8 /* a broken protocol fails everywhere: stop after a few */

static uint32_t failures, cases, fault_batches;
static uint32_t every; /* of the batches of matrix and sequence one in so many is run */

static int is_left_out(void)
{
	static uint32_t batches;

	return batches++ % every != 0;
}

/* Without peer access staged is the only writer that may run. */
static int may_run(const struct rig *rig, int writer)
{
	return !rig->parted || writer == TF_WRITER_STAGED;
}

static void fail(const struct rig *rig, uint32_t rank, const struct rig_call *call, const char *why)
{
	char text[160];

	if (failures++ < MESSAGES)
		printf("FAIL world %u rank %u: %s: %s\n", rig->world, rank,
			rig_call_text(call, text, sizeof(text)), why);
}

static void give_up(const char *what)
{
	printf("kernels did not end in time: %s\n", what);
	fflush(stdout);
	_exit(1);
}

/* Inputs of all ranks for (call, seed, fill), uploaded to area_in; ranks' inputs in `inputs`. */
static void upload(const struct rig *rig, const struct rig_call *call, uint64_t seed,
	enum tf_fill fill, uint8_t *inputs)
{
	uint64_t element = tf_dtype_bytes(call->dtype), bytes = call->count * element;

	for (uint32_t r = 0; r < rig->world; r++) {
		tf_operand_fill(fill, call->dtype, seed, r, call->count, inputs + r * bytes);
		CHECK(cudaMemcpy(rig_input(rig, r, call->area_in) + call->shift * element,
			inputs + r * bytes, bytes, cudaMemcpyHostToDevice));
	}
}

static void poison(const struct rig *rig, uint32_t area)
{
	for (uint32_t r = 0; r < rig->world; r++) {
		CHECK(cudaSetDevice((int)rig_device(rig, r)));
		CHECK(cudaMemset(rig_output(rig, r, area), POISON, rig->area_bytes - rig->in_bytes));
		CHECK(cudaDeviceSynchronize());
	}
}

/* Compares area_out of every rank with the reference, a guard behind it included. */
static void compare(const struct rig *rig, const struct rig_call *call, const uint8_t *inputs)
{
	static uint8_t expected[TF_WORLD_MAX * COUNT_MAX * 4 + RIG_GUARD];
	static uint8_t found[sizeof(expected)];
	uint64_t element = tf_dtype_bytes(call->dtype), bytes = call->count * element;
	const void *from[TF_WORLD_MAX];

	for (uint32_t r = 0; r < rig->world; r++)
		from[r] = inputs + r * bytes;
	for (uint32_t r = 0; r < rig->world; r++) {
		uint64_t owned = tf_owned_count(call->op, call->count, r, rig->world) * element;

		cases++;
		memset(expected, POISON, owned + RIG_GUARD / 2);
		if (!call->mask)
			tf_reference(call->op, call->dtype, rig->world, r, call->count, from, expected);
		memset(expected + owned, POISON, RIG_GUARD / 2);
		CHECK(cudaMemcpy(found, rig_output(rig, r, call->area_out) + call->shift * element,
			owned + RIG_GUARD / 2, cudaMemcpyDeviceToHost));
		for (uint64_t i = 0; i < owned + RIG_GUARD / 2; i++) {
			char why[96];

			if (expected[i] == found[i])
				continue;
			snprintf(why, sizeof(why), "byte %llu of %llu is %02x, not %02x", (unsigned long long)i,
				(unsigned long long)owned, found[i], expected[i]);
			fail(rig, r, call, why);
			break;
		}
	}
}

/* All streams' work has ended; 0 when there is no fault. Resets after one. */
static int settle(struct rig *rig, const char *what, uint32_t epoch)
{
	if (rig_wait(rig, WAIT_S))
		give_up(what);
	if (!rig_faults(rig, what))
		return 0;
	failures++;
	rig_reset(rig, TIMEOUT_NS, epoch);
	if (++fault_batches >= FAULTS_MAX)
		give_up("too many faults");
	return 1;
}

/* All kernels of (op, dtype, count, fill, shift) in one batch: kernel k writes to area k. */
static void matrix_batch(struct rig *rig, struct rig_call call, enum tf_fill fill)
{
	static uint8_t inputs[TF_WORLD_MAX * COUNT_MAX * 4];
	static const uint32_t threads[] = {256, 32, 512, 1024, 64};
	struct rig_call calls[AREAS];
	uint32_t count = 0;
	char text[160];

	call.area_in = 0;
	upload(rig, &call, call.count * 31 + (uint64_t)fill, fill, inputs);
	for (int algorithm = 0; algorithm < TF_ALGORITHM_COUNT; algorithm++) {
		if (algorithm == TF_ALGORITHM_LIBRARY ||
			(algorithm == TF_ALGORITHM_TWO_SHOT && call.op != TF_OP_ALL_REDUCE))
			continue;
		for (int writer = 0; writer < RIG_WRITERS; writer++) {
			for (uint32_t ctas = 1; ctas <= 4 && may_run(rig, writer); ctas += 3) {
				call.algorithm = (enum tf_algorithm)algorithm;
				call.writer = (enum tf_writer)writer;
				call.ctas = ctas;
				call.threads = threads[(count + call.count) % 5];
				if (rig->world * ctas * call.threads > 16384)
					call.threads = 256;
				call.chunk_bytes = writer == TF_WRITER_QUEUED ? 1024 : 0;
				call.area_out = count;
				calls[count++] = call;
			}
		}
	}
	for (uint32_t i = 0; i < count; i++)
		poison(rig, i);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t r = 0; r < rig->world; r++)
			rig_launch(rig, r, &calls[i]);
	}
	if (settle(rig, rig_call_text(&call, text, sizeof(text)), 0))
		return;
	for (uint32_t i = 0; i < count; i++)
		compare(rig, &calls[i], inputs);
}

static void matrix(struct rig *rig)
{
	const uint64_t counts[] = {1, 5, 64 * rig->world, 1000, 1024 * rig->world, 4099};
	uint32_t before = failures;

	for (int op = 0; op < TF_OP_COUNT; op++) {
		for (int dtype = 0; dtype < TF_DTYPE_COUNT; dtype++) {
			for (uint32_t i = 0; i < 2 * sizeof(counts) / sizeof(counts[0]); i++) {
				struct rig_call call = {.op = (enum tf_op)op,
					.dtype = (enum tf_dtype)dtype,
					.count = counts[i / 2],
					.shift = counts[i / 2] == 1000};

				if (is_left_out())
					continue;
				matrix_batch(rig, call, i % 2 ? TF_FILL_SPECIAL : TF_FILL_RANDOM);
			}
		}
	}
	printf("matrix world %u: %u failures\n", rig->world, failures - before);
	fflush(stdout);
}

static uint32_t draw(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* `kernel` below 0: mixed; else (algorithm, writer) of all_reduce, with sizes up and down. */
static struct rig_call sequence_call(uint32_t step, int kernel, uint32_t world, uint32_t *state)
{
	static const uint64_t sizes[] = {8192, 40, 4099, 1, 6144, 264};
	struct rig_call call = {.op = (enum tf_op)(draw(state) % TF_OP_COUNT),
		.dtype = (enum tf_dtype)(draw(state) % TF_DTYPE_COUNT),
		.writer = (enum tf_writer)(draw(state) % RIG_WRITERS),
		.count = 1 + draw(state) % COUNT_MAX,
		.ctas = 1 + draw(state) % 5,
		.threads = 64u << draw(state) % 3,
		.area_in = step,
		.area_out = step};

	if (call.count % 2)
		call.count = (call.count / (16 * world) + 1) * 16 * world;
	if (call.count > COUNT_MAX)
		call.count = 1024;
	if (call.op == TF_OP_ALL_REDUCE)
		call.algorithm = (enum tf_algorithm)(draw(state) % TF_ALGORITHM_LIBRARY);
	if (kernel >= 0) {
		call.op = TF_OP_ALL_REDUCE;
		call.algorithm = (enum tf_algorithm)(kernel / RIG_WRITERS);
		call.writer = (enum tf_writer)(kernel % RIG_WRITERS);
		call.count = sizes[step % 6];
	}
	call.chunk_bytes = call.writer == TF_WRITER_QUEUED ? 2048 : 0;
	return call;
}

/* Back to back, no wait between launches. */
static void sequence(
	struct rig *rig, int kernel, uint32_t first_epoch, uint32_t seed, int programmatic)
{
	static uint8_t inputs[AREAS][TF_WORLD_MAX * COUNT_MAX * 4];
	struct rig_call calls[AREAS];
	uint32_t state = seed;
	char what[96];

	if ((kernel >= 0 && !may_run(rig, kernel % RIG_WRITERS)) || is_left_out())
		return;
	snprintf(what, sizeof(what), "sequence world %u kernel %d epoch %x%s", rig->world, kernel,
		first_epoch, programmatic ? " programmatic" : "");
	rig_reset(rig, TIMEOUT_NS, first_epoch);
	for (uint32_t i = 0; i < AREAS; i++) {
		calls[i] = sequence_call(i, kernel, rig->world, &state);
		if (rig->parted) {
			calls[i].writer = TF_WRITER_STAGED;
			calls[i].chunk_bytes = 0;
		}
		calls[i].programmatic = programmatic;
		upload(rig, &calls[i], seed + i, draw(&state) % 2 ? TF_FILL_SPECIAL : TF_FILL_RANDOM,
			inputs[i]);
		poison(rig, i);
	}
	for (uint32_t i = 0; i < AREAS; i++) {
		for (uint32_t r = 0; r < rig->world; r++)
			rig_launch(rig, r, &calls[i]);
	}
	if (settle(rig, what, 0))
		return;
	for (uint32_t i = 0; i < AREAS; i++)
		compare(rig, &calls[i], inputs[i]);
}

static void sequences(struct rig *rig)
{
	static const uint32_t epochs[] = {0, 0x3ffffff4u, 0x7ffffff4u, 0xffffffe8u};
	/* Ready launches of one rank could fill a device that another rank needs. */
	const int programmatic = rig->device_count >= rig->world;
	uint32_t before = failures;

	for (uint32_t e = 0; e < 4; e++) {
		for (uint32_t seed = 1; seed <= 6; seed++)
			sequence(rig, -1, epochs[e] + (seed & 1), seed * 77 + e, programmatic && seed % 2);
		for (int kernel = 0; kernel < 2 * RIG_WRITERS; kernel++)
			sequence(rig, kernel, epochs[e] + (kernel & 1), 9, programmatic);
	}
	printf("sequences world %u: %u failures\n", rig->world, failures - before);
	fflush(stdout);
}

/* A peer that never comes: the wait ends by its bound and says so. */
static void absent_peer(struct rig *rig, int kernel)
{
	struct rig_call call = {.op = TF_OP_ALL_REDUCE,
		.algorithm = (enum tf_algorithm)(kernel / RIG_WRITERS),
		.writer = (enum tf_writer)(kernel % RIG_WRITERS),
		.count = 512,
		.ctas = 2,
		.threads = 128};
	struct tf_control control;
	uint64_t begin = rig_now_ns();
	char why[96];

	rig_reset(rig, 20000000, 0);
	rig_launch(rig, 0, &call);
	rig_launch(rig, 0, &call);
	if (rig_wait(rig, WAIT_S))
		give_up("absent peer");
	rig_control(rig, 0, &control);
	cases++;
	if (control.fault.code != TF_FAULT_TIMEOUT || control.fault.peer != 1 ||
		control.fault.group != 7 || control.fault.writer != (uint32_t)call.writer) {
		snprintf(why, sizeof(why), "fault %u peer %u group %u writer %u", control.fault.code,
			control.fault.peer, control.fault.group, control.fault.writer);
		fail(rig, 0, &call, why);
	}
	rig_control(rig, 1, &control);
	if (control.abort != 1)
		fail(rig, 1, &call, "the peer's abort word was not raised");
	if (rig_now_ns() - begin > UINT64_C(3000000000))
		fail(rig, 0, &call, "took more than 3 s");
	/* The second rank comes too late: it may finish on what was sent, or ends by the abort. */
	rig_launch(rig, 1, &call);
	if (rig_wait(rig, WAIT_S))
		give_up("late peer");
}

static void refused(struct rig *rig)
{
	struct rig_call call = {.op = TF_OP_ALL_REDUCE,
		.writer = TF_WRITER_SENTINEL,
		.count = 512,
		.ctas = 2,
		.threads = 128,
		.lie_ctas = 3};
	struct tf_control control;

	rig_reset(rig, TIMEOUT_NS, 0);
	rig_launch(rig, 0, &call);
	if (rig_wait(rig, WAIT_S))
		give_up("refused arguments");
	rig_control(rig, 0, &control);
	cases++;
	if (control.fault.code != TF_FAULT_ARGUMENT || control.family[TF_FAMILY_SENTINEL][0].epoch != 0)
		fail(rig, 0, &call, "was not refused");
}

static void masked(struct rig *rig)
{
	static uint8_t inputs[TF_WORLD_MAX * 512 * 4];
	struct rig_call call = {.op = TF_OP_ALL_REDUCE,
		.writer = TF_WRITER_DIRECT,
		.count = 512,
		.ctas = 2,
		.threads = 128};
	struct tf_control control;

	rig_reset(rig, TIMEOUT_NS, 0);
	upload(rig, &call, 3, TF_FILL_RANDOM, inputs);
	poison(rig, 0);
	for (uint32_t r = 0; r < rig->world; r++) {
		/* a word of zeros that is the rank's own: an epoch that nobody has used */
		call.mask = &((struct tf_control *)(void *)rig->segment[r])->family[TF_FAMILY_LL][0].epoch;
		rig_launch(rig, r, &call);
	}
	if (rig_wait(rig, WAIT_S))
		give_up("masked");
	compare(rig, &call, inputs);
	rig_control(rig, 0, &control);
	if (control.family[TF_FAMILY_FLAG][0].epoch != 0 || control.writer_calls[TF_WRITER_DIRECT])
		fail(rig, 0, &call, "a masked call moved the epoch");
}

static void counters(struct rig *rig)
{
	struct rig_call call = {
		.op = TF_OP_ALL_REDUCE, .writer = TF_WRITER_LL, .count = 512, .ctas = 3, .threads = 64};
	struct tf_control control;

	rig_reset(rig, TIMEOUT_NS, 0);
	for (uint32_t i = 0; i < 5; i++) {
		for (uint32_t r = 0; r < rig->world; r++)
			rig_launch(rig, r, &call);
	}
	if (settle(rig, "counters", 0))
		return;
	rig_control(rig, rig->world - 1, &control);
	cases++;
	if (control.writer_calls[TF_WRITER_LL] != 5 || control.calls != 5 ||
		control.family[TF_FAMILY_LL][0].epoch != 5 || control.ticket ||
		control.writer_bytes[TF_WRITER_LL] != 5u * (rig->world - 1) * 1024)
		fail(rig, rig->world - 1, &call, "the counters do not tell five calls");
}

/* Back to back, from epochs at which flags are refreshed and at which they wrap. */
static void copies(struct rig *rig)
{
	static const uint32_t epochs[] = {0, 0x3ffffffeu, 0x7ffffffeu, 0xfffffffcu};
	static const uint64_t counts[] = {1, 4096, 8191, 100, 9000, 5};
	static uint8_t inputs[6][TF_WORLD_MAX * COUNT_MAX * 4];
	struct tf_control control;

	for (uint32_t e = 0; e < 4; e++) {
		struct rig_call calls[6];

		rig_reset(rig, TIMEOUT_NS, epochs[e]);
		for (uint32_t i = 0; i < 6; i++) {
			calls[i] = (struct rig_call){.op = TF_OP_ALL_GATHER,
				.writer = TF_WRITER_COPY_ENGINE,
				.dtype = (enum tf_dtype)(i % TF_DTYPE_COUNT),
				.count = counts[i],
				.area_in = i,
				.area_out = i};
			upload(rig, &calls[i], 50 + i, TF_FILL_SPECIAL, inputs[i]);
			poison(rig, i);
		}
		for (uint32_t i = 0; i < 6; i++)
			for (uint32_t r = 0; r < rig->world; r++)
				rig_launch_copies(rig, r, &calls[i]);
		if (settle(rig, "copies", 0))
			return;
		for (uint32_t i = 0; i < 6; i++)
			compare(rig, &calls[i], inputs[i]);
		rig_control(rig, 0, &control);
		if (control.writer_calls[TF_WRITER_COPY_ENGINE] != 6 || control.calls != 6)
			fail(rig, 0, &calls[0], "the counters do not tell six calls");
	}
	printf("copies world %u done\n", rig->world);
}

#define STARTUP_GROUPS 2
#define STARTUP_SLOTS  5

static void startup_launch(struct rig *rig)
{
	for (uint32_t pass = 0; pass < TF_PASSES; pass++) {
		for (uint32_t r = 0; r < rig->world; r++)
			rig_launch_startup(rig, r, "pass_begin", 0, pass, NULL, 0);
		for (uint32_t slot = 0; slot < STARTUP_SLOTS; slot++) {
			struct rig_call call = {.op = TF_OP_ALL_REDUCE,
				.writer = (enum tf_writer)slot,
				.count = 1024,
				.ctas = 2,
				.threads = 128};

			for (uint32_t r = 0; r < rig->world; r++) {
				const uint8_t *storage = rig->segment[r] + rig->layout.startup_off;
				uint64_t mask_off;

				tf_startup_places(STARTUP_GROUPS, STARTUP_SLOTS, &mask_off, NULL, NULL, NULL, NULL);
				call.mask = (const uint32_t *)(const void *)(storage + mask_off) + slot;
				rig_launch_startup(rig, r, "sample_begin", slot, 0, rig_input(rig, r, 0), 2048);
				rig_launch(rig, r, &call);
				rig_launch_startup(rig, r, "sample_end", slot, 0, NULL, 0);
			}
		}
	}
	for (uint32_t r = 0; r < rig->world; r++)
		rig_launch_startup(rig, r, "select", 0, 0, NULL, 0);
}

static void startup_say(const struct rig *rig, const char *why)
{
	if (failures++ < MESSAGES)
		printf("FAIL startup world %u: %s\n", rig->world, why);
}

/* The longest of the ranks' durations in one launch; which rank it was. */
static uint64_t startup_longest(const struct rig *rig, uint8_t *const *stores, uint64_t ns_off,
	uint32_t launch, uint32_t i, uint64_t *out_of_slowest, uint8_t slowest)
{
	uint64_t most = 0;

	for (uint32_t r = 0; r < rig->world; r++) {
		const uint64_t *ns = (uint64_t *)(void *)(stores[r] + ns_off);
		uint64_t one = ns[(launch - 1) * STARTUP_SLOTS * TF_PASSES + i];

		most = one > most ? one : most;
		if (r == slowest)
			*out_of_slowest = one;
	}
	return most;
}

/* The samples of a stage are those that the ranks' durations give on the host. */
static void startup_samples(const struct rig *rig, uint8_t *const *stores, uint32_t stage,
	uint64_t ns_off, uint64_t maximum_off, uint64_t slowest_off)
{
	for (uint32_t i = 0; i < STARTUP_SLOTS * TF_PASSES; i++) {
		uint32_t cell = (stage - 1) * STARTUP_SLOTS * TF_PASSES + i;

		for (uint32_t r = 0; r < rig->world; r++) {
			uint64_t said = ((uint64_t *)(void *)(stores[r] + maximum_off))[cell];
			uint8_t slowest = stores[r][slowest_off + cell];
			uint64_t looks[TF_LOOKS], wanted, of_slowest = 0;

			if (stage == 1) {
				wanted = startup_longest(rig, stores, ns_off, 1, i, &of_slowest, slowest);
			} else {
				for (uint32_t look = 0; look < TF_LOOKS; look++)
					looks[look] =
						startup_longest(rig, stores, ns_off, 2 + look, i, &of_slowest, slowest);
				wanted = tf_sample_of_looks(looks);
			}
			if (said != wanted || slowest >= rig->world ||
				of_slowest != (stage == 1 ? wanted : looks[TF_LOOKS - 1]))
				startup_say(rig, "a sample is not that of the ranks");
		}
	}
}

static void startup(struct rig *rig)
{
	struct tf_group groups[STARTUP_GROUPS];
	struct tf_group_candidate candidates[STARTUP_SLOTS];
	struct tf_program program = {.groups = groups,
		.group_count = STARTUP_GROUPS,
		.candidates = candidates,
		.candidate_count = STARTUP_SLOTS};
	uint64_t mask_off, ns_off, maximum_off, slowest_off, groups_off, bytes;
	uint8_t *stores[TF_WORLD_MAX];

	memset(groups, 0, sizeof(groups));
	memset(candidates, 0, sizeof(candidates));
	for (uint32_t i = 0; i < STARTUP_SLOTS; i++)
		candidates[i].group = i < 3 ? 0 : 1;
	bytes = tf_startup_places(
		STARTUP_GROUPS, STARTUP_SLOTS, &mask_off, &ns_off, &maximum_off, &slowest_off, &groups_off);
	rig_reset(rig, TIMEOUT_NS, 0);
	for (uint32_t r = 0; r < rig->world; r++) {
		stores[r] = calloc(1, bytes);
		if (!stores[r])
			_exit(1);
		tf_startup_prepare(stores[r], &program);
		CHECK(cudaMemcpy(
			rig->segment[r] + rig->layout.startup_off, stores[r], bytes, cudaMemcpyHostToDevice));
	}
	for (uint32_t launch = 1; launch <= TF_LAUNCHES; launch++) {
		uint32_t stage = launch == 1 ? 1 : 2;

		startup_launch(rig);
		if (settle(rig, "startup", 0))
			return;
		if (launch > 1 && launch < TF_LAUNCHES)
			continue;
		for (uint32_t r = 0; r < rig->world; r++)
			CHECK(cudaMemcpy(stores[r], rig->segment[r] + rig->layout.startup_off, bytes,
				cudaMemcpyDeviceToHost));
		startup_samples(rig, stores, stage, ns_off, maximum_off, slowest_off);
		for (uint32_t r = 0; r < rig->world; r++) {
			const uint64_t *rows = (uint64_t *)(void *)(stores[r] + maximum_off) +
				(stage - 1) * STARTUP_SLOTS * TF_PASSES;
			const struct tf_startup_group *said = (void *)(stores[r] + groups_off);
			const uint32_t *mask = (void *)(stores[r] + mask_off);
			uint8_t survivors[STARTUP_SLOTS];

			cases++;
			for (uint32_t g = 0; g < STARTUP_GROUPS; g++) {
				uint32_t first = g ? 3 : 0, count = g ? 2 : 3;
				uint32_t choice = tf_select_pick(rows + first * TF_PASSES, count);

				if (stage == 2 && (said[g].status || said[g].selector != first + choice))
					startup_say(rig, "the pick is not the host's");
				tf_select_survivors(rows + first * TF_PASSES, count, survivors + first);
			}
			for (uint32_t i = 0; i < STARTUP_SLOTS && stage == 1; i++) {
				if (mask[i] != survivors[i])
					startup_say(rig, "the survivors are not the host's");
			}
			if (((struct tf_startup_header *)(void *)stores[r])->launch != launch + 1 ||
				((struct tf_startup_header *)(void *)stores[r])->aggregate !=
					(stage == 2 ? TF_STARTUP_OK : TF_STARTUP_PENDING))
				startup_say(rig, "launch or aggregate");
		}
	}
	for (uint32_t r = 0; r < rig->world; r++)
		free(stores[r]);
	printf("startup world %u done\n", rig->world);
}

/* One device; two that do not use each other's memory; two that do. */
enum dealing { DEALING_ONE = 0, DEALING_PARTED, DEALING_PEERS, DEALING_COUNT };

static void check_world(enum dealing dealing, uint32_t devices, uint32_t world)
{
	struct rig_options options = {.world = world,
		.device_count = devices,
		.areas = AREAS,
		.in_bytes = COUNT_MAX * 4,
		.ll_bytes = COUNT_MAX * 4,
		.groups = STARTUP_GROUPS,
		.slots = STARTUP_SLOTS,
		.parted = dealing == DEALING_PARTED};
	struct rig rig;

	rig_init(&rig, &options);
	rig_reset(&rig, TIMEOUT_NS, 0);
	matrix(&rig);
	sequences(&rig);
	if (!rig.parted) {
		counters(&rig);
		masked(&rig);
		copies(&rig);
		startup(&rig);
	}
	if (world == 2 && !rig.parted)
		refused(&rig);
	for (int kernel = 0; world == 2 && kernel < 2 * RIG_WRITERS; kernel++) {
		if (may_run(&rig, kernel % RIG_WRITERS))
			absent_peer(&rig, kernel);
	}
	rig_fini(&rig);
}

int kernels_check(uint32_t device_count, uint64_t deadline_ns, uint32_t one_in)
{
	uint32_t worlds = 0;

	every = one_in;
	for (int dealing = 0; dealing < DEALING_COUNT; dealing++) {
		uint32_t devices = dealing == DEALING_ONE ? 1 : 2;

		/* on one device the parted ranks are tested as well where there is no second */
		if (dealing == DEALING_PARTED && device_count < 2)
			devices = 1;
		if (devices > device_count || (dealing == DEALING_PEERS && !rig_enable_peers(devices)))
			continue;
		for (uint32_t world = 2; world <= TF_WORLD_MAX; world++) {
			const char *how = dealing == DEALING_PARTED ? " without peer access" : "";

			if (rig_now_ns() > deadline_ns) {
				printf("out of time before world %u on %u devices%s\n", world, devices, how);
				failures++;
				break;
			}
			printf("world %u on %u device(s)%s\n", world, devices, how);
			check_world((enum dealing)dealing, devices, world);
			worlds++;
			printf(
				"world %u on %u device(s)%s: %u failures so far\n", world, devices, how, failures);
			fflush(stdout);
		}
	}
	printf("check: %u worlds, %u comparisons, %u failures\n", worlds, cases, failures);
	return failures || !worlds;
}
