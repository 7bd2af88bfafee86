/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtfrun in an engine's own process: one thread a rank loads the package, writes an input in
 * place, runs steps. An engine with a stream of its own: engine_step.c.
 *
 *     cc serve_threads.c $(pkg-config --cflags --libs tfrun) -pthread -o serve_threads
 *     ./serve_threads NAME.tfp WORLD [STEPS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfrun/tfrun.h>

#define WORLD_MAX 8

struct rank {
	pthread_t thread;
	const char *path;
	uint32_t number, world;
	unsigned steps;
	const int *link_fds;
	enum tfrun_status status;
	struct tfrun_error error;
	struct tfrun_info info;
};

/*
 * An engine writes activations here; this one writes its rank, so that every output shows whose
 * bytes arrived.
 */
static enum tfrun_status write_first_input(
	struct tfrun_session *session, const struct rank *rank, struct tfrun_error *error)
{
	struct tfrun_buffer buffer = {.size = sizeof(buffer)};
	enum tfrun_status status = tfrun_buffer_at(session, 0, &buffer, error);

	/* what lies on a GPU is written by copies on a stream */
	if (status == TFRUN_OK && buffer.cuda_device < 0)
		memset(buffer.data, (int)rank->number, buffer.bytes);
	return status;
}

static enum tfrun_status serve(struct tfrun_session *session, struct rank *rank)
{
	enum tfrun_status status = write_first_input(session, rank, &rank->error);

	for (unsigned i = 0; status == TFRUN_OK && i < rank->steps; i++)
		status = tfrun_step(session, 1, &rank->error);
	if (status == TFRUN_OK)
		status = tfrun_check(session, 1, &rank->error);
	rank->info.size = sizeof(rank->info);
	if (status == TFRUN_OK)
		status = tfrun_get_info(session, &rank->info, &rank->error);
	return status;
}

static void *run(void *user)
{
	struct rank *rank = user;
	struct tfrun_session *session = NULL;
	struct tfrun_options options = {
		.size = sizeof(options),
		.rank = rank->number,
		.world = rank->world,
		.link_fds = rank->link_fds,
	};

	rank->status = tfrun_open(rank->path, &options, &session, &rank->error);
	if (rank->status == TFRUN_OK)
		rank->status = serve(session, rank);
	tfrun_close(session);
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t world = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	struct rank ranks[WORLD_MAX] = {0};
	int ends[WORLD_MAX][8];
	struct tfrun_error error;
	int failed = 0;

	if (argc < 3 || world < 2 || world > WORLD_MAX) {
		fprintf(
			stderr, "usage: serve_threads PACKAGE WORLD [STEPS], WORLD from 2 to %d\n", WORLD_MAX);
		return 2;
	}
	if (tfrun_link_pairs(world, ends, &error) != TFRUN_OK) {
		fprintf(stderr, "serve_threads: %s\n", error.text);
		return 1;
	}
	for (uint32_t r = 0; r < world; r++) {
		ranks[r] = (struct rank){.path = argv[1], .number = r, .world = world, .link_fds = ends[r]};
		ranks[r].steps = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 100;
		if (pthread_create(&ranks[r].thread, NULL, run, &ranks[r]) != 0)
			return 1;
	}
	for (uint32_t r = 0; r < world; r++) {
		pthread_join(ranks[r].thread, NULL);
		if (ranks[r].status == TFRUN_OK)
			continue;
		fprintf(stderr, "serve_threads: rank %u: %s\n", r, ranks[r].error.text);
		failed = 1;
	}
	if (!failed)
		printf("%u ranks, %u groups, loaded in %.1f ms, %llu steps, outputs equal the reference, "
			   "tunings %llu\n",
			world, ranks[0].info.groups, (double)ranks[0].info.load_ns / 1e6,
			(unsigned long long)ranks[0].info.steps, (unsigned long long)ranks[0].info.tunings);
	return failed;
}
