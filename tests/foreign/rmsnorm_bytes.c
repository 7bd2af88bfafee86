/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example's package, loaded by libtfrun on threads: after a step every rank holds the sum of
 * all inputs, its RMSNorm as plain arithmetic gives it, and the sum of those.
 *
 *     rmsnorm_bytes PACKAGE WORLD
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfrun/tfrun.h>

#define WORLD_MAX 8
#define WIDTH     1024
#define STEPS     3

static const float gains[4] = {1.0f, 0.5f, 1.5f, 2.0f};

struct rank {
	pthread_t thread;
	const char *path;
	uint32_t number, world;
	const int *link_fds;
	int failed;
};

static float widen(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof(value));
	return value;
}

static uint16_t narrow(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* Values whose sums are exact, so that their order does not matter here. */
static uint16_t input_of(uint32_t rank, uint32_t i, uint32_t step)
{
	return narrow((float)((int)((i * 37 + rank * 11 + step * 5) % 64) - 31) / 8.0f);
}

static uint16_t *tensor(struct tfrun_session *session, const char *name, uint32_t capacity)
{
	struct tfrun_buffer buffer = {.size = sizeof(buffer)};
	struct tfrun_error error;
	char text[64];

	snprintf(text, sizeof(text), "%s.c%u%s", name, capacity,
		strcmp(name, "attention") ? strcmp(name, "mlp") ? "" : ".out.0" : ".in.0");
	if (tfrun_buffer_find(session, text, &buffer, &error) == TFRUN_OK &&
		buffer.bytes == 2u * WIDTH * capacity)
		return buffer.data;
	fprintf(stderr, "no tensor '%s' of %u rows\n", text, capacity);
	exit(1);
}

static int differ(const char *what, uint32_t at, uint16_t found, double wanted)
{
	fprintf(stderr, "%s, element %u: %g, wanted %g\n", what, at, (double)widen(found), wanted);
	return 1;
}

/* One row of what a step must leave. */
static int check_row(const uint16_t *hidden, const uint16_t *normed, const uint16_t *mlp,
	uint32_t world, uint32_t row, uint32_t step)
{
	double squares = 0;

	for (uint32_t i = 0; i < WIDTH; i++) {
		float sum = 0;

		for (uint32_t r = 0; r < world; r++)
			sum += widen(input_of(r, row * WIDTH + i, step));
		if (hidden[i] != narrow(sum))
			return differ("sum", i, hidden[i], (double)sum);
		squares += (double)widen(hidden[i]) * (double)widen(hidden[i]);
	}
	for (uint32_t i = 0; i < WIDTH; i++) {
		double wanted =
			(double)widen(hidden[i]) / sqrt(squares / WIDTH + 1e-5) * (double)gains[i % 4];
		float sum = 0;

		/* half a unit in the last of 8 bits, and what FP32 rounds on the way */
		if (fabs((double)widen(normed[i]) - wanted) > fabs(wanted) * 0.00393)
			return differ("norm", i, normed[i], wanted);
		for (uint32_t r = 0; r < world; r++)
			sum += widen(normed[i]);
		if (mlp[i] != narrow(sum))
			return differ("sum of norms", i, mlp[i], (double)sum);
	}
	return 0;
}

static int run_step(
	struct tfrun_session *session, const struct rank *rank, uint32_t capacity, uint32_t step)
{
	uint16_t *input = tensor(session, "attention", capacity);
	struct tfrun_error error;
	int failed = 0;

	for (uint32_t i = 0; i < capacity * WIDTH; i++)
		input[i] = input_of(rank->number, i, step);
	if (tfrun_step(session, capacity, &error) != TFRUN_OK) {
		fprintf(stderr, "rank %u: %s\n", rank->number, error.text);
		return 1;
	}
	for (uint32_t row = 0; !failed && row < capacity; row++)
		failed = check_row(tensor(session, "hidden", capacity) + row * WIDTH,
			tensor(session, "normed", capacity) + row * WIDTH,
			tensor(session, "mlp", capacity) + row * WIDTH, rank->world, row, step);
	return failed;
}

static void *run(void *user)
{
	struct rank *rank = user;
	struct tfrun_session *session = NULL;
	struct tfrun_error error;
	struct tfrun_options options = {
		.size = sizeof(options),
		.rank = rank->number,
		.world = rank->world,
		.link_fds = rank->link_fds,
		.timeout_ms = 20000,
		.strict = 1,
	};

	rank->failed = tfrun_open(rank->path, &options, &session, &error) != TFRUN_OK;
	if (rank->failed)
		fprintf(stderr, "rank %u: %s\n", rank->number, error.text);
	for (uint32_t step = 0; !rank->failed && step < STEPS; step++)
		rank->failed = run_step(session, rank, 1, step) || run_step(session, rank, 4, step);
	if (!rank->failed && tfrun_check(session, 4, &error) != TFRUN_OK) {
		fprintf(stderr, "rank %u: %s\n", rank->number, error.text);
		rank->failed = 1;
	}
	tfrun_close(session);
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t world = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	struct rank ranks[WORLD_MAX] = {0};
	int ends[WORLD_MAX][8], failed = 0;
	struct tfrun_error error;

	if (world < 2 || world > WORLD_MAX || tfrun_link_pairs(world, ends, &error) != TFRUN_OK)
		return 2;
	for (uint32_t r = 0; r < world; r++) {
		ranks[r] = (struct rank){.path = argv[1], .number = r, .world = world, .link_fds = ends[r]};
		if (pthread_create(&ranks[r].thread, NULL, run, &ranks[r]) != 0)
			return 1;
	}
	for (uint32_t r = 0; r < world; r++) {
		pthread_join(ranks[r].thread, NULL);
		failed |= ranks[r].failed;
	}
	return failed;
}
