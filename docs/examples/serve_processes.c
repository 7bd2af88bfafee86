/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtfrun with one process a rank. Each process is told its rank and where the ranks meet, as any
 * launcher tells them.
 *
 *     cc serve_processes.c $(pkg-config --cflags --libs tfrun) -o serve_processes
 *     ./serve_processes NAME.tfp 0 2 unix:@my-engine &
 *     ./serve_processes NAME.tfp 1 2 unix:@my-engine
 */
#include <stdio.h>
#include <stdlib.h>
#include <tfrun/tfrun.h>

/* Every rank runs the same steps with the same rows; rows above a capacity take the next one. */
static enum tfrun_status run_steps(
	struct tfrun_session *session, unsigned count, struct tfrun_error *error)
{
	struct tfrun_info info = {.size = sizeof(info)};
	enum tfrun_status status = tfrun_get_info(session, &info, error);

	for (unsigned i = 0; status == TFRUN_OK && i < count; i++)
		status = tfrun_step(session, 1 + i % info.largest_capacity, error);
	return status;
}

/* Not needed to serve: proves that the links give the reference's bytes. */
static enum tfrun_status prove_and_report(struct tfrun_session *session, struct tfrun_error *error)
{
	struct tfrun_info info = {.size = sizeof(info)};
	enum tfrun_status status = tfrun_check(session, 1, error);

	if (status == TFRUN_OK)
		status = tfrun_get_info(session, &info, error);
	if (status == TFRUN_OK)
		printf("rank %u of %u: %llu steps, outputs equal the reference\n", info.rank, info.world,
			(unsigned long long)info.steps);
	return status;
}

int main(int argc, char **argv)
{
	struct tfrun_options options = {.size = sizeof(options)};
	struct tfrun_session *session = NULL;
	struct tfrun_error error = {0};
	enum tfrun_status status;

	if (argc < 5) {
		fprintf(stderr, "usage: serve_processes PACKAGE RANK WORLD ADDRESS [STEPS]\n");
		return 2;
	}
	options.rank = (uint32_t)strtoul(argv[2], NULL, 10);
	options.world = (uint32_t)strtoul(argv[3], NULL, 10);
	options.address = argv[4];
	status = tfrun_open(argv[1], &options, &session, &error);
	if (status == TFRUN_OK)
		status = run_steps(session, argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 100, &error);
	if (status == TFRUN_OK)
		status = prove_and_report(session, &error);
	tfrun_close(session);
	if (status != TFRUN_OK)
		fprintf(stderr, "serve_processes: rank %s: %s\n", argv[2], error.text);
	return status != TFRUN_OK;
}
