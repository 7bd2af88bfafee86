/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_report [DEVICES]: what the CUDA device costs on this machine, one line a figure. It
 * judges nothing: tests/device decides what is right. Every figure is the least of some tries.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/deadline.h"
#include "catalog/program.h"
#include "runtime/device/device.h"
#include "tests/device/device_kernels.h"
#include "tests/device/test_image.h"

#define DEVICES_MAX  8
#define SEGMENT      (UINT64_C(64) << 20)
#define WAIT_NS      (60 * TF_NS_PER_S)
#define CHAIN_NODES  86
#define MANY_NODES   61000
#define LAUNCH_TRIES 200

struct report {
	const struct tf_device_ops *ops;
	struct tf_device *devices[DEVICES_MAX];
	uint32_t device_count;
	struct tf_window *window;
	struct tf_module_handle *module;
	struct tf_stream *stream;
	struct test_append_args *args; /* (MANY_NODES) */
	struct tf_exec_node *nodes;    /* (MANY_NODES) */
	struct tf_exec_edge *edges;    /* (MANY_NODES) */
	struct tf_error err;
};

static void must(struct report *report, enum tf_status status)
{
	if (status == TF_OK)
		return;
	fprintf(stderr, "device_report: %s: %s\n", tf_status_name(status), report->err.text);
	exit(status == TF_E_UNAVAILABLE ? 77 : 1);
}

static void print_us(const char *what, int64_t ns)
{
	printf("%-44s %12.2f us\n", what, (double)ns / 1e3);
	fflush(stdout);
}

static void open_devices(struct report *report, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tf_device_properties properties;
		int64_t start_ns = tf_now_ns();

		must(report, report->ops->open(i, &report->devices[i], &report->err));
		print_us("open a device", tf_now_ns() - start_ns);
		report->ops->properties(report->devices[i], &properties);
		printf("device %u: '%s', cc %u, %u SMs, %.1f GiB, granules of %llu, capabilities 0x%x\n", i,
			properties.model, properties.compute_capability, properties.sm_count,
			(double)properties.memory_bytes / (double)(UINT64_C(1) << 30),
			(unsigned long long)properties.granularity_bytes, properties.capabilities);
	}
	report->device_count = count;
}

/* Which bases the driver grants, with the stride of a large package. */
static void try_bases(struct report *report)
{
	for (int i = 0; i < TF_WINDOW_BASE_COUNT; i++) {
		const uint8_t token[TF_WINDOW_TOKEN_BYTES] = "a base";
		struct tf_window *window = NULL;
		struct tf_error err = {0};
		enum tf_status status = report->ops->window_open(report->devices[0], token,
			tf_window_bases[i], UINT64_C(64) << 30, TF_WORLD_MAX, &window, &err);

		printf("base 0x%012llx: %s\n", (unsigned long long)tf_window_bases[i],
			status == TF_OK ? "granted" : err.text);
		report->ops->window_close(window);
	}
}

/* Rank r on device r; every device joins the window. */
static void make_window(struct report *report)
{
	const uint8_t token[TF_WINDOW_TOKEN_BYTES] = "report";
	struct tf_window *joined;

	for (uint32_t i = 0; i < report->device_count; i++)
		must(report,
			report->ops->window_open(report->devices[i], token, 0, SEGMENT, report->device_count,
				i ? &joined : &report->window, &report->err));
	for (uint32_t rank = 0; rank < report->device_count; rank++) {
		int64_t start_ns = tf_now_ns();
		struct stat stat;
		int fd = -1;

		must(
			report, report->ops->segment_create(report->devices[rank], SEGMENT, &fd, &report->err));
		print_us("create and zero a segment of 64 MiB", tf_now_ns() - start_ns);
		if (fstat(fd, &stat) == 0)
			printf("descriptor %d: mode 0%o, compared with itself by fcntl: %d\n", fd, stat.st_mode,
				fcntl(fd, 1027, fd));
		start_ns = tf_now_ns();
		must(report, report->ops->window_map(report->window, rank, fd, SEGMENT, &report->err));
		print_us("map a segment", tf_now_ns() - start_ns);
		close(fd);
	}
}

static uint8_t *segment(const struct report *report, uint32_t rank)
{
	return (uint8_t *)(uintptr_t)(report->ops->window_base(report->window) + rank * SEGMENT);
}

static void load_kernels(struct report *report)
{
	const uint32_t bytes = sizeof(struct test_append_args);
	const struct tf_kernel_handle *kernel = NULL;
	int64_t start_ns = tf_now_ns();
	uint8_t digest[32];

	crypto_hash_sha256(digest, test_image, test_image_bytes);
	must(report,
		report->ops->module_load(report->devices[0], test_image, test_image_bytes, digest,
			&report->module, &report->err));
	must(report,
		report->ops->kernel_find(report->module, "test_append", bytes, &kernel, &report->err));
	print_us("load a module and a kernel", tf_now_ns() - start_ns);
	report->args = calloc(MANY_NODES, sizeof(*report->args));
	report->nodes = calloc(MANY_NODES, sizeof(*report->nodes));
	report->edges = calloc(MANY_NODES, sizeof(*report->edges));
	for (uint32_t i = 0; i < MANY_NODES; i++) {
		report->args[i].log = (struct test_log *)segment(report, 0);
		report->args[i].value = i;
		report->nodes[i] = (struct tf_exec_node){.kind = TF_NODE_KERNEL,
			.launch = {.kernel = kernel,
				.grid = {1, 1, 1},
				.block = {1, 1, 1},
				.args = &report->args[i],
				.args_bytes = bytes}};
	}
	must(report, report->ops->stream_create(report->devices[0], &report->stream, &report->err));
}

static struct tf_exec *build_chain(struct report *report, uint32_t node_count, uint8_t type)
{
	int64_t start_ns = tf_now_ns();
	struct tf_exec *exec = NULL;
	char what[64];

	for (uint32_t i = 0; i + 1 < node_count; i++)
		report->edges[i] = (struct tf_exec_edge){.from = i, .to = i + 1, .type = type};
	must(report,
		report->ops->graph_build(report->devices[0], report->nodes, node_count, report->edges,
			node_count - 1, &exec, &report->err));
	snprintf(what, sizeof(what), "build a chain of %u, %s edges", node_count,
		type ? "programmatic" : "full");
	print_us(what, tf_now_ns() - start_ns);
	return exec;
}

/* Launch to the end of the wait. */
static void time_chain(struct report *report, uint32_t node_count, uint8_t type, int tries)
{
	struct tf_exec *exec = build_chain(report, node_count, type);
	int64_t least_ns = INT64_MAX;
	const uint32_t none = 0;
	uint32_t count = 0;
	char what[64];

	for (int i = 0; i < tries; i++) {
		int64_t start_ns;

		must(report,
			report->ops->write(
				report->devices[0], segment(report, 0), &none, sizeof(none), &report->err));
		start_ns = tf_now_ns();
		must(report, report->ops->stream_graph(report->stream, exec, &report->err));
		must(report,
			report->ops->stream_wait(report->stream, tf_deadline_after(WAIT_NS), &report->err));
		if (tf_now_ns() - start_ns < least_ns)
			least_ns = tf_now_ns() - start_ns;
	}
	must(report,
		report->ops->read(
			report->devices[0], &count, segment(report, 0), sizeof(count), &report->err));
	if (count != node_count) {
		fprintf(stderr, "device_report: %u nodes ran, not %u\n", count, node_count);
		exit(1);
	}
	snprintf(what, sizeof(what), "run a chain of %u, %s edges", node_count,
		type ? "programmatic" : "full");
	print_us(what, least_ns);
	report->ops->graph_destroy(exec);
}

static void time_moves(struct report *report)
{
	const size_t sizes[] = {8, 4096, 65536, 1 << 20, 16 << 20};
	uint8_t *bytes = calloc(1, 16 << 20);

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		int64_t read_ns = INT64_MAX, write_ns = INT64_MAX;
		char what[64];

		for (int i = 0; i < 20; i++) {
			int64_t start_ns = tf_now_ns(), middle_ns;

			must(report,
				report->ops->write(report->devices[0], segment(report, 0) + (32 << 20), bytes,
					sizes[s], &report->err));
			middle_ns = tf_now_ns();
			must(report,
				report->ops->read(report->devices[0], bytes, segment(report, 0) + (32 << 20),
					sizes[s], &report->err));
			write_ns = middle_ns - start_ns < write_ns ? middle_ns - start_ns : write_ns;
			if (tf_now_ns() - middle_ns < read_ns)
				read_ns = tf_now_ns() - middle_ns;
		}
		snprintf(what, sizeof(what), "write %zu bytes", sizes[s]);
		print_us(what, write_ns);
		snprintf(what, sizeof(what), "read %zu bytes", sizes[s]);
		print_us(what, read_ns);
	}
	free(bytes);
}

/* From device 0 into every other one's segment. */
static void time_peer_copies(struct report *report)
{
	for (uint32_t rank = 1; rank < report->device_count; rank++) {
		int64_t least_ns = INT64_MAX;

		for (int i = 0; i < 20; i++) {
			int64_t start_ns = tf_now_ns();

			must(report,
				report->ops->stream_copy(report->stream, segment(report, rank) + (32 << 20),
					segment(report, 0) + (32 << 20), 16 << 20, &report->err));
			must(report,
				report->ops->stream_wait(report->stream, tf_deadline_after(WAIT_NS), &report->err));
			if (tf_now_ns() - start_ns < least_ns)
				least_ns = tf_now_ns() - start_ns;
		}
		printf("copy 16 MiB from device 0 to device %u: %.1f GB/s\n", rank,
			(double)(16 << 20) / (double)least_ns);
	}
}

static void end_report(struct report *report)
{
	report->ops->stream_destroy(report->stream);
	report->ops->module_unload(report->module);
	for (uint32_t i = 0; i < report->device_count; i++) {
		report->ops->window_close(report->window); /* a reference for each device */
		report->ops->close(report->devices[i]);
	}
	free(report->args);
	free(report->nodes);
	free(report->edges);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	struct report report = {0};

	if (argc > 2 || count < 1 || count > DEVICES_MAX) {
		fprintf(stderr, "usage: device_report [1 to %d devices]\n", DEVICES_MAX);
		return 2;
	}
	must(&report, tf_device_ops_find("cuda", &report.ops, &report.err));
	open_devices(&report, (uint32_t)count);
	try_bases(&report);
	make_window(&report);
	load_kernels(&report);
	time_chain(&report, CHAIN_NODES, 0, LAUNCH_TRIES);
	time_chain(&report, CHAIN_NODES, 1, LAUNCH_TRIES);
	time_chain(&report, 1, 0, LAUNCH_TRIES);
	time_chain(&report, MANY_NODES, 0, 2);
	time_moves(&report);
	time_peer_copies(&report);
	end_report(&report);
	return 0;
}
