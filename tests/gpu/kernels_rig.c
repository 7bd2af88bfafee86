/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks, segments and launches for the tests of the CUDA kernels. */
#include "tests/gpu/kernels_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "runtime/collective/copy_engine.h"
#include "runtime/device/cuda/cuda_images.h"

#define PAGE       4096
#define WARM_BYTES 65536

static cudaKernel_t kernels[TF_OP_COUNT][TF_ALGORITHM_COUNT][RIG_WRITERS];
static cudaLibrary_t library;

void rig_check(cudaError_t code, const char *text, const char *file, int line)
{
	if (code == cudaSuccess)
		return;
	printf("%s:%d: %s: %s\n", file, line, text, cudaGetErrorString(code));
	fflush(stdout);
	_exit(1);
}

uint64_t rig_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *file_bytes(const char *path)
{
	FILE *file = fopen(path, "rb");
	long size = 0;
	char *bytes = NULL;

	if (file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) > 0 &&
		!fseek(file, 0, SEEK_SET) && (bytes = calloc(1, (size_t)size + 1)) &&
		fread(bytes, 1, (size_t)size, file) == (size_t)size) {
		fclose(file);
		return bytes;
	}
	printf("cannot read '%s'\n", path);
	_exit(1);
}

static const void *image_of_device(void)
{
	const struct tf_cuda_image *image = tf_cuda_images;
	int major = 0, minor = 0;

	CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
	CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
	for (; image->bytes; image++) {
		if (image->compute_capability == (uint32_t)(10 * major + minor) ||
			!image->compute_capability)
			return image->bytes;
	}
	printf("no kernels for compute capability %d.%d\n", major, minor);
	_exit(77);
}

void rig_load_kernels(const char *path)
{
	const void *image = path ? file_bytes(path) : image_of_device();
	char name[TF_NAME_BYTES];

	CHECK(cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	for (int op = 0; op < TF_OP_COUNT; op++) {
		for (int algorithm = 0; algorithm < TF_ALGORITHM_LIBRARY; algorithm++) {
			for (int writer = 0; writer < RIG_WRITERS; writer++) {
				if (algorithm == TF_ALGORITHM_TWO_SHOT && op != TF_OP_ALL_REDUCE)
					continue;
				snprintf(name, sizeof(name), "%s_%s_%s", tf_op_name((enum tf_op)op),
					tf_algorithm_name((enum tf_algorithm)algorithm),
					tf_writer_name((enum tf_writer)writer));
				CHECK(cudaLibraryGetKernel(&kernels[op][algorithm][writer], library, name));
			}
		}
	}
}

uint32_t rig_device(const struct rig *rig, uint32_t rank)
{
	return rank % rig->device_count;
}

static void launch(const struct rig *rig, uint32_t rank, cudaKernel_t kernel, uint32_t ctas,
	uint32_t threads, void *args, int programmatic)
{
	cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeProgrammaticStreamSerialization,
		.val.programmaticStreamSerializationAllowed = 1};
	cudaLaunchConfig_t config = {.gridDim = {ctas, 1, 1},
		.blockDim = {threads, 1, 1},
		.stream = rig->stream[rank],
		.attrs = &attribute,
		.numAttrs = programmatic ? 1 : 0};
	void *arguments[] = {args};

	CHECK(cudaSetDevice((int)rig_device(rig, rank)));
	CHECK(cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
}

/*
 * Every kernel once on every device, on a rank that has a fault and a mask that is off: loading a
 * kernel and growing its local memory wait for the device, and must not do so while another rank
 * waits for a launch.
 */
void rig_warm_kernels(uint32_t device_count)
{
	for (uint32_t device = 0; device < device_count; device++) {
		struct rig rig = {.world = 2, .device_count = device_count};
		struct tf_control control = {.fault = {.code = TF_FAULT_ABORTED}};
		struct tf_collective_args args = {.world = 2, .ctas = 1, .threads = 1024};
		static const char *const names[] = {"pass_begin", "sample_begin", "sample_end", "select"};

		CHECK(cudaSetDevice((int)device));
		CHECK(cudaStreamCreateWithFlags(&rig.stream[device], cudaStreamNonBlocking));
		CHECK(cudaMalloc((void **)&rig.segment[device], WARM_BYTES));
		CHECK(cudaMemset(rig.segment[device], 0, WARM_BYTES));
		CHECK(cudaMemcpy(rig.segment[device], &control, sizeof(control), cudaMemcpyHostToDevice));
		CHECK(cudaDeviceSynchronize());
		rig.layout.startup_off = WARM_BYTES / 2;
		for (uint32_t k = 0; k < TF_WORLD_MAX; k++) {
			rig.segment[k] = rig.segment[device];
			rig.stream[k] = rig.stream[device];
			args.control[k] = (struct tf_control *)(void *)rig.segment[device];
		}
		args.mask = (const uint32_t *)(const void *)(rig.segment[device] + WARM_BYTES / 2);
		for (uint32_t i = 0; i < sizeof(kernels) / sizeof(kernels[0][0][0]); i++) {
			cudaKernel_t kernel = (&kernels[0][0][0])[i];

			if (kernel)
				launch(&rig, device, kernel, 1, 1024, &args, 0);
		}
		for (uint32_t i = 0; i < 4; i++)
			rig_launch_startup(&rig, device, names[i], 0, 0, NULL, 0);
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaStreamDestroy(rig.stream[device]));
		CHECK(cudaFree(rig.segment[device]));
	}
}

int rig_enable_peers(uint32_t count)
{
	static uint32_t enabled = 1;

	if (count <= enabled)
		return 1;
	for (int a = 0; a < (int)count; a++) {
		for (int b = 0; b < (int)count; b++) {
			int can = 0;

			if (a == b)
				continue;
			CHECK(cudaDeviceCanAccessPeer(&can, a, b));
			if (!can)
				return 0;
			CHECK(cudaSetDevice(a));
			CHECK(cudaDeviceEnablePeerAccess(b, 0));
		}
	}
	enabled = count;
	return 1;
}

static void plan(struct rig *rig, const struct rig_options *options)
{
	struct tf_layout *layout = &rig->layout;
	uint64_t at;

	for (int writer = 0; writer < RIG_WRITERS; writer++) {
		uint64_t bytes = writer == TF_WRITER_LL ? options->ll_bytes : options->in_bytes;
		struct tf_group group = {.op = TF_OP_ALL_GATHER,
			.dtype = TF_DTYPE_F32,
			.row_elements = (bytes + 3) / 4,
			.capacity = 1};
		struct tf_candidate candidate = {
			.algorithm = TF_ALGORITHM_ONE_SHOT, .writer = (enum tf_writer)writer, .ctas = 1};

		tf_protocol_plan(layout, &group, &candidate, options->world);
	}
	at = tf_protocol_place(layout, options->world);
	layout->startup_off = at;
	layout->startup_bytes =
		tf_startup_places(options->groups, options->slots, NULL, NULL, NULL, NULL, NULL);
	at = tf_align_up(at + layout->startup_bytes, PAGE);
	rig->in_bytes = tf_align_up(options->in_bytes + RIG_GUARD, PAGE);
	rig->area_bytes =
		tf_align_up(rig->in_bytes + options->world * options->in_bytes + RIG_GUARD, PAGE);
	layout->exchange_off = at;
	layout->exchange_bytes = rig->areas * rig->area_bytes;
	layout->segment_bytes = at + layout->exchange_bytes;
	layout->stride_bytes = layout->segment_bytes;
}

/* Host memory has the same address for every device and for the host. */
static void allocate(struct rig *rig, uint32_t r)
{
	const struct tf_layout *layout = &rig->layout;

	if (!rig->parted) {
		CHECK(cudaMalloc((void **)&rig->segment[r], layout->segment_bytes));
		CHECK(cudaMemset(rig->segment[r], 0xa5, layout->segment_bytes));
		rig->operands[r] = rig->segment[r] + layout->exchange_off;
		return;
	}
	CHECK(cudaHostAlloc((void **)&rig->segment[r], layout->exchange_off,
		cudaHostAllocPortable | cudaHostAllocMapped));
	memset(rig->segment[r], 0xa5, layout->exchange_off);
	CHECK(cudaMalloc((void **)&rig->operands[r], layout->exchange_bytes));
	CHECK(cudaMemset(rig->operands[r], 0xa5, layout->exchange_bytes));
}

static void release(struct rig *rig, uint32_t r)
{
	if (!rig->parted) {
		CHECK(cudaFree(rig->segment[r]));
		return;
	}
	CHECK(cudaFreeHost(rig->segment[r]));
	CHECK(cudaFree(rig->operands[r]));
}

void rig_init(struct rig *rig, const struct rig_options *options)
{
	memset(rig, 0, sizeof(*rig));
	rig->world = options->world;
	rig->device_count = options->device_count;
	rig->areas = options->areas;
	rig->parted = options->parted;
	plan(rig, options);
	rig->blank = calloc(1, rig->layout.staging_off);
	if (!rig->blank)
		_exit(1);
	for (uint32_t r = 0; r < rig->world; r++) {
		CHECK(cudaSetDevice((int)rig_device(rig, r)));
		allocate(rig, r);
		CHECK(cudaStreamCreateWithFlags(&rig->stream[r], cudaStreamNonBlocking));
		CHECK(cudaDeviceSynchronize());
	}
}

void rig_fini(struct rig *rig)
{
	for (uint32_t r = 0; r < rig->world; r++) {
		CHECK(cudaSetDevice((int)rig_device(rig, r)));
		CHECK(cudaStreamDestroy(rig->stream[r]));
		release(rig, r);
	}
	free(rig->blank);
}

void rig_reset(struct rig *rig, uint64_t timeout_ns, uint32_t first_epoch)
{
	for (uint32_t r = 0; r < rig->world; r++) {
		CHECK(cudaSetDevice((int)rig_device(rig, r)));
		CHECK(cudaDeviceSynchronize());
	}
	for (uint32_t r = 0; r < rig->world; r++) {
		tf_protocol_reset(rig->blank, &rig->layout, r, rig->world, timeout_ns, first_epoch);
		CHECK(cudaSetDevice((int)rig_device(rig, r)));
		CHECK(cudaMemcpy(rig->segment[r], rig->blank, rig->layout.staging_off, cudaMemcpyDefault));
		CHECK(cudaDeviceSynchronize());
	}
}

uint8_t *rig_input(const struct rig *rig, uint32_t rank, uint32_t area)
{
	return rig->operands[rank] + area * rig->area_bytes;
}

uint8_t *rig_output(const struct rig *rig, uint32_t rank, uint32_t area)
{
	return rig_input(rig, rank, area) + rig->in_bytes;
}

void rig_launch(const struct rig *rig, uint32_t rank, const struct rig_call *call)
{
	struct tf_group group = {
		.op = call->op, .dtype = call->dtype, .row_elements = call->count, .capacity = 1};
	struct tf_candidate candidate = {.algorithm = call->algorithm,
		.writer = call->writer,
		.ctas = call->lie_ctas ? call->lie_ctas : call->ctas,
		.threads = call->threads,
		.chunk_bytes = call->chunk_bytes};
	uint64_t shift = call->shift * tf_dtype_bytes(call->dtype);
	struct tf_collective_args args;

	tf_collective_args_fill(&args, &rig->layout, &group, 7, &candidate, 0, rank, rig->world,
		rig_input(rig, rank, call->area_in) + shift, rig_output(rig, rank, call->area_out) + shift,
		call->mask);
	for (uint32_t k = 0; k < rig->world; k++)
		args.control[k] = (struct tf_control *)(void *)rig->segment[(rank + k) % rig->world];
	launch(rig, rank, kernels[call->op][call->algorithm][call->writer], call->ctas, call->threads,
		&args, call->programmatic);
}

void rig_launch_copies(const struct rig *rig, uint32_t rank, const struct rig_call *call)
{
	struct tf_group group = {
		.op = TF_OP_ALL_GATHER, .dtype = call->dtype, .row_elements = call->count, .capacity = 1};
	struct tf_candidate candidate = {.writer = TF_WRITER_COPY_ENGINE, .ctas = 1, .threads = 32};
	struct tf_copy_engine_copy copies[TF_WORLD_MAX];
	struct tf_collective_args args;
	cudaKernel_t open, close;
	uint32_t count;

	CHECK(cudaLibraryGetKernel(&open, library, TF_COPY_ENGINE_OPEN));
	CHECK(cudaLibraryGetKernel(&close, library, "all_gather_one_shot_copy_engine"));
	tf_collective_args_fill(&args, &rig->layout, &group, 7, &candidate, 0, rank, rig->world,
		rig_input(rig, rank, call->area_in), rig_output(rig, rank, call->area_out), call->mask);
	for (uint32_t k = 0; k < rig->world; k++)
		args.control[k] = (struct tf_control *)(void *)rig->segment[(rank + k) % rig->world];
	count = tf_copy_engine_copies(&args, copies);
	launch(rig, rank, open, 1, 32, &args, call->programmatic);
	for (uint32_t i = 0; i < count; i++)
		CHECK(cudaMemcpyAsync(
			copies[i].to, copies[i].from, copies[i].bytes, cudaMemcpyDefault, rig->stream[rank]));
	launch(rig, rank, close, 1, 32, &args, call->programmatic);
}

void rig_launch_startup(const struct rig *rig, uint32_t rank, const char *name, uint32_t slot,
	uint32_t pass, void *input, uint64_t input_bytes)
{
	struct tf_startup_args args = {.startup_off = rig->layout.startup_off,
		.input = input,
		.input_bytes = input_bytes,
		.rank = rank,
		.world = rig->world,
		.slot = slot,
		.pass = pass};
	cudaKernel_t kernel;

	CHECK(cudaLibraryGetKernel(&kernel, library, name));
	for (uint32_t k = 0; k < rig->world; k++)
		args.control[k] = (struct tf_control *)(void *)rig->segment[(rank + k) % rig->world];
	launch(rig, rank, kernel, 1, 256, &args, 0);
}

int rig_wait(const struct rig *rig, uint32_t seconds)
{
	uint64_t end = rig_now_ns() + seconds * UINT64_C(1000000000);

	for (uint32_t r = 0; r < rig->world; r++) {
		cudaError_t code;

		CHECK(cudaSetDevice((int)rig_device(rig, r)));
		while ((code = cudaStreamQuery(rig->stream[r])) == cudaErrorNotReady) {
			if (rig_now_ns() > end)
				return 1;
		}
		CHECK(code);
	}
	return 0;
}

void rig_control(const struct rig *rig, uint32_t rank, struct tf_control *out)
{
	CHECK(cudaMemcpy(out, rig->segment[rank], sizeof(*out), cudaMemcpyDefault));
}

uint32_t rig_faults(const struct rig *rig, const char *what)
{
	struct tf_control control;
	uint32_t count = 0;

	for (uint32_t r = 0; r < rig->world; r++) {
		rig_control(rig, r, &control);
		if (!control.fault.code)
			continue;
		printf("%s: rank %u of %u: fault %u, peer %u, epoch %u, writer %u, call %u\n", what, r,
			rig->world, control.fault.code, control.fault.peer, control.fault.epoch,
			control.fault.writer, control.fault.call);
		count++;
	}
	return count;
}

const char *rig_call_text(const struct rig_call *call, char *out, size_t bytes)
{
	snprintf(out, bytes, "%s %s %s %s count %llu ctas %u threads %u shift %u%s",
		tf_op_name(call->op), tf_algorithm_name(call->algorithm), tf_writer_name(call->writer),
		tf_dtype_name(call->dtype), (unsigned long long)call->count, call->ctas, call->threads,
		call->shift, call->programmatic ? " programmatic" : "");
	return out;
}
