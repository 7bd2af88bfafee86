/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_test check | bench [--kernels FILE] [--log FILE] [--seconds N]: the CUDA kernels alone,
 * without the runtime around them. Ends within N seconds (170); every wait of the kernels is
 * bounded. Exit code 77 where there is no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/kernels_check.h"
#include "tests/gpu/kernels_rig.h"

struct options {
	const char *verb, *kernels, *log;
	uint64_t seconds;
};

static int parse(int argc, char **argv, struct options *out)
{
	if (argc < 2 || argc % 2 || (strcmp(argv[1], "check") && strcmp(argv[1], "bench")))
		return 1;
	out->verb = argv[1];
	out->seconds = 170;
	for (int i = 2; i < argc; i += 2) {
		if (!strcmp(argv[i], "--kernels"))
			out->kernels = argv[i + 1];
		else if (!strcmp(argv[i], "--log"))
			out->log = argv[i + 1];
		else if (!strcmp(argv[i], "--seconds"))
			out->seconds = strtoull(argv[i + 1], NULL, 10);
		else
			return 1;
	}
	return 0;
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
	uint64_t deadline_ns;
	uint32_t devices;
	int code;

	if (parse(argc, argv, &options)) {
		fprintf(stderr,
			"usage: kernels_test check|bench [--kernels FILE] [--log FILE] "
			"[--seconds N]\n");
		return 2;
	}
	deadline_ns = rig_now_ns() + options.seconds * UINT64_C(1000000000);
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
		code = kernels_check(devices, deadline_ns);
	else
		code = kernels_bench(devices, deadline_ns, options.log);
	fflush(stdout);
	_exit(code); /* threads may have been left behind in NCCL */
}
