/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfprep-mpi-bench: what `tfprep bench --against mpi` starts under mpirun. Times MPI_Allreduce
 * (floats, sum) and MPI_Allgather (bytes) in chains of calls that have operands of their own,
 * whose inputs each rank writes before a launch, as ours do.
 *
 *   tfprep-mpi-bench LAUNCHES LIMIT_SECONDS OP:BYTES:CALLS...
 *
 * Rank 0 prints a line of JSON that names the library, then one a case: chain_ns holds the slowest
 * rank's time of each launch. A rank that outlives the limit or its parent is killed.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/deadline.h"
#include "prepare/bench/bench.h"

#define ALIGN_BYTES 4096
#define LIMIT_MAX   100000 /* seconds */

struct operands {
	void *input[TF_BENCH_CALLS_MAX], *output[TF_BENCH_CALLS_MAX]; /* (calls) */
};

struct bench {
	int rank, world, launches;
	struct tf_bench_case what;
};

static _Noreturn void give_up(const char *what, const char *word)
{
	fprintf(stderr, "tfprep-mpi-bench: %s '%s'\n", what, word);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

/* MPI ends the program when a call fails, by its default error handler. */
static void call_once(const struct bench *bench, const struct operands *operands, uint32_t index)
{
	const void *input = operands->input[index];
	void *output = operands->output[index];
	int bytes = (int)bench->what.bytes;

	if (bench->what.op == TF_OP_ALL_REDUCE)
		MPI_Allreduce(
			input, output, bytes / (int)sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	else
		MPI_Allgather(input, bytes, MPI_BYTE, output, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

/* Finite floats, as ours are; other ones in every launch. */
static void write_inputs(const struct bench *bench, const struct operands *operands, int launch)
{
	for (uint32_t call = 0; call < bench->what.calls; call++) {
		float *input = operands->input[call];

		for (size_t i = 0; i < bench->what.bytes / sizeof(float); i++)
			input[i] = (float)(i & 1023) / 1024.0f - (float)(bench->rank + launch);
	}
}

static int64_t launch_chain(const struct bench *bench, const struct operands *operands)
{
	int64_t begin;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = tf_now_ns();
	for (uint32_t i = 0; i < bench->what.calls; i++)
		call_once(bench, operands, i);
	return tf_now_ns() - begin;
}

/* Written, so that every page is there. */
static void *make_operand(uint64_t bytes)
{
	size_t size = (size_t)tf_align_up(bytes, ALIGN_BYTES);
	void *operand = aligned_alloc(ALIGN_BYTES, size);

	if (!operand)
		give_up("no memory for", "operands");
	return memset(operand, 0, size);
}

static void make_operands(const struct bench *bench, struct operands *operands)
{
	uint64_t gathered = bench->what.op == TF_OP_ALL_GATHER ? (uint64_t)bench->world : 1;

	for (uint32_t i = 0; i < bench->what.calls; i++) {
		operands->input[i] = make_operand(bench->what.bytes);
		operands->output[i] = make_operand(gathered * bench->what.bytes);
	}
}

static void print_case(const struct bench *bench, const int64_t *chain_ns)
{
	printf("{\"op\": \"%s\", \"bytes\": %llu, \"calls\": %u, \"chain_ns\": [",
		tf_op_name(bench->what.op), (unsigned long long)bench->what.bytes, bench->what.calls);
	for (int i = 0; i < bench->launches; i++)
		printf("%s%lld", i ? ", " : "", (long long)chain_ns[i]);
	printf("]}\n");
}

static void run_case(const struct bench *bench)
{
	int64_t mine[TF_BENCH_LAUNCHES], slowest[TF_BENCH_LAUNCHES], unused;
	struct operands operands;

	make_operands(bench, &operands);
	for (int i = -TF_BENCH_WARM; i < bench->launches; i++) {
		write_inputs(bench, &operands, i);
		*(i < 0 ? &unused : &mine[i]) = launch_chain(bench, &operands);
	}
	MPI_Reduce(mine, slowest, bench->launches, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
	for (uint32_t i = 0; i < bench->what.calls; i++) {
		free(operands.input[i]);
		free(operands.output[i]);
	}
	if (!bench->rank)
		print_case(bench, slowest);
}

static unsigned long number(const char *text, unsigned long max)
{
	char *end = NULL;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || !value || value > max)
		give_up("not a number in its range:", text);
	return value;
}

/* OP:BYTES:CALLS */
static struct tf_bench_case parse_case(const char *text)
{
	char op[32];
	unsigned long long bytes;
	unsigned calls;
	char rest;

	if (sscanf(text, "%31[a-z_]:%llu:%u%c", op, &bytes, &calls, &rest) != 3 ||
		(strcmp(op, "all_reduce") && strcmp(op, "all_gather")) || !bytes || bytes > INT32_MAX ||
		!calls || calls > TF_BENCH_CALLS_MAX)
		give_up("not a case:", text);
	return (struct tf_bench_case){
		.op = (enum tf_op)tf_op_parse(op), .bytes = bytes, .calls = calls};
}

static void print_library(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;

	MPI_Get_library_version(text, &length);
	text[strcspn(text, ",\n\"\\")] = '\0';
	printf("{\"library\": \"%s\"}\n", text);
}

int main(int argc, char **argv)
{
	struct bench bench;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &bench.world);
	if (argc < 4)
		give_up("usage:", "tfprep-mpi-bench LAUNCHES LIMIT_SECONDS OP:BYTES:CALLS...");
	bench.launches = (int)number(argv[1], TF_BENCH_LAUNCHES);
	alarm((unsigned)number(argv[2], LIMIT_MAX));
	if (!bench.rank)
		print_library();
	for (int i = 3; i < argc; i++) {
		bench.what = parse_case(argv[i]);
		run_case(&bench);
	}
	MPI_Finalize();
	return 0;
}
