/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtfrun inside an engine that has a stream of its own: inputs are written in place, the step and
 * the reading of outputs are put behind them on that stream, and the engine synchronises once.
 * On GPUs the engine brings its own context; without one the same code runs on the host device.
 *
 *     cc engine_step.c $(pkg-config --cflags --libs tfrun) -pthread -ldl -o engine_step
 *     ./engine_step NAME.tfp STEPS WORLD           # WORLD threads of this process
 *     torchrun --nproc-per-node 2 --no-python ./engine_step NAME.tfp STEPS   # a process a rank
 *
 * Several ranks on one GPU need CUDA_DEVICE_MAX_CONNECTIONS=32 and CUDA_MODULE_LOADING=EAGER.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfrun/tfrun.h>

#define WORLD_MAX  8
#define TIMEOUT_MS 10000

/* An engine has <cuda.h>; this one asks the driver by name, so that it also builds without. */
static struct {
	int (*init)(unsigned flags);
	int (*device_count)(int *count);
	int (*context_retain)(void **context, int device);
	int (*context_release)(int device);
	int (*context_set)(void *context);
	int (*context_get)(void **context);
	int (*stream_create)(void **stream, unsigned flags);
	int (*stream_destroy)(void *stream);
	int (*stream_wait)(void *stream);
	int (*copy_in)(unsigned long long to, const void *from, size_t bytes, void *stream);
	int (*copy_out)(void *to, unsigned long long from, size_t bytes, void *stream);
} cuda;

static const struct {
	const char *name;
	void *member;
} cuda_names[] = {
	{"cuInit", &cuda.init},
	{"cuDeviceGetCount", &cuda.device_count},
	{"cuDevicePrimaryCtxRetain", &cuda.context_retain},
	{"cuDevicePrimaryCtxRelease_v2", &cuda.context_release},
	{"cuCtxSetCurrent", &cuda.context_set},
	{"cuCtxGetCurrent", &cuda.context_get},
	{"cuStreamCreate", &cuda.stream_create},
	{"cuStreamDestroy_v2", &cuda.stream_destroy},
	{"cuStreamSynchronize", &cuda.stream_wait},
	{"cuMemcpyHtoDAsync_v2", &cuda.copy_in},
	{"cuMemcpyDtoHAsync_v2", &cuda.copy_out},
};

/* How many GPUs the engine uses; 0 without a driver. */
static int open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int count = 0;

	for (size_t i = 0; library && i < sizeof(cuda_names) / sizeof(cuda_names[0]); i++) {
		void *symbol = dlsym(library, cuda_names[i].name);

		if (!symbol)
			return 0;
		memcpy(cuda_names[i].member, &symbol, sizeof(symbol));
	}
	return library && cuda.init(0) == 0 && cuda.device_count(&count) == 0 ? count : 0;
}

struct rank {
	pthread_t thread;
	const char *path;
	struct tfrun_options options;
	unsigned steps;
	int device; /* the engine's GPU; -1: none */
	void *context, *stream;
	struct tfrun_buffer in, out;
	uint8_t *sent, *found;
	enum tfrun_status status;
	struct tfrun_error error;
};

static enum tfrun_status complain(struct rank *rank, const char *what)
{
	snprintf(rank->error.text, sizeof(rank->error.text), "%s", what);
	return TFRUN_INTERNAL;
}

/* What the engine does at its own start: a context, current on this thread, and a stream. */
static enum tfrun_status begin_engine(struct rank *rank)
{
	if (rank->device < 0)
		return TFRUN_OK;
	if (cuda.context_retain(&rank->context, rank->device) || cuda.context_set(rank->context) ||
		cuda.stream_create(&rank->stream, 1 /* CU_STREAM_NON_BLOCKING */))
		return complain(rank, "the engine has no context or stream");
	return TFRUN_OK;
}

static void end_engine(struct rank *rank)
{
	if (rank->stream)
		(void)cuda.stream_destroy(rank->stream);
	if (rank->context)
		(void)cuda.context_release(rank->device);
	free(rank->sent);
	free(rank->found);
}

/* The operands of one row: the first input and its output. */
static enum tfrun_status find_operands(struct tfrun_session *session, struct rank *rank)
{
	char name[256], *role;
	enum tfrun_status status;

	rank->in.size = rank->out.size = sizeof(rank->in);
	status = tfrun_buffer_at(session, 0, &rank->in, &rank->error);
	if (status != TFRUN_OK)
		return status;
	snprintf(name, sizeof(name), "%s", rank->in.name); /* "exchange.c1.in.0" */
	role = strstr(name, ".in.");
	if (!role)
		return complain(rank, "the first buffer is no input");
	snprintf(role, sizeof(name) - (size_t)(role - name), ".out.%s",
		rank->in.name + (role - name) + strlen(".in."));
	status = tfrun_buffer_find(session, name, &rank->out, &rank->error);
	if (status != TFRUN_OK)
		return status;
	rank->sent = malloc(rank->in.bytes);
	rank->found = malloc(rank->out.bytes);
	return rank->sent && rank->found ? TFRUN_OK : complain(rank, "no memory");
}

/* Input, step, output, in the order of the stream; on the host device in the order of the calls. */
static enum tfrun_status enqueue_round(struct tfrun_session *session, struct rank *rank)
{
	int on_gpu = rank->in.cuda_device >= 0;
	void *stream = on_gpu ? rank->stream : NULL;
	enum tfrun_status status;

	if (on_gpu && cuda.copy_in((uintptr_t)rank->in.data, rank->sent, rank->in.bytes, stream))
		return complain(rank, "the input is not written");
	if (!on_gpu)
		memcpy(rank->in.data, rank->sent, rank->in.bytes);
	status = tfrun_step_enqueue(session, rank->in.capacity, stream, &rank->error);
	if (status != TFRUN_OK)
		return status;
	if (on_gpu &&
		(cuda.copy_out(rank->found, (uintptr_t)rank->out.data, rank->out.bytes, stream) ||
			cuda.stream_wait(stream)))
		return complain(rank, "the output is not read");
	/* behind the synchronisation: how the step ended */
	status = tfrun_step_status(session, &rank->error);
	if (status == TFRUN_OK && !on_gpu)
		memcpy(rank->found, rank->out.data, rank->out.bytes);
	return status;
}

/* Where the step gathers, the output shows what every rank wrote in this very round. */
static int is_gathered(const struct rank *rank, unsigned round)
{
	if (rank->out.bytes != rank->options.world * rank->in.bytes)
		return 1;
	for (size_t i = 0; i < rank->out.bytes; i++)
		if (rank->found[i] != (uint8_t)(16 * (i / rank->in.bytes) + round % 16))
			return 0;
	return 1;
}

static enum tfrun_status serve(struct tfrun_session *session, struct rank *rank)
{
	struct tfrun_info info = {.size = sizeof(info)};
	void *current = rank->context;
	enum tfrun_status status = find_operands(session, rank);

	for (unsigned round = 0; status == TFRUN_OK && round < rank->steps; round++) {
		memset(rank->sent, (int)(16 * rank->options.rank + round % 16), rank->in.bytes);
		status = enqueue_round(session, rank);
		if (status == TFRUN_OK && !is_gathered(rank, round))
			status = complain(rank, "the output is not what the ranks wrote");
	}
	if (status == TFRUN_OK)
		status = tfrun_check(session, rank->in.capacity, &rank->error);
	if (status == TFRUN_OK)
		status = tfrun_get_info(session, &info, &rank->error);
	if (rank->device >= 0 && (cuda.context_get(&current) || current != rank->context))
		return complain(rank, "the engine's context is not current any more");
	if (status == TFRUN_OK)
		printf("rank %u of %u on %s %d: %llu steps, outputs equal the reference\n", info.rank,
			info.world, info.cuda_device < 0 ? "the host device" : "GPU",
			info.cuda_device < 0 ? 0 : info.cuda_device, (unsigned long long)info.steps);
	return status;
}

static void *run(void *user)
{
	struct rank *rank = user;
	struct tfrun_session *session = NULL;

	rank->status = begin_engine(rank);
	if (rank->status == TFRUN_OK)
		rank->status = tfrun_open(rank->path, &rank->options, &session, &rank->error);
	if (rank->status == TFRUN_OK)
		rank->status = serve(session, rank);
	tfrun_close(session);
	end_engine(rank);
	if (rank->status != TFRUN_OK)
		fprintf(stderr, "engine_step: rank %u: %s\n", rank->options.rank, rank->error.text);
	return NULL;
}

static int run_threads(struct rank *ranks, uint32_t world, int devices)
{
	int ends[WORLD_MAX][8], failed = 0;
	struct tfrun_error error;

	if (tfrun_link_pairs(world, ends, &error) != TFRUN_OK) {
		fprintf(stderr, "engine_step: %s\n", error.text);
		return 1;
	}
	for (uint32_t r = 0; r < world; r++) {
		ranks[r] = ranks[0];
		ranks[r].options.rank = r;
		ranks[r].options.world = world;
		ranks[r].options.link_fds = ends[r];
		ranks[r].device = devices ? (int)r % devices : -1;
	}
	for (uint32_t r = 0; r < world; r++) {
		if (pthread_create(&ranks[r].thread, NULL, run, &ranks[r]) != 0)
			return 1;
	}
	for (uint32_t r = 0; r < world; r++) {
		pthread_join(ranks[r].thread, NULL);
		failed |= ranks[r].status != TFRUN_OK;
	}
	return failed;
}

/* This process is the rank that a launcher says it is. */
static int run_process(struct rank *rank, int devices)
{
	struct tfrun_launch launch = {.size = sizeof(launch)};

	if (tfrun_launch_read(&launch, &rank->error) != TFRUN_OK) {
		fprintf(stderr, "engine_step: %s\n", rank->error.text);
		return 2;
	}
	rank->options.rank = launch.rank;
	rank->options.world = launch.world;
	rank->options.address = launch.address;
	rank->device = devices ? (int)launch.local_rank % devices : -1;
	run(rank);
	return rank->status != TFRUN_OK;
}

int main(int argc, char **argv)
{
	uint32_t world = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
	struct rank ranks[WORLD_MAX] = {{0}};

	if (argc < 3 || argc > 4 || world > WORLD_MAX) {
		fprintf(stderr, "usage: engine_step PACKAGE STEPS [WORLD], WORLD threads from 2 to %d\n",
			WORLD_MAX);
		return 2;
	}
	ranks[0].path = argv[1];
	ranks[0].steps = (unsigned)strtoul(argv[2], NULL, 10);
	ranks[0].options.size = sizeof(ranks[0].options);
	ranks[0].options.timeout_ms = TIMEOUT_MS;
	return argc > 3 ? run_threads(ranks, world, open_driver())
					: run_process(&ranks[0], open_driver());
}
