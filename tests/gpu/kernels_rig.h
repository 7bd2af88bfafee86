/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks for the tests of the CUDA kernels: one process, a stream and a segment of plain device
 * memory a rank, ranks dealt out over the devices; or, for ranks without peer access, the segment
 * in pinned host memory and operands in device memory of the rank's own. Kernels come from a cubin
 * that is built in, or from a file. Every failing call of the runtime ends the program: nothing can
 * be tested then.
 */
#ifndef TF_TESTS_GPU_KERNELS_RIG_H
#define TF_TESTS_GPU_KERNELS_RIG_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"

#define RIG_WRITERS 7 /* ll, sentinel, direct, serial, queued, pull, staged */
#define RIG_GUARD   64

#define CHECK(call) rig_check((call), #call, __FILE__, __LINE__)

void rig_check(cudaError_t code, const char *text, const char *file, int line);

struct rig {
	uint32_t world, device_count;
	struct tf_layout layout;
	uint8_t *segment[TF_WORLD_MAX];
	uint8_t *operands[TF_WORLD_MAX]; /* areas: within the segment, or apart */
	int parted;                      /* segments in host memory, no peer access */
	cudaStream_t stream[TF_WORLD_MAX];
	uint64_t in_bytes, area_bytes; /* an area: room for an input, then for an output */
	uint32_t areas;
	uint8_t *blank; /* the protocol memory's first state, (staging_off), made for each rank */
};

struct rig_options {
	uint32_t world, device_count, areas;
	uint64_t in_bytes;      /* largest input of a rank */
	uint64_t ll_bytes;      /* largest input that ll is asked to carry */
	uint32_t groups, slots; /* of the startup storage; may be 0 */
	int parted;
};

/* One launch on one rank. */
struct rig_call {
	enum tf_op op;
	enum tf_algorithm algorithm;
	enum tf_writer writer;
	enum tf_dtype dtype;
	uint64_t count, chunk_bytes;
	uint32_t ctas, threads;
	uint32_t area_in, area_out;
	uint32_t shift; /* elements that input and output are moved by */
	const uint32_t *mask;
	int programmatic;
	uint32_t lie_ctas; /* args.ctas instead of ctas, if not 0 */
};

/* Kernels from `path`, or the built-in ones; once. */
void rig_load_kernels(const char *path);
/* Runs each of them on each device, so that nothing has to be loaded or allocated later. */
void rig_warm_kernels(uint32_t device_count);
/* Peer access among the first `count` devices, never fewer than before; 0: a pair has none. */
int rig_enable_peers(uint32_t count);

void rig_init(struct rig *rig, const struct rig_options *options);
void rig_fini(struct rig *rig);
/* Waits for all ranks, then writes the protocol's first state. */
void rig_reset(struct rig *rig, uint64_t timeout_ns, uint32_t first_epoch);

uint32_t rig_device(const struct rig *rig, uint32_t rank);
uint8_t *rig_input(const struct rig *rig, uint32_t rank, uint32_t area);
uint8_t *rig_output(const struct rig *rig, uint32_t rank, uint32_t area);

void rig_launch(const struct rig *rig, uint32_t rank, const struct rig_call *call);
/* The nodes of an all-gather by copy_engine; call->writer and ctas are not looked at. */
void rig_launch_copies(const struct rig *rig, uint32_t rank, const struct rig_call *call);
/* "pass_begin", "sample_begin", "sample_end" or "select". */
void rig_launch_startup(const struct rig *rig, uint32_t rank, const char *name, uint32_t slot,
	uint32_t pass, void *input, uint64_t input_bytes);
/* 0: all streams have ended within the bound; else the program should end. */
int rig_wait(const struct rig *rig, uint32_t seconds);
void rig_control(const struct rig *rig, uint32_t rank, struct tf_control *out);
/* Prints every rank's fault; how many there are. */
uint32_t rig_faults(const struct rig *rig, const char *what);

const char *rig_call_text(const struct rig_call *call, char *out, size_t bytes);
uint64_t rig_now_ns(void);

#endif
