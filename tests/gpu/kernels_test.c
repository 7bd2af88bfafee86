/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_test check | bench [--kernels FILE] [--log FILE] [--seconds N] [--op NAME]
 * [--writer NAME] [--one-in N]: the CUDA kernels alone, without the runtime around them. --op and
 * --writer, which may be given several times, limit the bench to these and leave NCCL out; --one-in
 * thins the check out, for a sanitizer, under which all of it takes hours. Ends within N
 * seconds (170); every wait of the kernels is bounded. Exit code 77 where there is no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/kernels_check.h"
#include "tests/gpu/kernels_rig.h"

struct options {
	const char *verb, *kernels;
	struct kernels_bench_options bench;
	uint64_t seconds;
	uint32_t one_in;
};

/* Adds the bit of `name` among `count` names; 0 if it is one. */
static int parse_bit(const char *name, const char *(*name_of)(int), int count, uint32_t *bits)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(name, name_of(i)))
			continue;
		*bits |= 1u << i;
		return 0;
	}
	return 1;
}

static const char *op_name(int op)
{
	return tf_op_name((enum tf_op)op);
}

static const char *writer_name(int writer)
{
	return tf_writer_name((enum tf_writer)writer);
}

static int parse(int argc, char **argv, struct options *out)
{
	if (argc < 2 || argc % 2 || (strcmp(argv[1], "check") && strcmp(argv[1], "bench")))
		return 1;
	out->verb = argv[1];
	out->seconds = 170;
	out->one_in = 1;
	for (int i = 2; i < argc; i += 2) {
		if (!strcmp(argv[i], "--kernels"))
			out->kernels = argv[i + 1];
		else if (!strcmp(argv[i], "--log"))
			out->bench.log = argv[i + 1];
		else if (!strcmp(argv[i], "--seconds"))
			out->seconds = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--one-in"))
			out->one_in = (uint32_t)strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--op")) {
			if (parse_bit(argv[i + 1], op_name, TF_OP_COUNT, &out->bench.ops))
				return 1;
		} else if (!strcmp(argv[i], "--writer")) {
			if (parse_bit(argv[i + 1], writer_name, RIG_WRITERS, &out->bench.writers))
				return 1;
		} else
			return 1;
	}
	return !out->one_in;
}

/*
 * Streams of ranks on one device must not share a hardware queue, and no kernel may be loaded or
 * given local memory while others wait for it.
 */
static uint32_t open_devices(void)
{
	int count = 0;

	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
	if (cudaGetDeviceCount(&count) != cudaSuccess || count < 1)
		return 0;
	if (count > 2)
		count = 2;
	for (int i = 0; i < count; i++) {
		CHECK(cudaInitDevice(
			i, cudaDeviceLmemResizeToMax | cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid));
		CHECK(cudaSetDevice(i));
	}
	return (uint32_t)count;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	uint32_t devices;
	int code;

	if (parse(argc, argv, &options)) {
		fprintf(stderr,
			"usage: kernels_test check|bench [--kernels FILE] [--log FILE] "
			"[--seconds N] [--op NAME] [--writer NAME] [--one-in N]\n");
		return 2;
	}
	options.bench.deadline_ns = rig_now_ns() + options.seconds * UINT64_C(1000000000);
	devices = open_devices();
	if (!devices) {
		printf("no CUDA device\n");
		return 77;
	}
	rig_load_kernels(options.kernels);
	rig_warm_kernels(devices);
	printf("%u device(s), kernels %s\n", devices, options.kernels ? options.kernels : "built in");
	fflush(stdout);
	if (!strcmp(options.verb, "check"))
		code = kernels_check(devices, options.bench.deadline_ns, options.one_in);
	else
		code = kernels_bench(devices, &options.bench);
	fflush(stdout);
	_exit(code); /* threads may have been left behind in NCCL */
}
