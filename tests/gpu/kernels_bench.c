/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of calls of one collective in one CUDA graph on two ranks, over sizes, writers, CTAs and
 * threads, with and without programmatic edges; NCCL in the same graph form beside it.
 *
 * One graph a rank: sample_begin (rendezvous, stamp), the chain, sample_end (stamp). The time of a
 * launch is the longer of the two ranks' own durations. Every launch of every candidate is tried
 * with few replays; the best of each writer is measured again with more. Then the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/program.h"
#include "tests/gpu/kernels_check.h"
#include "tests/gpu/kernels_nccl.h"
#include "tests/gpu/kernels_rig.h"

#define CHAIN        86
#define TRY_REPLAYS  3
#define LONG_REPLAYS 11
#define REPLAYS_MAX  16
#define TIMEOUT_NS   200000000u
#define WAIT_S       10
#define FAULTS_MAX   6
#define LL_BYTES     (1u << 20)

static const uint64_t sizes[] = {2 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10,
	256 << 10, 512 << 10, 1 << 20, 4 << 20, 16 << 20};
#define SIZE_COUNT (sizeof(sizes) / sizeof(sizes[0]))
/* The best published kernels' all-reduce on two H200, ns, by size. */
static const uint32_t to_beat[SIZE_COUNT] = {
	1980, 2060, 2140, 2270, 2420, 2590, 2940, 3720, 5230, 14400, 52600};
static const uint32_t cta_counts[] = {1, 2, 4, 8, 16, 32, 64, 128};
static const uint32_t thread_counts[] = {256, 512, 1024};

struct result {
	struct rig_call call;
	uint64_t ns; /* a call; 0: none */
};

/* [op][size][algorithm * RIG_WRITERS + writer] */
static struct result best[TF_OP_COUNT][SIZE_COUNT][2 * RIG_WRITERS];
static struct result plain[TF_OP_COUNT][SIZE_COUNT]; /* the winner without programmatic edges */
static volatile uint64_t nccl_ns[TF_OP_COUNT][NCCL_SIZES_MAX];
static uint32_t faults, measured, wrong;
static FILE *log_file;
static uint32_t writers; /* bits: which are measured */

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void capture(
	const struct rig *rig, uint32_t rank, const struct rig_call *call, cudaGraphExec_t *out)
{
	cudaGraph_t graph;

	CHECK(cudaSetDevice((int)rig_device(rig, rank)));
	CHECK(cudaStreamBeginCapture(rig->stream[rank], cudaStreamCaptureModeRelaxed));
	rig_launch_startup(rig, rank, "sample_begin", 0, 0, NULL, 0);
	for (int i = 0; i < CHAIN; i++)
		rig_launch(rig, rank, call);
	rig_launch_startup(rig, rank, "sample_end", 0, 0, NULL, 0);
	CHECK(cudaStreamEndCapture(rig->stream[rank], &graph));
	CHECK(cudaGraphInstantiate(out, graph, 0));
	CHECK(cudaGraphUpload(*out, rig->stream[rank]));
	CHECK(cudaGraphDestroy(graph));
}

static void prepare_startup(struct rig *rig)
{
	struct tf_group group = {.capacity = 1};
	struct tf_group_candidate candidate = {.group = 0};
	struct tf_program program = {
		.groups = &group, .group_count = 1, .candidates = &candidate, .candidate_count = 1};
	uint64_t bytes = tf_startup_places(1, 1, NULL, NULL, NULL, NULL, NULL);
	uint8_t *store = calloc(1, bytes);

	if (!store)
		_exit(1);
	tf_startup_prepare(store, &program);
	for (uint32_t r = 0; r < rig->world; r++)
		CHECK(cudaMemcpy(
			rig->segment[r] + rig->layout.startup_off, store, bytes, cudaMemcpyHostToDevice));
	free(store);
}

/* ns a call: the median over replays of the longer rank's duration. 0: a fault. */
static uint64_t measure(struct rig *rig, const struct rig_call *call, uint32_t replays)
{
	cudaGraphExec_t exec[TF_WORLD_MAX];
	uint64_t ns[REPLAYS_MAX], ns_off, median = 0;
	char text[160];
	int bad = 0;

	tf_startup_places(1, 1, NULL, &ns_off, NULL, NULL, NULL);
	for (uint32_t r = 0; r < rig->world; r++)
		capture(rig, r, call, &exec[r]);
	for (uint32_t i = 0; i <= replays && !bad; i++) {
		uint64_t most = 0;

		for (uint32_t r = 0; r < rig->world; r++) {
			CHECK(cudaSetDevice((int)rig_device(rig, r)));
			CHECK(cudaGraphLaunch(exec[r], rig->stream[r]));
		}
		if (rig_wait(rig, WAIT_S)) {
			printf("a chain did not end: %s\n", rig_call_text(call, text, sizeof(text)));
			fflush(stdout);
			_exit(1);
		}
		for (uint32_t r = 0; r < rig->world; r++) {
			uint64_t one = 0;

			CHECK(cudaMemcpy(&one, rig->segment[r] + rig->layout.startup_off + ns_off, sizeof(one),
				cudaMemcpyDeviceToHost));
			most = one > most ? one : most;
		}
		if (i) /* the first launch is slow */
			ns[i - 1] = most / CHAIN;
		bad = most == TF_NS_NONE;
	}
	bad |= rig_faults(rig, rig_call_text(call, text, sizeof(text))) != 0;
	for (uint32_t r = 0; r < rig->world; r++)
		CHECK(cudaGraphExecDestroy(exec[r]));
	measured++;
	if (bad) {
		faults++;
		rig_reset(rig, TIMEOUT_NS, 0);
		prepare_startup(rig);
		return 0;
	}
	qsort(ns, replays, sizeof(ns[0]), compare_ns);
	median = ns[replays / 2];
	if (log_file)
		fprintf(log_file, "%llu %s\n", (unsigned long long)median, text);
	return median;
}

/* Launches that cannot be good are left out: threads without work, or far too much for each. */
static int worth(const struct rig_call *call, uint64_t bytes)
{
	uint64_t lanes = (uint64_t)call->ctas * call->threads;
	uint64_t units = bytes / (call->writer == TF_WRITER_LL ? 8 : 16);

	if (call->algorithm == TF_ALGORITHM_TWO_SHOT || call->op == TF_OP_REDUCE_SCATTER)
		units /= 2;
	if (call->writer == TF_WRITER_LL && bytes > LL_BYTES)
		return 0;
	if (call->writer == TF_WRITER_SERIAL && bytes < 65536)
		return 0;
	if (call->writer == TF_WRITER_QUEUED && (bytes < 131072 || call->threads != 512))
		return 0;
	if (call->ctas > 1 && lanes > 2 * units)
		return 0;
	return units <= 64 * lanes;
}

static void try_writer(
	struct rig *rig, struct rig_call call, uint32_t size, struct result *out, uint64_t deadline_ns)
{
	for (uint32_t c = 0; c < sizeof(cta_counts) / sizeof(cta_counts[0]); c++) {
		for (uint32_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++) {
			uint64_t ns;

			call.ctas = cta_counts[c];
			call.threads = thread_counts[t];
			if (rig->device_count == 1 && call.ctas > 32)
				continue;
			if (!worth(&call, sizes[size]) || rig_now_ns() > deadline_ns || faults >= FAULTS_MAX)
				continue;
			ns = measure(rig, &call, TRY_REPLAYS);
			if (ns && (!out->ns || ns < out->ns)) {
				out->ns = ns;
				out->call = call;
			}
		}
	}
}

/* The output of the call just measured against the reference. */
static void verify(struct rig *rig, const struct rig_call *call)
{
	uint64_t bytes = call->count * 2, out_bytes;
	uint8_t *inputs = malloc(2 * bytes), *expected = malloc(2 * bytes), *found = malloc(2 * bytes);
	const void *from[2];
	char text[160];

	if (!inputs || !expected || !found)
		_exit(1);
	for (uint32_t r = 0; r < 2; r++) {
		tf_operand_fill(TF_FILL_RANDOM, call->dtype, 5, r, call->count, inputs + r * bytes);
		from[r] = inputs + r * bytes;
	}
	for (uint32_t r = 0; r < 2; r++) {
		out_bytes = tf_owned_count(call->op, call->count, r, 2) * 2;
		tf_reference(call->op, call->dtype, 2, r, call->count, from, expected);
		CHECK(cudaMemcpy(found, rig_output(rig, r, 0), out_bytes, cudaMemcpyDeviceToHost));
		if (memcmp(found, expected, out_bytes)) {
			printf("WRONG BYTES on rank %u: %s\n", r, rig_call_text(call, text, sizeof(text)));
			wrong++;
		}
	}
	free(inputs);
	free(expected);
	free(found);
}

static struct result *winner(uint32_t op, uint32_t size)
{
	struct result *first = NULL;

	for (uint32_t i = 0; i < 2 * RIG_WRITERS; i++) {
		struct result *one = &best[op][size][i];

		if (one->ns && (!first || one->ns < first->ns))
			first = one;
	}
	return first;
}

static void bench_size(struct rig *rig, uint32_t op, uint32_t size, uint64_t deadline_ns)
{
	struct result *first;
	uint64_t ns;

	for (uint32_t r = 0; r < rig->world; r++) {
		uint8_t *input = malloc(sizes[size]);

		if (!input)
			_exit(1);
		tf_operand_fill(TF_FILL_RANDOM, TF_DTYPE_BF16, 5, r, sizes[size] / 2, input);
		CHECK(cudaMemcpy(rig_input(rig, r, 0), input, sizes[size], cudaMemcpyHostToDevice));
		free(input);
	}
	for (uint32_t i = 0; i < 2 * RIG_WRITERS; i++) {
		struct rig_call call = {.op = (enum tf_op)op,
			.algorithm = (enum tf_algorithm)(i / RIG_WRITERS),
			.writer = (enum tf_writer)(i % RIG_WRITERS),
			.dtype = TF_DTYPE_BF16,
			.count = sizes[size] / 2,
			.programmatic = rig->device_count >= rig->world};
		struct result *out = &best[op][size][i];

		if (call.algorithm == TF_ALGORITHM_TWO_SHOT && op != TF_OP_ALL_REDUCE)
			continue;
		/* staged: slots here lie in device memory */
		if (!(writers >> call.writer & 1) || call.writer == TF_WRITER_STAGED)
			continue;
		if (call.writer == TF_WRITER_QUEUED)
			call.chunk_bytes = 65536;
		try_writer(rig, call, size, out, deadline_ns);
		if (!out->ns || faults >= FAULTS_MAX)
			continue;
		ns = measure(rig, &out->call, LONG_REPLAYS);
		out->ns = ns;
		if (ns)
			verify(rig, &out->call);
	}
	first = winner(op, size);
	if (!first || faults >= FAULTS_MAX)
		return;
	plain[op][size].call = first->call;
	plain[op][size].call.programmatic = 0;
	plain[op][size].ns = measure(rig, &plain[op][size].call, LONG_REPLAYS);
}

static void print_us(uint64_t ns)
{
	if (ns)
		printf(" %7.2f", (double)ns / 1000);
	else
		printf("       -");
}

static void print_op(uint32_t op)
{
	printf("\n%s, us a call (chain of %d, bf16, 2 ranks); bytes = one rank's input\n",
		tf_op_name((enum tf_op)op), CHAIN);
	printf("    KiB    best   plain    nccl  ratio%s  launch\n",
		op == TF_OP_ALL_REDUCE ? " to beat" : "");
	for (uint32_t s = 0; s < SIZE_COUNT; s++) {
		const struct result *first = winner(op, s);

		if (!first)
			continue;
		printf("%7llu", (unsigned long long)sizes[s] >> 10);
		print_us(first->ns);
		print_us(plain[op][s].ns);
		print_us(nccl_ns[op][s]);
		printf("  %5.2f", nccl_ns[op][s] ? (double)first->ns / (double)nccl_ns[op][s] : 0.0);
		if (op == TF_OP_ALL_REDUCE)
			printf(" %6.2f%c", to_beat[s] / 1000.0, first->ns < to_beat[s] ? '*' : ' ');
		printf("  %s %s %u x %u\n", tf_algorithm_name(first->call.algorithm),
			tf_writer_name(first->call.writer), first->call.ctas, first->call.threads);
	}
}

static void print_writers(uint32_t op)
{
	printf("\n%s by writer, us (CTAs x threads of the best)\n", tf_op_name((enum tf_op)op));
	for (uint32_t s = 0; s < SIZE_COUNT; s++) {
		printf("%7llu", (unsigned long long)sizes[s] >> 10);
		for (uint32_t i = 0; i < 2 * RIG_WRITERS; i++) {
			const struct result *one = &best[op][s][i];

			if (one->ns)
				printf(" %s%s %.2f(%ux%u)", i < RIG_WRITERS ? "" : "2",
					tf_writer_name(one->call.writer), (double)one->ns / 1000, one->call.ctas,
					one->call.threads);
		}
		printf("\n");
	}
}

int kernels_bench(uint32_t device_count, const struct kernels_bench_options *bench)
{
	const int all = !bench->ops && !bench->writers;
	const uint32_t ops = bench->ops ? bench->ops : UINT32_MAX;
	struct rig_options options = {.world = 2,
		.device_count = device_count < 2 ? 1 : 2,
		.areas = 1,
		.in_bytes = sizes[SIZE_COUNT - 1],
		.ll_bytes = LL_BYTES,
		.groups = 1,
		.slots = 1};
	static struct rig rig;
	uint64_t own_end = bench->deadline_ns - (all ? UINT64_C(40000000000) : 0);

	if (options.device_count == 2 && !rig_enable_peers(2)) {
		printf("no peer access between devices 0 and 1\n");
		return 1;
	}
	writers = bench->writers ? bench->writers : UINT32_MAX;
	if (bench->log)
		log_file = fopen(bench->log, "w");
	rig_init(&rig, &options);
	rig_reset(&rig, TIMEOUT_NS, 0);
	prepare_startup(&rig);
	for (uint32_t op = 0; op < TF_OP_COUNT; op++) {
		for (uint32_t s = 0; s < SIZE_COUNT && (ops >> op & 1) && rig_now_ns() < own_end; s++)
			bench_size(&rig, op, s, own_end);
	}
	printf("%u launches measured, %u faults, %u wrong\n", measured, faults, wrong);
	fflush(stdout);
	if (log_file)
		fclose(log_file);
	if (options.device_count == 2 && all)
		kernels_nccl(&rig, sizes, SIZE_COUNT, CHAIN, bench->deadline_ns, nccl_ns);
	for (uint32_t op = 0; op < TF_OP_COUNT; op++) {
		if (ops >> op & 1)
			print_writers(op);
	}
	for (uint32_t op = 0; op < TF_OP_COUNT; op++) {
		if (ops >> op & 1)
			print_op(op);
	}
	fflush(stdout);
	return faults || wrong;
}
