/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microseconds a call of every host kernel, ranks as processes: bench_collective [world [dtype
 * [filter]]]. Each figure is the least and the median over batches of back-to-back calls, on rank
 * 0, for the best CTA count of a few. Rank r is bound to CPU r modulo their number.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "tests/collective/ranks.h"
#include "runtime/collective/barrier.h"
#include "runtime/collective/host_simd.h"

#define BATCHES     31
#define BATCH_NS    4e5
#define BYTES_LIMIT (1 << 20)

static const uint64_t sizes[] = {2048, 8192, 65536, 262144, BYTES_LIMIT};
static const uint32_t ctas[] = {1, 2, 4, 8, 16};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct options {
	enum tf_dtype dtype;
	const char *filter;
	int fresh;
	uint64_t *calls; /* shared: calls a batch */
};

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void dirty(uint8_t *input, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 64)
		*(volatile uint8_t *)&input[i] ^= 1;
}

/* The batch as rank 0 sizes it, the same for all ranks. */
static uint64_t batch_calls(struct ranks *ranks, uint32_t rank, struct tf_collective_args *args,
	const struct tf_collective_kernel *kernel, uint64_t *shared)
{
	const uint64_t probe = 20;
	int64_t begin;

	for (uint64_t i = 0; i < probe; i++)
		tf_collective_host_run(args, kernel->op, kernel->algorithm, kernel->writer);
	begin = tf_now_ns();
	for (uint64_t i = 0; i < probe; i++)
		tf_collective_host_run(args, kernel->op, kernel->algorithm, kernel->writer);
	if (rank == 0)
		*shared = 1 + (uint64_t)(BATCH_NS * (double)probe / (double)(tf_now_ns() - begin + 1));
	tf_barrier(args->control, rank, ranks->world, 0);
	return *shared;
}

static double microseconds(struct ranks *ranks, uint32_t rank, const struct options *options,
	const struct tf_collective_kernel *kernel, uint64_t bytes, uint32_t cta_count,
	double *out_median)
{
	struct tf_group group = {.op = kernel->op,
		.dtype = options->dtype,
		.row_elements = bytes / tf_dtype_bytes(options->dtype),
		.capacity = 1};
	struct tf_candidate candidate = {.algorithm = kernel->algorithm,
		.writer = kernel->writer,
		.ctas = cta_count,
		.chunk_bytes = kernel->writer == TF_WRITER_QUEUED ? 4096 * (uint64_t)cta_count : 0};
	struct tf_collective_args args;
	int64_t ns[BATCHES];
	uint64_t calls;

	tf_collective_args_fill(&args, &ranks->layout, &group, 0, &candidate, ranks->base, rank,
		ranks->world, ranks_input(ranks, rank), ranks_output(ranks, rank), NULL);
	calls = batch_calls(ranks, rank, &args, kernel, options->calls);
	for (uint32_t batch = 0; batch < BATCHES; batch++) {
		tf_barrier(args.control, rank, ranks->world, 0);
		ns[batch] = tf_now_ns();
		for (uint64_t i = 0; i < calls; i++) {
			if (options->fresh)
				dirty(ranks_input(ranks, rank), bytes);
			tf_collective_host_run(&args, kernel->op, kernel->algorithm, kernel->writer);
		}
		ns[batch] = tf_now_ns() - ns[batch];
	}
	qsort(ns, BATCHES, sizeof(ns[0]), compare_ns);
	*out_median = (double)ns[BATCHES / 2] / 1000.0 / (double)calls;
	return (double)ns[0] / 1000.0 / (double)calls;
}

static void bind_rank(uint32_t rank)
{
	cpu_set_t all, one;
	uint32_t wanted, cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	wanted = rank % (uint32_t)CPU_COUNT(&all);
	while (!CPU_ISSET(cpu, &all) || wanted--)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void bench(struct ranks *ranks, uint32_t rank, void *user)
{
	const struct options *options = user;
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);

	bind_rank(rank);
	memset(ranks_output(ranks, rank), 1, ranks->world * BYTES_LIMIT);
	tf_operand_fill(TF_FILL_RANDOM, options->dtype, 1, rank,
		BYTES_LIMIT / tf_dtype_bytes(options->dtype), ranks_input(ranks, rank));
	for (uint32_t i = 0; i < count; i++) {
		if (options->filter && !strstr(kernels[i].name, options->filter))
			continue;
		if (rank == 0)
			printf("%-32s", kernels[i].name);
		for (uint32_t s = 0; s < LENGTH(sizes); s++) {
			double best = 0, best_median = 0, median;
			uint32_t best_ctas = 0;

			for (uint32_t c = 0; c < LENGTH(ctas); c++) {
				double us =
					microseconds(ranks, rank, options, &kernels[i], sizes[s], ctas[c], &median);

				if (best_ctas == 0 || us < best) {
					best = us;
					best_median = median;
					best_ctas = ctas[c];
				}
			}
			if (rank == 0)
				printf(" %7.2f/%7.2f(%2u)", best, best_median, best_ctas);
		}
		if (rank == 0) {
			printf("\n");
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	long world = argc > 1 ? atol(argv[1]) : 2;
	int dtype = argc > 2 ? tf_dtype_parse(argv[2]) : TF_DTYPE_F32;
	struct options options = {.dtype = (enum tf_dtype)dtype,
		.filter = argc > 3 ? argv[3] : NULL,
		.fresh = argc > 4 && !strcmp(argv[4], "fresh")};
	struct ranks ranks;

	if (world < TF_WORLD_MIN || world > TF_WORLD_MAX || dtype < 0) {
		fprintf(stderr,
			"usage: bench_collective [world 2..8 [bf16|f16|f32 [part of a name [fresh]]]]\n");
		return 2;
	}
	ranks_init(&ranks, (uint32_t)world, BYTES_LIMIT, 0);
	options.calls = (uint64_t *)(void *)(ranks.message - 32);
	printf("%ld ranks, %s, %s; us a call (CTAs)\n%-32s", world, tf_dtype_name(options.dtype),
		tf_host_simd()->name, "bytes");
	for (uint32_t s = 0; s < LENGTH(sizes); s++)
		printf(" %15llu    ", (unsigned long long)sizes[s]);
	printf("\n");
	fflush(stdout);
	ranks_processes(&ranks, bench, &options);
	dtype = ranks_failures(&ranks) != 0;
	ranks_fini(&ranks);
	return dtype;
}
